"""Rows of a chat that are the beginning of the answer, and what stands behind them."""

from __future__ import annotations

from tenuto.wires.json import JsonObject, decode_object, encode
from tenuto.wires.members import object_in, with_members


def with_beginnings(rows: list[bytes], mark: str) -> list[bytes]:
    """Return the rows without answer beginnings that the next assistant row contains or continues;
    `mark`: the member that marks such a row."""
    out: list[bytes] = []
    for row in rows:
        begun = _text_begun(out[-1], mark) if out else None
        value = object_in(decode_object(row)) if begun is not None else {}
        if begun is not None and out and value.get("role") == "assistant":
            said = value.get("content")
            whole = said if isinstance(said, str) else ""
            whole = whole if whole.startswith(begun.rstrip()) else begun + whole
            out[-1] = with_members(row, {"content": encode(whole)})
        else:
            out.append(row)
    return out


def _text_begun(row: bytes, mark: str) -> str | None:
    """Return the text of a row that is the beginning of an answer, else None."""
    if encode(mark) not in row:
        return None
    value = object_in(decode_object(row))
    return str(value["content"]) if begins_answer(value, mark) else None


def begins_answer(row: JsonObject, mark: str) -> bool:
    """Return whether a row is the beginning of an answer, in text."""
    begins = row.get(mark) is True and row.get("role") == "assistant"
    return begins and isinstance(row.get("content"), str)
