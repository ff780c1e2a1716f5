"""The ASGI app over real bytes: its routes, its stream of changes, and how readers come and go."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from importlib import resources
from typing import Any

import httpx
import pytest
from support.serving import serving
from support.telemetry import PROMPT, answer, chat

from tenuto.core.deciding.ladders import LADDERS
from tenuto.watch import Board, Watch
from tenuto.watch import app as app_module
from tenuto.watch.stream import Pace

QUICK = Pace(interval_s=0.005)


def one_turn(board: Board) -> None:
    chat(answer("One ", stop="length"), answer("two."), on_event=board)


@pytest.fixture
def board() -> Board:
    board = Board()
    one_turn(board)
    return board


@pytest.fixture
def url(board: Board) -> Iterator[str]:
    with serving(Watch(board, pace=QUICK)) as url:
        yield url


def test_programs_read_what_the_page_shows(board: Board, url: str) -> None:
    def read(path: str) -> Any:
        return httpx.get(f"{url}/api/{path}").raise_for_status().json()

    turn = board.turns()[0]["turn"]
    assert read("turns") == {"turns": board.turns()}
    assert read(f"turns/{turn}") == board.turn(turn)
    assert read("totals") == {"totals": board.totals(), "metrics": board.metrics()}
    assert read("stops") == {"stops": board.stops()}
    about = read("about")
    assert about["content"] is False
    assert {*about["ladders"]} == {*LADDERS}
    assert about["ladders"]["text_cut"][-1]["guards"]


NOTHING = (
    "nothing", "api", "api/turns/unknown", "api/turns/unknown/text", "static/", "static/../board.py",
    "static/%2e%2e/board.py", "static/..%2fboard.py", "static/%5c..%5cboard.py", "//etc/passwd",
    "static/index.html",
)  # fmt: skip


def test_nothing_else_can_be_asked_for(url: str) -> None:
    with httpx.Client() as client:
        for path in NOTHING:
            request = httpx.Request("GET", url)
            request.url = request.url.copy_with(raw_path=f"/{path}".encode())  # not tidied up
            assert client.send(request).status_code == 404, path


def test_the_page_can_only_be_read(url: str) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        refused = httpx.request(method, f"{url}/api/turns")
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
    head = httpx.head(f"{url}/static/uplot.js")
    assert (head.content, int(head.headers["content-length"])) == (b"", 51_081)


def test_every_file_of_the_page_is_served_and_names_only_files_that_are(url: str) -> None:
    there = {each.name for each in resources.files("tenuto.watch").joinpath("static").iterdir()}
    assert there == {name for name, _ in app_module.FILES.values()}
    for path, (name, kind) in app_module.FILES.items():
        served = httpx.get(f"{url}/{path}")
        assert served.headers["content-type"] == kind
        for link in re.findall(
            r'(?:href|src)="([^"#]+)"', served.text if name == "index.html" else ""
        ):
            assert httpx.get(f"{url}/{link}").status_code == 200, link
    assert "Leon Sorokin" in httpx.get(f"{url}/static/uplot-LICENSE.txt").text


@pytest.mark.parametrize("name", ["watch.js", "detail.js", "chart.js", "dom.js"])
def test_no_text_becomes_markup(name: str) -> None:
    code = resources.files("tenuto.watch").joinpath("static", name).read_text("utf-8")
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(", code
    )


def test_mounted_below_a_path_it_finds_its_files(board: Board) -> None:
    with serving(Watch(board), root_path="/watch") as url:
        # A server that is told of a mount puts it before the path that came.
        assert httpx.get(f"{url}/api/turns").json()["turns"]
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/watch",
        "root_path": "/watch",
        "query_string": b"",
    }
    start, *_ = asyncio.run(answered(Watch(board), scope))
    assert (start["status"], dict(start["headers"])[b"location"]) == (307, b"/watch/")


async def answered(app: Watch, scope: dict[str, Any]) -> list[Any]:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        await asyncio.sleep(60)

    local = {"client": ("127.0.0.1", 5), "headers": [(b"host", b"localhost")]}
    await app({**local, **scope}, receive, send)
    return sent


# --- the stream -----------------------------------------------------------------------------------


def messages(response: httpx.Response) -> Iterator[tuple[str, dict[str, Any]]]:
    """The id and the data of each message of a stream."""
    number = ""
    for line in response.iter_lines():
        if line.startswith("id: "):
            number = line[4:]
        elif line.startswith("data: "):
            yield number, json.loads(line[6:])


@pytest.mark.behaviour("P6")
def test_the_stream_tells_all_and_then_each_change_in_step(board: Board, url: str) -> None:
    with httpx.stream("GET", f"{url}/api/stream") as response:
        assert response.headers["content-type"] == "text/event-stream"
        told = messages(response)
        _, first = next(told)
        assert (first["whole"], len(first["turns"])) == (True, 1)
        for number in range(2, 5):
            one_turn(board)
            sequence, turns = 0, set()
            while sequence < board.sequence:  # a turn's events may come in several messages
                _, change = next(told)
                assert not change["whole"]
                sequence = change["sequence"]
                turns |= {turn["turn"] for turn in change["turns"]}
            assert len(turns) == 1
            assert change["totals"]["turns"] == number
            assert PROMPT not in json.dumps(change)


def test_a_reader_that_comes_again_gets_what_it_missed(board: Board, url: str) -> None:
    with httpx.stream("GET", f"{url}/api/stream") as response:
        known, _ = next(messages(response))
    one_turn(board)
    for given, whole in ((known, False), ("another-5", True), (f"{board.run}-x", True), ("", True)):
        with httpx.stream("GET", f"{url}/api/stream", headers={"last-event-id": given}) as response:
            _, change = next(messages(response))
        assert change["whole"] is whole
        assert len(change["turns"]) == (2 if whole else 1)


def test_a_stream_shows_that_it_lives_and_ends_by_itself(board: Board) -> None:
    pace = Pace(interval_s=0.002, heartbeat_s=0.004, longest_s=0.1)
    with serving(Watch(board, pace=pace)) as url:
        whole = httpx.get(f"{url}/api/stream")
    assert whole.text.startswith("retry: 1000\n\nid: ")
    assert "\n\n: alive\n\n" in whole.text
    assert whole.text.count("data: ") == 1


def test_too_many_readers_are_sent_away_and_those_that_leave_make_room(
    board: Board, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_module, "MOST_STREAMS", 1)
    with httpx.stream("GET", f"{url}/api/stream") as response:
        told = messages(response)
        next(told)
        assert httpx.get(f"{url}/api/stream").status_code == 503
    status = 503
    while status == 503:  # the server hears a moment later that the reader left
        with httpx.stream("GET", f"{url}/api/stream") as again:
            status = again.status_code
    assert status == 200


def test_a_reader_that_takes_nothing_is_let_go(board: Board) -> None:
    pace = Pace(interval_s=0.001, stuck_s=0.01)
    app = Watch(board, pace=pace)
    scope = {"type": "http", "method": "GET", "path": "/api/stream", "query_string": b""}
    scope |= {"client": ("127.0.0.1", 5), "headers": [(b"host", b"localhost")]}
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    async def receive() -> Any:
        await asyncio.Event().wait()

    asyncio.run(app(scope, receive, send))
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert app._streams == 0


def test_a_server_that_cancels_a_stream_leaves_nothing_behind(board: Board) -> None:
    app = Watch(board, pace=QUICK)
    scope = {"type": "http", "method": "GET", "path": "/api/stream", "query_string": b""}

    async def cancelled() -> set[asyncio.Task[Any]]:
        task = asyncio.create_task(answered(app, scope))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(cancelled()) == set()
    assert app._streams == 0


def test_it_answers_what_servers_ask_beside_requests(board: Board) -> None:
    sent: list[Any] = []
    asked = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

    async def receive() -> Any:
        return next(asked)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    asyncio.run(Watch(board)({"type": "lifespan"}, receive, send))
    asyncio.run(Watch(board)({"type": "websocket"}, receive, send))
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete", "websocket.close"]


# --- the text -------------------------------------------------------------------------------------


@pytest.mark.behaviour("N10")
def test_text_is_shown_only_where_somebody_gives_it(board: Board) -> None:
    turn = board.turns()[0]["turn"]
    asked: list[Any] = []

    def text_of(turn: str, began: float) -> list[str] | None:
        asked.append((turn, began))
        return ["One ", "two."] if len(asked) == 1 else None

    with serving(Watch(board)) as url:
        assert httpx.get(f"{url}/api/turns/{turn}/text").status_code == 404
    with serving(Watch(board, text_of=text_of)) as url:
        assert httpx.get(f"{url}/api/about").json()["content"] is True
        assert httpx.get(f"{url}/api/turns/{turn}/text").json() == {"pieces": ["One ", "two."]}
        assert httpx.get(f"{url}/api/turns/{turn}/text").status_code == 404
    assert asked == [(turn, board.turns()[0]["started"])] * 2
