"""The output limit that each further request carries: on every wire, as body and as stream, for each
way in which an answer is not whole, with no limit of the caller's, a small one, and a large one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.events.by_wire import WIRES
from support.events.framing import Call
from support.every_wire import LIMITS, TOOLS
from support.every_wire import ROWS as OTHER_ROWS
from support.one_turn import drive

import tenuto
from tenuto.turn.drivers.scripted import Script, Scripted, lost

MESSAGES = {"model": "m", "messages": [{"role": "user", "content": "Write it."}]}
CONVERSE = {"messages": [OTHER_ROWS["bedrock-converse"]]}
AMAZON = "https://bedrock-runtime.us-east-1.amazonaws.com/model/"
GOOGLE = "https://generativelanguage.googleapis.com/v1beta"

# wire: where a body and a stream are asked for, what is asked, and the place of the output limit
ASKED: dict[str, tuple[str, str, dict[str, Any], tuple[str, ...]]] = {
    "anthropic-messages": (
        "https://api.anthropic.com/v1/messages",
        "",
        MESSAGES,
        ("max_tokens",),
    ),
    "bedrock-converse": (
        f"{AMAZON}m/converse",
        f"{AMAZON}m/converse-stream",
        CONVERSE,
        ("inferenceConfig", "maxTokens"),
    ),
    "bedrock-invoke": (
        f"{AMAZON}openai.gpt-oss-20b-1:0/invoke",
        f"{AMAZON}openai.gpt-oss-20b-1:0/invoke-with-response-stream",
        {"messages": MESSAGES["messages"]},
        ("max_completion_tokens",),
    ),
    "cohere": ("https://api.cohere.com/v2/chat", "", MESSAGES, ("max_tokens",)),
    "cohere-v1": (
        "https://api.cohere.com/v1/chat",
        "",
        {"model": "m", "message": "Write it."},
        ("max_tokens",),
    ),
    "gemini-generate": (
        f"{GOOGLE}/models/m:generateContent",
        f"{GOOGLE}/models/m:streamGenerateContent?alt=sse",
        {"contents": [OTHER_ROWS["gemini-generate"]]},
        ("generationConfig", "maxOutputTokens"),
    ),
    "gemini-interactions": (
        f"{GOOGLE}/interactions",
        "",
        {"model": "m", "input": "Write it."},
        ("generation_config", "max_output_tokens"),
    ),
    "mistral": ("https://api.mistral.ai/v1/chat/completions", "", MESSAGES, ("max_tokens",)),
    "ollama": ("http://localhost:11434/api/chat", "", MESSAGES, ("options", "num_predict")),
    "openai-chat": (
        "https://api.openai.com/v1/chat/completions",
        "",
        MESSAGES,
        ("max_completion_tokens",),
    ),
    "openai-responses": (
        "https://api.openai.com/v1/responses",
        "",
        {"model": "m", "input": "Write it."},
        ("max_output_tokens",),
    ),
}
ANNOUNCES = {
    "anthropic-messages": "tool_use",
    "bedrock-converse": "tool_use",
    "bedrock-invoke": "tool_calls",
    "cohere": "TOOL_CALL",
    "gemini-interactions": "requires_action",
    "mistral": "tool_calls",
    "openai-chat": "tool_calls",
}
"""The stop that announces a call, where there is one."""
NEEDS_LIMIT = ("anthropic-messages",)
HALF = "Half a sentence that goes on and on and"
NEVER_CAME: dict[str, Call] = {
    "cohere-v1": Call((None,)),
    "gemini-generate": Call((None,)),
    "mistral": Call(("",)),
    "ollama": Call((None,)),
}
"""A call whose arguments never came, where that is not a call without any."""

CASES = ("cut", "drop", "call", "missing call", "empty", "thinking only")
BOOSTED = ("cut", "call")
"""Where the next request asks for twice the caller's limit (C17)."""


