"""JSON that broke off, and JSON with what people and programs add to it or make of it."""

from __future__ import annotations

import json
import re
import sys
from bisect import bisect_left
from collections.abc import Callable

from tenuto.detection.documents import documents

_SHOWS_CHARS = 2_000
"""How much of the beginning shows what broke off."""

_tokens: Callable[[str], list[str]] = re.compile(
    r'"(?:[^"\\]|\\.)*"|"(?:[^"\\]|\\.)*\\?\Z|[\[\]{}:,]|[^\s"\[\]{}:,]+', re.DOTALL
).findall


def begun(data: bytes) -> object:
    """Return the value that the beginning of a document shows, up to where it broke off or can't be
    read: without what is half there, except for a text. None if it shows none.

    >>> begun(b'{"a": [1, 2'), begun(b'{"a": "x", "b"'), begun(b'[{"a": "so f'), begun(b"Hi")
    ({'a': [1]}, {'a': 'x'}, [{'a': 'so f'}], None)
    """
    found = _prefixes(_tokens(data[:_SHOWS_CHARS].decode("utf-8", "replace")))
    # A prefix of what can be read can be read, too.
    first_bad = bisect_left(found, True, key=lambda text: _value_of(text) is None)
    return _value_of(found[first_bad - 1]) if first_bad else None


def _prefixes(tokens: list[str]) -> list[str]:
    """Return the documents that the first tokens make, each with the ends of what is open."""
    kept: list[str] = []
    ends: list[str] = []
    found: list[str] = []
    for token in tokens:
        half = _is_half(token)
        if token == ",":
            found.append("".join([*kept, *reversed(ends)]))
        elif token in ("{", "["):
            ends.append("}" if token == "{" else "]")
        elif ends and token == ends[-1]:
            ends.pop()
        is_value = kept[-1:] == [":"] or ends[-1:] == ["]"]
        kept.append(_half_escape.sub("", token) + '"' if half else token)
        if token in ("{", "[", "}", "]") or (half and is_value):
            found.append("".join([*kept, *reversed(ends)]))
    return found


def _value_of(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_half(token: str) -> bool:
    """Return whether a token is a text without its end."""
    return token.startswith('"') and _text(token) is None


_text = re.compile(r'"(?:[^"\\]|\\.)*"\Z', re.DOTALL).match
_half_escape = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")

_ADDED: Callable[[Callable[[re.Match[str]], str], str], str] = re.compile(
    # What has no end goes on to the end of all, so that each character is looked at once.
    r'("(?:[^"\\]|\\.)*(?:"|\\?\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)|,(?=\s*[\]}])',
    re.DOTALL,
).sub


def tidied(data: bytes) -> bytes:
    """Return a document without comments and without commas before its ends. If it is none then,
    but is one or several where people left something out (`...`), or as Python shows dicts, return
    that.

    >>> tidied(b'[1, "a // b", /* two */ {"c": 2,}, ] // end')
    b'[1, "a // b",  {"c": 2} ] '
    >>> tidied(b'{"a": [...], "b": 1, ...}'), tidied(b"{'a': None}"), tidied(b"{a: 1}")
    (b'{"a": [], "b": 1}', b'{"a": null}', b'{a: 1}')
    """
    text = data.decode("utf-8", "surrogateescape")
    tidy = _ADDED(lambda found: found[1] or "", text)
    if _value_of(tidy) is None:
        read = _LEFT_OUT(_as_json, tidy)
        rows = documents(read.encode("utf-8", "surrogateescape"))
        several = isinstance(next(iter(rows), None), dict)
        tidy = read if several or _value_of(read) is not None else tidy
    return tidy.encode("utf-8", "surrogateescape")


_DOTS = r"(?:\.\.\.|\u2026)"

_LEFT_OUT: Callable[[Callable[[re.Match[str]], str], str], str] = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*(?:"|\\?\Z)|'(?:[^'\\]|\\.)*(?:'|\\?\Z))"""
    r"|\b(?P<word>None|True|False)\b"
    rf"|(?P<value>:\s*){_DOTS}|,\s*{_DOTS}(?=\s*[,\]}}])|{_DOTS}\s*,?",
    re.DOTALL,
).sub
"""Replaces what stands for something that was left out, and what Python writes in its own way. What
has no end goes on to the end of all, as above."""

_WORDS = {"None": "null", "True": "true", "False": "false"}


def _as_json(found: re.Match[str]) -> str:
    if (text := found["text"]) is not None:
        ends = text[:1] == text[-1:] and len(text) > 1
        return f'"{_ESCAPES(_escape, text[1:-1])}"' if ends else text
    if found["word"]:
        return _WORDS[found["word"]]
    return f"{found['value']}null" if found["value"] else ""


_ESCAPES: Callable[[Callable[[re.Match[str]], str], str], str] = re.compile(
    r"""\\x([0-9a-f]{2})|\\U([0-9a-f]{8})|\\.|"|\n""", re.DOTALL
).sub


def _escape(found: re.Match[str]) -> str:
    """Return an escape of Python's, or a quotation mark, as JSON has it."""
    short, long = found.groups()
    if short or long:
        number = int(short or long, 16)
        return json.dumps(chr(number))[1:-1] if number <= sys.maxunicode else found[0]
    return {"\\'": "'", '"': '\\"'}.get(found[0], found[0])
