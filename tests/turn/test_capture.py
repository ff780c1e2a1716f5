"""Capture: what a file holds, what it never holds, and that nothing about it costs an answer."""

from __future__ import annotations

import base64
import gzip
import json
import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

import tenuto
from tenuto.config import load_policy, policy_in_force
from tenuto.core.errors import PolicyError
from tenuto.core.events.event import Event
from tenuto.core.settings.policy import Policy
from tenuto.telemetry.capture import CapturedTurn
from tenuto.telemetry.redaction import Redactor, is_named_secret, is_secret_header
from tenuto.turn.drivers.commands import (
    Head,
    ReadMore,
    Request,
    SendData,
    SendRequest,
    StartResponse,
    encoded,
)
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted, lost
from tenuto.turn.pipeline.engine import Engine
from tenuto_sim import Simulator

URL = "https://host.example/v1/chat/completions"
KEY = "an-odd-key-of-ours"
SECRET_HEADERS = (
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "x-goog-iam-authorization-token",
    "x-amz-security-token",
    "x-amz-signature",
    "x-auth-token",
    "ocp-apim-subscription-key",
    "cookie",
    "set-cookie",
    "cf-access-client-secret",
)
"""Headers in which services take their keys."""
HEADERS = (("Authorization", f"Bearer {KEY}"), ("Content-Type", "application/json"))


def asked(*, url: str = URL, headers: Any = HEADERS, **more: Any) -> Request:
    body = {"model": "m", "messages": [{"role": "user", "content": "Tell me."}]} | more
    return Request("POST", url, encoded(headers), json.dumps(body).encode())


def body(text: str, finish: str = "stop", tokens: int = 3) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 5, "completion_tokens": tokens}
    return json.dumps({"choices": [choice | {"finish_reason": finish}], "usage": usage}).encode()


def events(*texts: str, finish: str | None = "stop") -> tuple[bytes, ...]:
    made: list[dict[str, Any]] = [{"delta": {"content": text}} for text in texts]
    made += [{"delta": {}, "finish_reason": finish}] if finish else []
    lines = [json.dumps({"id": "c", "choices": [{"index": 0, **choice}]}) for choice in made]
    return (*(f"data: {line}\n\n".encode() for line in lines), b"data: [DONE]\n\n")


def answered(engine: Engine, request: Request, *answers: Any) -> bytes:
    """One turn to its end, as an SDK would read it."""
    run = engine.begin(request)
    assert run is not None
    pieces = list(Drive(run, Script(*answers).connect).pieces())
    return b"".join(piece for piece in pieces if isinstance(piece, bytes))


def engine_at(folder: Path, on_event: Any = None, **settings: Any) -> Engine:
    return Engine(Policy(capture=str(folder), backoff_s=0, **settings), on_event)


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def only(folder: Path) -> dict[str, Any]:
    (file,) = files(folder)
    value: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return value


# --- what a file holds --------------------------------------------------------------------------


@pytest.mark.behaviour("P8b")
def test_a_turn_of_several_attempts_is_one_file_that_tells_all_of_it(tmp_path) -> None:
    told: list[Event] = []
    answer = answered(
        engine_at(tmp_path, told.append, empty_retries=4),
        asked(max_tokens=3_000),
        Scripted.body(body("Half of it", "length")),
        Scripted.body(body(" and the rest.")),
    )
    kept = only(tmp_path)
    first, second = kept["attempts"]
    assert (kept["tenuto_capture"], kept["wire"], kept["model"]) == (1, "openai-chat", "m")
    assert kept["policy"] == {"empty_retries": 4, "backoff_s": 0}
    assert (first["request"]["method"], first["request"]["url"]) == ("POST", URL)
    assert first["request"]["body"]["text"].encode() == asked(max_tokens=3_000).body
    assert (first["request"]["edited"], second["request"]["edited"]) == (False, True)
    assert json.loads(second["request"]["body"]["text"])["max_tokens"] == 6_000
    assert first["response"]["status"] == 200
    assert first["response"]["body"]["text"].encode() == body("Half of it", "length")
    assert first["report"]["rung"] == "continue_with_hint"
    counted = {"reasoning_tokens": None, "cached_tokens": None}
    assert first["report"]["usage"] == {"input_tokens": 5, "output_tokens": 3, **counted}
    assert (second["report"]["outcome"], second["report"]["raw"]) == ("done", "stop")
    assert kept["shown"]["attempt"] is None
    assert kept["shown"]["body"]["text"].encode() == answer
    assert (kept["report"]["status"], kept["report"]["attempts"]) == ("complete", 2)
    assert [e.name for e in told][-1] == "turn_ended"


