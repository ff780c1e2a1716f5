"""Sessions: what is said is in the file at once, and reading it back gives the same conversation."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tenuto
from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.wires.registry import WIRES
from tenuto_agent import loop_hints
from tenuto_agent.function_tool import tool
from tenuto_agent.model import Model
from tenuto_agent.session import Session
from tenuto_agent.transcript import Assistant, Result, Results, Row, User
from tenuto_sim import CASES_ON, Simulator

CALLS = tuple(ToolCall(f"call_{n}", "write", f'{{"n": {n}}}', Finding.WHOLE) for n in range(3))
FIRST = b'{"tenuto_session":1}\n'


def opened(path: Path) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    with Session(path) as session:
        return session.rows, session.notes


def kept(path: Path, *rows: Row) -> Path:
    with Session(path) as session:
        for row in rows:
            session.transcript.add(row)
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


# --- what is written


def test_a_row_is_in_the_file_as_soon_as_it_is_said(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with Session(path) as session:
        assert path.read_bytes() == FIRST
        session.transcript.add(User("Hi\nthere"))
        assert lines(path)[1:] == [{"user": {"text": "Hi\nthere"}}]
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, "what is said is nobody else's"


words = st.text(st.characters(exclude_categories=()), max_size=8)  # half characters, too
texts = words.filter(lambda text: bool(text.strip()))
parts = st.dictionaries(words, st.recursive(st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False) | words, lambda each: st.lists(each, max_size=2) | st.dictionaries(words, each, max_size=2), max_leaves=4), max_size=3)  # fmt: skip
calls = st.builds(ToolCall, id=words, name=words, arguments=words, finding=st.sampled_from(Finding), detail=words, free=st.booleans(), extra=st.none() | parts)  # fmt: skip


@st.composite
def turns(draw: st.DrawFn) -> list[Row]:
    """A turn that may break off anywhere."""
    rows: list[Row] = [User(draw(texts))]
    for _ in range(draw(st.integers(0, 2))):
        called = tuple(draw(st.lists(calls, min_size=1, max_size=2, unique_by=lambda c: c.id)))
        content = tuple(draw(st.lists(parts, max_size=2)))
        rows.append(Assistant(draw(words), called, draw(words), content, draw(words)))
        rows.append(
            Results(tuple(Result(c.id, c.name, draw(words), draw(st.booleans())) for c in called))
        )
    rows.append(Assistant(draw(texts)))
    return rows[: draw(st.integers(1, len(rows)))]


@pytest.mark.behaviour("H5a", "H6")
@settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(turns(), max_size=3), st.integers(0, 3))
def test_whatever_is_said_and_wherever_it_breaks_off_it_reads_back_equal(
    tmp_path: Path, conversation: list[list[Row]], shortened_after: int
) -> None:
    path = tmp_path / "s.jsonl"
    path.unlink(missing_ok=True)
    with Session(path) as session:
        live = session.transcript
        for number, turn in enumerate(conversation):
            live.close()
            for row in turn:
                live.add(row)
                for call in live.pending[:1]:
                    live.began(call, idempotent=number == 1)
            if number == shortened_after and not live.pending:
                live.replace([User("[a record]"), Assistant("(read)"), *list(live)[-len(turn) :]])
        live.close()
        said = tuple(live)
    before = path.read_bytes()
    assert opened(path)[0] == opened(path)[0] == said
    assert path.read_bytes() == before, "what close() puts in is not written"


# --- what is repaired


@pytest.mark.behaviour("H2", "H5a", "H6", "T8")
def test_calls_without_results_get_ones_that_say_whether_they_may_have_run(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with Session(path) as session:
        session.transcript.add(User("Go."))
        session.transcript.add(Assistant("", CALLS))
        session.transcript.began(CALLS[0])
        session.transcript.ended(CALLS[0], Result("call_0", "write", "wrote 0"))
        session.transcript.began(CALLS[1])
    rows, notes = opened(path)
    assert rows[2] == Results(
        (
            Result("call_0", "write", "wrote 0"),
            Result("call_1", "write", loop_hints.CALL_UNSURE, failed=True),
            Result("call_2", "write", loop_hints.CALL_NOT_RUN, failed=True),
        )
    )
    assert notes == (
        'The call of write with {"n": 1} was interrupted and may or may not have run.',
        'The call of write with {"n": 2} was not run.',
    )
    assert opened(path) == (rows, notes), "and again, and nothing was written"
    kept(path, User("Go on."), Assistant("Done."))
    again, told = opened(path)
    assert (again[: len(rows)], told) == (rows, ()), "as the provider saw it"
    assert loop_hints.CALL_UNSURE not in path.read_text("utf-8")


def test_of_a_tool_that_may_run_again_the_note_says_so(tmp_path: Path) -> None:
    path = kept(tmp_path / "s.jsonl", User("Go."), Assistant("", CALLS[:1]))
    with Session(path) as session:
        session.transcript.replace([User("Go."), Assistant("", CALLS[:1])])
        session.transcript.began(CALLS[0], idempotent=True)
    rows, notes = opened(path)
    assert "running it again does no harm" in notes[0]
    assert isinstance(rows[2], Results)
    assert rows[2].results[0].text == loop_hints.CALL_AGAIN


def test_results_that_were_all_there_are_kept_where_their_row_was_not_said(tmp_path: Path) -> None:
    path = kept(tmp_path / "s.jsonl", User("Go."), Assistant("", CALLS[:1]))
    with Session(tmp_path / "live.jsonl") as session:
        live = session.transcript
        live.add(User("Go."))
        live.add(Assistant("", CALLS[:1]))
        live.began(CALLS[0])
        live.ended(CALLS[0], Result("call_0", "write", "wrote"))
        live.close()
    assert opened(tmp_path / "live.jsonl")[0][2] == Results((Result("call_0", "write", "wrote"),))
    assert opened(path)[1] == ('The call of write with {"n": 0} was not run.',)


@pytest.mark.parametrize("whole", [User("Hi"), User("é" * 9)])
def test_a_line_that_was_half_written_is_put_aside_wherever_it_was_cut(
    tmp_path: Path, whole: Row
) -> None:
    path = kept(tmp_path / "s.jsonl", User("First."), Assistant("Yes."))
    before = path.read_bytes()
    kept(path, whole)
    line = path.read_bytes()[len(before) :]
    aside = tmp_path / "s.jsonl.torn"
    for cut in range(1, len(line) - 1):
        path.write_bytes(before + line[:cut])
        rows, notes = opened(path)
        assert len(rows) == 2
        assert notes == (f"The last line was torn in writing; what is left of it is in {aside}.",)
        assert aside.read_bytes().endswith(line[:cut] + b"\n")
        assert path.read_bytes() == before
        assert opened(path)[1] == ()
    path.write_bytes(before + line[:-1])
    assert opened(path)[0][2] == whole, "only the line break was missing"
    assert path.read_bytes() == before + line
    for cut in range(len(FIRST)):
        path.write_bytes(FIRST[:cut])
        assert opened(path) == ((), ())
        assert path.read_bytes() == FIRST


BAD = {
    "no session": (b"# Notes\n\nMy text", "is not a Tenuto session; the file was not changed"),
    "one line": (b"My text", "is not a Tenuto session"),
    "blank": (b"\n\n", "is not a Tenuto session"),
    "another's": (b'{"role": "user"}\n', "is not a Tenuto session"),
    "later": (b'{"tenuto_session": 2}\n{"user": 7}\n', "by another version"),
    "no JSON": (
        FIRST + b'{"user": {"te\n{"user": {"text": "b"}}\n',
        "line 2: it is not a JSON object",
    ),
    "wrong type": (FIRST + b'{"user": {"text": 7}}\n', "line 2: Expected `str`, got `int`"),
    "no member": (
        FIRST + b'{"tool": {}}\n',
        "line 2: it holds none of these, but it must hold one: user,",
    ),
    "order": (FIRST + b'{"assistant": {"text": "b"}}\n', "line 2: a row Assistant cannot stand"),
    "two rows": (
        FIRST + b'{"user": {"text": "b"}, "assistant": {"text": "c"}}\n',
        "line 2: it holds user and assistant of these, but it must hold one: user, assistant, results",
    ),
    "row and note": (
        FIRST + b'{"user": {"text": "b"}, "began": {"id": "1", "name": "x"}}\n',
        "line 2: it holds user and began of these, but it must hold one",
    ),
    "shortened to nothing": (
        FIRST + b'{"user": {"text": "b"}}\n{"shortened": {"rows": [], "kept": 0}}\n',
        "line 3: a conversation is shortened to no new row, but it must be one or more",
    ),
    "shortened to no row": (
        FIRST + b'{"shortened": {"rows": [{"user": {"text": "b"}}, {}], "kept": 0}}\n',
        "line 2: it holds none of these, but it must hold one: user, assistant, results;",
    ),
    "shortened to a note": (
        FIRST + b'{"shortened": {"rows": [{"began": {"id": "1", "name": "x"}}], "kept": 0}}\n',
        "line 2: it holds began of these, but it must hold one: user, assistant, results;",
    ),
    "kept": (
        FIRST + b'{"shortened": {"rows": [{"user": {"text": "b"}}], "kept": 4}}\n',
        "line 2: 4 rows are kept of 0",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_does_not_fit_is_told_and_left_as_it_is(tmp_path: Path, name: str) -> None:
    content, told = BAD[name]
    path = tmp_path / "s.jsonl"
    path.write_bytes(content)
    with pytest.raises(tenuto.agent.AgentError) as caught:
        Session(path)
    assert told in str(caught.value)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_file_or_in_use_or_closed_is_told(tmp_path: Path) -> None:
    with pytest.raises(tenuto.agent.AgentError, match="path is of type int, but it must be a path"):
        Session(5)  # type: ignore[arg-type]
    with pytest.raises(tenuto.agent.AgentError, match="cannot be opened"):
        Session(tmp_path)
    with pytest.raises(tenuto.agent.AgentError, match="cannot be opened: No such file"):
        Session(tmp_path / "none" / "s.jsonl")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(tenuto.agent.AgentError, match="is not a regular file"):
            Session(tmp_path / "pipe")
    session = Session(tmp_path / "s.jsonl")
    with pytest.raises(tenuto.agent.AgentError, match="in use by another"):
        Session(tmp_path / "s.jsonl")
    session.close()
    with pytest.raises(tenuto.agent.AgentError, match="is closed"):
        session.transcript.add(User("Hi"))
    assert session.rows == ()
    assert opened(tmp_path / "s.jsonl") == ((), ())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file size limit")
def test_a_line_that_does_not_fit_on_the_disk_is_not_half_written(tmp_path: Path) -> None:
    import resource

    session = Session(tmp_path / "s.jsonl")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        with pytest.raises(tenuto.agent.AgentError, match="cannot be written: File too large"):
            session.transcript.add(User("x" * 500))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert session.rows == ()
    session.transcript.add(User("y"))
    session.close()
    assert lines(tmp_path / "s.jsonl")[1:] == [{"user": {"text": "y"}}]


# --- an agent's


@tool
def write_file(path: str = "", content: str = "") -> str:
    """Write a file."""
    return f"{len(content)} characters"


def with_calls(wire: str) -> str:
    """A case of this wire with calls, and with signed thoughts where it knows them; "" where no
    request is written, or the simulator reads no tools in the form that is."""
    known = WIRES.find(wire)
    if wire == "bedrock-invoke" or known is None or known.form is None:
        return ""
    return next((case for case in ("think_then_call", "tool") if case in CASES_ON[wire]), "")


@pytest.mark.behaviour("H1")
@pytest.mark.parametrize("wire", [name for name in CASES_ON if with_calls(name)])
def test_on_every_wire_a_conversation_goes_on_from_its_file_as_from_memory(
    tmp_path: Path, wire: str
) -> None:
    path, bodies = tmp_path / "s.jsonl", []
    below = {"openai-chat": "/v1", "openai-responses": "/v1", "mistral": "/mistral/v1"}
    headers = {"x-sim-fault": with_calls(wire)}
    with Simulator() as sim:
        base = sim.root_url + below.get(wire, "")
        model = Model(f"{wire}:m", base_url=base, api_key="k", headers=headers)
        with tenuto.agent.Agent(model, tools=[write_file]) as agent:
            with Session(path) as session:
                chat = agent.conversation(session)
                chat.run("Write it.")
            memory = agent.conversation(chat.rows)
            text = path.read_text("utf-8")
            path.write_text(text.replace('"user":{', '"_seen":1,"user":{"_mine":2,'), "utf-8")
            with Session(path) as session:
                assert session.rows == memory.rows
                assert len(session.rows) == 4
                for one in (memory, agent.conversation(session)):
                    sim.forget()
                    one.run("And again.")
                    bodies.append(sim.requests[0].body)
    assert bodies[0] == bodies[1]
    assert b"_seen" not in bodies[1]
    assert b"_mine" not in bodies[1]
    assert '"_seen":1,"user":{"_mine":2,' in path.read_text("utf-8"), "the file keeps them"


def test_a_conversation_is_shortened_to_nothing_neither_in_memory_nor_in_its_file(
    tmp_path: Path,
) -> None:
    path = kept(tmp_path / "s.jsonl", User("First."), Assistant("Yes."))
    before = path.read_bytes()
    with Session(path) as session, pytest.raises(ValueError, match="no new row"):
        session.transcript.replace([])
    assert path.read_bytes() == before


def test_a_conversation_that_was_shortened_reads_back_as_it_went_on(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with Simulator() as sim:
        model = Model("openai-chat:m", base_url=sim.base_url, context_window_tokens=400)
        with Session(path) as session, tenuto.agent.Agent(model, tools=[write_file]) as agent:
            chat = agent.conversation(session)
            for number in range(6):
                assert chat.run(f"Tell me more, part {number}.").ok
            live = session.rows
    assert "shortened" in {next(iter(line)) for line in lines(path)}
    assert len(live) < 12
    assert opened(path) == (live, ())


@pytest.mark.behaviour("C23", "H5a", "T8")
async def test_a_turn_that_is_cancelled_while_calls_run_reads_back_as_it_went_on(
    tmp_path: Path,
) -> None:
    path, begun = tmp_path / "s.jsonl", []

    @tool(concurrent=True)
    async def fetch(place: str = "") -> str:
        begun.append(place)
        if len(begun) == 1:
            return "at once"
        if len(begun) == 3:
            asyncio.get_running_loop().call_later(0.05, running.cancel)
        await asyncio.sleep(60)
        return "never"

    with Simulator() as sim:
        model = Model("openai-chat:sim/tools", base_url=sim.base_url)
        with Session(path) as session, tenuto.agent.Agent(model, tools=[fetch]) as agent:
            chat = agent.conversation(session)
            running = asyncio.ensure_future(chat.arun("Go."))
            with pytest.raises(asyncio.CancelledError):
                await running
            assert chat.result is not None
            assert chat.result.reason == "cancelled"
            live = session.rows
    assert isinstance(live[2], Results)
    assert [result.text for result in live[2].results] == ["at once", loop_hints.CALL_UNSURE, loop_hints.CALL_UNSURE]  # fmt: skip
    rows, notes = opened(path)
    assert (rows, len(notes)) == (live, 2)


@pytest.mark.behaviour("C23", "H5a")
def test_the_text_of_a_turn_that_was_left_reads_back_as_it_was_seen(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with (
        Simulator() as sim,
        tenuto.agent.Agent(Model("openai-chat:m", base_url=sim.base_url)) as agent,
    ):
        with Session(path) as session:
            chat = agent.conversation(session)
            events = chat.stream("Go.")
            next(events)
            events.close()
            live, result = session.rows, chat.result
        assert result is not None
        assert result.text
        assert [row.text for row in result.rows if isinstance(row, Assistant)] == [result.text]
        assert opened(path) == (live, ())
        with Session(path) as session:
            events = agent.conversation(session).stream("Go on.")
            next(events)
        events.close()  # the file is closed: what came by now cannot be kept in it
        assert len(opened(path)[0]) == len(live) + 2
