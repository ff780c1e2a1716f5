"""What a provider refuses in the rows of a conversation is refused once, not in each turn (H5b, P8c)."""

from __future__ import annotations

import asyncio
import http.server
import itertools
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from support.agent_turns import POLICY
from support.refusals import SHAPES

from tenuto_agent import Agent, Model, RunResult

Row = dict[str, Any]
_number = itertools.count(1)


@dataclass
class Strict:
    """A server that refuses each request for which `refuses` has words, and answers the others."""

    wire: str
    answer: Callable[[Row], Row]
    refuses: Callable[[bytes], str]
    url: str = ""
    taken: list[bytes] = field(default_factory=list)
    refused: list[bytes] = field(default_factory=list)

    def replied(self, body: bytes) -> tuple[int, Row]:
        if words := self.refuses(body):
            self.refused.append(body)
            return 400, SHAPES.get(self.wire, SHAPES["openai-chat"])(words)
        self.taken.append(body)
        return 200, self.answer(json.loads(body))

    def agent(self, **settings: Any) -> Agent:
        """An agent with a model that no other test has taught anything of."""
        model = Model(f"{self.wire}:m{next(_number)}", base_url=self.url, api_key="k")
        return Agent(model, stream=False, policy=POLICY, **settings)


@contextmanager
def served(strict: Strict) -> Iterator[Strict]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status, value = strict.replied(self.rfile.read(int(self.headers["content-length"])))
            raw = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        strict.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield strict
        server.shutdown()


def chat(beside: Row, stop: str = "stop", **message: Any) -> Row:
    said = {"role": "assistant", "content": "It is tide."} | beside | message
    choice = {"index": 0, "message": said, "finish_reason": stop}
    return {"id": "x", "object": "chat.completion", "choices": [choice]}


def thinking(content: list[Row]) -> Row:
    return {"content": [*content, {"type": "text", "text": "It is tide."}]}


CHAT_WORDS = "property '{}' is unsupported"
ANSWERS: dict[str, tuple[str, str, str, Row]] = {
    "openai-chat": ("openai-chat", "reasoning_content", CHAT_WORDS, chat({"reasoning_content": "Hm."})),
    "openai-chat, details": (
        "openai-chat", "reasoning_details", CHAT_WORDS,
        chat({"reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "index": 0}]}),
    ),
    "openai-chat, a signature": (
        "openai-chat", "extra_content", CHAT_WORDS,
        chat({"extra_content": {"google": {"thought_signature": "c2ln"}}}),
    ),
    "mistral": (
        "mistral", "thinking", "Extra inputs are not permitted, field: {}",
        chat(thinking([{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}])),
    ),
    "cohere": (
        "cohere", "thinking", "unknown field: parameter '{}' is not a valid field",
        {"id": "x", "finish_reason": "COMPLETE", "message":
            {"role": "assistant"} | thinking([{"type": "thinking", "thinking": "Hm."}])},
    ),
    "ollama": (
        "ollama", "thinking", "unknown field: {}",
        {"model": "m", "done": True, "done_reason": "stop",
         "message": {"role": "assistant", "content": "It is tide.", "thinking": "Hm."}},
    ),
    "openai-responses": (
        "openai-responses", "encrypted_content", "Unknown parameter: 'input[1].{}'.",
        {"id": "resp_1", "object": "response", "status": "completed", "output": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "enc"},
            {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content":
                [{"type": "output_text", "text": "It is tide.", "annotations": []}]},
        ]},
    ),
    "anthropic-messages": (
        "anthropic-messages", "signature", "messages.1.content.0.{}: Extra inputs are not permitted",
        {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
        | thinking([{"type": "thinking", "thinking": "Hm.", "signature": "s"}]),
    ),
    "bedrock-converse": (
        "bedrock-converse", "reasoningContent", "extraneous key [{}] is not permitted",
        {"stopReason": "end_turn", "output": {"message": {"role": "assistant", "content": [
            {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}},
            {"text": "It is tide."}]}}},
    ),
    "gemini-generate": (
        "gemini-generate", "thoughtSignature", "Unknown name \"{}\" at 'contents[1].parts[0]': Cannot find field.",
        {"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts":
            [{"text": "It is tide.", "thoughtSignature": "c2ln"}]}}]},
    ),
    "gemini-interactions": (
        "gemini-interactions", "signature", "Unknown parameter 'input[1].{}'",
        {"id": "i", "object": "interaction", "status": "completed", "steps": [
            {"type": "thought", "signature": "c2ln"},
            {"type": "model_output", "content": [{"type": "text", "text": "It is tide."}]}]},
    ),
}  # fmt: skip
"""What a wire answers, the member of it that the server refuses in a history, and its words for that."""