@pytest.mark.behaviour("P8b")
def test_a_stream_is_kept_as_the_bytes_that_came_and_the_caller_s_attempt_is_named(
    tmp_path,
) -> None:
    pieces = events("Hel", "lo")
    answered(engine_at(tmp_path), asked(stream=True), Scripted.stream(*pieces))
    kept = only(tmp_path)
    assert kept["attempts"][0]["response"]["body"]["text"].encode() == b"".join(pieces)
    assert (kept["shown"]["attempt"], kept["shown"]["body"]) == (1, None)


@pytest.mark.behaviour("P8b")
def test_broken_connections_errors_and_callers_that_leave_are_kept_too(tmp_path) -> None:
    engine = engine_at(tmp_path)
    with pytest.raises(ConnectionError):
        answered(engine, asked(), lost())
    refused = Scripted.body(b'{"error":{"message":"No."}}', status=401)
    answered(engine, asked(), refused)
    run = engine.begin(asked(stream=True))
    assert run is not None
    drive = Drive(run, Script(Scripted.stream(*events("Hel", "lo"))).connect)
    pieces = drive.pieces()
    assert isinstance(next(pieces), Head)
    next(pieces)
    drive.close()
    never, error, left = (json.loads(file.read_text("utf-8")) for file in files(tmp_path))
    assert never["attempts"][0]["lost"] == {"kind": "connection", "error": "ConnectionError"}
    assert (never["shown"]["raised"], never["report"]["status"]) == ("ConnectionError", "failed")
    assert error["attempts"][0]["response"]["status"] == 401
    assert (error["shown"]["attempt"], error["report"]["status"]) == (1, "failed")
    assert (left["report"]["reason"], left["shown"]["attempt"]) == ("cancelled", 1)


@pytest.mark.behaviour("P8b")
def test_a_compressed_body_is_kept_readable_and_one_of_unknown_coding_is_left_out(
    tmp_path,
) -> None:
    engine = engine_at(tmp_path)
    packed = gzip.compress(body("Hello"))
    for coding in ("gzip", "morse"):
        answered(
            engine,
            asked(),
            Scripted.body(packed, headers=((b"content-encoding", coding.encode()),)),
        )
    known, unknown = (json.loads(file.read_text("utf-8")) for file in files(tmp_path))
    read = known["attempts"][0]["response"]["body"]
    assert (read["text"].encode(), read["bytes"]) == (body("Hello"), len(packed))
    unread = unknown["attempts"][0]["response"]["body"]
    assert unread["omitted"] == "content-encoding 'morse' cannot be read"
    assert "text" not in unread


@pytest.mark.behaviour("P8b")
def test_bytes_that_are_no_text_are_kept_in_base64(tmp_path) -> None:
    odd = b'{"choices": "\xff\xfe sk-abcdefgh1234"}'
    answered(engine_at(tmp_path, fault_retries=0), asked(), Scripted.body(odd))
    kept = base64.b64decode(only(tmp_path)["attempts"][0]["response"]["body"]["base64"])
    assert kept == b'{"choices": "\xff\xfe [removed]"}'


# --- what it never holds ------------------------------------------------------------------------

SECRETS = (
    "sk-proj-0123456789abcdef",
    "AIzaSyA0123456789abcdefghijklmnop",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_0123456789abcdef0123",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
)


