"""Where one model fails another is asked, whatever wire it speaks (P4)."""

import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest
from agent.simulated import QUICK, WIRES, agent, model

from tenuto.core.errors import AgentError
from tenuto_agent import Agent, Conversation, Model
from tenuto_agent.events import Said, Switched
from tenuto_agent.transcript import Assistant, Results
from tenuto_sim import Simulator

PROMPT = "How are tides made?"
THREE = ("anthropic-messages", "openai-chat", "gemini-generate")


@pytest.fixture(scope="module")
def sim() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


def switches(chat: Conversation, prompt: str = "How are tides made?") -> list[tuple[str, str]]:
    told = chat.stream(prompt)
    return [(event.model, event.why) for event in told if isinstance(event, Switched)]


@pytest.mark.behaviour("P4", "H9", "H2", "T13")
def test_a_conversation_with_calls_moves_from_every_wire_to_every_other(sim: Simulator) -> None:
    agents = {wire: agent(model(sim, wire)) for wire in WIRES}
    begun = {wire: each.conversation() for wire, each in agents.items()}
    assert all(chat.run("How are tides made?").ok for chat in begun.values())
    asked = len(sim.requests)
    for first in WIRES:
        rows = begun[first].rows
        assert [type(row) for row in rows[1:3]] == [Assistant, Results]
        for second in WIRES:
            # Ids that come again, as some servers give them, are refused by others.
            chat = agents[second].conversation((*rows, *begun[second].rows, *rows))
            result = chat.run("And again?")
            assert (result.status, result.steps) == ("complete", 2), (first, second, result)
    refused = [request.path for request in sim.requests[asked:] if request.status != 200]
    assert refused == []
    for each in agents.values():
        each.close()


@pytest.mark.behaviour("P4")
@pytest.mark.parametrize("stream", [True, False])
def test_a_turn_goes_on_in_its_middle_with_other_models_and_back(
    sim: Simulator, stream: bool
) -> None:
    headers = [{"x-sim-fault": "tool"} for _ in THREE]
    pairs = zip(THREE, headers, strict=True)
    models = [model(sim, wire, headers=header) for wire, header in pairs]
    with agent(*models, stream=stream) as asked:
        chat = asked.conversation()
        for event in chat.stream("How are tides made?"):
            if type(event).__name__ == "Returned":  # with the calls of the first in the history
                headers[0]["x-sim-fault"] = "context_length_400"
                headers[1]["x-sim-fault"] = "context_length_400"
        assert chat.result is not None
        assert chat.result.status == "complete"
        wires = [row.wire for row in chat.rows if isinstance(row, Assistant)]
        assert wires == ["anthropic-messages", "gemini-generate"]
        headers[0]["x-sim-fault"] = "tool"
        before = len(sim.requests)
        assert switches(chat, "And the moon?") == []  # the first one is asked again
        assert {request.path for request in sim.requests[before:]} == {"/v1/messages"}
        assert chat.result is not None
        assert chat.result.status == "complete"


@pytest.mark.behaviour("P4", "P5")
@pytest.mark.parametrize("case", ["http_503_always", "context_length_400"])
def test_a_provider_that_fails_passes_on_to_the_next(sim: Simulator, case: str) -> None:
    models = [model(sim, wire, case) for wire in ("openai-chat", "mistral")]
    with agent(*models, model(sim, "ollama", "normal")) as asked:
        chat = asked.conversation()
        assert [name for name, _ in switches(chat)] == ["mistral:m", "ollama:m"]
        assert chat.result is not None
        assert chat.result.ok


@pytest.mark.behaviour("P4", "P5")
def test_a_model_that_cannot_be_reached_passes_on_to_the_next(sim: Simulator) -> None:
    nowhere = Model("openai-chat:m", base_url="http://127.0.0.1:9/v1")
    with agent(nowhere, model(sim, "cohere", "normal")) as asked:
        chat = asked.conversation()
        assert switches(chat) == [("cohere:m", "connection")]
        assert chat.result is not None
        assert chat.result.ok


@pytest.mark.behaviour("P4", "E5", "E12")
@pytest.mark.parametrize(
    ("case", "why"), [("empty_always", "empty_output"), ("refusal", "refused")]
)
def test_what_the_models_say_is_asked_of_one_other_only(
    sim: Simulator, case: str, why: str
) -> None:
    models = [model(sim, wire, case) for wire in ("openai-chat", "mistral", "anthropic-messages")]
    with agent(*models) as asked:
        chat = asked.conversation()
        assert switches(chat) == [("mistral:m", why)]
        assert chat.result is not None
        assert (chat.result.status, chat.result.reason) == ("failed", why)


@pytest.mark.behaviour("P4")
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("wire", "case", "why"),
    [
        ("openai-chat", "call_cut_always", "tool_call_truncated"),
        ("anthropic-messages", "call_cut_always", "tool_call_truncated"),
        ("openai-responses", "call_cut_always", "tool_call_truncated"),
        ("openai-chat", "call_malformed_always", "tool_call_malformed"),
        ("openai-chat", "call_missing_always", "tool_calls_missing"),
        ("anthropic-messages", "call_missing_always", "tool_calls_missing"),
        ("openai-chat", "reasoning_only_length", "reasoning_budget"),
        ("anthropic-messages", "reasoning_only_length", "reasoning_budget"),
        ("openai-chat", "drop_before_text", "dropped"),
    ],
)
def test_after_nothing_but_length_or_a_broken_call_one_other_is_asked_and_no_more(
    sim: Simulator, wire: str, case: str, why: str, stream: bool
) -> None:
    if case == "drop_before_text" and not stream:
        return  # a body that breaks off is another fault
    once = replace(QUICK, continuation_max_attempts=0, thinking_retries=0, fault_retries=0)
    first, second = model(sim, wire, case), model(sim, "mistral", case)
    prompt = f"How are tides made? ({case}, {stream})"
    with agent(first, model(sim, "ollama", "normal"), policy=once, stream=stream) as asked:
        chat = asked.conversation()
        assert switches(chat, prompt) == [("ollama:m", why)]
        assert chat.result is not None
        assert (chat.result.status, chat.result.text) == ("complete", sim.answer(prompt))
    if not case.endswith("_always"):
        return  # the simulator plays the others once in a conversation
    with agent(first, second, model(sim, "ollama"), policy=once, stream=stream) as asked:
        chat = asked.conversation()
        assert switches(chat) == [("mistral:m", why)]
        assert chat.result is not None
        assert chat.result.reason == why


@pytest.mark.behaviour("P4", "E12")
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("wire", "case", "why"),
    [
        ("bedrock-converse", "refusal", "safety_blocked"),  # a guardrail's own words
        ("anthropic-messages", "content_filter", "refused"),
        ("openai-chat", "content_filter", "safety_blocked"),
    ],
)
def test_the_text_of_a_refusal_is_no_answer_and_one_other_is_asked(
    sim: Simulator, wire: str, case: str, why: str, stream: bool
) -> None:
    first = model(sim, wire, case)
    others = [model(sim, "ollama", "normal"), model(sim, "mistral", "normal")]
    with agent(first, stream=stream) as alone:
        declined = alone.run("How are tides made?")
    assert (declined.status, declined.reason, bool(declined.text)) == ("partial", why, True)
    with agent(first, *others, stream=stream) as asked:
        chat = asked.conversation()
        assert switches(chat) == [("ollama:m", why)]
        assert chat.result is not None
        assert (chat.result.status, chat.result.text) == ("complete", sim.answer(PROMPT))
        assert [row.wire for row in chat.rows if isinstance(row, Assistant)] == ["ollama"]
    for silent in ("refusal", "empty_always", "http_503_always"):
        with agent(first, model(sim, "openai-chat", silent), stream=stream) as asked:
            chat = asked.conversation()
            assert switches(chat) == [("openai-chat:m", why)]
            result = chat.result
            assert result is not None
            assert (result.status, result.reason, result.text) == ("partial", why, declined.text)
            assert [row.wire for row in chat.rows if isinstance(row, Assistant)] == [wire]


@pytest.mark.behaviour("P4", "H9", "C23")
@pytest.mark.parametrize("leaving", ["close", "cancel"])
def test_a_turn_that_is_left_before_the_next_model_keeps_the_words_as_the_first_ones(
    sim: Simulator, leaving: str
) -> None:
    """Only the wire that said them can read their parts."""
    models = model(sim, "anthropic-messages", "content_filter"), model(sim, "gemini-generate")
    with agent(*models, stream=True) as asked:
        chat = asked.conversation()
        told = chat.stream(PROMPT)
        for event in told:
            if isinstance(event, Switched):
                told.close() if leaving == "close" else chat.cancel()
        rows = [row for row in chat.rows if isinstance(row, Assistant)]
        assert [row.wire for row in rows] == ["anthropic-messages"]
        assert rows[0].text


@pytest.mark.behaviour("P4", "C5", "S2")
@pytest.mark.parametrize("case", ["drop_mid_text_always", "length_then_500"])
def test_nobody_is_asked_again_for_what_was_said_in_part(sim: Simulator, case: str) -> None:
    with agent(
        model(sim, "openai-chat", case), model(sim, "ollama", "normal"), stream=True
    ) as asked:
        chat = asked.conversation()
        said = "".join(e.text for e in chat.stream("How are tides made?") if isinstance(e, Said))
        assert chat.result is not None
        assert chat.result.status == "partial"
        assert chat.result.text == said
        assert sim.requests[-1].path == "/v1/chat/completions"


@pytest.mark.behaviour("P4")
def test_duplicates_and_names_that_cannot_be_asked_are_left_out(
    sim: Simulator, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    first = model(sim, "openai-chat", "http_503_always")
    with caplog.at_level(logging.WARNING, "tenuto"):
        asked = agent(first, "nobody:m", first, "groq:m", model(sim, "openai-chat", "normal"))
    assert len(caplog.messages) == 2
    assert "nobody" in caplog.messages[0]
    assert "GROQ_API_KEY" in caplog.messages[1]
    with asked:
        chat = asked.conversation()
        assert switches(chat) == [("openai-chat:m", "overloaded")]
        assert chat.result is not None
        assert chat.result.ok


@pytest.mark.behaviour("P4")
def test_no_model_that_can_be_asked_is_an_error_that_names_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    with pytest.raises(AgentError, match=r"nobody is neither a provider.*GROQ_API_KEY"):
        Agent(["nobody:m", "groq:m"])
    with pytest.raises(AgentError, match="no model is given"):
        Agent([])
    with pytest.raises(AgentError, match=r"tenuto\.agent\.Model or provider:model"):
        Agent([None, "nobody:m"])  # type: ignore[list-item]
