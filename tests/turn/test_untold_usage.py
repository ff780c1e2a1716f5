"""The output limit of a continuation where the request sets none, and the provider does not tell
what the cut answer used (C4a): on every wire, as body and as stream."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from examples.wires.tests.at_hand import fixtures
from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted
from tenuto.turn.pipeline.engine import Engine

CHAT = {"messages": [{"role": "user", "content": "Go on."}], "model": "m"}
PROMPT = {"prompt": "Go on.", "model": "m"}
GEMINI = {"contents": [{"role": "user", "parts": [{"text": "Go on."}]}]}
CONVERSE = {"messages": [{"role": "user", "content": [{"text": "Go on."}]}]}

# wire, case, where it is asked, what is asked, and the name of what tells the usage
ROWS: list[tuple[str, str, str, dict[str, Any], str]] = [
    ("openai-chat", "length", "/v1/chat/completions", CHAT, "usage"),
    ("openai-completions", "length", "/v1/completions", PROMPT, "usage"),
    ("openai-responses", "max-output-tokens", "/v1/responses", {"input": "Hi", "model": "m"}, "usage"),
    ("gemini-generate", "max-tokens", "/v1beta/models/m:%s", GEMINI, "usageMetadata"),
    ("bedrock-converse", "max-tokens", "/model/m/converse", CONVERSE, "usage"),
    ("cohere", "max-tokens", "/v2/chat", CHAT, "usage"),
    ("cohere-v1", "max-tokens", "/v1/chat", {"message": "Go on."}, "meta"),
    ("mistral", "length", "/v1/chat/completions", CHAT, "usage"),
    ("ollama", "length", "/api/chat", CHAT, "eval_count"),
    (
        "dashscope",
        "length",
        "/api/v1/services/aigc/text-generation/generation",
        {"model": "m", "input": {"messages": CHAT["messages"]}},
        "usage",
    ),
]  # fmt: skip
PATHS = {
    ("gemini-generate", False): "generateContent",
    ("gemini-generate", True): "streamGenerateContent?alt=sse",
}
TOLD = ("bedrock-converse",)
"""Wires whose streams always tell it, in an event of its own."""

CASES = [
    pytest.param(*row, stream, id=f"{row[0]}-{'stream' if stream else 'body'}")
    for row in ROWS
    for stream in (False, True)
    if row[0] not in TOLD or not stream
]


def without(value: Any, name: str) -> Any:
    """A value of JSON without the members of a name."""
    if isinstance(value, dict):
        return {key: without(item, name) for key, item in value.items() if key != name}
    return [without(item, name) for item in value] if isinstance(value, list) else value


def cut_answer(wire: str, case: str, name: str, *, stream: bool) -> Scripted:
    """A recorded answer that the limit cut, without a word of its usage."""
    if not stream:
        body = json.loads((fixtures(wire) / case / "body.json").read_bytes())
        return Scripted.body(json.dumps(without(body, name)).encode())
    raw = next((fixtures(wire) / f"{case}-stream").glob("stream.*")).read_bytes()

    def told(found: re.Match[bytes]) -> bytes:
        return json.dumps(without(json.loads(found[0]), name)).encode()

    made = re.sub(rb"\{.*\}", told, raw)
    assert f'"{name}"'.encode() not in made
    if wire in ("cohere-v1", "ollama"):
        return Scripted.body(made, headers=((b"content-type", b"application/x-ndjson"),))
    return Scripted.stream(made)


def limits(wire: str, path: str, asked: dict[str, Any], answer: Scripted, **policy: Any) -> Any:
    """The output limit of each request that left."""
    script, body = Script(answer), json.dumps(asked).encode()
    engine = Engine(Policy(**policy))
    engine.speaks = wire
    run = engine.begin(Request("POST", f"https://host{path}", (), body))
    assert run is not None
    list(Drive(run, script.connect).pieces())
    read = [
        engine.read(Request("POST", f"https://host{path}", (), sent.body))
        for sent in script.transmitted
    ]
    return [each and each.parsed.facts.max_tokens for each in read]


@pytest.mark.behaviour("C4a")
@pytest.mark.parametrize(("wire", "case", "path", "asked", "name", "stream"), CASES)
def test_where_nobody_tells_the_limit_of_the_policy_is_taken(
    wire: str, case: str, path: str, asked: dict[str, Any], name: str, stream: bool
) -> None:
    if "%s" in path:
        path %= PATHS[wire, stream]
    elif stream:
        asked = asked | {"stream": True}
    answer = cut_answer(wire, case, name, stream=stream)
    first, second, *_ = limits(wire, path, asked, answer)
    assert (first, second) == (None, 4_096)
    assert limits(wire, path, asked, answer, default_max_tokens=500)[1] == 500


COUNTS = (
    "completion_tokens|output_tokens|candidatesTokenCount|outputTokens|eval_count|generated_tokens"
)
"""The members that count the tokens of an answer."""


def shown(wire: str, path: str, asked: dict[str, Any], *answers: Scripted) -> set[int]:
    """The counts of output tokens that the caller gets for two attempts."""
    engine = Engine(Policy(continuation_max_attempts=1))
    engine.speaks = wire
    run = engine.begin(Request("POST", f"https://host{path}", (), json.dumps(asked).encode()))
    assert run is not None
    script = Script(*answers)
    pieces = Drive(run, script.connect).pieces()
    got = b"".join(piece for piece in pieces if isinstance(piece, bytes))
    assert len(script.transmitted) == 2
    lines = b"\n".join(line for line in got.splitlines() if not line.startswith(b":"))
    return {int(found) for found in re.findall(rf'"(?:{COUNTS})": ?(\d+)'.encode(), lines)}


UNTOLD = ("openai-chat-stream", "openai-completions-stream")
"""Recorded answers that tell no usage."""


@pytest.mark.behaviour("P10", "C19")
@pytest.mark.parametrize(
    ("wire", "case", "path", "asked", "name", "stream"), [c for c in CASES if c.id not in UNTOLD]
)
def test_what_came_of_an_attempt_without_usage_is_shown_as_used(
    wire: str, case: str, path: str, asked: dict[str, Any], name: str, stream: bool
) -> None:
    if "%s" in path:
        path %= PATHS[wire, stream]
    elif stream:
        asked = asked | {"stream": True}
    told = cut_answer(wire, case, "nothing", stream=stream)
    untold = cut_answer(wire, case, name, stream=stream)
    expected = json.loads(
        (fixtures(wire) / (case + "-stream" * stream) / "expect.json").read_bytes()
    )
    each = max(shown(wire, path, asked, told)) // 2
    came = -(-len(expected["text"]) // 4)
    assert max(shown(wire, path, asked, untold, told)) == came + each > each
    assert shown(wire, path, asked, untold) <= {0}  # where nobody told any, none is made up
