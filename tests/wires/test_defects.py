"""Every defect of a history, on every wire that refuses it, at its start, in its middle and at its
end, for a body and for a stream: what leaves is valid, the rest keeps its bytes, and repairing it
again changes nothing (H2 to H5a, C7)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from examples.wires.tests.at_hand import every_wire as wires
from tenuto.core import hints
from tenuto.core.history.signed import STAND_IN
from tenuto.providers.provider import SPOKEN
from tenuto.wires.base import Wire
from tenuto.wires.dialect import Dialect

Row = dict[str, Any]
Rows = list[Row]
GEMINI_3 = "/v1beta/models/gemini-3-pro-preview:"


@dataclass(frozen=True)
class Shape:
    """How a wire's request is made of rows."""

    rows: str
    asks: Callable[[str], Row]
    says: Callable[[str], Row]
    paths: tuple[str, str]
    more: Row = field(default_factory=dict)
    dialect: Dialect = Dialect()


def _text(text: str) -> Row:
    return {"type": "text", "text": text}


def _chat_row(role: str) -> Callable[[str], Row]:
    return lambda text: {"role": role, "content": text}


_CHAT = ("/v1/chat/completions",) * 2
SHAPES: dict[str, Shape] = {
    "openai-chat": Shape("messages", _chat_row("user"), _chat_row("assistant"), _CHAT, {"model": "m"}),
    "gemini-chat": Shape(
        "messages", _chat_row("user"), _chat_row("assistant"), _CHAT, {"model": "gemini-3-flash"},
        Dialect(signed_calls=SPOKEN["gemini-generate"]["signed_calls"]),
    ),
    "openai": Shape(
        "messages", _chat_row("user"), _chat_row("assistant"), _CHAT, {"model": "m"},
        Dialect(most_id_chars=40),
    ),
    "openai, items": Shape(
        "input", _chat_row("user"), _chat_row("assistant"), ("/v1/responses",) * 2,
        {"model": "m"}, Dialect(most_id_chars=64),
    ),
    "cohere": Shape("messages", _chat_row("user"), _chat_row("assistant"), ("/v2/chat",) * 2, {"model": "m"}),
    "openai-responses": Shape(
        "input", _chat_row("user"), _chat_row("assistant"), ("/v1/responses",) * 2, {"model": "m"}
    ),
    "anthropic-messages": Shape(
        "messages", _chat_row("user"), _chat_row("assistant"), ("/v1/messages",) * 2,
        {"model": "m", "max_tokens": 999},
    ),
    "bedrock-converse": Shape(
        "messages",
        lambda text: {"role": "user", "content": [{"text": text}]},
        lambda text: {"role": "assistant", "content": [{"text": text}]},
        ("/model/anthropic.claude/converse", "/model/anthropic.claude/converse-stream"),
    ),
    "gemini-generate": Shape(
        "contents",
        lambda text: {"role": "user", "parts": [{"text": text}]},
        lambda text: {"role": "model", "parts": [{"text": text}]},
        (GEMINI_3 + "generateContent", GEMINI_3 + "streamGenerateContent"),
        dialect=Dialect(signed_calls=SPOKEN["gemini-generate"]["signed_calls"]),
    ),
}  # fmt: skip
WIRES: dict[str, Wire] = dict(wires())
NAMES = {
    "gemini-chat": "openai-chat",
    "openai": "openai-chat",
    "openai, items": "openai-responses",
}
"""The wires of the shapes that are a provider's own form of one."""


@dataclass(frozen=True)
class Defect:
    """Rows that a provider refuses, and what leaves in their place.

    `places`: where in a history they may stand; `current`: what leaves if the user has not spoken
    since, where that differs."""

    wire: str
    name: str
    given: Rows
    left: Rows
    word: str
    places: tuple[str, ...] = ("start", "middle", "end")
    current: Rows | None = None


def _called(name: str, /, **more: Any) -> Row:
    function = {"name": "f", "arguments": "{}"}
    call = {"id": name, "type": "function", "function": function, **more}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _result(name: str, content: Any) -> Row:
    return {"role": "tool", "tool_call_id": name, "content": content}


