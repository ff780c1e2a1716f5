"""Blocks of docs/guide/check-stored-answers.md: the kinds of rows, from judging/kinds.py, and what
is read beside an answer, from judging/names.py."""

from __future__ import annotations

from page import code, table

from tenuto.judging.kind import Kind, Source
from tenuto.judging.kinds import WITH_STOP, WITHOUT_STOP
from tenuto.judging.names import HOLDERS, LIMITS, SETTINGS, STOPS, TOKENS, USAGES
from tenuto.judging.titles import KINDS

BESIDE = {
    "body": "An answer as an API sent it, whole or as a stream, or an object of an SDK.",
    "cassette": "A cassette in YAML, of VCR or httpmock.",
    "found_within": "Any other row in which such an answer stands, up to six levels deep, also as "
    "JSON in a string.",
}
"""Kinds that no row of the table tells."""


def render() -> str:
    """The two tables."""
    head = ["Kind", "Rows", "Known from", "Defined in"]
    with_stop = table(head, [*_rows(WITH_STOP), *([code(k), t, "", ""] for k, t in BESIDE.items())])
    without = table(head, _rows(WITHOUT_STOP))
    said = "These have no stop, or had one that their tool did not keep:"
    return "\n".join(["These store a stop:", "", *with_stop, "", said, "", *without])


def _rows(kinds: tuple[Kind, ...]) -> list[list[str]]:
    by_name: dict[str, set[Source]] = {}
    for kind in kinds:
        by_name.setdefault(kind.name, set()).add(kind.source)
    return [
        [code(name), KINDS[name].title, _known(by), _pages(name)] for name, by in by_name.items()
    ]


def _known(sources: set[Source]) -> str:
    words = {Source.REAL: "rows of the tool", Source.DOCUMENTED: "its definition"}
    return " and ".join(word for source, word in words.items() if source in sources)


def _pages(name: str) -> str:
    pages = KINDS[name].pages
    return ", ".join(f"[{page.split('/')[2]}]({page})" for page in pages)


def render_beside() -> str:
    """The members that tell the stop, the limit and the tokens of an answer."""
    told = (("stop", STOPS, ()), ("limit", LIMITS, SETTINGS), ("tokens", TOKENS, USAGES))
    rows = [[name, _codes(names), _codes(within)] for name, names, within in told]
    lines = table(["What", "Members", "Also within"], rows)
    return "\n".join([*lines, "", f"Each may also stand within {_codes(HOLDERS)}."])


def _codes(names: tuple[str, ...]) -> str:
    return ", ".join(map(code, names))