@pytest.mark.behaviour("P8b", "N10")
@pytest.mark.parametrize("secret", [*SECRETS, KEY, "query-secret", "u5er-passw0rd"])
def test_no_secret_is_written_wherever_it_stands(tmp_path, secret) -> None:
    headers = (
        *((name.title(), f"value-of-{name}") for name in SECRET_HEADERS),
        ("Authorization", f"Bearer {KEY}"),
        ("X-Note", secret),
        ("X-My-Secret", "value-of-x-my-secret"),
    )
    url = (
        URL.replace("host", "me:u5er-passw0rd@host") + "?key=query-secret&X-Amz-Signature=0123&a=1"
    )
    said = f"You sent {secret}, Bearer {secret}, https://me:u5er-passw0rd@h/?token=query-secret"
    request = asked(url=url, headers=headers, user=said)
    response_headers = (("Set-Cookie", "session=value-of-set-cookie"), ("X-Echo", said))
    answered(
        engine_at(tmp_path),
        request,
        Scripted.body(body(said, "length"), headers=encoded(response_headers)),
        Scripted.body(body(" More.")),
    )
    (file,) = files(tmp_path)
    text = file.read_text("utf-8")
    kept = json.loads(text)
    assert "value-of-" not in text
    assert "0123&" not in text
    # The word of a query parameter or of a URL's user is a secret where it stands as one.
    everywhere = (
        text
        if secret not in ("query-secret", "u5er-passw0rd")
        else kept["attempts"][0]["request"]["url"]
    )
    assert secret not in everywhere
    assert json.dumps(secret)[1:-1] not in everywhere
    sent = kept["attempts"][0]["request"]
    assert sent["url"].endswith(
        "/v1/chat/completions?key=[removed]&X-Amz-Signature=[removed]&a=[removed]"
    )
    assert json.loads(sent["body"]["text"])["model"] == "m"


@pytest.mark.behaviour("N10")
def test_a_member_that_is_named_a_secret_is_removed_also_inside_a_text_that_is_json() -> None:
    inner = json.dumps({"api_key": "in/ner", "n": 1}).replace("/", "\\/")
    outer = json.dumps({"password": "outer", "arguments": inner})
    clean = json.loads(Redactor(URL, HEADERS).text(outer))
    assert clean["password"] == "[removed]"
    assert json.loads(clean["arguments"]) == {"api_key": "[removed]", "n": 1}


@pytest.mark.behaviour("N10")
@pytest.mark.parametrize(
    "harmless",
    [
        '{"logprobs": [{"token": "Hello"}], "max_tokens": 5}',
        '{"properties": {"api_key": {"type": "string"}}}',
        "a task-oriented-programming style, risk-averse-people, basic needs",
        "https://host.example/docs?page=2&sort=key",
    ],
)
def test_what_is_no_secret_stays(harmless) -> None:
    assert Redactor(URL, HEADERS).text(harmless) == harmless


OPAQUE = "Zx81opaqueValue0042"


@pytest.mark.behaviour("P8b", "N10")
@pytest.mark.parametrize(
    "name",
    ["Authentication", "x-authtoken", "X-JWT", "sessionid", "x-vendor-pass", "Ticket", "X-Team"],
)
def test_of_headers_only_those_are_written_that_are_known_to_be_harmless(tmp_path, name) -> None:
    request = asked(headers=((name, OPAQUE), ("Accept", "*/*")), user=f"I am {OPAQUE}")
    answered(engine_at(tmp_path), request, Scripted.body(body("Hello")))
    kept = only(tmp_path)["attempts"][0]["request"]
    assert OPAQUE not in json.dumps(kept), "neither there nor where it occurs again"
    assert kept["headers"] == [[name, "[removed]"], ["Accept", "*/*"]]


