"""Who may read the page: programs of this machine under its own names, or who has the token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from support.serving import serving
from support.telemetry import answer, chat

from tenuto.watch import Board, Watch
from tenuto.watch.access import Access
from tenuto.watch.app import MOST_STREAMS

pytestmark = pytest.mark.behaviour("N10")

TOKEN = "a token that is long enough"


@pytest.fixture(scope="module")
def board() -> Board:
    board = Board()
    chat(answer("One."), on_event=board)
    return board


@pytest.fixture(scope="module")
def local(board: Board) -> Iterator[str]:
    with serving(Watch(board)) as url:
        yield url


@pytest.fixture(scope="module")
def guarded(board: Board) -> Iterator[str]:
    with serving(Watch(board, token=TOKEN)) as url:
        yield url


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:80", "LOCALHOST:9", "[::1]", "[::1]:8"])
def test_on_this_machine_its_own_names_are_answered(local: str, host: str) -> None:
    assert httpx.get(f"{local}/api/totals", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "", "[::1"]
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/api/turns", "/api/stream", "/static/watch.js"])
def test_a_name_that_a_website_points_here_is_refused(local: str, host: str, path: str) -> None:
    refused = httpx.get(local + path, headers={"host": host})
    assert refused.status_code == 403
    assert "turns" not in refused.text


@pytest.mark.parametrize("client", [("192.0.2.1", 5), ("::ffff:192.0.2.1", 5), None, ("unix", 0)])
def test_without_a_token_other_machines_are_refused(client: Any) -> None:
    scope = {"client": client, "headers": [(b"host", b"localhost")], "query_string": b""}
    refusal = Access(None, ["localhost"]).refusal(scope)
    assert refusal is not None
    assert refusal.status == 403


def test_of_two_hosts_neither_counts() -> None:
    hosts = [(b"host", b"localhost"), (b"host", b"localhost")]
    scope = {"client": ("127.0.0.1", 5), "headers": hosts, "query_string": b""}
    assert Access(None, ["localhost"]).refusal(scope) is not None


@pytest.mark.parametrize("path", ["/", "/api/totals", "/api/stream", "/static/watch.js"])
@pytest.mark.parametrize(
    "headers",
    [{}, {"authorization": "Bearer wrong"}, {"authorization": TOKEN}, {"cookie": f"tenuto_watch={TOKEN}"},
     {"authorization": "Bearer"}, {"cookie": "tenuto_watch="}],
)  # fmt: skip
def test_without_the_token_nothing_is_shown(guarded: str, path: str, headers: Any) -> None:
    refused = httpx.get(guarded + path, headers=headers)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"
    assert TOKEN not in refused.text + str(refused.headers)


def test_the_token_is_taken_from_the_header_under_any_name(guarded: str) -> None:
    headers = {"authorization": f"Bearer {TOKEN}", "host": "watch.example"}
    assert httpx.get(f"{guarded}/api/totals", headers=headers).json()["totals"]["turns"] == 1


def test_the_token_in_the_address_becomes_a_cookie_that_does_not_hold_it(guarded: str) -> None:
    with httpx.Client(base_url=guarded) as client:
        page = client.get("/", params={"token": TOKEN})
        given = page.headers["set-cookie"]
        assert "; HttpOnly; SameSite=Strict" in given
        assert TOKEN.replace(" ", "") not in given.replace(" ", "")
        assert client.get("/api/turns").status_code == 200
    assert httpx.get(f"{guarded}/", params={"token": "wrong"}).status_code == 401
    assert "set-cookie" not in httpx.get(f"{guarded}/?token=a&token=b").headers


def test_over_https_the_cookie_stays_on_https_and_below_where_the_page_is() -> None:
    scope = {"scheme": "https", "root_path": "/watch", "query_string": b"token=" + b"x" * 16}
    cookie = Access("x" * 16, []).cookie(scope)
    assert cookie is not None
    assert b"; Path=/watch; " in cookie[1]
    assert cookie[1].endswith(b"; Secure")


OF_ANOTHER_PAGE: tuple[dict[str, str], ...] = (
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},  # a server on another port of this machine
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:1"},
)
"""What a browser sends along for a page of another address."""


@pytest.mark.parametrize("path", ["/", "/api/turns", "/api/stream", "/static/watch.js"])
@pytest.mark.parametrize("headers", OF_ANOTHER_PAGE, ids=str)
def test_what_a_browser_requests_for_another_page_is_refused(
    local: str, path: str, headers: dict[str, str]
) -> None:
    refused = httpx.get(local + path, headers=headers)
    assert refused.status_code == 403
    assert "own address" in refused.text


@pytest.mark.parametrize(
    "headers", [{}, {"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}], ids=str
)
def test_the_page_itself_and_an_address_that_was_typed_are_answered(
    local: str, headers: dict[str, str]
) -> None:
    assert httpx.get(f"{local}/api/turns", headers=headers).status_code == 200
    own = {"origin": local, "sec-fetch-site": "same-origin"}
    assert httpx.get(f"{local}/api/turns", headers=own).status_code == 200


@pytest.mark.parametrize("headers", OF_ANOTHER_PAGE, ids=str)
def test_of_another_page_the_token_counts_and_the_cookie_does_not(
    guarded: str, headers: dict[str, str]
) -> None:
    with httpx.Client(base_url=guarded) as client:
        assert client.get("/", params={"token": TOKEN}, headers=headers).status_code == 200
        assert client.get("/api/turns").status_code == 200
        assert client.get("/api/turns", headers=headers).status_code == 403


def test_no_website_can_use_up_the_streams(local: str) -> None:
    evil = {"sec-fetch-site": "cross-site", "origin": "https://evil.example"}
    for _ in range(MOST_STREAMS + 3):
        assert httpx.get(f"{local}/api/stream", headers=evil).status_code == 403
    with httpx.stream("GET", f"{local}/api/stream") as own:
        assert own.status_code == 200
        assert next(own.iter_bytes())


def test_a_short_token_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 16 characters"):
        Watch(Board(), token="short")


@pytest.mark.parametrize("path", ["/", "/api/totals", "/static/uplot.js", "/nothing"])
def test_every_response_forbids_what_the_page_does_not_need(local: str, path: str) -> None:
    headers = httpx.get(local + path).headers
    assert headers["content-security-policy"].startswith("default-src 'self'; ")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers
