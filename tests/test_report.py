"""What `tenuto.report` tells of the objects of each SDK: right, or None, and never of another turn."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import anthropic
import boto3
import cohere
import groq
import ollama
import openai
import pytest
import together
from cerebras.cloud import sdk as cerebras
from google import genai
from google.genai import types
from mistralai.client import Mistral
from support.asking.bedrock_converse import given_to_a_client
from support.far_sides import FarSide, json_answer, sse_answer

import tenuto
from tenuto.turn.record.recent import RecentTurn, RecentTurns
from tenuto.wires.answer_id import Ids
from tenuto_sim import Simulator

Asks = Callable[[Any, str, str], Any]
"""Asks a model a question. Equal questions get equal ids from a simulator, so each is another one."""


def rows(question: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": question}]}


def _openai(sim: Simulator) -> Any:
    return openai.OpenAI(base_url=sim.base_url, api_key="k")


def _anthropic(sim: Simulator) -> Any:
    return anthropic.Anthropic(base_url=sim.root_url, api_key="k")


def _groq(sim: Simulator) -> Any:
    return groq.Groq(base_url=sim.root_url, api_key="k")


def _together(sim: Simulator) -> Any:
    return together.Together(base_url=sim.base_url, api_key="k")


def _cerebras(sim: Simulator) -> Any:
    options: Any = {"base_url": sim.root_url, "api_key": "k", "warm_tcp_connection": False}
    return cerebras.Cerebras(**options)


def _mistral(sim: Simulator) -> Any:
    return Mistral(server_url=sim.root_url, api_key="k")


def _cohere(sim: Simulator) -> Any:
    return cohere.ClientV2(base_url=sim.root_url, api_key="k")


def _cohere_v1(sim: Simulator) -> Any:
    return cohere.Client(base_url=sim.root_url, api_key="k")


def _ollama(sim: Simulator) -> Any:
    return ollama.Client(host=sim.root_url)


def _genai(sim: Simulator) -> Any:
    return genai.Client(api_key="k", http_options=types.HttpOptions(base_url=sim.root_url))


def _boto3(sim: Simulator) -> Any:
    return boto3.client("bedrock-runtime", **given_to_a_client(sim.root_url, 0))


def _chat(client: Any, model: str, question: str) -> Any:
    return client.chat.completions.create(model=model, **rows(question))


def _chat_raw(client: Any, model: str, question: str) -> Any:
    return client.chat.completions.with_raw_response.create(model=model, **rows(question))


def _chat_events(client: Any, model: str, question: str) -> Any:
    return list(client.chat.completions.create(model=model, **rows(question), stream=True))


def _chat_read(client: Any, model: str, question: str) -> Any:
    """A response of `with_streaming_response`, once its body is read."""
    streaming = client.chat.completions.with_streaming_response
    with streaming.create(model=model, **rows(question)) as response:
        response.read()
        return response


def _final_completion(client: Any, model: str, question: str) -> Any:
    with client.chat.completions.stream(model=model, **rows(question)) as stream:
        return stream.get_final_completion()


def _final_response(client: Any, model: str, question: str) -> Any:
    with client.responses.stream(model=model, input=question) as stream:
        return stream.get_final_response()


def _final_message(client: Any, model: str, question: str) -> Any:
    with client.messages.stream(model=model, max_tokens=400, **rows(question)) as stream:
        return stream.get_final_message()


def _converse(client: Any, model: str, question: str) -> Any:
    row = {"role": "user", "content": [{"text": question}]}
    return client.converse(modelId=model, messages=[row])


def _converse_events(client: Any, model: str, question: str) -> Any:
    row = {"role": "user", "content": [{"text": question}]}
    return list(client.converse_stream(modelId=model, messages=[row])["stream"])


def _invoked(client: Any, model: str, question: str) -> Any:
    answer = client.invoke_model(modelId=f"openai.gpt/{model}", body=json.dumps(rows(question)))
    answer["body"].read()
    return answer


def _invoke_events(client: Any, model: str, question: str) -> Any:
    asked = {"modelId": f"openai.gpt/{model}", "body": json.dumps(rows(question))}
    with closing(client.invoke_model_with_response_stream(**asked)["body"]) as events:
        return list(events)


def _genai_body(client: Any, model: str, question: str) -> Any:
    return client.models.generate_content(model=model, contents=question)


CHATS: dict[str, Asks] = {"body": _chat, "raw": _chat_raw, "events": _chat_events}
OBJECTS: dict[str, tuple[Callable[[Simulator], Any], dict[str, Asks]]] = {
    "openai": (_openai, {**CHATS, "read": _chat_read, "helper": _final_completion}),
    "openai, Responses": (
        _openai,
        {
            "body": lambda client, model, question: client.responses.create(
                model=model, input=question
            ),
            "raw": lambda client, model, question: client.responses.with_raw_response.create(
                model=model, input=question
            ),
            "events": lambda client, model, question: list(
                client.responses.create(model=model, input=question, stream=True)
            ),
            "helper": _final_response,
        },
    ),
    "openai, Completions": (
        _openai,
        {
            "body": lambda client, model, question: client.completions.create(
                model=model, prompt=question
            ),
            "events": lambda client, model, question: list(
                client.completions.create(model=model, prompt=question, stream=True)
            ),
        },
    ),
    "anthropic": (
        _anthropic,
        {
            "body": lambda client, model, question: client.messages.create(
                model=model, max_tokens=400, **rows(question)
            ),
            "raw": lambda client, model, question: client.messages.with_raw_response.create(
                model=model, max_tokens=400, **rows(question)
            ),
            "events": lambda client, model, question: list(
                client.messages.create(model=model, max_tokens=400, **rows(question), stream=True)
            ),
            "helper": _final_message,
        },
    ),
    "groq": (_groq, CHATS),
    "together": (_together, CHATS),
    "cerebras": (_cerebras, CHATS),
    "mistralai": (
        _mistral,
        {
            "body": lambda client, model, question: client.chat.complete(
                model=model, **rows(question)
            ),
            "events": lambda client, model, question: list(
                client.chat.stream(model=model, **rows(question))
            ),
        },
    ),
    "cohere": (
        _cohere,
        {
            "body": lambda client, model, question: client.chat(model=model, **rows(question)),
            "raw": lambda client, model, question: client.with_raw_response.chat(
                model=model, **rows(question)
            ),
            "events": lambda client, model, question: list(
                client.chat_stream(model=model, **rows(question))
            ),
        },
    ),
    "cohere, version 1": (
        _cohere_v1,
        {
            "body": lambda client, model, question: client.chat(model=model, message=question),
            "raw": lambda client, model, question: client.with_raw_response.chat(
                model=model, message=question
            ),
            "events": lambda client, model, question: list(
                client.chat_stream(model=model, message=question)
            ),
        },
    ),
    "google-genai": (
        _genai,
        {
            "body": _genai_body,
            "events": lambda client, model, question: list(
                client.models.generate_content_stream(model=model, contents=question)
            ),
        },
    ),
    "google-genai, Interactions": (
        _genai,
        {
            "body": lambda client, model, question: client.interactions.create(
                model=model, input=question
            ),
            "events": lambda client, model, question: list(
                client.interactions.create(model=model, input=question, stream=True)
            ),
        },
    ),
    "boto3, Converse": (_boto3, {"body": _converse, "events": _converse_events}),
    "boto3, InvokeModel": (_boto3, {"body": _invoked, "events": _invoke_events}),
    "ollama": (
        _ollama,
        {
            "body": lambda client, model, question: client.chat(model=model, **rows(question)),
            "events": lambda client, model, question: list(
                client.chat(model=model, **rows(question), stream=True)
            ),
        },
    ),
}

NEVER = {
    ("boto3, Converse", "events"),
    ("boto3, InvokeModel", "events"),
    ("ollama", "body"),
    ("ollama", "events"),
}
"""Neither an id nor a header."""
ONLY_RECOVERED = {("boto3, Converse", "body"), ("boto3, InvokeModel", "body")}
"""Only the header, which a turn that needed nothing has none of."""


@contextmanager
def wrapped(sdk: str, **options: Any) -> Iterator[tuple[Simulator, Any]]:
    with ExitStack() as stack:
        dialect = "groq" if sdk == "groq" else ""
        sim = stack.enter_context(Simulator(dialect=dialect, token_chars=40))
        client = tenuto.wrap(OBJECTS[sdk][0](sim), **options)
        if hasattr(client, "__enter__"):
            stack.enter_context(client)
        else:
            stack.callback(client.close)
        yield sim, client


def tokens(report: tenuto.Report | None) -> list[int | None]:
    assert report is not None
    return [None if usage is None else usage.output_tokens for usage in report.usage]


EACH = [(sdk, way) for sdk, (_, ways) in OBJECTS.items() for way in ways]


@pytest.mark.behaviour("P11")
@pytest.mark.parametrize(("sdk", "way"), EACH, ids=[f"{sdk}-{way}" for sdk, way in EACH])
def test_the_report_of_an_sdks_object_is_right_or_none(sdk: str, way: str) -> None:
    ask = OBJECTS[sdk][1][way]
    ends: list[tenuto.Event] = []
    with wrapped(sdk) as (sim, client), wrapped(sdk, on_event=ends.append) as (_, heard):
        for case in ("sim/normal", "sim/length_twice"):
            before = len(sim.requests)
            told = tenuto.report(ask(client, case, f"{sdk}, {way}, {case}?"))
            sent = len(sim.requests) - before
            whole = (sdk, way) in ONLY_RECOVERED and case == "sim/normal"
            if (sdk, way) in NEVER or whole:
                assert told is None
                continue
            assert told is not None
            assert told.attempts == sent
            # The same, as a listener hears it.
            told = tenuto.report(ask(heard, case, f"{sdk}, {way}, {case}, and who hears it?"))
            assert told is not None
            ended = ends[-1].as_dict()
            assert ended["turn"] == told.turn
            assert (ended["status"], ended["reason"]) == (told.status, told.reason)
            spent = [usage and usage["output_tokens"] for usage in ended["usage"]]
            assert spent == tokens(told)


@pytest.mark.behaviour("P11")
def test_the_table_of_the_guide_says_which_objects_have_a_report() -> None:
    page = (Path(__file__).parents[1] / "docs/guide/what-the-caller-sees.md").read_text()
    heading = "| SDK | Body | List of all events | Final message of a helper | Raw response |\n"
    table = page.partition(heading)[2].partition("\n\n")[0].splitlines()[1:]
    told = [tuple(cell.strip() for cell in row.strip("|").split("|")) for row in table]
    assert told == [
        (sdk, *(_cell(sdk, way) for way in ("body", "events", "helper", "raw"))) for sdk in OBJECTS
    ]


def _cell(sdk: str, way: str) -> str:
    if way not in OBJECTS[sdk][1]:
        return "–"
    if (sdk, way) in NEVER:
        return "`None`"
    return "if recovered" if (sdk, way) in ONLY_RECOVERED else "yes"


def body(text: str, name: str = "chatcmpl-1", stop: str = "stop", tokens: int = 5) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": stop}
    usage = {"prompt_tokens": 3, "completion_tokens": tokens, "total_tokens": 3 + tokens}
    told = {"id": name, "object": "chat.completion", "created": 1, "model": "m"}
    return json.dumps(told | {"choices": [choice], "usage": usage}).encode()


def stream(text: str, name: str) -> bytes:
    said = []
    for delta, stop in (({"role": "assistant", "content": text}, None), ({}, "stop")):
        choice = {"index": 0, "delta": delta, "finish_reason": stop}
        told = {"id": name, "object": "chat.completion.chunk", "created": 1, "model": "m"}
        said.append(f"data: {json.dumps(told | {'choices': [choice]})}\n\n")
    return "".join([*said, "data: [DONE]\n\n"]).encode()


def _bare(far: FarSide) -> Any:
    return openai.OpenAI(base_url=far.base_url, api_key="k", max_retries=0)


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> RecentTurns:
    """No turn has ended so far: other tests use the same ids."""
    turns = RecentTurns()
    for module in (
        "reporting",
        "turn.receiving.bodies",
        "turn.pipeline.ending",
        "turn.pipeline.pipe",
        "turn.short_path.body",
        "turn.short_path.stream",
    ):
        monkeypatch.setattr(f"tenuto.{module}.recent", turns)
    return turns


@pytest.mark.behaviour("P11")
@pytest.mark.parametrize("second", ["whole", "cut", "stream", "left", "off"])
def test_an_id_that_two_turns_had_tells_of_neither(fresh: RecentTurns, second: str) -> None:
    answers = {
        "whole": (json_answer(body("Two.")),),
        "cut": (json_answer(body("Tw", stop="length")), json_answer(body("o.", "another"))),
        "stream": (sse_answer(stream("Two.", "chatcmpl-1")),),
        "left": (sse_answer(stream("Two.", "chatcmpl-1")),),
        "off": (json_answer(body("Two.")),),
    }
    with FarSide(json_answer(body("One.")), *answers[second]) as far:
        client = tenuto.wrap(_bare(far))
        first = _chat(client, "m", "One?")
        assert tokens(tenuto.report(first)) == [5]
        if second in ("stream", "left"):
            chunks = client.chat.completions.create(model="m", **rows("Two?"), stream=True)
            other: Any = [next(chunks)] if second == "left" else list(chunks)
            chunks.close()
        elif second == "off":
            other = client.chat.completions.create(
                model="m", **rows("Two?"), extra_headers={"x-tenuto": "off"}
            )
        else:
            other = _chat(client, "m", "Two?")
    assert tenuto.report(first) is None
    assert tenuto.report(other) is None


@pytest.mark.behaviour("P11")
def test_another_answer_with_the_id_of_a_turn_is_not_taken_for_its_answer(
    fresh: RecentTurns,
) -> None:
    cut = json_answer(body("The ti", stop="length")), json_answer(body("de.", "chatcmpl-2"))
    with FarSide(*cut, json_answer(body("The tide turns."))) as far:
        said = _chat(tenuto.wrap(_bare(far)), "m", "Why?")
        other = _chat(_bare(far), "m", "Why?")
    assert (said.id, said.choices[0].message.content) == ("chatcmpl-1", "The tide.")
    assert tokens(tenuto.report(said)) == [5, 5]
    assert tenuto.report(other) is None
    assert tenuto.report({"id": "chatcmpl-1"}) is None


@pytest.mark.behaviour("P11")
def test_the_header_of_a_raw_response_tells_turns_apart_that_have_one_id(
    fresh: RecentTurns,
) -> None:
    cut = json_answer(body("The ti", stop="length")), json_answer(body("de.", tokens=2))
    with FarSide(*cut, *cut) as far:
        client = tenuto.wrap(_bare(far))
        both = [_chat_raw(client, "m", "Why?") for _ in range(2)]
    told = [tenuto.report(raw) for raw in both]
    assert [tokens(each) for each in told] == [[5, 2], [5, 2]]
    assert [each and each.turn for each in told] == [raw.headers["x-tenuto-turn"] for raw in both]
    assert [tenuto.report(raw.parse()) for raw in both] == [None, None]


@pytest.mark.behaviour("P11")
def test_an_exception_tells_of_the_turn_that_it_ended() -> None:
    policy = tenuto.Policy(on_incomplete="error", continuation_max_attempts=1)
    with FarSide(json_answer(body("The ti", "a", "length"))) as far:
        with pytest.raises(openai.APIError) as raised:
            _chat(tenuto.wrap(_bare(far), policy=policy), "m", "Why?")
        told = tenuto.report(raised.value)
        assert told is not None
        assert (told.status, told.attempts) == ("partial", len(far.requests))


@pytest.mark.behaviour("P11")
def test_the_parsed_body_of_an_invoked_model_has_a_report_by_its_id() -> None:
    with wrapped("boto3, InvokeModel") as (_, client):
        for case, attempts in (("sim/normal", 1), ("sim/length_once", 2)):
            asked = json.dumps(rows(f"What does InvokeModel say of {case}?"))
            answer = client.invoke_model(modelId=f"openai.gpt/{case}", body=asked)
            told = tenuto.report(json.loads(answer["body"].read()))
            assert told is not None
            assert told.attempts == attempts


def langchains(answer: Any, **metadata: Any) -> dict[str, Any]:
    """What `model_dump` gives of the message that langchain-openai 1.7 makes of an answer, without
    what stands beside it."""
    choice, usage = answer.choices[0], answer.usage
    told = {"token_usage": usage.model_dump(), "model_provider": "openai", "model_name": "m"}
    stop = {"id": answer.id, "finish_reason": choice.finish_reason, "logprobs": None}
    return {
        "type": "ai",
        "id": "lc_run--01a221b9-d476-7216-b8e8-7477e1135a26-0",
        "content": choice.message.content,
        "response_metadata": told | stop | metadata,
        "usage_metadata": {
            "input_tokens": usage.prompt_tokens,
            "output_tokens": usage.completion_tokens,
            "total_tokens": usage.total_tokens,
        },
    }


@pytest.mark.behaviour("P11")
def test_a_message_of_langchain_has_a_report_by_the_id_in_its_metadata(fresh: RecentTurns) -> None:
    cut = json_answer(body("The ti", "two", "length")), json_answer(body("de.", "three"))
    with FarSide(json_answer(body("One.", "one")), *cut) as far:
        client = tenuto.wrap(_bare(far))
        plain, recovered = (_chat(client, "m", "Why?") for _ in range(2))
    assert tokens(tenuto.report(langchains(plain))) == [5]
    assert tenuto.report(langchains(plain)["response_metadata"]) is None, "it has no tokens"
    message = langchains(recovered)
    assert tokens(tenuto.report(message)) == [5, 5]
    assert tokens(tenuto.report(message["response_metadata"])) == [5, 5]
    assert tenuto.report(message | {"content": "Of another answer with this id."}) is None
    streamed = {
        name: message["response_metadata"][name] for name in ("finish_reason", "model_name")
    }
    assert tenuto.report(message | {"response_metadata": streamed}) is None


@pytest.mark.behaviour("P11")
def test_whatever_ids_answers_have_no_report_is_that_of_another_turn(fresh: RecentTurns) -> None:
    """Answers through Tenuto and past it, whole, cut, streamed and left, with few ids for many."""
    draw = random.Random(20_261_128)
    told: list[tuple[Any, int]] = []
    with FarSide() as far:
        bare = _bare(far)
        client = tenuto.wrap(_bare(far), policy=tenuto.Policy(backoff_s=0.01))
        for number in range(300):
            name = f"id-{draw.randrange(150)}"
            text = draw.choice(("It turns.", f"Answer {number}."))
            kind = draw.choice(("whole", "cut", "stream", "left", "bare", "raw"))
            rest = (json_answer(body(" And on.", name)),) if kind == "cut" else ()
            streams = kind in ("stream", "left")
            first = (
                stream(text, name) if streams else body(text, name, "length" if rest else "stop")
            )
            whole = (sse_answer if streams else json_answer)(first)
            far.answers = (*far.answers[: len(far.requests)], whole, *rest)
            asked = {"model": "m", **rows(f"{number}?")}
            if streams:
                chunks = client.chat.completions.create(**asked, stream=True)
                told.append(([next(chunks)] if kind == "left" else list(chunks), 1))
                chunks.close()
            elif kind == "raw":
                told.append((client.chat.completions.with_raw_response.create(**asked), 1))
            else:
                asks = bare if kind == "bare" else client
                told.append((asks.chat.completions.create(**asked), len(rest) + 1))
    reports = [(tenuto.report(answer), attempts) for answer, attempts in told]
    found = [(each.attempts, attempts) for each, attempts in reports if each is not None]
    assert len(found) > 30
    assert all(attempts == made for attempts, made in found)


@pytest.mark.behaviour("P11")
@pytest.mark.parametrize("stop", ["stop", "length"])
def test_a_partial_answer_of_one_request_names_its_turn_in_a_header(stop: str) -> None:
    policy = tenuto.Policy(continuation_max_attempts=0)
    with FarSide(json_answer(body("The ti", f"partial {stop}", stop))) as far:
        raw = _chat_raw(tenuto.wrap(_bare(far), policy=policy), "m", "Why?")
        assert len(far.requests) == 1
    told = tenuto.report(raw)
    assert told is not None
    assert told.status == ("partial" if stop == "length" else "complete")
    assert raw.headers.get("x-tenuto-turn") == (told.turn if stop == "length" else None)


@pytest.mark.behaviour("P11")
def test_whoever_left_early_is_told_nothing_wrong(fresh: RecentTurns) -> None:
    with FarSide(sse_answer(stream("One.", "a"))) as far:
        chunks = tenuto.wrap(_bare(far)).chat.completions.create(
            model="m", **rows("Why?"), stream=True
        )
        first = next(chunks)
        chunks.close()
    assert tenuto.report([first]) is None


@pytest.mark.behaviour("P11")
def test_what_is_no_answer_has_no_report() -> None:
    odd: object
    for odd in (
        None,
        7,
        "",
        "text",
        b"",
        [],
        {},
        [[]],
        object,
        {"id": 1},
        {"headers": 3},
        "\ud800",
    ):
        assert tenuto.report(odd) is None


@pytest.mark.behaviour("P11")
def test_an_object_whose_own_code_raises_has_no_report() -> None:
    class Odd:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

    assert tenuto.report(Odd()) is None


# --- how many are kept


@pytest.mark.behaviour("P11")
def test_the_last_turns_are_kept_and_an_id_that_comes_again_later_tells_of_none() -> None:
    turns = RecentTurns(most=3, most_ids=8)
    for number in range(5):
        report = tenuto.Report(f"{number}", "completed", None, (), "none")
        turns.add(f"turn {number}", [f"id {number}"], RecentTurn(report))
    kept = [turns.of_answer(f"id {number}") for number in range(5)]
    assert [each and each.report and each.report.status for each in kept] == [
        *(None, None),
        *("2", "3", "4"),
    ]
    turns.add("turn 5", ["id 0"], RecentTurn())  # of a turn that is not kept any more
    assert turns.of_answer("id 0") is None


@pytest.mark.behaviour("P11")
def test_what_is_kept_is_bounded_and_threads_may_share_it() -> None:
    turns = RecentTurns(most=50, most_ids=200)

    def add(thread: int) -> None:
        for number in range(500):
            name = f"{thread}-{number}"
            turns.add(name, [name, "shared", ""], RecentTurn())
            turns.add_plain(Ids(f"plain {name}"))
            turns.of_answer(name)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(vars(turns)["_turns"]) == 50
    assert len(vars(turns)["_ids"]) == 200
    assert turns.of_answer("shared") is None


@pytest.mark.behaviour("P11")
def test_an_id_of_any_length_takes_bounded_room(fresh: RecentTurns) -> None:
    answers = json_answer(body("One.", "i" * 100_000)), json_answer(body("T", "i" * 300, "length"))
    with FarSide(*answers, json_answer(body("wo.", "i" * 300))) as far:
        client = tenuto.wrap(_bare(far))
        assert tenuto.report(_chat(client, "m", "One?")) is None
        assert tenuto.report(_chat(client, "m", "Two?")) is None
    assert not vars(fresh)["_ids"]
