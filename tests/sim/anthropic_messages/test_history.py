"""Each rule refuses what breaks it, in the provider's words, and lets pass what does not."""

from __future__ import annotations

from typing import Any

import anthropic
import httpx
import pytest
from support.asking.anthropic_messages import CASES, TOOLS, results_for

from tenuto_sim import Simulator
from tenuto_sim.anthropic_messages.history import PREFILL
from tenuto_sim.anthropic_messages.seals import signature

USER: dict[str, Any] = {"role": "user", "content": "hello"}
THINKING: dict[str, Any] = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
ORPHAN = (
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: {}. "
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)
UNEXPECTED = (
    "messages.{}: unexpected `tool_use_id` found in `tool_result` blocks: {}. Each `tool_result` "
    "block must have a corresponding `tool_use` block in the previous message."
)
EXPECTED_THOUGHT = (
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{}`. When "
    "`thinking` is enabled, a final `assistant` message must start with a thinking block"
)
NOT_EMPTY = (
    "messages.{}: all messages must have non-empty content except for the optional final "
    "assistant message"
)


def says(content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def call(id_: str = "toolu_a", **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": "f", "input": {}} | more


def result(id_: str = "toolu_a", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": "ok"} | more


def search() -> dict[str, Any]:
    return {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}


def found() -> dict[str, Any]:
    return {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}


def thought(value: str = "hm", seal: str | None = None) -> dict[str, Any]:
    return {"type": "thinking", "thinking": value, "signature": seal or signature(value)}


REFUSED: dict[str, tuple[list[Any], str]] = {
    "orphan call at the end": ([USER, says([call()])], ORPHAN.format("toolu_a")),
    "orphan call in the middle": ([USER, says([call()]), USER], ORPHAN.format("toolu_a")),
    "one of two results missing": (
        [USER, says([call(), call("toolu_b")]), user(result())],
        ORPHAN.format("toolu_b"),
    ),
    "text before the result": (
        [USER, says([call()]), user(text("Here."), result())],
        ORPHAN.format("toolu_a"),
    ),
    "result without a call": (
        [USER, says("x"), user(result())],
        UNEXPECTED.format("2.content.0", "toolu_a"),
    ),
    "result in the first message": (
        [user(result())],
        UNEXPECTED.format("0.content.0", "toolu_a"),
    ),
    "result of a call before": (
        [USER, says([call()]), user(result()), says("x"), user(result())],
        UNEXPECTED.format("4.content.0", "toolu_a"),
    ),
    "two results for one call": (
        [USER, says([call()]), user(result(), result())],
        (
            "messages.2.content.1: each tool_use must have a single result. Found multiple "
            "`tool_result` blocks with id: toolu_a"
        ),
    ),
    "two calls with one id": (
        [USER, says([call(), call()]), user(result())],
        "messages.1.content.1: `tool_use` ids must be unique",
    ),
    "id of foreign signs": (
        [USER, says([call("a.b")]), user(result("a.b"))],
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ),
    "input is text": (
        [USER, says([call(input="{}")]), user(result())],
        "messages.1.content.0.tool_use.input: Input should be an object",
    ),
    "call without id": (
        [USER, says([{"type": "tool_use", "name": "f", "input": {}}]), USER],
        "messages.1.content.0.tool_use.id: Field required",
    ),
    "empty text block": (
        [USER, says([text("")]), USER],
        "messages: text content blocks must be non-empty",
    ),
    "blank text block": (
        [USER, says([text(" \n")]), USER],
        "messages: text content blocks must contain non-whitespace text",
    ),
    "blank text": (
        [{"role": "user", "content": "  "}],
        "messages: text content blocks must contain non-whitespace text",
    ),
    "empty user message": ([{"role": "user", "content": ""}], NOT_EMPTY.format(0)),
    "empty assistant message": ([USER, says([]), USER], NOT_EMPTY.format(1)),
    "first is the assistant": (
        [says("x"), USER],
        'messages: first message must use the "user" role',
    ),
    "system as a role": (
        [{"role": "system", "content": "x"}, USER],
        (
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` '
            'parameter, not "system" as an input message role.'
        ),
    ),
    "tool as a role": (
        [USER, {"role": "tool", "content": "x"}],
        "messages.1.role: Input should be 'user' or 'assistant'",
    ),
    "no content": ([{"role": "user"}], "messages.0.content: Field required"),
    "private key": ([USER | {"_note": 1}], "messages.0._note: Extra inputs are not permitted"),
    "key of a stream sent back": (
        [USER, says([call(partial_json="{}")]), user(result())],
        "messages.1.content.0.tool_use.partial_json: Extra inputs are not permitted",
    ),
    "call by the user": (
        [user(call())],
        "messages.0.content.0: `tool_use` blocks can only be in `assistant` messages",
    ),
    "result by the assistant": (
        [USER, says([result()]), USER],
        "messages.1.content.0: `tool_result` blocks can only be in `user` messages",
    ),
    "forged signature": (
        [USER, says([thought(seal="EqForged=="), text("x")]), USER],
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    "edited thought": (
        [USER, says([thought("hm, and more", signature("hm")), text("x")]), USER],
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    "unsigned thought": (
        [USER, says([{"type": "thinking", "thinking": "hm"}, text("x")]), USER],
        "messages.1.content.0.thinking.signature: Field required",
    ),
    "prefill of a late model": ([USER, says("Well")], PREFILL),
    "search without its result, beside an earlier call": (
        [USER, says([search(), call()]), user(result()), says("Done."), USER],
        (
            "messages.3: `web_search` tool use with id `srv_1` was found without a corresponding "
            "`web_search_tool_result` block"
        ),
    ),
    "search without its result": (
        [
            USER,
            says([search()]),
            USER,
        ],
        (
            "messages.1: `web_search` tool use with id `srv_1` was found without a corresponding "
            "`web_search_tool_result` block"
        ),
    ),
}
ACCEPTED: dict[str, list[Any]] = {
    "search beside a call": [USER, says([search(), call()]), user(result())],
    "search that is finished after a call": [
        USER,
        says([search(), call()]),
        user(result()),
        says([found(), text("Done.")]),
        USER,
    ],
    "results first, then text": [USER, says([call()]), user(result(), text("And?"))],
    "results in any order": [
        USER, says([call(), call("toolu_b")]), user(result("toolu_b"), result()),
    ],
    "two users": [USER, USER],
    "results in two messages": [
        USER, says([call(), call("toolu_b")]), user(result()), user(result("toolu_b")),
    ],
    "result without content": [
        USER, says([call()]), user({"type": "tool_result", "tool_use_id": "toolu_a"}),
    ],
    "signed thought": [USER, says([thought(), text("x")]), USER],
    "cache control": [user(text("x") | {"cache_control": {"type": "ephemeral"}})],
    "trailing white space before a user": [USER, says("x \n"), USER],
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_history_that_breaks_a_rule_is_refused_in_the_providers_words(bare, name):
    messages, words = REFUSED[name]
    said = bare.ask(messages)
    assert isinstance(said.error, anthropic.BadRequestError), said.error
    body: Any = said.error.body
    assert body["error"] == {"type": "invalid_request_error", "message": words}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_history_that_breaks_none_is_answered(bare, name):
    assert bare.ask(ACCEPTED[name]).error is None


def refusal_of(bare: Any, messages: list[Any], **more: Any) -> str:
    error = bare.ask(messages, **more).error
    assert isinstance(error, anthropic.BadRequestError), error
    body: Any = error.body
    return str(body["error"]["message"])


# The models that take a prefill are old, and the SDK says so.
old_models = pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")
EARLY: dict[str, Any] = {"model": "claude-sonnet-4-5-20250929"}


@old_models
def test_a_prefill_must_not_end_in_white_space(bare):
    words = "messages: final assistant content cannot end with trailing whitespace"
    assert refusal_of(bare, [USER, says("Well ")], **EARLY) == words
    assert refusal_of(bare, [USER, says([text("Well\n")])], **EARLY) == words
    assert bare.ask([USER, says("Well")], **EARLY).error is None


@old_models
@pytest.mark.parametrize(
    ("model", "taken"),
    [
        ("claude-3-5-sonnet-latest", True), ("claude-3-7-sonnet-20250219", True),
        ("claude-sonnet-4-20250514", True), ("claude-opus-4-1", True),
        ("claude-haiku-4-5", True), ("claude-opus-4-5-20251101", True),
        ("claude-opus-4-6", False), ("claude-sonnet-4-6-20260101", False),
        ("claude-opus-5", False), ("claude-haiku-5-5", False), ("sim", False),
        ("claude-opus-4-5/sim/normal", True), ("claude-opus-4-6/sim/normal", False),
    ],
)  # fmt: skip
def test_the_model_decides_whether_a_prefill_is_taken(bare, model, taken):
    said = bare.ask([USER, says(bare.sim.answer("hello")[:40].rstrip())], model=model)
    assert (said.error is None) == taken
    if taken:
        assert said.text == bare.sim.answer("hello")[40:]


def test_with_thinking_a_loop_of_calls_begins_with_a_thought(bare):
    loop = [USER, says([call()]), user(result())]
    assert refusal_of(bare, loop, **THINKING).startswith(EXPECTED_THOUGHT.format("tool_use"))
    with_text = [USER, says([text("So"), call()]), user(result())]
    assert refusal_of(bare, with_text, **THINKING).startswith(EXPECTED_THOUGHT.format("text"))
    assert bare.ask([USER, says([thought(), call()]), user(result())], **THINKING).error is None
    assert bare.ask([*loop, says("Done."), USER], **THINKING).error is None
    assert bare.ask(loop).error is None


@old_models
def test_with_thinking_a_prefill_is_refused(bare):
    words = refusal_of(bare, [USER, says("Well")], **EARLY, **THINKING)
    assert words.startswith(EXPECTED_THOUGHT.format("text"))


BODIES: dict[str, tuple[dict[str, Any], str]] = {
    "above the ceiling": (
        {"max_tokens": 20480},
        "max_tokens: 20480 > 16384, which is the maximum allowed number of output tokens for sim",
    ),
    "thinking above the limit": (
        THINKING | {"max_tokens": 1024},
        "`max_tokens` must be greater than `thinking.budget_tokens`.",
    ),
    "too little thinking": (
        {"thinking": {"type": "enabled", "budget_tokens": 5}},
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    ),
    "thinking and a forced call": (
        THINKING | {"tools": TOOLS, "tool_choice": {"type": "any"}},
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
    "unknown key": ({"extra_body": {"seed": 7}}, "seed: Extra inputs are not permitted"),
    "key of Chat Completions": (
        {"extra_body": {"max_completion_tokens": 7}},
        "max_completion_tokens: Extra inputs are not permitted",
    ),
    "choice without tools": (
        {"tool_choice": {"type": "auto"}},
        "tool_choice: `tool_choice` may only be specified while providing `tools`.",
    ),
    "tool without schema": (
        {"tools": [{"name": "f"}]},
        "tools.0.custom.input_schema: Field required",
    ),
    "blank stop": (
        {"stop_sequences": [" "]},
        "stop_sequences: each stop sequence must contain non-whitespace",
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_breaks_a_rule_is_refused_in_the_providers_words(bare, name):
    more, words = BODIES[name]
    assert refusal_of(bare, [USER], **more).startswith(words)


def post(sim: Simulator, body: Any, **headers: str) -> tuple[int, str]:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    response = httpx.post(sim.base_url + "/messages", json=body, headers=given)
    return response.status_code, response.json()["error"]["message"]


VERSION = {"anthropic_version": "2023-06-01"}


def test_key_and_version_must_be_given(sim):
    ask = {"model": "sim", "messages": [USER], "max_tokens": 9}
    assert post(sim, ask, **VERSION) == (401, "x-api-key header is required")
    assert post(sim, ask, x_api_key="k") == (400, "anthropic-version: header is required")
    own = VERSION | {"x_api_key": "k", "x_tenuto_usage": "1"}
    assert post(sim, ask, **own) == (400, "x-tenuto-usage: unexpected header")
    bearer = VERSION | {"authorization": "Bearer k"}
    assert post(sim, ask | {"messages": []}, **bearer)[0] == 400


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ([], "The request body is not valid JSON"),
        ({}, "model: Field required"),
        ({"model": "sim"}, "messages: Field required"),
        ({"model": "sim", "messages": "hello"}, "messages: Input should be a valid array"),
        ({"model": "sim", "messages": []}, "messages: at least one message is required"),
        ({"model": "sim", "messages": [USER]}, "max_tokens: Field required"),
        ({"model": "sim", "messages": [USER], "max_tokens": "9"}, "max_tokens: Input should be a"),
    ],
)
def test_a_body_that_lacks_something_is_refused(sim, body, words):
    status, message = post(sim, body, x_api_key="k", **VERSION)
    assert status == 400
    assert message.startswith(words)


@pytest.mark.parametrize("mode", ["body", "stream"])
def test_what_the_provider_said_can_be_sent_back_as_it_is(bare, mode):
    for name in ("think_then_call", "search_cited", "tool_with_text", "think_signed"):
        case = CASES[name]
        said = bare.ask_case(case, mode)
        after = results_for(said) or [USER]
        thinking = THINKING if "think" in name else {}
        again = bare.ask([*said.history, said.message, *after], tools=TOOLS, **thinking)
        assert again.error is None


def test_a_search_result_that_was_edited_is_refused(bare):
    said = bare.ask_case(CASES["search_cited"], "body")
    said.message["content"][1]["content"][0]["url"] = "https://example.com/other"
    words = refusal_of(bare, [*said.history, said.message, USER])
    assert words == "messages.1.content.1: Invalid `encrypted_content` in `search_result` block"


def test_a_lax_simulator_answers_what_a_strict_one_refuses():
    ask = {"model": "sim", "messages": [USER, says([text("")]), user(result())]}
    with Simulator(strict=False) as sim:
        response = httpx.post(sim.base_url + "/messages", json=ask)
    assert response.status_code == 200