def answer_of(wire: str, case: str, *, stream: bool) -> Scripted:
    """An answer that is not whole, as its provider sends it."""
    said, stop = "", None
    calls: tuple[Call, ...] = ()
    if case in ("cut", "drop"):
        said, stop = HALF, LIMITS[wire] if case == "cut" else None
    elif case == "call":
        calls = (NEVER_CAME.get(wire, Call(())),)
    elif case == "missing call":
        stop = ANNOUNCES[wire]
    elif case == "thinking only":
        said = "<think>Only thoughts.</think>"
    made = WIRES[wire]
    if not stream:
        raw = json.dumps(made.body(said, calls, stop)).encode()
        return Scripted.body(raw[:-9], lost()) if case == "drop" else Scripted.body(raw)
    told = made.events(said, calls, stop)
    head = tenuto.sansio.Head(200, ((b"content-type", made.content_type.encode()),))
    if case != "drop":
        return Scripted(head, tuple(made.framed(told)))
    begun = told[: 1 + next(n for n, event in enumerate(told) if HALF in str(event))]
    for candidate in begun[-1].get("candidates", ()):
        del candidate["finishReason"]  # Gemini says it beside the last text
    return Scripted(head, (*made.framed(begun), lost()))


def limits(wire: str, answer: Scripted, limit: int | None, *, stream: bool, **policy: Any) -> Any:
    """The output limit in each request that left, and the turn's report."""
    body_url, stream_url, asked, place = ASKED[wire]
    asked = asked | TOOLS[wire]
    if not stream_url:
        asked = asked | {"stream": stream}
    if limit is not None:
        *outer, key = place
        within = asked
        for name in outer:
            within[name] = dict(within.get(name, {}))
            within = within[name]
        within[key] = limit
    script = Script(answer)
    turn = tenuto.sansio.Turn(
        "POST",
        stream_url if stream and stream_url else body_url,
        [("anthropic-version", "2023-06-01")],
        json.dumps(asked).encode(),
        policy=tenuto.Policy(backoff_s=0.0, **policy),
    )
    drive(turn, script)
    return [_limit_in(json.loads(sent.body), place) for sent in script.transmitted], turn.report


def _limit_in(body: Any, place: tuple[str, ...]) -> Any:
    for name in place:
        body = body.get(name) if isinstance(body, dict) else None
    return body


ALL = [
    pytest.param(wire, case, stream, id=f"{wire}-{'stream' if stream else 'body'}-{case}")
    for wire in ASKED
    for case in CASES
    for stream in (False, True)
    if (wire in ANNOUNCES or case != "missing call")
]


@pytest.mark.behaviour("C4a", "C17")
@pytest.mark.parametrize(("wire", "case", "stream"), ALL)
def test_a_further_request_carries_the_limit_that_what_came_calls_for(
    wire: str, case: str, stream: bool
) -> None:
    answer = answer_of(wire, case, stream=stream)
    for limit in (100, 8_000):
        (first, second, *_), _ = limits(wire, answer, limit, stream=stream)
        assert (first, second) == (limit, limit * 2 if case in BOOSTED else limit)
    if wire in NEEDS_LIMIT:
        return
    asked, report = limits(wire, answer, None, stream=stream)
    assert len(asked) > 1, report
    if case == "cut":
        assert (asked[0], set(asked[1:])) == (None, {4_096})
    else:
        assert set(asked) == {None}, "nobody set a limit, and none cut the answer"
    bounded, report = limits(wire, answer, None, stream=stream, hard_max_tokens=700)
    again = set(report.rungs) == {"send_again"}  # the very same request
    assert bounded[0] is None
    assert set(bounded[1:]) == {None if again else 700}, "the policy's own limit holds"


# --- a provider that obeys the limit ------------------------------------------------------------

WORDS = [f"w{number} " for number in range(16_000)]


class Obeying:
    """A provider of Chat whose words are tokens: it has a limit of its own where the request has
    none, and breaks off each answer after so many words."""

    def __init__(
        self, own: int | None = None, *breaks: int | None, counts: float | None = 1.0
    ) -> None:
        self.asked: list[int | None] = []
        self._own = own
        self._breaks = breaks
        self._counts = counts

    def connect(self, command: tenuto.sansio.SendRequest) -> Any:
        request = json.loads(command.body)
        limit = request.get("max_completion_tokens")
        self.asked.append(limit)
        said = "".join(m["content"] for m in request["messages"] if m["role"] == "assistant")
        at = len(said.split())
        most = limit or self._own or len(WORDS)
        broke = self._breaks[len(self.asked) - 1] if len(self.asked) <= len(self._breaks) else None
        words = WORDS[at : at + min(most, broke or most)]
        text = "".join(words)
        stop = "stop" if at + len(words) == len(WORDS) else "length"
        told: list[Any] = [
            {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
        ]
        if broke is None or broke >= most:
            told.append({"choices": [{"index": 0, "delta": {}, "finish_reason": stop}]})
            if self._counts is not None:
                used = {"prompt_tokens": 9, "completion_tokens": int(len(words) * self._counts)}
                told.append({"choices": [], "usage": used})
        pieces = WIRES["openai-chat"].framed(told)
        end = lost() if broke is not None and broke < most else b"data: [DONE]\n\n"
        return Script(Scripted.stream(*pieces, end)).connect(command)


def asked_of(provider: Obeying, **asked: Any) -> tuple[str, Any]:
    """One turn of this provider: the text that came of it, and the report."""
    url, _, body, _ = ASKED["openai-chat"]
    turn = tenuto.sansio.Turn(
        "POST",
        url,
        [],
        json.dumps(body | {"stream": True} | asked).encode(),
        policy=tenuto.Policy(backoff_s=0.0),
    )
    script: Any = provider
    raw = drive(turn, script).body
    said = [json.loads(line[6:]) for line in raw.splitlines() if line.startswith(b"data: {")]
    deltas = [choice["delta"] for event in said for choice in event["choices"]]
    return "".join(delta.get("content") or "" for delta in deltas), turn.report


@pytest.mark.behaviour("C4a")
@pytest.mark.parametrize(
    ("own", "breaks"),
    [
        (None, (100,)),
        (None, (1, 12_000)),
        (2_048, ()),
        (16, ()),  # what a server sets that nobody told
        (4_096, (100,)),
        (4_096, (None, 1_000)),
    ],
)
@pytest.mark.parametrize("counts", [1.0, 0.0, None])
def test_no_limit_of_ours_ends_a_text_that_nobody_limited(own, breaks, counts) -> None:
    provider = Obeying(own, *breaks, counts=counts)
    text, report = asked_of(provider)
    assert text.split() == [word.strip() for word in WORDS]
    assert report.status == "complete"
    assert all(limit is None or limit >= 4_096 for limit in provider.asked)


@pytest.mark.behaviour("C4", "C4a")
@pytest.mark.parametrize("counts", [1.0, 0.05, 0.0, None])
def test_no_usage_widens_the_budget_of_a_limit(counts) -> None:
    provider = Obeying(counts=counts)
    _, report = asked_of(provider, max_completion_tokens=100)
    first, second, *_ = asked = [limit or 0 for limit in provider.asked]
    assert (first, second) == (100, 200)
    assert sum(asked) <= 400
    assert (report.status, report.reason) == ("partial", "budget_exhausted")


@pytest.mark.behaviour("C4a")
@pytest.mark.parametrize("tokens", [0, 1, 5])
def test_responses_goes_on_with_a_cut_of_a_few_tokens_as_every_wire_does(tokens) -> None:
    """Responses takes no limit below 16, which four times five tokens in all never left."""
    made = WIRES["openai-responses"].body("Half a sentence", (), "incomplete")
    made["incomplete_details"] = {"reason": "max_output_tokens"}
    made["usage"] = {"input_tokens": 9, "output_tokens": tokens, "total_tokens": 9 + tokens}
    answer = Scripted.body(json.dumps(made).encode())
    asked, _ = limits("openai-responses", answer, None, stream=False)
    assert asked[:2] == [None, 4_096]
