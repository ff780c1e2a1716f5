"""Wires of other packages, found by their entry points."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.far_sides import FarSide, json_answer, sse_answer
from support.installed import installed, write_package

import tenuto
from tenuto import wires
from tenuto.core.answer.stop import StopReason
from tenuto.providers import registry as registry_of_providers
from tenuto.providers.registry import route
from tenuto.providers.table import ROWS
from tenuto.wires import registry
from tenuto.wires.registry import OUTSIDE, WIRES

ROOT = Path(__file__).resolve().parents[2]
BROOK = (ROOT / "examples/own_wire/brook.py").read_text("utf-8")
HALVES = ("The tide comes twice a day, about twelve hours ", "apart, because of the moon.")
CHAT = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "length"}]}
QUICK = tenuto.Policy(backoff_s=0.0)


def body(words: str, stop: str, **more: Any) -> bytes:
    spent = {"in": 9, "out": 5, "all": 14}
    return json.dumps({"id": "b1", "words": words, "stop": stop, "spent": spent} | more).encode()


def cut_and_rest() -> FarSide:
    return FarSide(json_answer(body(HALVES[0], "limit")), json_answer(body(HALVES[1], "end")))


def ask(far: FarSide, path: str = "/brook/answer", **more: Any) -> Any:
    asked = {"model": "m", "talk": [{"who": "user", "words": "What are tides?"}]} | more
    with tenuto.http_client("httpx", policy=QUICK) as client:
        return client.post(far.base_url.removesuffix("/v1") + path, json=asked)


def changed(**members: str) -> str:
    """A module with Brook's wire, in which some members are these expressions."""
    changes = ", ".join(f"{name}={value}" for name, value in members.items())
    return f"{BROOK}\nfrom dataclasses import replace\n\n\ndef fail(*_, **__):\n    raise KeyError('ebb')\n\n\nWIRE = replace(WIRE, {changes})\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "site"


@pytest.fixture
def brook(place: Path) -> Iterator[None]:
    write_package(place, "brook-wire", {"brook": "brook:WIRE"}, {"brook": BROOK})
    with installed(place):
        yield


@pytest.mark.behaviour("N15")
@pytest.mark.usefixtures("brook")
def test_a_wire_of_another_package_finishes_a_cut_answer() -> None:
    with cut_and_rest() as far:
        answer = ask(far).json()
    assert (answer["words"], answer["stop"]) == ("".join(HALVES), "end")
    assert answer["spent"] == {"in": 9, "out": 10, "all": 19}
    again = json.loads(far.requests[1][1])
    assert [row["who"] for row in again["talk"]] == ["user", "brook", "user"]


@pytest.mark.behaviour("N15", "P10")
@pytest.mark.usefixtures("brook")
def test_a_healthy_call_of_a_wire_of_another_package_keeps_its_bytes() -> None:
    tools = [{"name": "look", "takes": {"type": "object", "required": ["where"]}}]
    call = {"with": {"where": "the shore", "a": [1.0, 2]}, "key": "c1", "name": "look"}
    whole = body("", "call", calls=[call])
    with FarSide(json_answer(whole)) as far:
        assert ask(far, tools=tools).content == whole
    assert tenuto.detect(whole).anomalies == ()


@pytest.mark.behaviour("N15", "P10")
def test_a_body_that_answers_a_request_for_lines_is_read_as_a_body(place: Path) -> None:
    bodies = """


def read_apart(value, *, event):
    text = value.get("bit" if event else "words") if isinstance(value, dict) else None
    return read({**value, "words": text}, event=event) if isinstance(value, dict) else []
"""
    module = changed(streams_lines="lambda headers: True", read="read_apart")
    write_package(
        place,
        "brook-wire",
        {"brook": "brook:WIRE"},
        {"brook": module.replace("\n\n\ndef fail", f"{bodies}\n\ndef fail")},
    )
    whole = body("".join(HALVES), "end")
    with installed(place), FarSide(json_answer(whole), json_answer(whole)) as far:
        answer = ask(far, stream=True)
        assert (json.loads(answer.content), len(far.requests)) == (json.loads(whole), 1)


@pytest.mark.behaviour("N15")
@pytest.mark.usefixtures("brook")
def test_a_wire_of_another_package_joins_a_cut_stream() -> None:
    cut, rest = streamed(HALVES[0], "limit"), streamed(HALVES[1], "end")
    with FarSide(sse_answer(cut), sse_answer(rest)) as far:
        lines = ask(far, stream=True).text.splitlines()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    assert "".join(event.get("words", "") for event in events) == "".join(HALVES)
    assert [event["stop"] for event in events if "stop" in event] == ["end"]
    assert [event["id"] for event in events if "id" in event] == ["b1"]
    assert events[-1]["spent"]["out"] == 10