def _blocks(role: str, /, *blocks: Row) -> Row:
    return {"role": role, "content": list(blocks)}


def _use(name: str = "a") -> Row:
    return {"type": "tool_use", "id": name, "name": "f", "input": {}}


def _used(name: str = "a", **more: Any) -> Row:
    return {"type": "tool_result", "tool_use_id": name, **more}


def _search(name: str = "s") -> Row:
    return {"type": "server_tool_use", "id": name, "name": "web_search", "input": {"q": "x"}}


def _found(name: str = "s", kind: str = "web_search") -> Row:
    return {"type": f"{kind}_tool_result", "tool_use_id": name, "content": []}


_THOUGHT = {"type": "thinking", "thinking": "Hm", "signature": "s"}
_HIDDEN = {"type": "redacted_thinking", "data": "x"}


def _anthropic() -> Iterable[Defect]:
    wire, filler = "anthropic-messages", _text(hints.EMPTY_RESULT)
    saying = _blocks("assistant", _use())
    inside = ("start", "middle")
    blanks: list[tuple[str, Rows, Rows, str]] = [
        ("blank text in a result", [_text(""), _text("x")], [_text("x")], "blank_text_removed"),
        ("nothing but a blank text", [_text(" ")], [filler], "empty_result_filled"),
    ]
    for name, content, left, word in blanks:
        yield Defect(
            wire, name, [saying, _blocks("user", _used(content=content))],
            [saying, _blocks("user", _used(content=left))], word,
        )  # fmt: skip
    failures: list[tuple[str, Row]] = [
        ("an empty failure", {"content": ""}),
        ("a failure without content", {}),
    ]
    for name, given in failures:
        yield Defect(
            wire, name, [saying, _blocks("user", _used(is_error=True, **given))],
            [saying, _blocks("user", _used(is_error=True, content=[filler]))], "empty_result_filled",
        )  # fmt: skip
    yield Defect(
        wire, "an id with other characters",
        [_blocks("assistant", _use("functions.f:0")), _blocks("user", _used("functions.f:0"))],
        [_blocks("assistant", _use("functions_f_0")), _blocks("user", _used("functions_f_0"))],
        "call_ids_renamed",
    )  # fmt: skip
    for kind in ("web_search", "code_execution", "tool_search", "mcp", "advisor"):
        yield Defect(
            wire, f"a result of {kind} without its call",
            [_blocks("assistant", _found(kind=kind), _text("So."))],
            [_blocks("assistant", _text("So."))], "stray_server_result_removed",
        )  # fmt: skip
    yield Defect(
        wire, "two results of a search",
        [_blocks("assistant", _search(), _found(), _found(), _text("So."))],
        [_blocks("assistant", _search(), _found(), _text("So."))], "stray_server_result_removed",
    )  # fmt: skip
    yield Defect(
        wire, "a search without its result",
        [_blocks("assistant", _text("So."), _search())], [_blocks("assistant", _text("So."))],
        "unfinished_server_call_removed", inside,
    )  # fmt: skip
    yield Defect(
        wire, "a blank text beside a call",
        [_blocks("assistant", _text("") | {"cache_control": {"type": "ephemeral"}}, _use()),
         _blocks("user", _used())],
        [saying, _blocks("user", _used())], "blank_text_removed",
    )  # fmt: skip
    yield Defect(
        wire, "thinking that leads to nothing",
        [_blocks("assistant", _THOUGHT, _text("So."), _HIDDEN, _THOUGHT)],
        [_blocks("assistant", _THOUGHT, _text("So."))], "orphaned_reasoning_removed",
    )  # fmt: skip
    yield Defect(
        wire, "nothing but thinking", [_blocks("assistant", _THOUGHT, _text(""))], [],
        "orphaned_reasoning_removed",
    )  # fmt: skip
    ends: list[tuple[str, Row, Row]] = [
        (
            "white space at the end",
            {"role": "assistant", "content": "So: \n"},
            {"role": "assistant", "content": "So:"},
        ),
        (
            "a block with white space at the end",
            _blocks("assistant", _text("So: ")),
            _blocks("assistant", _text("So:")),
        ),
    ]
    for name, said, shown in ends:
        yield Defect(wire, name, [said], [shown], "trailing_space_removed", ("end",))


