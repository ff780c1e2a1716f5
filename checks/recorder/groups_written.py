"""Answers that were written down: the fixtures, the responses of the corpus, histories that need
repair, errors, and the seams of the fuzzers."""

from __future__ import annotations

import base64
import gzip
import json
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import tenuto
from checks.recorder import playing, showing
from checks.recorder.cases import Group, Recorded
from checks.recorder.far import Answer, Sim, Written, in_pieces
from checks.recorder.questions import QUESTIONS, Request, plain, with_rows
from checks.recorder.showing import Shown, shown, unwatched

PROJECT = Path(__file__).resolve().parents[2]
CORPUS = Path("shared/corpus/recorded.jsonl.gz")
FIXTURES = (PROJECT / "tests" / "fixtures", PROJECT / "examples" / "wires" / "tests" / "fixtures")
"""Of this checkout, also where the source of another tree is played."""

KINDS = {
    ".sse": "text/event-stream",
    ".json": "application/json",
    ".ndjson": "application/x-ndjson",
    ".bin": "application/vnd.amazon.eventstream",
}
ODDLY_CUT = (91, 8, 201)
"""Sizes of the fuzzers' pieces."""

LEAST_BUFFERS: dict[str, Any] = dict.fromkeys(
    ("hold_max_bytes", "event_max_bytes", "body_max_bytes"), 300
)
PUT = {"spaced": b"  }\n\n", "padded": b',"obfuscation":"k3f"}\n\n'}
"""What stands at the end of an event in its place."""

CORPUS_WIRES = frozenset(QUESTIONS)


def corpus() -> Path | None:
    """Return where the recorded responses are, None where they are not."""
    return next((up / CORPUS for up in Path(__file__).parents if (up / CORPUS).exists()), None)


def fixture_folders() -> list[Path]:
    """Return the folders of all wires, by their names."""
    return sorted((each for place in FIXTURES for each in place.iterdir()), key=lambda at: at.name)


def fixtures(wire: str) -> Path:
    """Return the folder with the fixtures of a wire."""
    (found,) = (each for each in fixture_folders() if each.name == wire)
    return found


def groups() -> Iterator[Group]:
    """Return the groups of every wire."""
    for folder in fixture_folders():
        yield Group(f"fixture/{folder.name}", partial(_fixtures, folder.name))
    for wire in QUESTIONS:
        yield Group(f"status/{wire}", partial(_statuses, wire))
        yield Group(f"coded/{wire}", partial(_coded, wire))
        if QUESTIONS[wire].rows not in ("prompt", "inputs"):
            yield Group(f"history/{wire}", partial(_histories, wire))
    yield Group("array/gemini-generate", _arrays)
    yield Group("seam/openai-chat", _seams)
    yield Group("arguments/openai-chat", _arguments)
    if corpus() is not None:
        for wire, parts in (("openai-chat", 3), ("openai-responses", 2), ("gemini-generate", 2)):
            for part in range(parts):
                yield Group(f"corpus/{wire}/{part}", partial(_corpus, wire, part, parts))
        for wire in sorted(
            {*_wires_of_corpus()} - {"openai-chat", "openai-responses", "gemini-generate"}
        ):
            yield Group(f"corpus/{wire}/0", partial(_corpus, wire, 0, 1))


def _policy(shown_as: str = "stop", **more: Any) -> tenuto.Policy:
    return tenuto.Policy(on_incomplete=shown_as, **more)  # type: ignore[arg-type]


@cache
def _simulated(wire: str, case: str, *, stream: bool) -> Answer:
    """What the simulator answers on a wire; a Nova model's answers are those of Converse."""
    wire = "bedrock-converse" if "nova" in wire else wire
    dialect = {"dialect": "watsonx"} if wire == "watsonx" else {}
    asked = plain(wire, stream=stream, model=f"sim/{case}")
    return Sim(QUESTIONS[wire].before, **dialect).answer(*asked)


_clean = partial(_simulated, case="text")
"""A clean answer of a wire, which follows on one that was written down."""


def _answer(data: bytes, kind: str, status: int, sizes: Sequence[int]) -> Answer:
    length = () if "json" not in kind else (("content-length", str(len(data))),)
    pieces = in_pieces(data, sizes or [max(1, len(data))])
    return Answer(status, [("content-type", kind), *length], pieces)


def _sizes(seed: str, most: int, total: int) -> list[int]:
    draw = random.Random(seed)
    return [draw.randint(1, most) for _ in range(min(total, 4_000))]