@pytest.mark.behaviour("N15")
@pytest.mark.usefixtures("brook")
def test_a_wire_of_another_package_asks_for_a_cut_call_again_and_repairs_histories() -> None:
    call = {"key": "c1", "name": "look", "with": '{"where": "the sh'}
    tools = [{"name": "look", "takes": {"type": "object", "required": ["where"]}}]
    whole = call | {"with": {"where": "the shore"}}
    answers = (body("", "limit", calls=[call]), body("", "call", calls=[whole]))
    with FarSide(*map(json_answer, answers)) as far:
        answer = ask(far, tools=tools).json()
        assert (answer["calls"], answer["stop"]) == ([whole], "call")
        before = {"who": "brook", "words": "", "calls": [whole]}
        user = {"who": "user", "words": "And?"}
        ask(far, talk=[user, before, user], tools=tools)
    told = json.loads(far.requests[-1][1])["talk"]
    assert [row["who"] for row in told] == ["user", "brook", "tool", "user"]
    assert told[2]["key"] == "c1"


@pytest.mark.behaviour("N15")
@pytest.mark.usefixtures("brook")
def test_detect_reads_an_answer_of_such_a_wire_by_shape_and_by_name() -> None:
    cut = body(HALVES[0], "limit")
    assert tenuto.detect(cut).reason is StopReason.MAX_TOKENS
    assert tenuto.detect(cut, wire="brook").reason is StopReason.MAX_TOKENS
    error = b'{"error": {"code": "talk_too_long", "message": "Too long."}}'
    told, named = tenuto.detect(error), tenuto.detect(error, wire="brook")
    assert (told.reason, told.confidence) == (StopReason.CONTEXT_WINDOW_EXCEEDED, "medium")
    assert (named.reason, named.confidence) == (told.reason, "high")


@pytest.mark.behaviour("N15")
@pytest.mark.usefixtures("brook")
def test_a_policy_a_host_and_a_name_know_the_provider_of_such_a_wire() -> None:
    tenuto.Policy(providers={"brook": {"continuation_max_attempts": 1}})
    url = "https://api.brook.example/brook/answer"
    with tenuto.http_client(policy=tenuto.Policy(providers={"brook": {"backoff_s": 1.0}})):
        wire, row, _ = route(url)
    assert (wire and wire.name, row.dialect.name) == ("brook", "brook")
    assert route("http://localhost:1/brook/answer")[1].dialect.name == "unknown"
    told = tenuto.capabilities("brook")
    assert (told.wire, told.output_key) == ("brook", "limit")
    assert tenuto.capabilities(url) == told


