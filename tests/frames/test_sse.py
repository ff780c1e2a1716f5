"""The decoder of server-sent events: any chunking, no byte lost, linear."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.frames.frame import Frame, FrameTooLarge
from tenuto.frames.sse import SseDecoder

LINES = [
    b"data: a", b"data:b", b"data", b"data:", b"data:  two spaces", b": comment", b":", b"",
    b"event: ping", b"event:ping", b"event: ", b"id: 7", b"retry: 10", b"nonsense", b"error: {}", b"data: \xe6\x97\xa5",
]  # fmt: skip
ENDS = [b"\n", b"\r\n", b"\r"]
texts = st.lists(st.sampled_from(LINES), max_size=12)
mixed = st.lists(
    st.builds(bytes.__add__, st.sampled_from(LINES), st.sampled_from(ENDS)), max_size=12
)
# What the decoder is quick with: lines that all end alike, a blank one behind each.
alike = st.builds(lambda lines, end: [line + end for line in lines], texts, st.sampled_from(ENDS))
spaced = st.builds(
    lambda lines, end: [line + end * 2 for line in lines], texts, st.sampled_from(ENDS)
)
streams = st.builds(
    lambda bom, lines, last: (b"\xef\xbb\xbf" if bom else b"") + b"".join(lines) + last,
    st.booleans(),
    mixed | alike | spaced,
    st.sampled_from([b"", b"data: open", b"dat", b"\r", b"\n"]),
)


def whole(data: bytes, limit: int = 0) -> list[Frame]:
    decoder = SseDecoder(limit)
    return [*decoder.feed(data), *decoder.flush()]


def pieces(data: bytes, sizes: list[int]) -> list[Frame]:
    decoder, at, out = SseDecoder(), 0, []
    for size in sizes:
        out += decoder.feed(data[at : at + size])
        at += size
    return [*out, *decoder.feed(data[at:]), *decoder.flush()]


def by_the_specification(data: bytes) -> list[tuple[bytes, str | None]]:
    """Data and name of each event, line by line as the specification says; the rest is left over."""
    text = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    events: list[tuple[bytes, str | None]] = []
    fields: list[bytes] = []
    name: str | None = None
    for line in (*text.split(b"\n"), b""):
        key, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            if fields:
                events.append((b"\n".join(fields), name))
            fields, name = [], None
        elif key in (b"data", b"error"):
            fields.append(value)
            name = "error" if key == b"error" else name
        elif key == b"event":
            name = value.decode()
    return events


@pytest.mark.behaviour("S8")
@given(streams, st.lists(st.integers(0, 9), max_size=30))
def test_any_chunking_gives_the_same_events_and_loses_no_byte(data, sizes):
    events = whole(data)
    assert b"".join(event.raw for event in events) == data
    assert pieces(data, sizes) == events
    assert pieces(data, [1] * len(data)) == events
    assert [(e.data, e.name) for e in events if e.data is not None] == by_the_specification(data)
    assert all(event.terminated for event in events[:-1])


@pytest.mark.behaviour("S8")
@given(streams, st.lists(st.integers(0, 9), max_size=30), st.integers(1, 40))
def test_under_any_limit_any_chunking_gives_the_same_events_before_one_that_is_too_large(
    data, sizes, limit
):
    def read(chunks):
        decoder, out = SseDecoder(limit), []
        try:
            for chunk in (*chunks, b""):
                out += decoder.feed(chunk)
            return [*out, *decoder.flush()], False
        except FrameTooLarge:
            return out, True

    ends = list(itertools.accumulate(sizes))
    cut = [data[begin:end] for begin, end in itertools.pairwise((0, *ends, len(data) + 1))]
    found = read([data])
    assert read([bytes([byte]) for byte in data]) == found
    assert read(cut) == found


@pytest.mark.parametrize("end", ENDS, ids=repr)
def test_each_kind_of_line_end_ends_lines_and_events(end):
    data = end.join([b"event: x", b"data: a", b"data: b", b"", b"data: c", b"", b""])
    found = [(e.data, e.name, e.terminated) for e in whole(data)]
    assert found == [(b"a\nb", "x", True), (b"c", None, True)]


def test_what_the_end_leaves_over_is_an_event_that_says_so():
    assert [(e.data, e.terminated) for e in whole(b"data: a\n\ndata: b\n")] == [
        (b"a", True),
        (b"b", False),
    ]


def test_events_before_one_that_is_too_large_are_handed_out_first():
    data = b"data: a\n\n" + b"data: " + b"x" * 100 + b"\n\n" + b"data: c\n\n"
    decoder = SseDecoder(50)
    assert [e.data for e in decoder.feed(data)] == [b"a"]
    with pytest.raises(FrameTooLarge):
        decoder.feed(b"")
    slowly = SseDecoder(50)
    seen = []
    with pytest.raises(FrameTooLarge):  # noqa: PT012 - which byte raises is not the point
        for byte in data:
            seen += slowly.feed(bytes([byte]))
    assert [e.data for e in seen] == [b"a"]


def test_twenty_megabytes_without_a_line_end_take_linear_time():
    # Were it quadratic, this would run into the time limit of the tests.
    rng = random.Random(1)
    block = b"x" * 65_536
    decoder, fed = SseDecoder(), 0
    while fed < 20_000_000:
        size = rng.choice((1, 2, 7, 100, 4_096, 65_536))
        assert decoder.feed(block[:size]) == []
        fed += size
    for _ in range(300_000):
        decoder.feed(b"x")
    (event,) = decoder.flush()
    assert len(event.raw) == fed + 300_000
