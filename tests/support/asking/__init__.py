"""Asking a simulator through the official SDK of each wire, bare or wrapped, and judging what it
gives. A module is named by its wire; what all have in common stands in `openai_chat` and `wrapping`."""