def three_turns(agent: Agent) -> list[RunResult]:
    chat = agent.conversation()
    return [chat.run(f"Turn {number}, please.") for number in range(3)]


@pytest.mark.parametrize("words", ["named", "unexplained"])
@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.behaviour("H5b", "P8c")
def test_what_is_refused_in_a_conversation_is_refused_once(name: str, words: str) -> None:
    wire, member, named, answer = ANSWERS[name]
    error = named.format(member) if words == "named" else "Bad request"
    meant = f'"{member}"'.encode()
    strict = Strict(wire, lambda _: answer, lambda body: error if meant in body else "")
    with served(strict), strict.agent() as agent:
        results = three_turns(agent)
    assert [result.status for result in results] == ["complete"] * 3
    assert len(strict.refused) == 1
    assert len(strict.taken) == 3
    assert strict.taken[-1].count(b"It is tide.") == 2


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.behaviour("H5b")
def test_what_is_accepted_goes_back_in_each_turn(name: str) -> None:
    wire, member, _, answer = ANSWERS[name]
    strict = Strict(wire, lambda _: answer, lambda body: "")
    with served(strict), strict.agent() as agent:
        three_turns(agent)
    held = [body.count(f'"{member}"'.encode()) for body in strict.taken]
    assert held[0] == 0
    assert held[2] == 2 * held[1] > 0


@pytest.mark.behaviour("H5b", "P8c")
def test_another_member_and_another_model_are_not_touched_by_a_refusal() -> None:
    given = {"reasoning_content": "Hm.", "extra_content": {"google": {"thought_signature": "s"}}}
    refuses = "property 'reasoning_content' is unsupported"
    strict = Strict(
        "openai-chat", lambda _: chat(given), lambda body: refuses if b"reasoning_c" in body else ""
    )
    with served(strict):
        with strict.agent() as agent:
            three_turns(agent)
        assert strict.taken[-1].count(b"extra_content") == 2
        strict.refuses = lambda body: ""
        with strict.agent() as agent:
            three_turns(agent)
    assert strict.taken[-1].count(b"reasoning_content") == 2


@pytest.mark.behaviour("H5b", "P8c")
def test_what_is_wanted_in_a_conversation_is_wanted_once() -> None:
    """The relay gives reasoning under one name, and wants it back under another."""

    def wants(body: bytes) -> str:
        rows = [row for row in json.loads(body)["messages"] if row["role"] == "assistant"]
        lacks = any("reasoning_content" not in row for row in rows)
        words = "The `reasoning_content` in the thinking mode must be passed back to the API."
        return words if lacks else ""

    strict = Strict("openai-chat", lambda _: chat({"reasoning": "Hm."}), wants)
    with served(strict), strict.agent() as agent:
        results = three_turns(agent)
    assert [result.status for result in results] == ["complete"] * 3
    assert len(strict.refused) == 1
    rows = json.loads(strict.taken[-1])["messages"]
    assert [row["reasoning_content"] for row in rows if row["role"] == "assistant"] == ["Hm."] * 2


@pytest.mark.behaviour("H5b", "T1")
def test_calls_and_their_results_stay_where_a_member_beside_them_is_refused() -> None:
    def answer(asked: Row) -> Row:
        function = {"name": "look", "arguments": '{"at": "the sea"}'}
        made = [{"id": "c1", "type": "function", "function": function}]
        called = asked["messages"][-1]["role"] == "user"
        more = {"content": None, "tool_calls": made} if called else {}
        return chat({"reasoning_content": "Hm."}, "tool_calls" if called else "stop", **more)

    ran: list[str] = []

    def look(at: str) -> str:
        """Look at something."""
        ran.append(at)
        return f"{at} is high"

    refuses = "property 'reasoning_content' is unsupported"
    strict = Strict("openai-chat", answer, lambda body: refuses if b"reasoning_c" in body else "")
    with served(strict), strict.agent(tools=[look]) as agent:
        results = three_turns(agent)
    assert [result.status for result in results] == ["complete"] * 3
    assert ran == ["the sea"] * 3
    assert (len(strict.refused), len(strict.taken)) == (1, 6)
    roles = [row["role"] for row in json.loads(strict.taken[-1])["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant"] * 2 + ["user", "assistant", "tool"]


@pytest.mark.behaviour("H5b")
def test_a_lesson_of_a_cut_answer_holds_for_the_conversation() -> None:
    """The first refusal comes within a turn, in a row that a recovery added."""
    answers = iter(
        [
            chat({"reasoning_content": "Hm."}, "length", content="It is "),
            *[chat({"reasoning_content": "Hm."}, content="tide.")] * 3,
        ]
    )
    refuses = "property 'reasoning_content' is unsupported"
    strict = Strict(
        "openai-chat", lambda _: next(answers), lambda b: refuses if b"reasoning_c" in b else ""
    )
    with served(strict), strict.agent() as agent:
        results = three_turns(agent)
    assert [result.text for result in results] == ["It is tide.", "tide.", "tide."]
    assert (len(strict.refused), len(strict.taken)) == (1, 4)


@pytest.mark.behaviour("H5b")
def test_other_parts_and_calls_stay_where_gemini_s_signatures_are_refused() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
    signed = {"thoughtSignature": "c2ln"}

    def answer(asked: Row) -> Row:
        called = "functionResponse" not in asked["contents"][-1]["parts"][0]
        text = [{"text": "It is tide."} | signed, picture]
        parts = [{"functionCall": {"name": "look", "args": {"at": "it"}}} | signed]
        content = {"role": "model", "parts": parts if called else text}
        return {"candidates": [{"finishReason": "STOP", "content": content}]}

    def look(at: str) -> str:
        """Look at something."""
        return f"{at} is high"

    words = "Unknown name \"thoughtSignature\" at 'contents[1].parts[0]': Cannot find field."
    strict = Strict("gemini-generate", answer, lambda b: words if b"thoughtSig" in b else "")
    with served(strict), strict.agent(tools=[look]) as agent:
        results = three_turns(agent)
    assert [result.status for result in results] == ["complete"] * 3
    assert (len(strict.refused), len(strict.taken)) == (1, 6)
    rows = json.loads(strict.taken[-1])["contents"]
    said = [part for row in rows if row["role"] == "model" for part in row["parts"]]
    call = {"functionCall": {"name": "look", "args": {"at": "it"}}}
    assert said == [call, {"text": "It is tide."}, picture] * 2 + [call]


@pytest.mark.behaviour("H5b", "P8c")
def test_a_lesson_holds_for_turns_of_each_kind_and_loop() -> None:
    """Outside of an `async with`, each async turn has an HTTP client of its own."""
    refuses = "property 'reasoning_content' is unsupported"
    answer = chat({"reasoning_content": "Hm."})
    strict = Strict(
        "openai-chat", lambda _: answer, lambda body: refuses if b"reasoning_c" in body else ""
    )
    with served(strict), strict.agent() as agent:
        conversation = agent.conversation()
        for number in range(3):
            asyncio.run(conversation.arun(f"Turn {number}, please."))
        conversation.run("Turn 3, please.")
        assert (len(strict.refused), len(strict.taken)) == (1, 4)
