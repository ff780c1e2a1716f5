"""`tenuto explain`: what it says of captures, of bodies and of streams, and of what is neither."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import openai
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import tenuto
from tenuto.cli import main
from tenuto.cli.explained import changes, explain
from tenuto.cli.recorded import NotRecorded
from tenuto.core.settings.policy import Policy
from tenuto.turn.drivers.commands import Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted, lost
from tenuto.turn.pipeline.engine import Engine
from tenuto_sim import Simulator

pytestmark = pytest.mark.behaviour("P8b")

URL = "https://host.example/v1/chat/completions"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of this project, nor of whoever runs the tests."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("TENUTO_")]:
        monkeypatch.delenv(name)


def body(text: str, finish: str | None = "stop") -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 5, "completion_tokens": 30}
    return json.dumps({"choices": [choice | {"finish_reason": finish}], "usage": usage}).encode()


def stream(text: str, finish: str | None = "stop") -> bytes:
    choices: list[dict[str, Any]] = [{"delta": {"content": text}}]
    choices += [{"delta": {}, "finish_reason": finish}] if finish else []
    lines = [json.dumps({"id": "c", "choices": [{"index": 0, **choice}]}) for choice in choices]
    made = b"".join(f"data: {line}\n\n".encode() for line in lines)
    return made + b"data: [DONE]\n\n" if finish else made


def captured(*answers: Any, streams: bool = False, folder: str = "turns", **set_to: Any) -> Path:
    """The capture file of one turn."""
    policy = Policy(capture=folder, **({"backoff_s": 0} | set_to))
    asked: dict[str, Any] = {
        "model": "m",
        "messages": [{"role": "user", "content": "SECRET PROMPT"}],
    }
    asked |= {"stream": streams, "max_tokens": 3_000}
    request = Request("POST", URL, ((b"authorization", b"Bearer k"),), json.dumps(asked).encode())
    run = Engine(policy).begin(request)
    assert run is not None
    before = set(Path(folder).glob("*.json"))
    with contextlib.suppress(ConnectionError):
        list(Drive(run, Script(*answers).connect).pieces())
    (made,) = set(Path(folder).glob("*.json")) - before
    return made


def two_attempts(**set_to: Any) -> Path:
    halves = (body("Half of it", "length"), body(" and the rest."))
    return captured(*map(Scripted.body, halves), **set_to)


def test_of_a_folder_it_tells_the_sums(capsys, tmp_path):
    two_attempts()
    captured(Scripted.body(body("All of it.")))
    captured(Scripted.body(body("", "content_filter")))
    value = told(capsys, "turns")
    assert value["ended"] == {"complete: completed": 2, "failed: safety_blocked": 1}
    assert (value["turns"], value["attempts"], value["recovered"]) == (3, 4, 1)
    assert (value["output_tokens"], value["recovery_output_tokens"]) == (120, 30)
    assert value["stops"]["m: max_tokens"] == 1
    assert sum(value["outcomes"].values()) == 4
    Path("turns/odd.json").write_text("[]")
    assert main(["explain", "turns"]) == 2
    shown = capsys.readouterr()
    assert "odd.json cannot be explained" in shown.err
    assert "turns: turns: 3, 1 complete after more than one attempt" in shown.out


@pytest.mark.parametrize(
    ("answers", "counts"), [(1, "unknown, of which 0"), (2, "unknown, of which unknown")]
)
def test_tokens_that_nobody_counted_are_not_said_to_be_none(capsys, tmp_path, answers, counts):
    halves = [body("All of", "length"), body(" it.")][-answers:]
    uncounted = [{**json.loads(half), "usage": None} for half in halves]
    captured(*(Scripted.body(json.dumps(half).encode()) for half in uncounted))
    value = told(capsys, "turns")
    assert (value["attempts"], value["counted"], value["output_tokens"]) == (answers, 0, None)
    assert value["recovery_output_tokens"] == (None if answers > 1 else 0)
    assert main(["explain", "turns"]) == 0
    assert f"output tokens: {counts} after the first attempt" in capsys.readouterr().out


def test_half_a_document_in_a_folder_is_not_counted_as_a_turn(capsys, tmp_path):
    whole = captured(Scripted.body(body("All of it.")))
    for name, half in (("a.json", whole.read_bytes()[:300]), ("b.json", body("All of it.")[:40])):
        Path("turns", name).write_bytes(half)
    value = told(capsys, "turns", code=2)
    assert (value["turns"], value["attempts"]) == (1, 1)
    assert value["stops"] == {"m: end_turn": 1}
    assert [Path(one["file"]).name for one in value["unread"]] == ["a.json", "b.json"]
    assert main(["explain", "turns"]) == 2
    shown = capsys.readouterr()
    assert "files that could not be read and are not counted: 2" in shown.out
    assert "b.json cannot be explained: it is only a part of a document" in shown.err
    assert told(capsys, "turns/b.json")["attempts"][0]["reason"] == "dropped"


def test_a_folder_without_captures_is_an_error(capsys, tmp_path):
    Path("none").mkdir()
    assert main(["explain", "none"]) == 2
    assert "a folder without JSON files" in capsys.readouterr().err


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    assert main(["explain", "--json", *arguments]) == code
    (line,) = capsys.readouterr().out.splitlines()
    value: dict[str, Any] = json.loads(line)
    return value


# --- captures -----------------------------------------------------------------------------------


def test_the_story_of_a_turn_says_why_each_attempt_ended_and_how_the_next_request_differed(
    capsys,
) -> None:
    value = told(capsys, str(two_attempts()))
    first, second = value["attempts"]
    assert (value["kind"], value["wire"], value["policy"]) == ("capture", "openai-chat", "recorded")
    assert value["request"] == {"model": "m", "max_tokens": 3_000}
    assert (first["status"], first["reason"], first["raw"]) == (200, "max_tokens", "length")
    assert (first["field"], first["confidence"]) == ("choices[0].finish_reason", "high")
    assert (first["outcome"], first["rung"]) == ("text_cut", "continue_with_hint")
    assert first["changes"] == [
        "messages: 2 more at the end (assistant, user)",
        "max_tokens: 3000 → 6000",
    ]
    assert (second["outcome"], second["usage"]["output_tokens"]) == ("done", 30)
    assert (value["next"]["do"], value["next"]["status"]) == ("end", "complete")
    assert "out of 2 attempts" in value["next"]["shown"]
    assert value["note"] == ""


def test_a_person_reads_the_same_line_by_line_without_any_content(capsys) -> None:
    assert main(["explain", str(two_attempts())]) == 0
    said = capsys.readouterr().out
    for part in (
        "1. 200, max_tokens (high confidence",
        "The output limit cut the answer.",
        "2. 200,",
    ):
        assert part in said
    assert "Half" not in said
    assert "SECRET" not in said


@pytest.mark.parametrize("streams", [False, True])
def test_the_text_is_shown_when_it_is_asked_for_with_its_seams(capsys, streams) -> None:
    make, form = (stream, Scripted.stream) if streams else (body, Scripted.body)
    file = captured(
        form(make("Half\x1b of it", "length")), form(make(" and all.")), streams=streams
    )
    assert main(["explain", "--show-content", str(file)]) == 0
    said = capsys.readouterr().out
    assert "Half\\x1b of it⟦seam⟧ and all." in said
    assert "\x1b" not in said
    value = told(capsys, "--show-content", str(file))
    assert value["content"] == {"text": "Half\x1b of it and all.", "seams": [11]}


def test_another_policy_is_run_through_the_same_machine(capsys) -> None:
    file = two_attempts()
    Path("strict.toml").write_text("continuation_max_attempts = 0\n")
    value = told(capsys, "--policy", "strict.toml", str(file))
    assert [attempt["outcome"] for attempt in value["attempts"]] == ["text_cut"]
    assert (value["next"]["status"], value["next"]["reason"]) == ("partial", "retry_limit")
    assert value["next"]["shown"] == "attempt 1, unchanged"
    assert value["note"] == "when it was recorded, the turn went on"
    Path("eager.toml").write_text('prefill = "always"\n')
    value = told(capsys, "--policy", "eager.toml", str(file))
    assert (value["next"]["do"], value["next"]["rung"]) == ("send", "continue_with_prefill")
    assert (
        value["note"] == "when it was recorded, the next rung was 'continue the text after a hint'"
    )
    assert value["next"]["changes"][0] == "messages: 1 more at the end (assistant)"


def test_a_turn_that_ended_early_under_its_own_policy_says_what_would_come_next(capsys) -> None:
    file = captured(Scripted.body(body("Half", "length")), continuation_max_attempts=0)
    assert told(capsys, str(file))["next"]["reason"] == "retry_limit"
    Path("tenuto.toml").write_text("")
    value = told(capsys, "--policy", "tenuto.toml", str(file))
    assert (value["next"]["do"], value["next"]["rung"]) == ("send", "continue_with_hint")
    assert "max_tokens: 3000 → 6000" in value["next"]["changes"]
    assert value["note"] == "when it was recorded, the turn ended here"


def test_errors_and_broken_connections_of_a_turn_are_told(capsys) -> None:
    refused = captured(Scripted.body(b'{"error":{"message":"No."}}', status=401))
    value = told(capsys, str(refused))
    assert (value["attempts"][0]["status"], value["attempts"][0]["rung"]) == (
        401,
        "leave_to_sdk",
    )
    assert value["attempts"][0]["message"] == "The provider reported an error (authentication)."
    assert value["next"]["shown"] == "attempt 1, unchanged"
    value = told(capsys, str(captured(lost())))
    assert value["attempts"][0]["lost"] == "connection"
    assert value["next"]["shown"].startswith("the exception of its own transport")
    broken = Scripted.stream(stream("Half of", None), lost())
    value = told(capsys, str(captured(broken, Scripted.stream(stream(" it.")), streams=True)))
    assert [a["outcome"] for a in value["attempts"]] == ["dropped", "done"]
    assert value["attempts"][0]["lost"] == "connection"


def test_a_capture_that_does_not_hold_all_bytes_is_told_as_it_was_recorded(capsys) -> None:
    value = told(capsys, str(two_attempts(capture_max_bytes=200)))
    assert [a["outcome"] for a in value["attempts"]] == ["text_cut", "done"]
    assert value["next"]["status"] == "complete"
    assert "not all bytes are in the file" in value["note"]


# --- bodies and streams -------------------------------------------------------------------------


@pytest.mark.parametrize("make", [body, stream])
@pytest.mark.parametrize(
    ("text", "finish", "outcome", "then"),
    [
        ("All of it.", "stop", "done", ("end", "complete", "completed")),
        ("Half of", "length", "text_cut", ("send", "continue_with_hint")),
        ("", "stop", "empty", ("send", "ask_again")),
        ("Well,", "content_filter", "blocked", ("end", "partial", "safety_blocked")),
        ("Well,", "brand_new", "unknown", ("end", "partial", "unknown_stop")),
    ],
)
def test_an_answer_without_its_request_goes_through_the_same_machine(
    capsys, make, text, finish, outcome, then
) -> None:
    Path("answer").write_bytes(make(text, finish))
    value = told(capsys, "answer")
    assert (value["request"], value["policy"]) == (None, "in force")
    assert value["kind"] == ("body" if make is body else "stream")
    (attempt,) = value["attempts"]
    assert (attempt["outcome"], attempt["raw"]) == (outcome, finish)
    following = value["next"]
    found = (following["do"], *(following[k] for k in ("status", "reason") if k in following))
    assert found == then if then[0] == "end" else (following["do"], following["rung"]) == then


def test_the_settings_in_force_decide_where_a_file_has_none(capsys, monkeypatch) -> None:
    Path("cut.json").write_bytes(body("Half", "length"))
    monkeypatch.setenv("TENUTO_CONTINUATION_MAX_ATTEMPTS", "0")
    assert told(capsys, "cut.json")["next"]["shown"] == "the text with the stop 'length'"
    monkeypatch.setenv("TENUTO_ON_INCOMPLETE", "error")
    assert told(capsys, "cut.json")["next"]["shown"] == "an error, retry_limit"


def test_gzip_standard_input_and_what_broke_off_are_read(capsys, monkeypatch) -> None:
    packed = gzip.compress(stream("Half", "length"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    assert told(capsys, "-")["attempts"][0]["reason"] == "max_tokens"
    for content in (body("Half")[:40], stream("Half")[:30]):
        Path("cut").write_bytes(content)
        value = told(capsys, "cut")
        assert (value["attempts"][0]["outcome"], value["next"]["rung"]) == ("dropped", "send_again")


def test_of_several_files_each_attempt_has_its_reason_once(capsys) -> None:
    Path("cut.json").write_bytes(body("Half", "length"))
    file = two_attempts()
    assert main(["explain", "cut.json", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "cut.json: body, openai-chat"
    assert lines[1].startswith("  1. max_tokens (")
    at = next(number for number, line in enumerate(lines) if line.startswith(f"{file}: capture"))
    assert lines[at + 1].startswith("  1. 200, ")
    assert lines[at + 2].startswith("  2. 200, end_turn")
    assert lines[at + 3].startswith("  then: The turn ends complete (completed)")
    assert len(lines) == at + 4


def test_a_host_that_no_row_knows_is_named(capsys) -> None:
    with Simulator() as sim:
        client = tenuto.wrap(
            openai.OpenAI(base_url=sim.base_url, api_key="none"),
            policy=tenuto.Policy(capture="turns"),
        )
        client.chat.completions.create(model="sim", messages=[{"role": "user", "content": "Why?"}])
        assert main(["explain", *map(str, Path("turns").glob("*.json"))]) == 0
        assert f"capture, {sim.base_url.split('/')[2]}, openai-chat" in capsys.readouterr().out


@pytest.mark.parametrize("columns", [80, 120])
def test_on_a_terminal_no_word_is_broken(capsys, monkeypatch, columns: int) -> None:
    for name, value in {"COLUMNS": str(columns), "TTY_COMPATIBLE": "1", "FORCE_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    Path("cut.json").write_bytes(body("Half", "length"))
    file = two_attempts()
    for arguments in (["cut.json"], ["cut.json", str(file)]):
        monkeypatch.setenv("TTY_COMPATIBLE", "1")
        assert main(["explain", *arguments]) == 0
        shown = capsys.readouterr().out
        monkeypatch.setenv("TTY_COMPATIBLE", "0")
        assert main(["explain", *arguments]) == 0
        plain = capsys.readouterr().out
        assert shown.split() == plain.split()
        wide = [line for line in shown.splitlines() if len(line) > columns]
        assert all(len(word) > columns - 6 for line in wide for word in line.split()[:1])


# --- what is neither ----------------------------------------------------------------------------

NEITHER = {
    "empty": (b"", "it is empty"),
    "prose": (b"Good morning.", "nor a body or stream of a known wire"),
    "other": (b'{"hello": 1}', "nor a body or stream of a known wire"),
    "list": (b"[1, 2", "nor a body or stream of a known wire"),
    "stream": (b'data: {"hello": 1}\n\ndata: {"hel', "nor a body or stream of a known wire"),
    "lines": (b'{"done": false}\n{"done": tr', "nor a body or stream of a known wire"),
    "binary": (bytes(range(256)), "nor a body or stream of a known wire"),
    "packed": (b"\x1f\x8b is no gzip", "cannot be unpacked"),
    "newer": (b'{"tenuto_capture": 99}', "a capture of format 99"),
    "half": (b'{"tenuto_capture": 1, "att', "a part of a capture"),
    "hollow": (b'{"tenuto_capture": 1, "wire": "x", "attempts": []}', "without attempts"),
    "odd": (
        b'{"tenuto_capture": 1, "wire": "x", "attempts": [7]}',
        "with a part that cannot be read",
    ),
    "setting": (
        b'{"tenuto_capture":1,"wire":"x","policy":{"nonsense":1},"attempts":[{"request":{}}]}',
        "nonsense is not a setting",
    ),
}


@pytest.mark.parametrize("name", NEITHER)
def test_what_cannot_be_explained_is_named_and_the_others_are_explained(capsys, name) -> None:
    content, why = NEITHER[name]
    Path(name).write_bytes(content)
    Path("cut.json").write_bytes(body("Half", "length"))
    Path("no_files").mkdir(exist_ok=True)
    assert main(["explain", name, "absent", "no_files", "cut.json"]) == 2
    said = capsys.readouterr()
    assert said.out.startswith("cut.json: ")
    first, second, third = said.err.splitlines()
    assert first.startswith(f"tenuto: {name} cannot be explained: ")
    assert why in first
    assert "absent" in second
    assert third.startswith("tenuto: no_files cannot be explained")
    assert why in told(capsys, name, code=2)["error"]


def test_a_setting_that_is_wrong_is_not_put_down_to_the_file(capsys, monkeypatch) -> None:
    Path("cut.json").write_bytes(body("Half", "length"))
    monkeypatch.setenv("TENUTO_ON_INCOMPLETE", "never")
    assert main(["explain", "cut.json"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("tenuto: TENUTO_ON_INCOMPLETE is 'never'")


def test_a_policy_may_come_by_standard_input(capsys, monkeypatch) -> None:
    Path("cut.json").write_bytes(body("Half", "length"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"no_such_setting = 1")))
    assert main(["explain", "--policy", "-", "cut.json"]) == 2
    assert "no_such_setting is not a setting" in capsys.readouterr().err


def test_a_policy_that_cannot_be_read_and_no_file_at_all_are_wrong_requests(capsys) -> None:
    Path("cut.json").write_bytes(body("Half", "length"))
    Path("bad.toml").write_text("retries = 1")
    for arguments in (
        [],
        ["--policy", "none.toml", "cut.json"],
        ["--policy", "bad.toml", "cut.json"],
    ):
        assert main(["explain", *arguments]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert len(said.err.splitlines()) == 1


_mutable = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 999) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@_mutable
@given(path=st.integers(0, 400), put=JSON)
@example(path=289, put=[None])  # the rung of an answer
def test_a_capture_with_anything_anywhere_is_explained_or_refused(path, put) -> None:
    if not Path("one.json").exists():
        two_attempts().rename("one.json")
    value = json.loads(Path("one.json").read_text("utf-8"))
    places = list(_places(value))
    parent, key = places[path % len(places)]
    parent[key] = put
    with contextlib.suppress(NotRecorded):
        explain(json.dumps(value).encode(), None, Policy)


def _places(value: Any) -> Any:
    for key in value if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


@_mutable
@given(st.binary(max_size=60))
def test_any_bytes_are_explained_or_refused(content) -> None:
    for begin in (b"", b"data: ", b'{"choices":[', b"\x1f\x8b", b'{"tenuto_capture":1,'):
        with contextlib.suppress(NotRecorded):
            explain(begin + content, None, Policy)


def test_a_name_that_cannot_be_one_is_told_like_any_other(capsys) -> None:
    assert "ValueError" in told(capsys, "a\0b", code=2)["error"]


def test_a_difference_tells_no_content() -> None:
    old = {"messages": [{"role": "user", "content": "a"}], "config": {"limit": 1}, "x": 1}
    new = {"messages": [{"role": "user", "content": "secret text"}], "config": {"limit": 2}}
    said = changes(json.dumps(old).encode(), json.dumps(new | {"y": "two words"}).encode())
    assert said == [
        "messages: 1 rows → 1 rows",
        "config.limit: 1 → 2",
        "x: left out",
        ("y: a text, which was not there"),
    ]
    assert changes(b"{}", b"{}") == ["nothing: it is sent again as it was"]
