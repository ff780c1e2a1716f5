"""The `tenuto` command. Its packages (extra `cli`) are loaded when it runs, not before."""

from tenuto.cli.app import main

__all__ = ["main"]
