"""Read requests: the members that a wire needs, and what they mean on all wires."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_origin

import msgspec

from tenuto.wires.json import decode_object, is_utf8
from tenuto.wires.members import members_of, rows_of

T = TypeVar("T", bound=msgspec.Struct)


def reader(shape: type[T]) -> Callable[[bytes], T]:
    """Return a function that reads the members of a request that a shape names, in one pass.

    A number that no double holds, somewhere in a row, takes a second, more lenient pass: rows are
    decoded one by one, and members of type `msgspec.Raw` stay bytes. A switch that is neither true
    nor false remains an error. Providers refuse it or interpret it in different ways, and a misread
    `stream` would make Tenuto expect the wrong kind of answer.

    >>> class Asked(msgspec.Struct):
    ...     messages: list[dict[str, Any]]
    >>> reader(Asked)(b'{"messages": [{"n": 1e400}], "x": 1}')
    Asked(messages=[{'n': inf}])
    """
    read = msgspec.json.Decoder(shape).decode
    fields = msgspec.structs.fields(shape)
    kinds = {field.encode_name: (field.name, field.type) for field in fields}

    def read_leniently(body: bytes) -> T:
        members = members_of(body)
        values: dict[str, Any] = {}
        for key in kinds.keys() & members.keys():
            (name, kind), raw = kinds[key], members[key]
            if kind is msgspec.Raw:
                values[name] = msgspec.Raw(raw)
            elif get_origin(kind) is list:
                values[name] = [decode_object(row) for row in rows_of(raw)]
                if not all(isinstance(row, dict) for row in values[name]):
                    raise msgspec.DecodeError("a row is no object")
            else:
                values[name] = decode_object(raw)
                if kind is str and not isinstance(values[name], str):
                    raise msgspec.DecodeError(f"{key} is no text")
                if kind == (bool | None) and not is_switch(values[name]):
                    raise msgspec.DecodeError(f"{key} is no switch")
        if any(field.required and field.name not in values for field in fields):
            raise msgspec.DecodeError("a member is missing")
        return shape(**values)

    def asked(body: bytes) -> T:
        if not is_utf8(body):  # members kept as bytes are not checked below
            raise msgspec.DecodeError("no UTF-8")
        try:
            return read(body)
        except msgspec.DecodeError:
            return read_leniently(body)

    return asked


def is_switch(value: Any) -> bool:
    """Return whether a value is true, false, or null, which means the provider's default.

    >>> is_switch(True), is_switch(None), is_switch("true"), is_switch(1)
    (True, True, False, False)
    """
    return value is None or isinstance(value, bool)


def text_in(value: Any) -> str:
    """Return a value that is a text; "": it is anything else."""
    return value if isinstance(value, str) else ""


def begun_in(row: Mapping[str, Any]) -> str:
    """Return the text of a request's last row if it is the beginning of the answer; "": it is
    another's row, or has anything besides text.

    >>> begun_in({"role": "assistant", "content": "{"}), begun_in({"role": "user", "content": "{"})
    ('{', '')
    >>> begun_in({"role": "model", "parts": [{"text": "One, "}, {"text": "two"}]})
    'One, two'
    """
    if row.get("role") not in ("assistant", "model") or row.get("tool_calls"):
        return ""
    said = row.get("content", row.get("parts"))
    if not isinstance(said, list):
        return text_in(said)
    texts = [part.get("text") if isinstance(part, dict) else None for part in said]
    return "".join(map(text_in, texts)) if all(map(text_in, texts)) else ""


def limit_in(value: Any) -> int | None:
    """Return an output limit in tokens; None: the value is none.

    >>> limit_in(8), limit_in(0), limit_in(None)
    (8, None, None)
    """
    return value if type(value) is int and value > 0 else None


def why_left_alone(
    reasons: Mapping[str, object], max_tokens: int | None, probe_max_tokens: int
) -> str:
    """Return why a request can't be continued (C28): the first reason that holds, or that its
    output limit is so small that it only probes the provider. "": it can.

    >>> why_left_alone({"logprobs": True}, None, 1), why_left_alone({}, 1, 1)
    ('logprobs', 'probe')
    """
    for why, applies in reasons.items():
        if applies:
            return why
    return "probe" if max_tokens is not None and max_tokens <= probe_max_tokens else ""


def are_several(choices: Any) -> bool:
    """Return whether more than one answer is requested."""
    return isinstance(choices, int) and choices > 1


def holds(value: Any, item: str) -> bool:
    """Return whether a value is a list with this item.

    >>> holds(["text", "audio"], "audio"), holds("audio", "audio")
    (True, False)
    """
    return isinstance(value, list) and item in value
