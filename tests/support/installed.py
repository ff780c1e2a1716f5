"""Packages that bring wires, as installers leave them: modules beside a folder that names their
entry points."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tenuto.providers import registry, table
from tenuto.wires import outside
from tenuto.wires.registry import OUTSIDE


def write_package(
    place: Path, name: str, wires: Mapping[str, str], modules: Mapping[str, str]
) -> None:
    """Write a package with these entry points of wires, and these modules."""
    about = place / f"{name.replace('-', '_')}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", "utf-8")
    points = "".join(f"{key} = {value}\n" for key, value in wires.items())
    (about / "entry_points.txt").write_text(f"[{outside.GROUP}]\n{points}", "utf-8")
    for module, text in modules.items():
        (place / f"{module}.py").write_text(text, "utf-8")


@contextmanager
def installed(place: Path) -> Iterator[None]:
    """Make the packages of a folder importable, as if they were installed before the program
    began."""
    before = set(sys.modules)
    sys.path.insert(0, str(place))
    importlib.invalidate_caches()
    read_anew()
    try:
        yield
    finally:
        sys.path.remove(str(place))
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(place)):
                del sys.modules[name]
        read_anew()


def read_anew() -> None:
    """Let entry points be read when they are needed the next time."""
    OUTSIDE._all = None
    outside._told.clear()
    forget_routes()


def forget_routes() -> None:
    """Forget which wire and provider a URL has."""
    registry._route.cache_clear()
    table._rows_of.cache_clear()