@pytest.mark.behaviour("N15")
def test_a_program_that_needs_none_reads_no_entry_points() -> None:
    code = (
        "import sys, tenuto\n"
        f"assert tenuto.detect({CHAT!r}).reason == 'max_tokens'\n"
        "from tenuto.providers.registry import route\n"
        "assert route('https://api.openai.com/v1/chat/completions')[0].name == 'openai-chat'\n"
        "assert 'importlib.metadata' not in sys.modules\n"
        "tenuto.detect({'words': 'Hi', 'stop': 'limit'})\n"
        "assert 'importlib.metadata' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.behaviour("N15")
@pytest.mark.usefixtures("brook")
def test_several_threads_read_them_once(place: Path) -> None:
    (place / "brook.py").write_text(f"{BROOK}\nprint('loaded', flush=True)\n", "utf-8")
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(WIRES.find("brook"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert found[0].name == "brook"


@pytest.mark.behaviour("N15")
def test_a_wire_whose_module_asks_for_wires_is_loaded(place: Path) -> None:
    asks = "import tenuto\n\ntenuto.detect({'ebb': 'flow'})\n\n" + BROOK
    write_package(place, "brook-wire", {"brook": "brook:WIRE"}, {"brook": asks})
    with installed(place):
        assert WIRES.find("brook") is not None


BROKEN = {
    "its module raises": ("import ebb_and_flow\n", "ModuleNotFoundError: No module named"),
    "its module lacks the name": ("", "AttributeError"),
    "it is no wire": ("WIRE = 5\n", "wire is of type int, but it must be a tenuto.wire_kit.Wire"),
    "it shows no outcome": (changed(shown="{}"), "the wire's table `shown` lacks "),
    "it reads no error": (changed(read="lambda value, *, event: []"), "finds no error in what"),
    "its hosts are one text": (changed(hosts="'brook.example'"), "must be a tuple of host names"),
    "it has the name of ours": (changed(name="'ollama'"), "ollama is a wire of Tenuto's"),
}


@pytest.mark.behaviour("N15")
@pytest.mark.parametrize(("module", "why"), BROKEN.values(), ids=BROKEN)
def test_a_wire_that_cannot_be_used_costs_one_log_line_and_no_answer(
    module: str, why: str, place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_package(place, "brook-wire", {"brook": "brook:WIRE"}, {"brook": module})
    cut = body(HALVES[0], "limit")
    with installed(place), FarSide(json_answer(cut)) as far:
        assert ask(far).content == cut
        assert ask(far).content == cut
        assert tenuto.detect(cut).detail == "no_answer"
    assert len(far.requests) == 2
    (said,) = [record.getMessage() for record in caplog.records if record.name == "tenuto"]
    assert said.startswith("the wire brook of the package brook-wire is not used: ")
    assert why in said


RAISING = ["is_request", "request", "read", "looks_like", "is_event", "claims", "signed"]
IN_TURNS = RAISING[:3]


@pytest.mark.behaviour("N15")
@pytest.mark.parametrize("member", RAISING)
@pytest.mark.parametrize("stream", [False, True])
def test_a_wire_that_raises_where_it_is_asked_costs_one_log_line_and_no_answer(
    member: str, stream: bool, place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # At load, a wire has to read one error.
    fails = "lambda *a, **k: read(*a, **k) if 'tenuto' in str(a) else fail()"
    module = changed(**{member: fails if member == "read" else "fail"})
    write_package(place, "brook-wire", {"brook": "brook:WIRE"}, {"brook": module})
    cut = streamed(HALVES[0], "limit") if stream else body(HALVES[0], "limit")
    answer = sse_answer(cut) if stream else json_answer(cut)
    with installed(place), FarSide(answer) as far:
        given = [ask(far, stream=stream).content for _ in range(2)]
        if member in IN_TURNS:
            assert given == [cut, cut]
            assert len(far.requests) == 2
        assert tenuto.detect(cut).reason in ("unknown", "max_tokens", "dropped")
        assert tenuto.detect_conversation([{"ebb": 1}]) is not None
    said = [record.getMessage() for record in caplog.records if record.name == "tenuto"]
    assert len(said) <= 1 + (member == "read")  # a turn says it, and so does `detect`
    assert all("KeyError" in line for line in said)


def streamed(words: str, stop: str) -> bytes:
    events: list[Any] = [{"id": "b1", "words": words[:9]}, {"words": words[9:]}]
    events.append({"stop": stop, "spent": {"in": 9, "out": 5, "all": 14}})
    return b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in events)


WRITING = ["layout", "render_body", "clean_stop", "usage_object"]
LAYOUTS = ["begin", "given", "said", "passed", "end"]


@pytest.mark.behaviour("N15")
@pytest.mark.parametrize("member", WRITING)
def test_a_wire_that_raises_in_a_turn_costs_no_answer(
    member: str, place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    once = "lambda model: BrookLayout(model) if not model else fail()"
    module = changed(**{member: once if member == "layout" else "fail"})
    write_package(place, "brook-wire", {"brook": "brook:WIRE"}, {"brook": module})
    with installed(place), cut_and_rest() as far:
        answer = ask(far).json()
        assert answer["words"] in (HALVES[0], "".join(HALVES))
    cut, rest = streamed(HALVES[0], "limit"), streamed(HALVES[1], "end")
    with installed(place), FarSide(sse_answer(cut), sse_answer(rest)) as far:
        assert HALVES[0][9:] in ask(far, stream=True).text
    assert len([r for r in caplog.records if "in a turn" in r.getMessage()]) <= 2


@pytest.mark.behaviour("N15")
@pytest.mark.parametrize("method", LAYOUTS)
def test_a_layout_that_raises_costs_nothing_of_the_first_answer(method: str, place: Path) -> None:
    module = f"{BROOK}\n\ndef fail(*_, **__):\n    raise KeyError('ebb')\n\n\nBrookLayout.{method} = fail\n"
    write_package(place, "brook-wire", {"brook": "brook:WIRE"}, {"brook": module})
    cut, rest = streamed(HALVES[0], "limit"), streamed(HALVES[1], "end")
    with installed(place), FarSide(sse_answer(cut), sse_answer(rest)) as far:
        given = ask(far, stream=True).content
    assert given.startswith(cut) or HALVES[1][-9:].encode() in given


@pytest.mark.behaviour("N15")
@pytest.mark.parametrize("method", ["apply", "user_row", "assistant_rows", "tool_parameters"])
def test_a_request_that_raises_costs_nothing_of_the_first_answer(method: str, place: Path) -> None:
    module = f"{BROOK}\n\ndef fail(*_, **__):\n    raise KeyError('ebb')\n\n\nBrookRequest.{method} = fail\n"
    write_package(place, "brook-wire", {"brook": "brook:WIRE"}, {"brook": module})
    with installed(place), cut_and_rest() as far:
        assert ask(far).json()["words"].startswith(HALVES[0])
    cut, rest = streamed(HALVES[0], "limit"), streamed(HALVES[1], "end")
    with installed(place), FarSide(sse_answer(cut), sse_answer(rest)) as far:
        assert ask(far, stream=True).content.startswith(cut[:60])


@pytest.mark.behaviour("N15")
def test_of_two_wires_with_one_name_the_first_package_counts(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_package(place, "a-wires", {"brook": "brook:WIRE"}, {"brook": BROOK})
    write_package(place, "b-wires", {"brook": "other:WIRE"}, {"other": BROOK})
    with installed(place):
        assert "brook" in OUTSIDE.all()
        assert WIRES.find("brook") is not None
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.endswith(
        "of the package b-wires is not used: the package a-wires has a wire of that name too"
    )


@pytest.fixture
def two(place: Path) -> Iterator[None]:
    other = changed(name="'creek'", hosts="('api.creek.example',)")
    write_package(place, "brook-wire", {"brook": "brook:WIRE"}, {"brook": BROOK})
    write_package(place, "creek-wire", {"creek": "creek:WIRE"}, {"creek": other})
    before = ROWS.all()
    with installed(place):
        yield
    ROWS._all = before
    ROWS.changes += 1


@pytest.mark.behaviour("N15")
@pytest.mark.usefixtures("two")
def test_of_two_wires_with_one_path_the_host_decides_and_else_the_first_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def at(host: str) -> str:
        wire = route(f"https://{host}/brook/answer")[0]
        return wire.name if wire is not None else ""

    assert (at("api.creek.example"), at("api.brook.example")) == ("creek", "brook")
    assert caplog.records == []
    assert (at("gpu.lab"), at("gpu.lab:8000")) == ("brook", "brook")
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith(
        "the wires brook and creek both have requests to /brook/answer: brook is"
    )
    tenuto.register_provider(tenuto.Provider("lab", wire="creek", hosts=["gpu.lab"]))
    assert at("gpu.lab") == "creek"


@pytest.mark.behaviour("N15")
def test_at_a_path_of_ours_a_row_names_a_wire_of_another_package(place: Path) -> None:
    path = "lambda path: path.endswith('/chat/completions')"
    module = changed(is_request=path, hosts="('llm.brook.example',)")
    write_package(place, "brook-wire", {"brook": "brook:WIRE"}, {"brook": module})
    url = "https://llm.brook.example/v1/chat/completions"
    before = ROWS.all()
    with installed(place):
        names = [route(url)[0]]
        assert WIRES.find("brook") is not None  # whether it is read decides nothing
        registry_of_providers._route.cache_clear()
        names.append(route(url)[0])
        tenuto.register_provider(tenuto.Provider("b", wire="brook", hosts=["llm.brook.example"]))
        names.append(route(url)[0])
        ROWS._all = before
        ROWS.changes += 1
    assert [wire and wire.name for wire in names] == ["openai-chat", "openai-chat", "brook"]


@pytest.mark.behaviour("N15")
@pytest.mark.usefixtures("brook")
def test_a_registered_wire_comes_before_that_of_a_package() -> None:
    found = WIRES.find("brook")
    assert found is not None
    own, before, changes = replace(found), WIRES.all(), WIRES.changes
    try:
        tenuto.register_wire(own)
        assert WIRES.find("brook") is own
        assert route("https://gpu.lab/brook/answer")[0] is own
    finally:
        WIRES._all, WIRES.changes = before, changes


@pytest.mark.behaviour("N15")
def test_a_folder_of_a_wire_that_is_no_package_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "brook"
    folder.mkdir()
    (folder / "wire.py").write_text(BROOK, "utf-8")
    monkeypatch.setattr(wires, "__path__", [*wires.__path__, str(tmp_path)])
    with pytest.raises(ImportError, match=r"brook has a wire.py but no __init__.py"):
        registry.shipped.__wrapped__()


def test_what_other_packages_leave_broken_is_said_and_nothing_else(
    place: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_package(place, "brook-wire", {"brook": "no such thing"}, {})
    with installed(place), caplog.at_level(logging.WARNING, "tenuto"):
        assert WIRES.find("brook") is None
    assert len(caplog.records) == 1