def _tool_use(name: str = "a", **more: Any) -> Row:
    return _blocks("assistant", {"toolUse": {"toolUseId": name, "name": "f", "input": {}, **more}})


def _tool_result(content: list[Row], name: str = "a", **more: Any) -> Row:
    return _blocks("user", {"toolResult": {"toolUseId": name, "content": content, **more}})


def _converse() -> Iterable[Defect]:
    wire = "bedrock-converse"
    says = {"text": "So."}
    thought = {"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "s"}}}
    search = {"toolUse": {"toolUseId": "s", "name": "x", "type": "server_tool_use", "input": {}}}
    found = {"toolResult": {"toolUseId": "s", "content": [{"text": "x"}], "type": "x"}}
    results: list[tuple[str, Rows, Rows, Row, str]] = [
        (
            "blank text in a result",
            [{"text": ""}, {"json": {}}],
            [{"json": {}}],
            {},
            "blank_text_removed",
        ),
        (
            "nothing but a blank text",
            [{"text": ""}],
            [{"text": hints.EMPTY_RESULT}],
            {},
            "empty_result_filled",
        ),
        (
            "an empty failure",
            [],
            [{"text": hints.ORPHAN_RESULT}],
            {"status": "error"},
            "empty_result_filled",
        ),
    ]
    for name, content, left, more, word in results:
        yield Defect(
            wire, name, [_tool_use(), _tool_result(content, **more)],
            [_tool_use(), _tool_result(left, **more)], word, ("start", "end"),
        )  # fmt: skip
    yield Defect(
        wire, "an id with other characters",
        [_tool_use("functions.f:0"), _tool_result([{"text": "x"}], "functions.f:0")],
        [_tool_use("functions_f_0"), _tool_result([{"text": "x"}], "functions_f_0")],
        "call_ids_renamed", ("start", "end"),
    )  # fmt: skip
    yield Defect(
        wire, "thinking that leads to nothing", [_blocks("assistant", says, thought)],
        [_blocks("assistant", says)], "orphaned_reasoning_removed", ("start", "end"),
    )  # fmt: skip
    yield Defect(
        wire, "a server's result without its call", [_blocks("assistant", found, says)],
        [_blocks("assistant", says)], "stray_server_result_removed", ("start", "end"),
    )  # fmt: skip
    yield Defect(
        wire, "a server's call without its result", [_blocks("assistant", says, search)],
        [_blocks("assistant", says)], "unfinished_server_call_removed", ("start",),
    )  # fmt: skip
    yield Defect(
        wire, "white space at the end", [_blocks("assistant", {"text": "So: "})],
        [_blocks("assistant", {"text": "So:"})], "trailing_space_removed", ("end",),
    )  # fmt: skip


def _chat() -> Iterable[Defect]:
    nothing: tuple[Any, ...] = (None, [])
    for content in nothing:
        yield Defect(
            "openai-chat", f"a result of {content}", [_called("a"), _result("a", content)],
            [_called("a"), _result("a", "")], "empty_result_filled",
        )  # fmt: skip
    yield Defect(
        "openai-chat", "an empty content beside calls",
        [_called("a") | {"content": []}, _result("a", "x")], [_called("a"), _result("a", "x")],
        "empty_content_removed",
    )  # fmt: skip
    for content in (*nothing, "", " ", [_text("")]):
        yield Defect(
            "cohere", f"a result of {content!r}", [_called("a"), _result("a", content)],
            [_called("a"), _result("a", hints.EMPTY_RESULT)], "empty_result_filled",
        )  # fmt: skip
    call = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "a"}
    outputs: list[tuple[str, Row]] = [("of null", {"output": None}), ("without output", {})]
    for name, given in outputs:
        yield Defect(
            "openai-responses", f"a result {name}", [call, output | given],
            [call, output | {"output": ""}], "empty_result_filled",
        )  # fmt: skip
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    yield Defect(
        "openai-responses",
        "reasoning that leads to nothing",
        [thought],
        [],
        "orphaned_reasoning_removed",
    )


