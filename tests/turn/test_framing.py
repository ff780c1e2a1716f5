"""How an answer is framed is told by as few bytes as tell it, under any name, however they are cut."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.framing_matrix import NAMES, TEXT, shapes_of

from tenuto.core.events.event import Event
from tenuto.core.settings.policy import Policy
from tenuto.frames.frame import Framing
from tenuto.frames.sniff import framing_of
from tenuto.turn.drivers.commands import Head, Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted, ScriptedUpstream
from tenuto.turn.pipeline.engine import Engine

ASK = b'{"messages":[{"role":"user","content":"Hi"}],"model":"m","stream":true}'
GEMINI = b'{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}'
CONVERSE = b'{"messages":[{"role":"user","content":[{"text":"Hi"}]}]}'
GOOGLES = "https://host/v1beta/models/m:streamGenerateContent"
ASKED: dict[str, tuple[str, str, bytes, str]] = {
    "chat": ("openai-chat", "https://host/v1/chat/completions", ASK, "events"),
    "lines": ("gemini-generate", f"{GOOGLES}?alt=sse", GEMINI, "events"),
    "array": ("gemini-generate", GOOGLES, GEMINI, "array"),
    "ollama": ("ollama", "http://localhost:11434/api/chat", ASK, "lines"),
    "converse": ("bedrock-converse", "https://host/model/x/converse-stream", CONVERSE, "messages"),
}
"""Wire, URL and body of a request, and the framing in which its caller reads."""
OFF = ((b"x-tenuto", b"off"),)


class Silent(ScriptedUpstream):
    """A far side that says one piece, and at which nobody may wait for another."""

    reads = 0

    def __next__(self) -> bytes:
        self.reads += 1
        assert self.reads == 1
        return super().__next__()


def under(name: str, *pieces: bytes, **headers: bytes) -> Scripted:
    """A success under this name."""
    told: list[tuple[bytes, bytes]] = (
        [(b"content-type", NAMES[name].encode())] if NAMES[name] else []
    )
    told += [(key.replace("_", "-").encode(), value) for key, value in headers.items()]
    return Scripted(Head(200, tuple(told)), pieces)


def turn(asked: str, *answers: Scripted, headers: Any = ()) -> Iterator[Head | bytes]:
    _, url, body, _ = ASKED[asked]
    events: list[Event] = []
    run = Engine(Policy(backoff_s=0.0), events.append).begin(Request("POST", url, headers, body))
    assert run is not None
    return Drive(run, Script(*answers).connect).pieces()


def given_for(asked: str, *answers: Scripted, headers: Any = ()) -> tuple[Head, bytes]:
    head, *pieces = turn(asked, *answers, headers=headers)
    assert isinstance(head, Head)
    return head, b"".join(piece for piece in pieces if isinstance(piece, bytes))


EACH_NAME = pytest.mark.parametrize("name", NAMES)
EACH_READER = pytest.mark.parametrize("asked", ASKED)


@pytest.mark.behaviour("S8", "P8")
@EACH_NAME
@EACH_READER
@pytest.mark.parametrize("size", [1, 5, 13])
def test_a_stream_is_the_same_bytes_under_any_name_however_it_is_cut(asked, name, size):
    wire, _, _, reads = ASKED[asked]
    whole = shapes_of(wire)[reads]
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    assert given_for(asked, under(name, *pieces))[1] == whole


@pytest.mark.behaviour("S8a", "P8")
@EACH_NAME
@EACH_READER
def test_a_compressed_stream_is_known_by_its_bytes_too(asked, name):
    wire, _, _, reads = ASKED[asked]
    whole = shapes_of(wire)[reads]
    packed = gzip.compress(whole)
    answer = under(name, packed[:7], packed[7:], content_encoding=b"gzip")
    head, out = given_for(asked, answer)
    assert out == whole
    assert not head.get(b"content-encoding")


@pytest.mark.behaviour("S4", "C19")
@EACH_NAME
@EACH_READER
def test_the_first_piece_is_handed_on_before_a_second_is_read(asked, name):
    wire, _, _, reads = ASKED[asked]
    whole = shapes_of(wire)[reads]
    ends = {"messages": int.from_bytes(whole[:4], "big"), "array": whole.find(b"\n")}
    ends["lines"] = whole.find(b"\n") + 1
    first = ends.get(reads, whole.find(b"\n\n" if asked == "chat" else b"\r\n\r\n") + 4)
    first = first - 2 if asked == "chat" else first
    far = Silent(under(name, whole[:first]))
    _, url, body, _ = ASKED[asked]
    run = Engine(Policy()).begin(Request("POST", url, (), body))
    assert run is not None
    pieces = Drive(run, lambda _: far).pieces()
    assert isinstance(next(pieces), Head)
    assert next(pieces) == whole[:first]


@pytest.mark.behaviour("S4", "P8")
def test_the_head_of_a_stream_under_its_own_name_waits_for_nothing():
    far = Silent(under("events"))
    far.reads = 1  # whoever reads at all fails
    _, url, body, _ = ASKED["chat"]
    run = Engine(Policy()).begin(Request("POST", url, (), body))
    assert run is not None
    assert isinstance(next(Drive(run, lambda _: far).pieces()), Head)


@pytest.mark.behaviour("P8", "C28")
@EACH_NAME
@EACH_READER
def test_what_is_left_alone_passes_as_it_came_in_every_framing(asked, name):
    for shape, whole in shapes_of(ASKED[asked][0]).items():
        head, out = given_for(asked, under(name, whole), headers=OFF)
        assert out == whole, shape
        assert head.get(b"content-type") == NAMES[name], shape


CUT = {
    "chat": (b'"stop"', b'"length"'),
    "lines": (b'"STOP"', b'"MAX_TOKENS"'),
    "array": (b'"STOP"', b'"MAX_TOKENS"'),
    "ollama": (b'"stop"', b'"length"'),
}


@pytest.mark.behaviour("C1", "S2", "N6")
@EACH_NAME
@pytest.mark.parametrize(
    ("asked", "shape"),
    [
        (a, s)
        for a in CUT
        for s in ("events", "array", "body")
        if s != "array" or a not in ("chat", "ollama")
    ],
)
def test_a_continuation_in_another_framing_goes_on_in_the_first_ones(asked, shape, name):
    wire, _, _, reads = ASKED[asked]
    shapes = shapes_of(wire)
    first = shapes[reads].replace(*CUT[asked])
    more = shapes[shape].replace(TEXT.encode(), b" and more").replace(b"Hello", b" and ")
    more = more.replace(b" world", b"more").replace(b" worl", b"mor").replace(b'"d"', b'"e"')
    named = {"array": "json", "ollama": "lines"}.get(asked, "events")
    head, out = given_for(asked, under(named, first), under(name, more))
    assert head.get(b"content-type").startswith(NAMES[named])
    around = {"array": (b"[", b"]"), "ollama": (b"{", b"\n")}.get(asked, (b"d", b"\n"))
    assert (out[:1], out[-1:]) == around
    assert b"MAX_TOKENS" not in out
    assert b'"length"' not in out


@given(st.sampled_from(Framing), st.sampled_from([*NAMES.values()]), st.data())
@pytest.mark.behaviour("S8")
def test_what_is_told_once_more_bytes_do_not_change(asked, name, data):
    wire = data.draw(
        st.sampled_from(["openai-chat", "gemini-generate", "bedrock-converse", "ollama"])
    )
    whole = data.draw(st.sampled_from([*shapes_of(wire).values()]))[:200]
    told = [framing_of(asked, name, whole[:end]) for end in range(13, len(whole) + 1)]
    assert len({framing for framing in told if framing is not None}) <= 1


ENCODINGS = ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")


@pytest.mark.behaviour("N6", "S8")
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_body_is_one_in_every_encoding_that_is_read_however_it_is_cut(encoding):
    body = shapes_of("openai-chat")["body"].decode().encode(encoding)
    for end in range(1, 40):
        for asked in Framing:
            assert framing_of(asked, "text/plain", body[:end]) in (Framing.BODY, None)
    for size in (1, 7, len(body)):
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        assert b"Hello world" in given_for("chat", under("plain", *pieces))[1]


@pytest.mark.behaviour("S8")
@pytest.mark.parametrize("length", [0x5B, 0x7B])
def test_the_length_of_a_message_is_no_bracket_in_another_encoding(length):
    for end in range(1, 12):
        first = length.to_bytes(4, "big") + bytes(8)
        assert framing_of(Framing.MESSAGES, "text/plain", first[:end]) is None


@given(st.sampled_from(Framing), st.text(), st.binary())
@pytest.mark.behaviour("N6")
def test_no_bytes_and_no_name_raise(asked, name, first):
    assert framing_of(asked, name, first) in (*Framing, None)


@pytest.mark.behaviour("N6", "S3")
def test_white_space_before_a_body_is_no_reason_to_guess():
    body = shapes_of("openai-chat")["body"]
    out = given_for("chat", under("json", b"\n", b"  \n", body))[1]
    assert b"data: [DONE]" in out
    assert b"Hello world" in out


@pytest.mark.behaviour("S8", "N6")
@EACH_NAME
def test_what_stands_before_the_first_event_does_not_hide_the_stream(name):
    stream = shapes_of("openai-chat")["events"]
    for before in (b'{"warning": "slow"}\n\n', b"warming up\n", b"\xef\xbb\xbf"):
        assert b"Hello" in given_for("chat", under(name, before + stream))[1]


PAGES = {
    "doctype": b"<!DOCTYPE html>\n<html><body>Log in.\ndata: {}\n\n</body></html>",
    "small": b"<html lang=en><body>Log in.</body></html>",
    "behind_a_mark": b"\xef\xbb\xbf\r\n \t<HtMl><body>Log in.</body></html>",
    "behind_blank_lines": b"\n\n\n<!doctype HTML><title>Log in.</title>",
    "utf-16": "<!doctype html><title>Log in.</title>".encode("utf-16"),
}


@pytest.mark.behaviour("P1", "S8")
@EACH_NAME
@EACH_READER
@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_page_is_told_by_what_it_begins_with(asked, name, page):
    for size in (1, 7, len(page)):
        pieces = [page[at : at + size] for at in range(0, len(page), size)]
        script = Script(under(name, *pieces))
        _, url, body, _ = ASKED[asked]
        events: list[Event] = []
        run = Engine(Policy(backoff_s=0.0), events.append).begin(Request("POST", url, (), body))
        assert run is not None
        out = b"".join(p for p in Drive(run, script.connect).pieces() if isinstance(p, bytes))
        assert b"not in this API's format" in out, size
        assert b"Log in" not in out
        faults = [event.data for event in events if event.name == "fault"]
        assert {(each["kind"], each["status"]) for each in faults} == {("not_this_api", 200)}


@pytest.mark.behaviour("P8")
@EACH_NAME
@pytest.mark.parametrize("asked", CUT)
@pytest.mark.parametrize("text", [b"<html>Hello", b"<!doctype html>"])
def test_a_text_that_begins_like_a_page_is_none(asked, name, text):
    wire, _, _, reads = ASKED[asked]
    shapes = {shape: whole.replace(b"Hello", text) for shape, whole in shapes_of(wire).items()}
    assert text in shapes[reads]
    assert given_for(asked, under(name, shapes[reads]))[1] == shapes[reads]
    assert text in given_for(asked, under(name, shapes["body"]))[1]
