"""Each framing in both directions: what nobody changes leaves as it came, what is written is read."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tenuto.frames.aws_messages import MessageCodec, render_event, render_named
from tenuto.frames.codec import Codec, Translated
from tenuto.frames.frame import HALF, UNREADABLE, Frame, FrameTooLarge, UnreadableFrame
from tenuto.frames.json_array import ArrayCodec, begun
from tenuto.frames.json_lines import LineCodec
from tenuto.frames.sse_codec import DataLineCodec, SseCodec

OBJECTS = [b'{"type":"ping"}', '{"say":"🌊 }"}'.encode(), b'{"n": {"m": []}}']
ELEMENTS = b"[" + b"\n,\n".join(OBJECTS) + b"\r\n]\n"
WHOLE: dict[str, tuple[Callable[..., Codec], bytes]] = {
    "events": (
        SseCodec,
        b": hello\n\n" + b"".join(b"event: x\ndata: %b\r\n\r\n" % o for o in OBJECTS),
    ),
    "data lines": (DataLineCodec, b"".join(b"data: %b\n\n" % o for o in OBJECTS)),
    "lines": (LineCodec, b"\r\n".join(OBJECTS) + b"\n"),
    "array": (ArrayCodec, ELEMENTS),
    "messages": (MessageCodec, b"".join(map(render_event, OBJECTS))),
}
"""A stream of each framing that needs no mending."""

every_framing = pytest.mark.parametrize(("make", "stream"), WHOLE.values(), ids=WHOLE)


def read(codec: Codec, *pieces: bytes) -> list[Frame]:
    return [frame for piece in pieces for frame in codec.decode(piece)] + codec.flush()


def left(frames: list[Frame]) -> bytes:
    return b"".join(frame.raw for frame in frames)


@pytest.mark.behaviour("S8", "P8")
@every_framing
@given(draw=st.data())
def test_frames_are_the_same_in_any_pieces_and_leave_as_they_came(make, stream, draw):
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    codec = make()
    frames = read(codec, *filter(None, pieces))
    assert [frame.data for frame in frames if frame.data] == OBJECTS
    assert left(frames) + getattr(codec, "closing", b"") == stream


@pytest.mark.behaviour("P8")
@every_framing
@given(junk=st.binary(max_size=80), at=st.integers(0, 80))
@example(junk=b"\0" * 48, at=0)  # a whole line, and more than one may hold, in one piece
@example(junk=b"\0" * 48, at=17)  # too much in the second piece
def test_of_what_is_only_watched_every_byte_leaves(make, stream, junk, at):
    for data in (junk, stream[:30] + junk):
        codec = make(60, as_came=True)
        frames: list[Frame] = []
        try:
            frames = [
                frame for piece in (data[:at], data[at:]) if piece for frame in codec.decode(piece)
            ]
            frames += codec.flush()
        except FrameTooLarge:  # events are not read on: whoever watches hands on the rest
            frames.append(Frame(codec.rest(), None))
            assert isinstance(codec, SseCodec)
            continue
        assert left(frames) == data


@every_framing
@given(text=st.text())
def test_what_is_encoded_is_read_again(make, stream, text):
    data = json.dumps({"say": text}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    try:
        data.decode()
    except UnicodeDecodeError:
        return
    (frame,) = make().decode(make().encode(data))
    assert json.loads(frame.data or b"") == {"say": text}
    assert make().kept(frame.raw).data == frame.data


def test_an_event_keeps_its_name_and_a_message_of_converse_its_own():
    (event,) = SseCodec().decode(SseCodec().encode(b"{}", "ping"))
    assert (event.name, event.data) == ("ping", b"{}")
    codec = MessageCodec(render=render_named)
    (message,) = codec.decode(codec.encode(b'{"messageStop":{"stopReason":"end_turn"}}'))
    assert message.data == b'{"messageStop":{"stopReason":"end_turn"}}'


@pytest.mark.parametrize(
    ("make", "stream", "mended"),
    [
        (SseCodec, b'\xef\xbb\xbfdata: {"a":"\xff"}\n\n', 'data: {"a":"\ufffd"}\n\n'),
        (SseCodec, b"data: {}", "data: {}\n\n"),
        (SseCodec, b'data: {"a', 'data: {"a'),
        (lambda: SseCodec(named=True), b'data: {"type":"ping"}\n\n', 'event: ping\ndata: {"type":"ping"}\n\n'),
        (lambda: SseCodec(named=True), b'data: {"type":"a b"}\n\n', 'data: {"type":"a b"}\n\n'),
        (DataLineCodec, b": hi\n\nevent: x\r\ndata:{}\r\n\r\ndata: [DONE]\n\n", "data: {}\n\n"),
        (LineCodec, b'\xef\xbb\xbf{"a":"\xff"}\r\n\n\n{}', '{"a":"\ufffd"}\r\n{}\n'),
        (LineCodec, '{"a":"\u2028"}\n'.encode(), '{"a":"\\u2028"}\n'),
        (LineCodec, b'{\n"a":\n1}\n', '{ "a": 1}\n'),
        (ArrayCodec, b'[{"a":"\xff"}\n,\n{}]', '[{"a":"\ufffd"}\n,\n{}'),
        (lambda: ArrayCodec(bare=True), b"{}{}", "[{},\r\n{}"),
    ],
)  # fmt: skip
def test_what_readers_fail_on_is_mended(make, stream, mended):
    for size in (1, 7, 1_000):
        pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
        assert left(read(make(), *pieces)).decode() == mended


def test_a_message_that_is_no_utf8_is_written_anew():
    (frame,) = MessageCodec().decode(render_event(b'{"a":"\xff"}'))
    assert frame.data == '{"a":"\ufffd"}'.encode()
    assert frame.raw == render_event(frame.data)


@pytest.mark.parametrize(
    ("make", "stream"),
    [(ArrayCodec, ELEMENTS[:-5]), (ArrayCodec, ELEMENTS[:20]), (MessageCodec, render_event(b"{}")[:-1])],
)  # fmt: skip
def test_half_a_frame_at_the_end_is_known_for_half(make, stream):
    *_, last = read(make(), stream)
    assert (last.raw, last.data, last.terminated) == (b"", HALF, False)


@pytest.mark.behaviour("N6")
@pytest.mark.parametrize(("make", "stream"), [*list(WHOLE.values())[2:]], ids=[*WHOLE][2:])
def test_a_frame_beyond_the_limit_ends_the_stream_behind_those_before_it(make, stream):
    codec = make(200)
    large = codec.encode(json.dumps({"say": "x" * 200}).encode())
    small = codec.encode(b"{}")
    (frame,) = codec.decode(small + large + small)
    assert frame.data == b"{}"
    assert isinstance(codec.failed, FrameTooLarge)
    assert codec.decode(small) == []


@pytest.mark.behaviour("S9")
def test_behind_a_message_that_cannot_be_read_nothing_is_read():
    codec, good = MessageCodec(), render_event(b"{}")
    broken = good[:-4] + b"oops"
    frames = codec.decode(good + broken + good)
    assert [frame.data for frame in frames] == [b"{}", UNREADABLE]
    assert isinstance(codec.failed, UnreadableFrame)
    assert codec.decode(good) == codec.flush() == []


def test_another_framing_than_the_callers_is_translated_frame_by_frame():
    codec = Translated(ArrayCodec(), DataLineCodec())
    (frame,) = codec.decode(b'[{"a":\n1}\n')
    assert frame.raw == b'data: {"a": 1}\n\n'
    assert codec.kept(frame.raw).data == b'{"a": 1}'
    lines = Translated(SseCodec(), LineCodec())
    assert left(read(lines, b": hi\n\ndata: {}\n\ndata: [DONE]\n\n")) == b"{}\n"


@pytest.mark.behaviour("S1")
@pytest.mark.parametrize(
    ("reads", "stream"),
    [(SseCodec, b"data: %b\n\n"), (LineCodec, b"%b\n"), (ArrayCodec, b"[%b]")],
)
def test_a_frame_that_is_no_utf8_is_translated_with_replacement_characters(reads, stream):
    codec = Translated(reads(), MessageCodec(render=render_named))
    frame, *_ = codec.decode(stream % b'{"message\xe2":{"text":"a\xffb"}}')
    (told,) = MessageCodec().decode(frame.raw)
    assert told.data == '{"message\ufffd":{"text":"a\ufffdb"}}'.encode()


def test_elements_begin_an_array_or_follow_others():
    assert begun(b",\r\n{}", first=True) == b"[{}"
    assert begun(b"[{}", first=False) == b",\r\n{}"
    assert begun(b"\n,\n{}", first=False) == b"\n,\n{}"