@pytest.mark.behaviour("P8b", "N10")
@pytest.mark.parametrize(
    ("query", "kept"),
    [
        (f"?auth={OPAQUE}", "?auth=[removed]"),
        (f"?alt=sse&sid={OPAQUE}&api-version=2", "?alt=sse&sid=[removed]&api-version=2"),
        (f"?{OPAQUE}", "?[removed]"),
        (f"#{OPAQUE}", "#[removed]"),
        (f"?JWT=a&key={OPAQUE}", "?JWT=[removed]&key=[removed]"),
    ],
)
def test_of_a_query_only_what_is_known_to_be_harmless_is_written(tmp_path, query, kept) -> None:
    request = asked(url=URL + query, headers=(), user=f"I am {OPAQUE}")
    answered(engine_at(tmp_path), request, Scripted.body(body("Hello")))
    text = files(tmp_path)[0].read_text("utf-8")
    assert OPAQUE not in text
    assert json.loads(text)["attempts"][0]["request"]["url"] == URL + kept


@pytest.mark.behaviour("N10")
def test_a_word_under_an_unknown_name_stays_in_the_content(tmp_path) -> None:
    request = asked(headers=(("X-Place", "Lisbon and around"),), user="Lisbon and around")
    answered(engine_at(tmp_path), request, Scripted.body(body("Hello")))
    sent = only(tmp_path)["attempts"][0]["request"]
    assert "Lisbon" in sent["body"]["text"]
    assert sent["headers"] == [["X-Place", "[removed]"]]


@pytest.mark.behaviour("N10")
def test_an_address_in_a_header_is_written_without_its_keys() -> None:
    headers = [("Location", f"https://me:{OPAQUE}@host/v1?ticket={OPAQUE}&alt=sse")]
    assert Redactor(URL, HEADERS).headers(headers) == [
        ["Location", "https://[removed]@host/v1?ticket=[removed]&alt=sse"]
    ]


@pytest.mark.behaviour("N10")
def test_no_repr_of_what_goes_out_or_comes_in_holds_a_value() -> None:
    headers = encoded((("x-api-key", OPAQUE), ("Authorization", f"Bearer {OPAQUE}")))
    url = f"https://me:{OPAQUE}@host/v1/x?key={OPAQUE}#{OPAQUE}"
    said = f"I am {OPAQUE}".encode()
    request = asked(url=URL + f"?key={OPAQUE}", headers=(("x-api-key", OPAQUE),), user=OPAQUE)
    engine = Engine(Policy())
    read = engine.read(request)
    assert read is not None
    shown = [
        repr(one)
        for one in (
            Request("POST", url, headers, said),
            SendRequest(headers, said, edited=True),
            Head(200, headers),
            StartResponse(Head(200, headers)),
            SendData(said),
            read,
            Redactor(url, [("x-api-key", OPAQUE)]),
        )
    ]
    assert not [text for text in shown if OPAQUE in text]
    assert shown[1] == "SendRequest(headers: x-api-key, Authorization; 24 bytes, edited)"


@pytest.mark.behaviour("N10")
def test_headers_are_known_by_name_in_any_case() -> None:
    assert all(is_secret_header(name.upper()) for name in SECRET_HEADERS)
    assert all(map(is_named_secret, SECRET_HEADERS))
    assert is_secret_header("X-Vendor-Api-Key")
    for name in ("x-ratelimit-remaining-tokens", "idempotency-key", "keep-alive", "content-type"):
        assert not is_secret_header(name)


# --- the file -----------------------------------------------------------------------------------


