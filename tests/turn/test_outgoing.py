"""Whatever a provider answers, in whatever order: each request that leaves is one that the provider
accepts. Judged by the simulator's own rules, which share no code with the wires."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.replay import anthropic_messages as anthropic
from support.replay import openai_chat as chat

from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import ConnectionLost, Head, Request, SendRequest, encoded
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Scripted, ScriptedUpstream, lost
from tenuto.turn.pipeline.engine import Engine
from tenuto_sim.anthropic_messages.seals import cipher, signature
from tenuto_sim.anthropic_messages.wire import WIRE as ANTHROPIC
from tenuto_sim.openai_chat.wire import WIRE as CHAT
from tenuto_sim.reply import Settings
from tenuto_sim.wire import Wire

CUT = '{"path": "a.tx'
RAW = [
    '{"path": "a.txt", "content": "x"}', CUT, "", "{}", "{path: a}", "[1]", '"{\\"path\\": 1}"',
    "null", "7", '{"path": "a"}}', '{"a": 1, "a": 2}', '{"a": "\\ud83d"}',
]  # fmt: skip
TEXTS = [
    "Half a sen",
    "tence ",
    " \n",
    "\u6771\u4eac",
    "a\n\n",
    "<think>hm</think>",
    "<think>never",
    "",
]
THOUGHT = anthropic.thought("I think.", signature("I think."))
ENDS = [0.0, 0.3, 0.7, 0.97]

_number = itertools.count(1)


@dataclass
class Broken:
    """An answer of which a part arrives; then the connection breaks, or the stream just ends."""

    answer: Any
    part: float = 1.0
    breaks: bool = False

    def scripted(self, asked: Any) -> Scripted:
        answer = self.answer
        if isinstance(answer, anthropic.R):
            # So does the provider: with thinking on a thought comes first, and no id comes twice.
            first = [THOUGHT] if asked.get("thinking", {}).get("type") == "enabled" else []
            answer = replace(answer, says=numbered([*first, *answer.says]))
        reply = answer.reply(asked)
        data = reply.body[: int(len(reply.body) * self.part)]
        type_ = reply.content_type.encode()
        head = Head(reply.status, ((b"content-type", type_), *encoded(reply.headers.items())))
        return Scripted(head, (data, *([lost()] if self.breaks else ())))


def numbered(blocks: Sequence[anthropic.Block]) -> list[anthropic.Block]:
    """The blocks with a new id for each search."""
    made, id_ = [], ""
    for block in blocks:
        if block["type"] == "server_tool_use":
            id_ = f"srvtoolu_{next(_number)}"
        key = {"server_tool_use": "id", "web_search_tool_result": "tool_use_id"}.get(block["type"])
        made.append(block | {key: id_} if key else block)
    return made


@dataclass
class Provider:
    """Answers in this order, the last one for ever, and keeps what it was asked."""

    answers: Sequence[Broken | None]
    asked: list[SendRequest] = field(default_factory=list)

    def connect(self, command: SendRequest) -> ScriptedUpstream | ConnectionLost:
        answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append(command)
        if answer is None:
            return lost()
        return ScriptedUpstream(answer.scripted(json.loads(command.body)))


# --- what a provider may say --------------------------------------------------------------------

parts = st.one_of(st.just(1.0), st.just(1.0), st.sampled_from(ENDS))


def either(made: st.SearchStrategy[Any], errors: Sequence[Any]) -> st.SearchStrategy[Any]:
    """Such answers whole or broken, errors of HTTP, and a connection that is never made."""
    answers = st.builds(Broken, made, parts, st.booleans())
    refused = st.builds(Broken, st.sampled_from(errors))
    return st.lists(
        st.one_of(answers, answers, answers, refused, st.none()), min_size=1, max_size=8
    )


PREFILL = "This model does not support assistant message prefill."
NAMED = "max_tokens: 9000 > 900, which is the maximum allowed number of output tokens"
OVERFLOW = "prompt is too long: 210000 tokens > 200000 maximum"


def errors(refused: Callable[..., Any]) -> list[Any]:
    return [refused(status) for status in (429, 500, 529, 401)] + [
        refused(400, words)
        for words in (PREFILL, NAMED, OVERFLOW, "metadata: Extra inputs are not permitted")
    ]


chat_calls = st.lists(
    st.builds(
        chat.Call,
        name=st.sampled_from(["write_file", "unknown", ""]),
        arguments=st.sampled_from([*RAW, None, {"path": "a"}]),
        id=st.sampled_from(["call_a", "call_b", "", None]),
        type=st.sampled_from(["function", None]),
        index=st.booleans(),
    ),
    max_size=3,
)
CHAT_STOPS = [
    "stop", "length", "tool_calls", "content_filter", "pause_turn", "brand_new", "error", None,
    "stop", "length", "tool_calls",
]  # fmt: skip
chat_answers = either(
    st.builds(
        chat.R,
        text=st.sampled_from(TEXTS),
        stop=st.sampled_from(CHAT_STOPS),
        calls=st.one_of(st.just(()), chat_calls),
        reasoning=st.sampled_from(["", "", "I think. "]),
        tokens=st.sampled_from([1, 60, None]),
    ),
    errors(chat.Refused),
)

FOUND: anthropic.Block = anthropic.found()
FOUND["content"][0]["encrypted_content"] = cipher(FOUND["content"][0]["url"])
CUT_THOUGHT = anthropic.thought("I was cut", "")
blocks = st.lists(
    st.one_of(
        st.sampled_from([text for text in TEXTS if text]).map(anthropic.said),
        st.sampled_from(
            [
                anthropic.said("As is known.", anthropic.CITATION),
                THOUGHT,
                anthropic.thought("", signature("")),
                anthropic.REDACTED,
                anthropic.searching(),  # nothing is found for it
            ]
        ),
        st.just(None),  # a search and what it found
    ),
    max_size=4,
).map(
    lambda some: [
        b for one in some for b in ([anthropic.searching(), FOUND] if one is None else [one])
    ]
)
anthropic_calls = st.lists(
    st.builds(
        anthropic.Call,
        name=st.sampled_from(["write_file", "unknown"]),
        arguments=st.sampled_from(RAW),
        id=st.sampled_from(["toolu_a", "toolu_b", "t\u00f6olu:1", None]),
        index=st.booleans(),
    ),
    max_size=3,
)
ANTHROPIC_STOPS = [
    "end_turn", "max_tokens", "tool_use", "refusal", "brand_new", "model_context_window_exceeded",
    None, "end_turn", "max_tokens", "tool_use",
]  # fmt: skip
AFTERWARDS: list[tuple[str, list[anthropic.Block]]] = [
    ("pause_turn", [anthropic.searching()]),
    ("pause_turn", [anthropic.searching(), FOUND]),
    ("compaction", [{"type": "compaction", "content": "So far."}]),
]
"""What a paused turn ends with: it is sent back as it came."""
anthropic_answers = either(
    st.one_of(
        st.builds(
            anthropic.R,
            says=st.one_of(blocks, blocks.map(lambda said: [*said, CUT_THOUGHT])),
            stop=st.sampled_from(ANTHROPIC_STOPS),
            calls=st.one_of(st.just(()), anthropic_calls),
            tokens=st.sampled_from([1, 60, None]),
        ),
        st.builds(
            lambda says, pause, calls: anthropic.R([*says, *pause[1]], pause[0], calls),
            blocks,
            st.sampled_from(AFTERWARDS),
            st.one_of(st.just(()), anthropic_calls),
        ),
    ),
    errors(anthropic.Refused),
)

policies = st.builds(
    Policy,
    backoff_s=st.just(0.0),
    retry_after_max_s=st.just(0.0),
    empty_retries=st.sampled_from([1, 3]),
    truncated_calls=st.sampled_from(["refuse", "execute_complete"]),
    on_incomplete=st.sampled_from(["stop", "notice", "error"]),
)


# --- what leaves --------------------------------------------------------------------------------


def requests_of(
    wire: Wire, policy: Policy, asked: Any, answers: Sequence[Broken | None]
) -> list[SendRequest]:
    """Every request of the turn."""
    headers = {"x-api-key": "key", "anthropic-version": "2023-06-01", "x-tenuto-tag": "a"}
    body = json.dumps(asked).encode()
    host = "https://api.groq.com" if wire is CHAT else "https://host"
    request = Request("POST", host + wire.path, encoded(headers.items()), body)
    run = Engine(policy).begin(request)
    assert run is not None
    provider = Provider(answers)
    try:
        for _ in Drive(run, provider.connect).pieces():
            pass
    except ConnectionError as error:
        # What the first request met is raised, as without Tenuto (P1c). A note tells of what was
        # tried since.
        noted = any("could not finish" in note for note in getattr(error, "__notes__", ()))
        assert noted or len(provider.asked) == 1
    return provider.asked


def assert_accepted(wire: Wire, prefill: str, asked: Sequence[SendRequest]) -> None:
    for command in asked:
        headers = {k.decode().lower(): v.decode() for k, v in command.headers}
        body = json.loads(command.body)
        found = next(wire.violations(headers, body, Settings(prefill=prefill)), None)
        assert found is None, (found, body["messages"])


histories = st.sampled_from(["asked", "after a result", "left broken"])


@pytest.mark.behaviour("H9", "C10", "H3", "H4")
@pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])
@given(chat_answers, policies, histories, st.booleans(), st.booleans())
@settings(max_examples=60)
def test_chat_accepts_each_request_after_any_answers(
    stream, answers, policy, history, tools, prefill
):
    messages = {
        "asked": [chat.ASK],
        "after a result": chat.AFTER_RESULT,
        "left broken": [*chat.AFTER_RESULT[:-1], chat.ASK | {"_note": "ours"}],
    }[history]
    # The simulator refuses reasoning in a row as Groq does, where this model takes no prefill.
    asked = {"model": "gpt-oss-120b", "messages": messages, "stream": stream, "max_tokens": 100}
    asked |= chat.FILES if tools else {}
    policy = replace(policy, prefill="always" if prefill else "auto")
    sent = requests_of(CHAT, policy, asked, answers)
    assert_accepted(CHAT, "continue" if prefill else "reject", sent)


@pytest.mark.behaviour("H9", "C10", "H3", "H4")
@pytest.mark.parametrize("stream", [False, True], ids=["body", "stream"])
@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-4-8"])
@given(
    anthropic_answers,
    policies,
    st.one_of(histories, st.sampled_from(["searched in vain", "paused"])),
    st.booleans(),
    st.sampled_from([None, "enabled", "adaptive"]),
)
@settings(max_examples=60)
def test_anthropic_accepts_each_request_after_any_answers(
    model, stream, answers, policy, history, tools, thinking
):
    messages = {
        "asked": [anthropic.ASK],
        "after a result": after_result(),
        "left broken": [*after_result()[:-1], anthropic.ASK | {"_note": "ours"}],
        "searched in vain": [*SEARCHING, anthropic.ASK],
        "paused": SEARCHING,
    }[history]
    asked = {"model": model, "messages": messages, "stream": stream, "max_tokens": 4_096}
    asked |= anthropic.FILES if tools else {}
    if thinking:
        budget = {"budget_tokens": 2_048} if thinking == "enabled" else {}
        asked["thinking"] = {"type": thinking, **budget}
    sent = requests_of(ANTHROPIC, policy, asked, answers)
    assert_accepted(ANTHROPIC, "restart", sent)


SEARCHING = [
    anthropic.ASK,
    anthropic.assistant(THOUGHT, anthropic.said("Let me look."), anthropic.searching("srvtoolu_0")),
]
"""An answer that was cut or paused before its search had a result."""


def after_result() -> list[Any]:
    """With the thought that a loop of calls begins with where thinking is on."""
    asked, called, result = anthropic.AFTER_RESULT
    return [asked, called | {"content": [THOUGHT, *called["content"]]}, result]
