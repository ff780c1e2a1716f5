"""Measures what Tenuto costs, prints the table, and writes it to docs/performance.md."""

from __future__ import annotations

from parts import turns

if __name__ == "__main__":
    for figure in turns.figures():
        print(figure.name, round(figure.measured, 3), figure.verdict, figure.beside, flush=True)