@pytest.mark.behaviour("P8b")
def test_without_the_setting_nothing_is_written_and_no_record_is_kept(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(CapturedTurn, "__init__", None)
    answered(Engine(Policy()), asked(), Scripted.body(body("Hello")))
    assert files(tmp_path) == []


@pytest.mark.behaviour("P8b", "P3")
def test_the_folder_comes_from_the_environment_and_from_toml(tmp_path) -> None:
    (tmp_path / "tenuto.toml").write_text('capture = "turns"\n')
    assert load_policy(tmp_path, {}).capture == "turns"
    assert load_policy(tmp_path, {"TENUTO_CAPTURE": "other"}).capture == "other"
    assert load_policy(tmp_path, {"TENUTO_CAPTURE": "off"}).capture is None


@pytest.mark.behaviour("P8b", "P3")
@pytest.mark.parametrize("given", ["wrap", "http_client", "Turn", "Agent"])
def test_the_environment_s_folder_holds_beside_a_policy_in_code(
    tmp_path, monkeypatch, given
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENUTO_CAPTURE", "turns")
    monkeypatch.setenv("TENUTO_EMPTY_RETRIES", "not a number: nobody reads it")
    policy = Policy(on_incomplete="error")
    with Simulator() as sim:
        said: Any = [{"role": "user", "content": "Hi"}]
        if given == "wrap":
            client = openai.OpenAI(base_url=sim.base_url, api_key=KEY)
            with tenuto.wrap(client, policy=policy) as wrapped:
                wrapped.chat.completions.create(model="m", messages=said)
        elif given == "http_client":
            with tenuto.http_client(policy=policy) as http:
                url = f"{sim.base_url}/chat/completions"
                http.post(url, json={"model": "m", "messages": said})
        elif given == "Turn":
            turn = tenuto.sansio.Turn("POST", URL, HEADERS, asked().body, policy=policy)
            played(turn, tenuto.sansio.Head(200, ()), body("Hello"))
        else:
            model = tenuto.agent.Model("openai-chat:m", base_url=sim.base_url, api_key=KEY)
            with tenuto.agent.Agent(model, policy=policy) as agent:
                agent.run("Hi")
    (file,) = files(tmp_path / "turns")
    assert json.loads(file.read_text("utf-8"))["policy"] == {"on_incomplete": "error"}


def played(turn, head, raw) -> None:
    reply, pieces = None, [raw, b""]
    while (command := turn.next(reply)) is not None:
        reply = None
        if isinstance(command, SendRequest):
            reply = head
        elif isinstance(command, ReadMore):
            reply = pieces.pop(0)


@pytest.mark.behaviour("P8b", "P3")
def test_the_environment_may_stop_a_capture_that_the_code_asks_for(monkeypatch) -> None:
    monkeypatch.setenv("TENUTO_CAPTURE", "off")
    assert policy_in_force(Policy(capture="turns")).capture is None
    monkeypatch.setenv("TENUTO_CAPTURE", "")
    assert policy_in_force(Policy(capture="turns")).capture == "turns"
    monkeypatch.setenv("TENUTO_CAPTURE_MAX_BYTES", "many")
    with pytest.raises(PolicyError, match=r"^TENUTO_CAPTURE_MAX_BYTES is 'many'"):
        policy_in_force(Policy())


OFF = ("off", "Off", " none ", "false", "0")
"""Texts that mean "no captures" and "no event files" in code, in files and in the environment."""


def in_code(word: str) -> tenuto.Policy | None:
    return Policy(capture=word, events=word)


def in_toml(word: str) -> tenuto.Policy | None:
    Path("tenuto.toml").write_text(f'capture = "{word}"\nevents = "{word}"\n', encoding="utf-8")
    return None


def in_pyproject(word: str) -> tenuto.Policy | None:
    lines = f'[tool.tenuto]\ncapture = "{word}"\nevents = "{word}"\n'
    Path("pyproject.toml").write_text(lines, encoding="utf-8")
    return None


def in_variables(word: str) -> tenuto.Policy | None:
    os.environ |= {"TENUTO_CAPTURE": word, "TENUTO_EVENTS": word}
    return Policy(capture="turns", events="events")


@pytest.mark.behaviour("P3", "P8b")
@pytest.mark.parametrize("word", OFF)
@pytest.mark.parametrize("said", [in_code, in_toml, in_pyproject, in_variables])
def test_a_word_for_off_records_nothing_wherever_it_stands(
    said, word, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("TENUTO_CAPTURE", "TENUTO_EVENTS"):
        monkeypatch.setenv(name, "")
    policy = said(word)
    with Simulator() as sim:
        client = tenuto.wrap(openai.OpenAI(base_url=sim.base_url, api_key=KEY), policy=policy)
        client.chat.completions.create(
            model="normal", messages=[{"role": "user", "content": "A private question."}]
        )
        client.close()
    assert {path.name for path in tmp_path.iterdir()} <= {"tenuto.toml", "pyproject.toml"}


@pytest.mark.behaviour("P3", "P8b")
def test_toml_s_own_false_is_off_and_a_folder_of_that_name_is_written_with_its_path(
    tmp_path,
) -> None:
    (tmp_path / "tenuto.toml").write_text('capture = false\nevents = "./off"\n')
    policy = load_policy(tmp_path, {})
    assert (policy.capture, policy.events) == (None, "./off")


@pytest.mark.behaviour("P8b")
@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
def test_the_folder_and_the_file_are_their_owner_s_alone_and_nothing_is_left_over(
    tmp_path,
) -> None:
    folder = tmp_path / "deep" / "turns"
    answered(engine_at(folder), asked(), Scripted.body(body("Hello")))
    (file,) = files(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.suffix == ".json"


@pytest.mark.behaviour("P8b")
def test_names_sort_by_time(tmp_path) -> None:
    engine = engine_at(tmp_path)
    for number in range(12):
        answered(engine, asked(user=str(number)), Scripted.body(body("Hello")))
    found = [json.loads(f.read_text("utf-8"))["attempts"][0]["request"] for f in files(tmp_path)]
    assert [json.loads(sent["body"]["text"])["user"] for sent in found] == [
        str(number) for number in range(12)
    ]


@pytest.mark.behaviour("P8b", "N10")
def test_a_file_keeps_as_much_as_it_may_and_says_what_was_cut(tmp_path) -> None:
    long = events(*["tide " * 100] * 40)
    answered(
        engine_at(tmp_path, capture_max_bytes=1_000), asked(stream=True), Scripted.stream(*long)
    )
    kept = only(tmp_path)
    sent, came = (kept["attempts"][0][side]["body"] for side in ("request", "response"))
    assert sent["bytes"] + len(came["text"]) == 1_000
    assert came["cut_bytes"] == came["bytes"] - len(came["text"])
    assert came["bytes"] == sum(map(len, long))
    assert kept["shown"]["attempt"] == 1


@pytest.mark.behaviour("P8b", "N10")
def test_a_small_body_that_unfolds_to_a_huge_one_is_cut_as_well(tmp_path) -> None:
    packed = gzip.compress(b" " * 5_000_000 + body("Hello"))
    headers = ((b"content-encoding", b"gzip"),)
    answered(
        engine_at(tmp_path, capture_max_bytes=100_000),
        asked(),
        Scripted.body(packed, headers=headers),
    )
    came = only(tmp_path)["attempts"][0]["response"]["body"]
    assert (len(came["text"]), came["decoded_bytes_cut"]) == (100_000, True)


@pytest.mark.behaviour("P8b")
def test_a_folder_keeps_no_more_files_than_it_may(tmp_path) -> None:
    (tmp_path / "notes.json").write_text("mine")
    engine = engine_at(tmp_path, capture_max_files=20)
    for number in range(50):
        answered(engine, asked(user=str(number)), Scripted.body(body("Hello")))
        assert min(number + 1, 18) < len(files(tmp_path)) <= 21
    *kept, notes = files(tmp_path)
    assert notes.read_text() == "mine"
    assert len(kept) >= 18
    sent = json.loads(kept[-1].read_text("utf-8"))["attempts"][0]["request"]["body"]["text"]
    assert json.loads(sent)["user"] == "49"


@pytest.mark.behaviour("P8b")
def test_files_of_an_earlier_process_count_as_well(tmp_path) -> None:
    for number in range(30):
        answered(engine_at(tmp_path), asked(user=str(number)), Scripted.body(body("Hello")))
    answered(engine_at(tmp_path, capture_max_files=3), asked(), Scripted.body(body("Hello")))
    assert len(files(tmp_path)) == 3


@pytest.mark.behaviour("P8b")
def test_a_folder_named_like_a_capture_stays_and_the_oldest_files_go(tmp_path) -> None:
    engine = engine_at(tmp_path, capture_max_files=20)
    answered(engine, asked(), Scripted.body(body("Hello")))
    (first,) = files(tmp_path)
    odd = tmp_path / f"2000{first.name[4:]}"
    odd.mkdir()
    os.utime(odd, (1, 1))
    for number in range(50):
        answered(engine, asked(user=str(number)), Scripted.body(body("Hello")))
        assert len(files(tmp_path)) <= 22
    assert odd.is_dir()


@pytest.mark.behaviour("P8b")
def test_of_healthy_turns_a_share_is_captured_and_of_others_all(tmp_path) -> None:
    engine = engine_at(tmp_path, capture_share=0)
    answered(engine, asked(), Scripted.body(body("Hello")))
    assert files(tmp_path) == []
    answered(engine, asked(), Scripted.body(body("", "content_filter")))
    assert len(files(tmp_path)) == 1
    cut = [Scripted.body(body("Half of it", "length")), Scripted.body(body(" and the rest."))]
    answered(engine, asked(max_tokens=300), *cut)
    assert len(files(tmp_path)) == 2
    half = engine_at(tmp_path / "half", capture_share=0.5)
    for _ in range(200):
        answered(half, asked(), Scripted.body(body("Hello")))
    assert 50 < len(files(tmp_path / "half")) < 150


@pytest.mark.behaviour("P2", "P6")
def test_the_end_of_a_turn_names_what_decide_chose(tmp_path) -> None:
    heard: list[Event] = []
    engine = engine_at(tmp_path, heard.append, decide=lambda decision: "stop")
    answered(engine, asked(max_tokens=300), Scripted.body(body("Half of it", "length")))
    assert heard[-1].data["overridden"] == "stop"
    answered(engine_at(tmp_path, heard.append), asked(), Scripted.body(body("Hello")))
    assert heard[-1].data["overridden"] == ""


# --- what fails costs nothing -------------------------------------------------------------------


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """What is logged, whatever another test has done to our logger."""
    logger = logging.getLogger("tenuto")
    before, logger.disabled = logger.disabled, False
    with caplog.at_level(logging.DEBUG, "tenuto"):
        yield caplog
    logger.disabled = before


@pytest.mark.behaviour("P8b")
def test_a_disk_that_fails_is_logged_once_without_control_characters(tmp_path, log) -> None:
    (tmp_path / "a\nfile").write_text("")
    engine = engine_at(tmp_path / "a\nfile" / "below")
    for _ in range(3):
        whole = body("Hello")
        assert answered(engine, asked(), Scripted.body(whole)) == whole
    (line,) = [record.getMessage() for record in log.records]
    assert line.startswith("cannot capture to ")
    assert line.isprintable()


@pytest.mark.behaviour("P8b")
@pytest.mark.parametrize("folder", ["a\0b", "/dev/null/x"])
def test_a_folder_that_cannot_be_is_no_reason_to_fail(folder, log) -> None:
    engine = Engine(Policy(capture=folder))
    assert answered(engine, asked(), Scripted.body(body("Hello"))) == body("Hello")
    assert len(log.records) == 1


@pytest.mark.behaviour("P8b")
def test_a_watcher_that_raises_is_as_harmless_as_without_capture(tmp_path, log) -> None:
    def watch(event: Event) -> None:
        raise RuntimeError(event.name)

    assert answered(engine_at(tmp_path, watch), asked(), Scripted.body(body("Hi"))) == body("Hi")
    assert only(tmp_path)["report"]["status"] == "complete"
    assert all("a listener raised" in record.getMessage() for record in log.records)


@pytest.mark.behaviour("P8b")
def test_stops_with_control_characters_are_escaped_in_the_file_and_in_the_log(
    tmp_path, log
) -> None:
    odd = body("Hello", "odd\n\x1b[31mstop-of-capture\ud800")
    answered(engine_at(tmp_path), asked(), Scripted.body(odd))
    (file,) = files(tmp_path)
    raw = file.read_bytes()
    assert b"\x1b" not in raw
    assert (
        "\x1b"
        in json.loads(json.loads(raw)["attempts"][0]["response"]["body"]["text"])["choices"][0][
            "finish_reason"
        ]
    )
    assert all(record.getMessage().isprintable() for record in log.records)