def _asked_of(wire: str, name: str, *, stream: bool) -> Request:
    """Return a request to which such an answer may come."""
    nova = wire == "bedrock-invoke" and "nova" in name
    return plain("bedrock-invoke-nova" if nova else wire, stream=stream)


def _fixtures(wire: str) -> Iterator[Recorded]:
    known: list[tuple[str, Path, int]] = []
    for folder in sorted(fixtures(wire).iterdir()):
        found = [p for p in sorted(folder.iterdir()) if p.stem in ("body", "stream")]
        expected = json.loads((folder / "expect.json").read_text("utf-8"))
        known += [(folder.name, path, expected.get("status", 200)) for path in found]
    for number, (name, path, status) in enumerate(known):
        behind = known[(number * 7 + 1) % len(known)]
        key = f"fixture/{wire}/{name}"
        yield key, partial(_fixture, wire, name, path, status, behind[1])


def _read(data: bytes) -> Shown:
    return {"stop": repr(tenuto.detect(data)).encode()}


def _fixture(wire: str, name: str, path: Path, status: int, behind: Path) -> Shown:
    """Whole, in random pieces and byte by byte, with other answers behind it."""
    data, kind, stream = path.read_bytes(), KINDS[path.suffix], path.stem == "stream"
    asked = _asked_of(wire, name, stream=stream)
    whole = _answer(data, kind, status, ())
    clean = _clean(wire, stream=stream)
    other = _answer(behind.read_bytes(), KINDS[behind.suffix], 200, ODDLY_CUT)
    cut = {
        "bytes": [1],
        "few": _sizes(f"{name} few", 17, len(data)),
        "many": _sizes(f"{name} many", 200, len(data)),
        "odd": list(ODDLY_CUT) * (len(data) // 90 + 1),
    }
    first = playing.by_turn(Written(whole, clean), asked, _policy())
    made = shown(first, "sent", "received", "reported")
    made["stop"] = _read(data)["stop"]
    for way, policy in (("quiet", _policy()), ("quiet-error", _policy("error"))):
        quiet = playing.by_turn(Written(whole, clean), asked, policy, watched=False)
        made[way] = unwatched(quiet)
    for way, sizes in cut.items():
        answer = _answer(data, kind, status, sizes)
        made[way] = _all(playing.by_turn(Written(answer, clean), asked, _policy()))
    again = {
        "error": (Written(whole, clean), _policy("error")),
        "notice": (Written(whole, clean), _policy("notice")),
        "again": (Written(whole), _policy()),
        "again-error": (Written(whole), _policy("error")),
        "behind": (Written(whole, other), _policy()),
        "least": (Written(whole, other), _policy("error", **LEAST_BUFFERS)),
        "lost": (Written(whole._replace(lost=True), clean), _policy()),
    }
    for way, (far, policy) in again.items():
        made[way] = _all(playing.by_turn(far, asked, policy))
    quick = _policy(backoff_s=0.0, retry_after_max_s=0.0)
    for way, put in PUT.items() if b"}\n\n" in data else ():
        answer = _answer(data.replace(b"}\n\n", put), kind, status, ODDLY_CUT)
        made[way] = _all(playing.by_turn(Written(answer, clean), asked, _policy()))
    quiet = playing.by_turn(
        Written(_answer(data, kind, status, cut["odd"]), clean), asked, _policy(), watched=False
    )
    made["quiet-odd"] = unwatched(quiet)
    made["sync"] = _all(playing.by_client(Written(whole, clean), asked, quick))
    made["async"] = _all(playing.by_async_client(Written(whole, clean), asked, quick))
    return made


def _all(played: playing.Played) -> bytes:
    return b"\n".join(shown(played, "sent", "received", "progress").values())


def _arrays() -> Iterator[Recorded]:
    """Streams of Gemini as they come without `alt=sse`: one array."""
    for path in sorted(fixtures("gemini-generate").glob("*/stream.sse")):
        yield f"array/gemini-generate/{path.parent.name}", partial(_array, path)


def _array(path: Path) -> Shown:
    lines = path.read_bytes().replace(b"\r", b"").split(b"\n")
    parts = [line.removeprefix(b"data:").strip() for line in lines if line[:5] == b"data:"]
    data = b"[" + b"\n,\r\n".join(parts) + b"\n]\n"
    asked = plain("gemini-generate", stream=True)
    asked = asked._replace(url=asked.url.partition("?")[0])
    made: Shown = {}
    for way, sizes in (
        ("whole", []),
        ("bytes", [1]),
        ("again", _sizes(path.parent.name, 90, 9_999)),
    ):
        answer = _answer(data, "application/json", 200, sizes)._replace(
            headers=[("content-type", "application/json; charset=UTF-8")]
        )
        far = Written(answer) if way == "again" else Written(answer, answer)
        made[way] = _all(playing.by_turn(far, asked, _policy()))
    return made


STATUSES = (400, 401, 402, 403, 404, 408, 409, 413, 422, 424, 429, 500, 502, 503, 504, 529, 599)
WORDS = (
    b"max_tokens is too large: 90000. This model supports at most 300 completion tokens",
    b"Unrecognized request argument supplied: seed, user",
    b"No.",
)
HEADERS: tuple[tuple[tuple[str, str], ...], ...] = (
    (),
    (("retry-after", "1.5"),),
    (("retry-after-ms", "700"),),
    (("retry-after", "Sat, 21 Nov 2026 10:00:07 GMT"), ("date", "Sat, 21 Nov 2026 10:00:00 GMT")),
    (("retry-after", "1e999"),),
    (("retry-after", "600"),),
)


def _statuses(wire: str) -> Iterator[Recorded]:
    for status in STATUSES:
        for stream in (False, True):
            key = f"status/{wire}/{status}/{'stream' if stream else 'body'}"
            yield key, partial(_status, wire, status, stream)


def _status(wire: str, status: int, stream: bool) -> Shown:
    asked = plain(wire, stream=stream)
    bodies = [b'{"error":{"message":"%s","code":null}}' % words for words in WORDS]
    bodies += [b"", b"<html>Bad gateway</html>"]
    clean = _clean(wire, stream=stream)
    made = []
    for number, headers in enumerate(HEADERS):
        answer = _answer(bodies[number % len(bodies)], "application/json", status, ())
        answer = answer._replace(headers=[*answer.headers, *headers])
        fars = (Written(answer), Written(answer, clean))
        made += [_all(playing.by_turn(far, asked, _policy())) for far in fars]
    return {"all": b"\n".join(made)}


CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "x-own": bytes,
}


