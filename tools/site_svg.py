"""Drawings as SVG in a figure. Their colours are the page's own (site.css), for light and dark."""

from collections.abc import Iterable
from html import escape


def figure(name: str, lines: Iterable[str], *, size: tuple[int, int], title: str, says: str) -> str:
    """A drawing of that width and height, with a title for whoever cannot see it, and a caption.

    Args:
        name: names the drawing within its page.
        lines: elements of SVG.
        size: in units of the drawing, which are pixels where there is room.
        title: what the drawing shows, as text.
        says: the caption, as HTML.
    """
    width, height = size
    return "\n".join(
        [
            '<figure class="drawing">',
            f'<svg viewBox="0 0 {width} {height}" role="img" aria-labelledby="{name}">',
            f'<title id="{name}">{escape(title)}</title>',
            *lines,
            "</svg>",
            f"<figcaption>{says}</figcaption>",
            "</figure>",
        ]
    )


def text(x: float, y: float, words: str, kind: str, anchor: str = "start") -> str:
    """Words at a place."""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'


def box(
    x: float, y: float, width: float, height: float, kind: str, *, round_: int = 0, title: str = ""
) -> str:
    """A rectangle; its title is shown by a pointer that rests on it."""
    inside = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<rect class="{kind}" x="{x:.4g}" y="{y:g}" width="{width:.4g}" height="{height:g}"'
        f' rx="{round_}">{inside}</rect>'
    )


def line(x: tuple[float, float], y: tuple[float, float], kind: str) -> str:
    """A line from the first x and y to the second."""
    return f'<line class="{kind}" x1="{x[0]:g}" x2="{x[1]:g}" y1="{y[0]:g}" y2="{y[1]:g}"/>'
