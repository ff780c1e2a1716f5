"""docs/watch.md: its examples run, and what it says of bounds and paths is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.serving import serving
from support.telemetry import answer, chat

from tenuto.telemetry import remove_listener
from tenuto.watch import app, board, files, stream, turn_seen

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "watch.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_mounted_as_the_page_says_it_shows_the_turns_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    mounting, following = BLOCKS
    exec(mounting, names)
    try:
        chat(answer("One ", stop="length"), answer("two."))
    finally:
        remove_listener(names["board"])
    with serving(names["app"]) as url, httpx.Client(base_url=url) as client:
        assert client.get("/watch/").status_code == 401
        page = client.get(
            "/watch", params={"token": "at least 16 characters"}, follow_redirects=True
        )
        assert "<h1>Tenuto</h1>" in page.text
        assert "Path=/watch;" in page.headers["set-cookie"]
        assert client.get("/watch/static/watch.js").status_code == 200
        (turn,) = client.get("/watch/api/turns").json()["turns"]
    assert turn["attempts"] == 2
    exec(following, names)
    assert capsys.readouterr().out == "0\n"


def test_the_bounds_are_those_of_the_code() -> None:
    said = " ".join(PAGE.partition("## Limits")[2].split())
    assert f"keeps {board.MOST_TURNS} turns, up to {turn_seen.MOST_ATTEMPTS} attempts" in said
    assert (
        f"{turn_seen.MOST_EVENTS} other events for each, and the {board.MOST_MINUTES} latest minutes"
        in said
    )
    assert f"{app.MOST_STREAMS} clients" in said
    assert f"{files.MOST_FILES} files" in said
    assert f"nothing for {stream.PACE.stuck_s:g} seconds" in " ".join(PAGE.split())
