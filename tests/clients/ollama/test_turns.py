"""Turns of ollama-python, wrapped: what leaves on the wire, and what its user is given."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import ollama
import pytest
from support.asking.ollama import CASES, TOOLS, OllamaAsker, WrappedOllama
from support.asking.wrapping import QUICK, is_right
from support.far_sides import FarSide, answer, json_answer

import tenuto
from tenuto.core import hints
from tenuto_sim import Simulator

Make = Callable[..., WrappedOllama]
ROWS = [{"role": "user", "content": "Tell me."}]


def bodies(sim: Simulator) -> list[Any]:
    return [request.json for request in sim.requests]


@pytest.mark.behaviour("C1", "C17", "C19")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_a_cut_text_is_continued_with_a_hint_and_a_larger_limit(
    wrapped: Make, sim: Simulator, mode: str, way: str
) -> None:
    asker = wrapped()
    case = CASES["length_once"]
    said = asker.ask_case(case, mode, way, options={"num_predict": 300, "seed": 7})
    assert is_right(asker, said, case)
    assert said.stop == "stop"
    first, second = bodies(sim)
    assert second["options"] == {"num_predict": 600, "seed": 7}
    rows = second["messages"][len(first["messages"]) :]
    assert [row["role"] for row in rows] == ["assistant", "user"]
    assert rows[1]["content"] == hints.CONTINUE
    spent = sim.spent(said.prompt)
    assert said.usage["output"] == spent.output_tokens
    assert said.usage["input"] == sim.requests[0].input_tokens


@pytest.mark.behaviour("C7", "C14a")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_a_model_whose_prompt_the_server_writes_goes_on_by_itself(
    wrapped: Make, sim: Simulator, mode: str, way: str
) -> None:
    asker = wrapped()
    case = CASES["length_twice"]
    said = asker.ask_case(case, mode, way, model=f"qwen3:14b/sim/{case.name}")
    assert is_right(asker, said, case)
    assert [body["messages"][-1]["role"] for body in bodies(sim)] == [
        "user", "assistant", "assistant"
    ]  # fmt: skip


@pytest.mark.behaviour("P8", "C25")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_what_needs_nothing_is_one_request_with_the_very_same_bytes(
    wrapped: Make, sim: Simulator, mode: str, way: str
) -> None:
    asker = wrapped()
    given = {"model": "sim", "think": True, "keep_alive": "5m", "tools": TOOLS}
    said = asker.ask([{"role": "user", "content": "Hi"}], mode, way, **given)
    bare = OllamaAsker(sim)
    before = bare.ask([{"role": "user", "content": "Hi"}], mode, way, **given)
    bare.close()
    sent = [request.body for request in sim.requests]
    assert sent[0] == sent[1]
    assert len(sent) == 2
    assert (said.text, said.thinking, said.stop) == (before.text, before.thinking, "stop")


@pytest.mark.behaviour("C25", "E10")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_loading_a_model_is_no_turn(wrapped: Make, sim: Simulator, mode: str) -> None:
    asker = wrapped()
    said = asker.ask([], mode)
    assert (said.text, said.stop, said.error) == ("", "load", None)
    assert len(sim.requests) == 1
    assert asker.events == []


@pytest.mark.behaviour("T14", "T5")
def test_a_call_that_the_server_cannot_parse_is_asked_for_again(
    wrapped: Make, sim: Simulator, way: str
) -> None:
    asker = wrapped()
    for name, mode in (("cut_call_error", "body"), ("cut_call_error_mid_text", "stream")):
        said = asker.ask_case(CASES[name], mode, way)
        assert said.error is None
        assert is_right(asker, said, CASES[name])
        assert bodies(sim)[-1]["messages"][-1]["content"] == hints.REPAIR_CALL


@pytest.mark.behaviour("P1a")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_our_errors_are_the_sdks_own_and_say_what_to_do(wrapped: Make, mode: str, way: str) -> None:
    asker = wrapped()
    error: Any = asker.ask_case(CASES["empty_always"], mode, way).error
    assert isinstance(error, ollama.ResponseError)
    assert error.error.startswith("Tenuto could not finish this turn")
    assert error.status_code == (424 if mode == "body" else -1)


@pytest.mark.behaviour("C21")
@pytest.mark.parametrize("mode", ["body", "stream"])
def test_a_notice_is_shown_behind_what_stays_unfinished(wrapped: Make, mode: str) -> None:
    said = wrapped(on_incomplete="notice").ask_case(CASES["length_always"], mode)
    assert said.text.endswith(hints.NOTICE.format(reason="retry limit"))
    assert said.stop == "length"


def test_wrapping_twice_is_wrapping_once_and_leaves_the_original_as_it_is() -> None:
    for made in (ollama.Client(), ollama.AsyncClient()):
        before: Any = made
        http = before._client
        wrapped = tenuto.wrap(before)
        assert type(wrapped) is type(before)
        assert tenuto.wrap(wrapped) is wrapped
        assert before._client is http
        assert wrapped._client is not http


# --- odd bytes -----------------------------------------------------------------------------------


def line(text: str, stop: str | None = None, **more: Any) -> bytes:
    value: dict[str, Any] = {"model": "m", "created_at": "2026-11-22T10:00:00Z"}
    value |= {"message": {"role": "assistant", "content": text, **more}, "done": stop is not None}
    if stop:
        value |= {"done_reason": stop, "prompt_eval_count": 3, "eval_count": 5}
    return json.dumps(value).encode() + b"\n"


ENDS = "\x85, \u2028 and \u2029 end no line"
"""To the SDK they do, wherever they stand unescaped: it reads lines as `str.splitlines` does."""


@pytest.mark.behaviour("S2", "P8")
def test_a_text_that_ends_lines_for_the_sdk_reaches_it_in_one() -> None:
    call = {"function": {"name": TOOLS[0]["function"]["name"], "arguments": {"path": ENDS}}}
    first = stream(line("Now: "), line("", "length"))
    raw = line(ENDS).decode("unicode_escape").encode()  # as Go writes some of them
    rest = stream(line("", thinking=ENDS), raw, line("", tool_calls=[call]), line("", "stop"))
    with FarSide(first, rest) as far:
        parts = list(client_of(far).chat("m", ROWS, stream=True))
    assert "".join(part.message.content for part in parts) == f"Now: {ENDS}"
    assert parts[1].message.thinking == ENDS
    assert parts[-2].message.tool_calls[0].function.arguments == {"path": ENDS}
    with FarSide(stream(raw, line("", "stop"))) as far:
        assert next(iter(client_of(far).chat("m", ROWS, stream=True))).message.content == ENDS


LINES = {
    "whole": [(line("The tide is"), line(" high."), line("", "stop"))],
    "cut by the limit": [(line("The tide"), line("", "length")), (line(" is high.", "stop"),)],
    "broken off in a line": [(line("The tide"), line(" is")[:-9]), (line(" is high.", "stop"),)],
    "broken off behind one": [(line("The tide is"),), (line(" high."), line("", "stop"))],
    "ended in an error": [(line("The tide"), b'{"error":"no"}\n'), (line(" is high.", "stop"),)],
}


@pytest.mark.behaviour("N6", "C1", "S3")
@pytest.mark.parametrize("answers", LINES.values(), ids=LINES)
def test_lines_that_come_where_a_body_was_asked_for_are_one(answers: Any) -> None:
    with FarSide(*(stream(*lines) for lines in answers)) as far:
        said = client_of(far).chat("m", ROWS)
        assert len(far.requests) == len(answers)
    assert (said.message.content, said.done, said.done_reason) == (
        "The tide is high.",
        True,
        "stop",
    )


@pytest.mark.behaviour("C19", "N6")
def test_what_stands_beside_the_words_is_that_of_all_attempts() -> None:
    first = line("The tide is", "length", images=["a"], sources=[1], mood="fine")
    with FarSide(json_answer(first), json_answer(line(" high.", "stop", images=["b"]))) as far:
        http = client_of(far)._client
        asked = {"model": "m", "messages": ROWS, "stream": False}
        message = http.post("/api/chat", json=asked).json()["message"]
    told = {"role": "assistant", "content": "The tide is high.", "images": ["a", "b"]}
    assert message == told | {"sources": [1], "mood": "fine"}


# --- /api/generate -------------------------------------------------------------------------------


def told(text: str, stop: str | None = None, **more: Any) -> bytes:
    value: dict[str, Any] = {"model": "m", "created_at": "2026-11-22T10:00:00Z", "response": text}
    value |= {"done": stop is not None} | more
    if stop:
        value |= {"done_reason": stop, "context": [1, 2], "prompt_eval_count": 3, "eval_count": 5}
    return json.dumps(value).encode() + b"\n"


def stream(*lines: bytes) -> bytes:
    return answer(b"".join(lines), "content-type: application/x-ndjson", length=False)


def client_of(far: FarSide) -> Any:
    bare: Any = ollama.Client(host=far.base_url.removesuffix("/v1"))
    return tenuto.wrap(bare, policy=tenuto.Policy(**QUICK))


def prompts(far: FarSide) -> Iterator[str]:
    return (json.loads(body)["prompt"] for _, body in far.requests)


@pytest.mark.behaviour("C1", "C19")
def test_a_cut_answer_to_a_prompt_is_continued() -> None:
    whole = json_answer(told("The tide is", "length")), json_answer(told(" high.", "stop"))
    with FarSide(*whole) as far:
        said = client_of(far).generate("m", "Tell me.")
        assert (said.response, said.done_reason) == ("The tide is high.", "stop")
        assert (said.prompt_eval_count, said.eval_count, said.context) == (3, 10, None)
        first, second = prompts(far)
        assert second == f"{first}\n\nThe tide is\n\n{hints.CONTINUE}"


@pytest.mark.behaviour("C8", "C14a")
def test_a_raw_prompt_is_gone_on_with_and_loses_nothing_that_is_said_again() -> None:
    said, rest = "All hands.\nRow the boat down the river,", "\nRow the boat down the river, Joe."
    with FarSide(json_answer(told(said, "length")), json_answer(told(rest, "stop"))) as far:
        whole = client_of(far).generate("m", "A song:\n", raw=True)
        assert list(prompts(far)) == ["A song:\n", f"A song:\n{said}"]
    assert whole.response == said + rest


@pytest.mark.behaviour("C1", "S2")
def test_a_cut_stream_of_answers_to_a_prompt_is_one_stream() -> None:
    first = stream(told("", thinking="Hm."), told("The tide"), told(" is"), told("", "length"))
    rest = stream(told("", thinking="On."), told(" high."), told("", "stop"))
    with FarSide(first, rest) as far:
        parts = list(client_of(far).generate("m", "Tell me.", stream=True))
    assert "".join(part.response or "" for part in parts) == "The tide is high."
    assert [part.done for part in parts].count(True) == 1
    assert parts[-1].done_reason == "stop"
    assert parts[-1].context is None
    assert "".join(part.thinking or "" for part in parts) == "Hm.On."


@pytest.mark.behaviour("C25")
def test_a_whole_answer_to_a_prompt_keeps_its_context() -> None:
    with FarSide(json_answer(told("High.", "stop"))) as far:
        said = client_of(far).generate("m", "Tell me.")
        assert list(said.context) == [1, 2]
        assert len(far.requests) == 1


def lines_of(*lines: dict[str, Any]) -> bytes:
    shared = {"model": "m", "created_at": "2026-11-22T10:00:00Z"}
    return b"".join(json.dumps({**shared, **line}).encode() + b"\n" for line in lines)


def asks(far: FarSide, events: list[tenuto.Event] | None = None) -> Any:
    bare = ollama.Client(host=far.base_url.removesuffix("/v1"))
    return tenuto.wrap(bare, on_event=events.append if events is not None else None)


@pytest.mark.behaviour("N1a")
@pytest.mark.parametrize("stream", [True, False])
def test_whole_calls_before_an_end_without_a_reason_are_handed_on(stream: bool) -> None:
    call = {"function": {"name": "write_file", "arguments": {"path": "a.txt", "content": "x"}}}
    said = {"message": {"role": "assistant", "content": "", "tool_calls": [call]}}
    end = {"message": {"role": "assistant", "content": ""}, "done": True}
    sent = lines_of({**said, "done": False}, end) if stream else lines_of({**said, "done": True})
    events: list[tenuto.Event] = []
    with FarSide(answer(sent, "content-type: application/x-ndjson", length=False)) as far:
        made: Any = asks(far, events).chat(model="m", messages=ROWS, tools=TOOLS, stream=stream)
        calls = [c for part in (made if stream else [made]) for c in part.message.tool_calls or ()]
        assert [c.function.arguments for c in calls] == [{"path": "a.txt", "content": "x"}]
        assert len(far.requests) == 1
    seen = next(event.data for event in events if event.name == "stop_reason_observed")
    assert (seen["reason"], seen["confidence"], seen["anomalies"]) == (
        "tool_call",
        "medium",
        ["no_stop"],
    )


@pytest.mark.behaviour("H2")
def test_a_result_behind_a_row_of_the_user_is_no_missing_one() -> None:
    call = {"function": {"name": "f", "arguments": {}}}
    rows = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "user", "content": "And?"},
        {"role": "tool", "content": "42", "tool_name": "f"},
    ]
    with FarSide(
        json_answer(
            lines_of(
                {
                    "message": {"role": "assistant", "content": "Hi"},
                    "done": True,
                    "done_reason": "stop",
                }
            )
        )
    ) as far:
        asks(far).chat(model="m", messages=[*ROWS, *rows])
        sent = json.loads(far.requests[0][1])["messages"]
    assert [(row["role"], row.get("content", "")) for row in sent[1:]] == [
        ("assistant", ""),
        ("tool", "42"),
        ("user", "And?"),
    ]
