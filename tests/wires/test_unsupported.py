"""What goes of a request when a provider refuses it by name, place by place (H5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenuto.wires.dialect import Dialect
from tenuto.wires.unsupported import KEYS, Unsupported

USER = {"role": "user", "content": "Hi"}
SAID = {"role": "assistant", "content": "Yes"}
FUNCTION = {"name": "f", "parameters": {"type": "object", "properties": {"user": {"seed": 1}}}}


def left(
    body: dict[str, Any],
    *keys: str,
    opted: tuple[str, ...] = (),
    wire: str = "openai-chat",
    dialect: Dialect = Dialect("openai"),  # noqa: B008 - frozen
    own: dict[str, Any] | None = None,
) -> Any:
    """The body without the keys; None where nothing may go."""
    raw = json.dumps(body).encode()
    asked = raw if own is None else json.dumps(own).encode()
    rules = Unsupported(wire, dialect, frozenset(opted), asked)
    return json.loads(rules.without(raw, keys)) if rules.may_go(raw, keys) is not None else None


def chat(*rows: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [USER, *rows]} | members


GOES: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    (chat(user="me", seed=1), "user", chat(seed=1)),
    (
        chat(stream_options={"include_usage": True, "x": 1}),
        "stream_options.include_usage",
        chat(stream_options={"x": 1}),
    ),
    (chat(stream_options={"include_usage": True}), "include_usage", chat()),
    (
        chat(stream_options={"include_usage": True, "include_obfuscation": False}),
        "stream_options",
        chat(),
    ),
    (chat(SAID | {"refusal": None}), "messages[1].refusal", chat(SAID)),
    (chat(SAID | {"annotations": []}), "messages.1.assistant.annotations", chat(SAID)),
    (chat(SAID | {"audio": None}), "audio", chat(SAID)),
    (chat(SAID | {"function_call": None}), "body.messages.1.function_call", chat(SAID)),
    (chat(SAID | {"reasoning": "…"}, SAID | {"reasoning": "x"}), "reasoning", chat(SAID, SAID)),
    (chat(SAID | {"reasoning_content": "…"}), "reasoning_content", chat(SAID)),
    (
        chat(
            {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"a": 1}}]}
        ),
        "messages.1.content.0.text.cache_control",
        chat({"role": "user", "content": [{"type": "text", "text": "x"}]}),
    ),
    (
        chat(tools=[{"type": "function", "function": FUNCTION | {"strict": False}}]),
        "tools[0].function.strict",
        chat(tools=[{"type": "function", "function": FUNCTION}]),
    ),
    (chat(temperature=1, top_p=1.0), "temperature", chat(top_p=1.0)),
    (chat(metadata={"a": "b"}), "metadata", chat()),
    (chat(store=False), "store", chat()),
    # An output limit is a cap on cost: it moves to its other name.
    (chat(max_tokens=9), "max_tokens", chat(max_completion_tokens=9)),
    (chat(max_completion_tokens=9), "max_completion_tokens", chat(max_tokens=9)),
]
STAYS: list[tuple[dict[str, Any], str]] = [
    (chat(safety_identifier="me"), "safety_identifier"),
    (chat(stream_options={"include_usage": True, "x": 1}), "stream_options"),
    (chat(SAID | {"refusal": "No."}), "messages[1].refusal"),
    (chat(SAID | {"reasoning_details": []}), "messages[1].reasoning_details"),
    (chat(USER | {"annotations": []}), "messages[1].annotations"),
    (chat(reasoning={"effort": "low"}), "reasoning"),
    (chat(tools=[{"type": "function", "function": FUNCTION | {"strict": True}}]), "strict"),
    (chat(tools=[{"type": "function", "function": FUNCTION}]), "tools[0].function.parameters.user"),
    (chat(n=True), "n"),
    (chat(logprobs=0), "logprobs"),
    (chat(parallel_tool_calls=1), "parallel_tool_calls"),
    (chat(response_format={"type": "json_object"}), "response_format"),
    (chat({"role": "assistant", "content": None, "tool_calls": []}), "messages[1].content"),
    (chat(user="me"), "messages"),
    (chat(user="me"), "absent"),
    (chat(user="me"), ""),
    (chat(user="me"), "."),
]


@pytest.mark.behaviour("H5")
@pytest.mark.parametrize(("body", "key", "then"), GOES, ids=lambda v: v if type(v) is str else "")
def test_what_the_table_names_goes_from_its_place_and_no_other(body, key, then) -> None:
    assert left(body, key) == then
    assert left(then, key) is None, "it can be left out once"


@pytest.mark.behaviour("H5")
@pytest.mark.parametrize(("body", "key"), STAYS, ids=lambda v: v if type(v) is str else "")
def test_another_place_or_value_stays(body, key) -> None:
    assert left(body, key) is None


@pytest.mark.behaviour("H5")
def test_nothing_goes_where_one_of_the_named_keys_may_not() -> None:
    assert left(chat(user="me", seed=1), "user", "seed") is None
    assert left(chat(user="me", prompt_cache_key="k"), "user", "prompt_cache_key") == chat()
    assert left(chat(max_tokens=9), "max_tokens", "max_completion_tokens") is None


@pytest.mark.behaviour("H5", "C20")
def test_reasoning_that_a_provider_wants_back_stays() -> None:
    body = chat(SAID | {"reasoning_content": "…"})
    wants = Dialect("deepseek", reasoning_key="reasoning_content")
    assert left(body, "reasoning_content", dialect=wants) is None


@pytest.mark.behaviour("H5")
def test_what_is_a_hint_or_a_default_with_one_is_none_with_another() -> None:
    assert left({"input": [USER], "metadata": {}}, "metadata", wire="openai-responses") is None
    assert left({"input": [USER], "store": False}, "store", wire="openai-responses") is None
    for name in ("mistral", "gemini", "unknown"):
        assert left(chat(temperature=1), "temperature", dialect=Dialect(name)) is None
    assert left(chat(temperature=0.2), "temperature") is None


@pytest.mark.behaviour("H5")
@pytest.mark.parametrize(
    ("body", "key", "opted", "then"),
    [
        ({"input": [USER | {"x": 1}, USER | {"x": 2}]}, "input[0].x", "x", {"input": [USER, USER]}),
        (
            {"contents": [], "generationConfig": {"seed": 1, "topK": 2}},
            "seed",
            "seed",
            {"contents": [], "generationConfig": {"topK": 2}},
        ),
        (
            {"additionalModelRequestFields": {"top_k": 2}, "performanceConfig": {}},
            "performanceConfig",
            "performanceConfig",
            {"additionalModelRequestFields": {"top_k": 2}},
        ),
        (
            {"inputs": "Hi", "parameters": {"top_p": 0.9}},
            "parameters.top_p",
            "top_p",
            {"inputs": "Hi", "parameters": {}},
        ),
        (
            chat(tools=[{"function": FUNCTION | {"strict": True}}, {"function": FUNCTION}]),
            "strict",
            "tools.function.strict",
            chat(tools=[{"function": FUNCTION}, {"function": FUNCTION}]),
        ),
        (
            {"contents": [{"parts": [{"functionCall": {"name": "f", "args": {"note": 1}}}]}], "note": 2},
            "note",
            "note",
            {"contents": [{"parts": [{"functionCall": {"name": "f", "args": {"note": 1}}}]}]},
        ),
    ],
)  # fmt: skip
def test_a_name_that_the_policy_adds_goes_wherever_it_stands_but_in_the_callers_words(
    body, key, opted, then
) -> None:
    assert left(body, key) is None
    assert left(body, key, opted=(opted,)) == then


@pytest.mark.behaviour("H5")
def test_what_we_added_may_go_and_is_not_told_as_the_callers() -> None:
    own, sent = chat(), chat(SAID | {"prefix": True}, continue_final_message=True)
    assert left(sent, "continue_final_message", own=own) == chat(SAID | {"prefix": True})
    rules = Unsupported("openai-chat", Dialect(), frozenset(), json.dumps(own).encode())
    assert rules.may_go(json.dumps(sent).encode(), ["prefix"]) == ()
    assert left(sent, "messages[1].content", own=own) is None


@pytest.mark.behaviour("H5", "N6", "C7")
@pytest.mark.parametrize(
    "raw",
    [b'{"user": "me", "n": 1.0, "big": 12345678901234567890123, "huge": 1e400}', b'{"user":"\\ud800"}',
     b'{"user":1,"messages":[{"content":"\\ud800"}]}', b"[]", b"5", b"", b"{"],
)  # fmt: skip
def test_all_else_keeps_its_bytes_and_what_cannot_be_read_stays(raw: bytes) -> None:
    rules = Unsupported("openai-chat", Dialect(), frozenset(), raw)
    kept = rules.without(raw, ["user"])
    whole = b'{"n":1.0,"big":12345678901234567890123,"huge":1e400}'
    assert kept in (raw, whole, b"{}", b'{"messages":[{"content":"\\ud800"}]}')
    assert (kept == whole) is (b"huge" in raw)


def test_every_row_says_what_it_is_in_words() -> None:
    for row in KEYS:
        assert row.places
        assert row.values.words
        assert row.why