def _long_ids() -> Iterable[Defect]:
    one, two = ("x" * 69 + end for end in "ab")
    for wire, most in ("openai", 40), ("openai, items", 64):
        short = ("x" * most, "x" * (most - 4) + "_2")
        given, left = ([_pair(wire, name) for name in names] for names in ((one, two), short))
        yield Defect(
            wire, "ids that are too long", [*given[0], *given[1]], [*left[0], *left[1]],
            "call_ids_renamed",
        )  # fmt: skip


def _pair(wire: str, name: str) -> Rows:
    if wire == "openai":
        return [_called(name), _result(name, "x")]
    call = {"type": "function_call", "call_id": name, "name": "f", "arguments": "{}"}
    return [call, {"type": "function_call_output", "call_id": name, "output": "x"}]


_DUMMY = {"extra_content": {"google": {"thought_signature": STAND_IN}}}
_OWN = {"extra_content": {"google": {"thought_signature": "own"}}}


def _unsigned() -> Iterable[Defect]:
    """Only the turn that is not over yet is checked."""
    done = _result("a", "x")
    step = [_called("a"), done]
    yield Defect(
        "gemini-chat", "a call without a signature", step, step, "missing_signature_filled",
        current=[_called("a", **_DUMMY), done],
    )  # fmt: skip
    beside = {"extra_content": {"google": {"other": 1}, "x": 2}}
    signed = {"extra_content": {"google": {"other": 1, "thought_signature": STAND_IN}, "x": 2}}
    yield Defect(
        "gemini-chat", "a call with other extra content", [_called("a", **beside), done],
        [_called("a", **beside), done], "missing_signature_filled",
        current=[_called("a", **signed), done],
    )  # fmt: skip
    yield Defect(
        "gemini-chat", "one step of two", [_called("a", **_OWN), done, _called("b"), _result("b", "x")],
        [_called("a", **_OWN), done, _called("b"), _result("b", "x")], "missing_signature_filled",
        current=[_called("a", **_OWN), done, _called("b", **_DUMMY), _result("b", "x")],
    )  # fmt: skip
    for call, answer in (
        ("functionCall", "functionResponse"),
        ("function_call", "function_response"),
    ):
        one, two = ({call: {"name": name, "args": {}}} for name in "fg")
        results = [{answer: {"name": name, "response": {}}} for name in "fg"]
        asked: Row = {"role": "user", "parts": results}
        yield Defect(
            "gemini-generate", f"parallel {call} without signatures",
            [{"role": "model", "parts": [one, two]}, asked],
            [{"role": "model", "parts": [one, two]}, asked], "missing_signature_filled",
            current=[{"role": "model", "parts": [one | {"thoughtSignature": STAND_IN}, two]}, asked],
        )  # fmt: skip


DEFECTS = [*_anthropic(), *_converse(), *_chat(), *_long_ids(), *_unsigned()]
PLACED = [(defect, place) for defect in DEFECTS for place in defect.places]


def _around(shape: Shape, rows: Rows, given: Rows, place: str) -> Rows:
    """The rows in a history. Those at the start come right after the first question; what follows
    keeps the roles alternating, as they do around the rows that were given."""
    first, last = shape.asks("One?"), shape.asks("Two?")
    kind = given[-1].get("role", given[-1].get("type"))
    after = [] if kind in ("assistant", "model", "reasoning") else [shape.says("Two.")]
    if place == "end":
        return [first, shape.says("One."), last, *rows]
    if place == "start":
        return [first, *rows, *after, last]
    return [first, shape.says("One."), last, *rows, *after, shape.asks("Three?")]


def _body(shape: Shape, rows: Rows, stream: bool) -> bytes:
    asked = shape.more | {shape.rows: rows}
    if shape.paths[0] == shape.paths[1]:
        asked["stream"] = stream
    return json.dumps(asked).encode()


@pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])
@pytest.mark.parametrize(
    ("defect", "place"), PLACED, ids=[f"{d.wire}-{d.name}-{place}" for d, place in PLACED]
)
@pytest.mark.behaviour("H2", "H3", "H5a", "C7")
def test_what_leaves_in_the_place_of_a_defect(defect: Defect, place: str, stream: bool) -> None:
    shape = SHAPES[defect.wire]
    wire = WIRES[NAMES.get(defect.wire, defect.wire)]
    over = place != "end" and defect.current is not None
    left = defect.left if place != "end" or defect.current is None else defect.current
    body = _body(shape, _around(shape, defect.given, defect.given, place), stream)
    request = wire.request(body, 0, shape.paths[stream], shape.dialect)
    assert request is not None
    made = request.apply((), shape.dialect)
    assert json.loads(made)[shape.rows] == _around(shape, left, defect.given, place)
    assert (defect.word in request.repairs) is not over
    if over:
        assert made is body
    again = wire.request(made, 0, shape.paths[stream], shape.dialect)
    assert again is not None
    assert (again.repairs, again.apply((), shape.dialect)) == ((), made)


ACCEPTED: dict[str, list[Rows]] = {
    "anthropic-messages": [
        [_blocks("assistant", _use()), _blocks("user", _used(content=""))],
        [_blocks("assistant", _use()), _blocks("user", _used(content=[]))],
        [_blocks("assistant", _use()), _blocks("user", _used(is_error=True, content="no"))],
        [_blocks("assistant", _THOUGHT), _blocks("assistant", _text("So."))],
        [_blocks("assistant", _search(), _use()), _blocks("user", _used(content="x")),
         _blocks("assistant", _found(), _text("So."))],
        [_blocks("assistant", _text("So: "), _use()), _blocks("user", _used(content="x"))],
    ],
    "bedrock-converse": [[_tool_use(), _tool_result([])]],
    "openai": [[_called("x" * 40), _result("x" * 40, "x")]],
    "openai-chat": [[_called("x" * 99), _result("x" * 99, "x")], [_called("functions.f:0"), _result("functions.f:0", "")], [_called("a"), _result("a", [_text("")])]],
    "gemini-generate": [
        [{"role": "model", "parts": [{"functionCall": {"name": "f"}, "thoughtSignature": "own"}]},
         {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}],
    ],
    "gemini-chat": [[_called("a", **_OWN), _result("a", "x")]],
}  # fmt: skip


@pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])
@pytest.mark.parametrize("place", ["start", "end"])
@pytest.mark.parametrize(
    ("wire", "rows"), [(wire, rows) for wire, given in ACCEPTED.items() for rows in given]
)
@pytest.mark.behaviour("C7", "P8")
def test_what_a_provider_accepts_keeps_its_bytes(wire, rows, place, stream) -> None:
    shape = SHAPES[wire]
    body = _body(shape, _around(shape, rows, rows, place), stream)
    name = NAMES.get(wire, wire)
    request = WIRES[name].request(body, 0, shape.paths[stream], shape.dialect)
    assert request is not None
    assert request.repairs == ()
    assert request.apply((), shape.dialect) is body


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "gemini-1.5-flash"])
@pytest.mark.behaviour("C7", "P8")
def test_earlier_models_get_no_signature(model) -> None:
    shape = SHAPES["gemini-generate"]
    call = {"role": "model", "parts": [{"functionCall": {"name": "f"}}]}
    result = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}
    body = _body(shape, [shape.asks("One?"), call, result], stream=False)
    path = f"/v1beta/models/{model}:generateContent"
    request = WIRES["gemini-generate"].request(body, 0, path, shape.dialect)
    assert request is not None
    assert request.apply((), shape.dialect) is body