def _coded(wire: str) -> Iterator[Recorded]:
    for coding in CODINGS:
        for stream in (False, True):
            key = f"coded/{wire}/{coding}/{'stream' if stream else 'body'}"
            yield key, partial(_compressed, wire, coding, stream)


def _compressed(wire: str, coding: str, stream: bool) -> Shown:
    """A clean answer and one that breaks off, as compressed bytes in pieces."""
    asked = plain(wire, stream=stream)
    clean = _clean(wire, stream=stream)
    made = {}
    raw = b"".join(clean.pieces)
    for way, data in (("whole", raw), ("cut", raw[: len(raw) * 2 // 3])):
        coded = CODINGS[coding](data)
        if coding == "gzip":  # the time stands in it
            coded = coded[:4] + b"\0\0\0\0" + coded[8:]
        kind = [(k, v) for k, v in clean.headers if k != "content-length"]
        headers = [*kind, ("content-encoding", coding)]
        answer = Answer(200, headers, in_pieces(coded, list(ODDLY_CUT) * 900))
        for column, watched in ((way, True), (f"{way}-quiet", False)):
            far = Written(answer, clean)
            played = playing.by_turn(far, asked, _policy(), watched=watched)
            # Without `progress`: how well bytes are compressed differs from machine to machine.
            made[column] = b"\n".join(shown(played, "sent", "received").values())
    return made


def _histories(wire: str) -> Iterator[Recorded]:
    from checks.fuzz.histories import HISTORY

    singles = [[row] for row in HISTORY]
    pairs = [[one, two] for one in HISTORY for two in HISTORY]
    draw = random.Random(f"histories of {wire}")
    many = [draw.choices(HISTORY, k=draw.randint(3, 9)) for _ in range(600)]
    for name, made in (("one", singles), ("two", pairs), ("more", many)):
        for number in range(0, len(made), 20):
            key = f"history/{wire}/{name}/{number:03d}"
            yield key, partial(_repaired, wire, made[number : number + 20])


def _repaired(wire: str, histories: list[list[bytes]]) -> Shown:
    """What leaves of requests whose histories need repair, and which then are to be continued."""
    made: dict[str, list[bytes]] = {"sent": [], "reported": []}
    cut, clean = (_simulated(wire, case, stream=False) for case in ("length_once", "text"))
    for rows in histories:
        asked = with_rows(wire, rows, stream=False)
        played = playing.by_turn(Written(cut, clean), asked, _policy())
        for column, text in shown(played, *made).items():
            made[column].append(text + showing.received(played)[:80] if played.raised else text)
    return {column: b"\n".join(texts) for column, texts in made.items()}


def _seams() -> Iterator[Recorded]:
    from checks.fuzz.histories import SEAMS

    for number, (said, more) in enumerate(SEAMS):
        yield f"seam/openai-chat/{number:02d}", partial(_seam, said, more)


def _seam(said: str, more: str) -> Shown:
    made: Shown = {}
    for host in ("", "https://api.deepseek.com/beta"):
        for size in (1, 3, 30):
            answers = (_chat_stream(said, "length", size), _chat_stream(more, "stop", size))
            asked = plain("openai-chat", stream=True, host=host)
            played = playing.by_turn(Written(*answers), asked, _policy())
            made[f"{'exact' if host else 'hint'}-{size}"] = _all(played)
    return made


def _arguments() -> Iterator[Recorded]:
    from checks.fuzz.histories import ARGUMENTS

    for number, raw in enumerate(ARGUMENTS):
        yield f"arguments/openai-chat/{number:02d}", partial(_argument, raw)


def _argument(raw: str) -> Shown:
    """A call with such arguments, again and again."""
    made: Shown = {}
    asked = plain("openai-chat", stream=True)
    for size in (1, 4, 51):
        for finish in ("tool_calls", "length"):
            answer = _chat_events([*_call_deltas(raw, size)], finish)
            for policy in (_policy("error"), _policy(truncated_calls="execute_complete")):
                played = playing.by_turn(Written(answer), asked, policy)
                made[f"{finish}-{size}"] = made.get(f"{finish}-{size}", b"") + _all(played)
    return made


def _call_deltas(raw: str, size: int) -> Iterator[dict[str, Any]]:
    function = {"name": "write_file", "arguments": ""}
    first = {"index": 0, "id": "call_a", "type": "function", "function": function}
    yield {"role": "assistant", "tool_calls": [first]}
    for at in range(0, len(raw), size):
        piece = {"index": 0, "function": {"arguments": raw[at : at + size]}}
        yield {"tool_calls": [piece]}


def _chat_stream(text: str, finish: str, size: int) -> Answer:
    deltas: list[Any] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": text[at : at + size]} for at in range(0, len(text), size)]
    return _chat_events(deltas, finish)


def _chat_events(deltas: list[Any], finish: str) -> Answer:
    shared = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    values = [{**shared, "choices": [{"index": 0, "delta": d}]} for d in deltas]
    end = {"index": 0, "delta": {}, "finish_reason": finish}
    values.append({**shared, "choices": [end]})
    lines = [*(json.dumps(value) for value in values), "[DONE]"]
    pieces = [f"data: {line}\n\n".encode() for line in lines]
    return Answer(200, [("content-type", "text/event-stream")], pieces)


def _wires_of_corpus() -> set[str]:
    return {row["wire"] for row in _rows()} & CORPUS_WIRES


@cache
def _rows() -> list[dict[str, Any]]:
    path = corpus()
    assert path is not None
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [row | {"wire": _spoken(row)} for row in map(json.loads, lines)]


def _spoken(row: dict[str, Any]) -> str:
    """Return the wire of a record: the corpus has one name for both versions of Cohere's API."""
    of_version_1 = ('"event_type"', '"generation_id"', '"generations"', '"is_finished"')
    is_one = row["wire"] == "cohere" and any(name in row["response_body"] for name in of_version_1)
    return "cohere-v1" if is_one else str(row["wire"])


def _corpus(wire: str, part: int, parts: int) -> Iterator[Recorded]:
    rows = [row for row in _rows() if row["wire"] == wire]
    for number, row in enumerate(rows):
        if number % parts == part:
            yield f"corpus/{wire}/{part}/{row['id']}-{number}", partial(_record, wire, row)


def _record(wire: str, row: dict[str, Any]) -> Shown:
    body = row["response_body"]
    data = base64.b64decode(body) if row["response_is_base64"] else body.encode()
    stream, kind = row["streaming"], row["content_type"] or "application/json"
    status = row["status"] or 200
    asked = plain(wire, stream=stream)
    clean = _clean(wire, stream=stream)
    made: Shown = {"stop": _read(data)["stop"]}
    for way, sizes in (("whole", ()), ("pieces", _sizes(row["id"], 3_000, len(data)))):
        answer = Answer(
            status, [("content-type", kind)], in_pieces(data, sizes or [max(1, len(data))])
        )
        played = playing.by_turn(Written(answer, clean), asked, _policy())
        quiet = playing.by_turn(Written(answer, clean), asked, _policy(), watched=False)
        made[f"quiet-{way}"] = unwatched(quiet)
        columns = ("sent", "received", "reported") if way == "whole" else ("received",)
        made |= {(c if way == "whole" else way): t for c, t in shown(played, *columns).items()}
    return made
