"""The HTML report of `tenuto check`: all of it in one file, and nothing in it that acts."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support.stored import DONE, chat

from tenuto.cli import main
from tenuto.cli.report_page import page
from tenuto.judging.report import report_of
from tenuto.judging.tally import Tally

HOSTILE = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a\u202eb\x00\ud800", "</style>",
    "javascript:alert(1)", "' onmouseover='alert(1)", "<!--", "]]>",
)  # fmt: skip


class Seen(HTMLParser):
    """The tags of a page, and their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"{tag} closes something else"

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def made(tmp_path: Path) -> str:
    """The page on rows whose every text is hostile."""
    folder = tmp_path / "<b>results"
    folder.mkdir()
    rows = []
    for number, text in enumerate(HOSTILE * 20):
        body = chat(text, "length") if number % 3 else chat(DONE, "stop")
        body["model"], body["created"] = HOSTILE[number % 8], 1_764_962_401 + 86_400 * (number % 9)
        body["usage"]["completion_tokens"] = 500 if number % 3 else 30 + number
        rows.append(
            json.dumps(
                {"custom_id": text, "error": None, "response": {"status_code": 200, "body": body}}
            )
        )
    (folder / "a.jsonl").write_text("\n".join([*rows, "{broken", '{"name": "Mia"}']), "utf-8")
    out = tmp_path / "report"
    assert main(["check", str(folder), "--out", str(out), "--show-text"]) == 2
    return (out / "report.html").read_text("utf-8")


def test_a_text_of_a_model_is_only_shown(made: str) -> None:
    seen = Seen(made)
    assert not seen.open
    assert not {"script", "img", "a", "b>results", "iframe", "link"} & set(seen.tags)
    assert not [name for name, _ in seen.attributes if name.startswith("on")]
    assert "<script>alert(1)</script>" in seen.text, "it is shown as it is"
    assert "\u202e" not in made
    assert "\x00" not in made


def test_it_loads_nothing_and_may_not(made: str) -> None:
    assert "default-src 'none'" in made
    assert not re.search(r"https?:|@import|url\(", made)
    assert not {"src", "href", "action", "srcset"} & {name for name, _ in Seen(made).attributes}


def test_it_has_every_section(made: str) -> None:
    titles = re.findall(r"<h2>(.*?)</h2>", made)
    assert titles == [
        "By model and limit", "By day", "Lengths", "The worst rows", "What could not be read",
    ]  # fmt: skip
    assert "prefers-color-scheme: dark" in made
    assert 'name="viewport"' in made


def test_the_places_of_the_worst_rows_are_told(made: str) -> None:
    assert "a.jsonl:2</code>" in made
    assert "a.jsonl:161</code>" in made


def test_it_says_what_a_larger_limit_would_hold() -> None:
    report = report_of(Tally()) | {"files": 0, "requests": None, "unreadable_lines": 0}
    report |= {"unreadable": [], "refused": [], "empty": [], "worst": []}
    report["larger_limits"] = [
        {"model": "m", "limit": 512, "cut": 90, "would_hold": [{"limit": 1024, "answers": 70}]}
    ]
    text = Seen(page(report)).text
    assert "What a larger limit would win" in text
    assert "90 cut at 512" in text
    assert "70 with 1,024" in text


def test_a_report_on_nothing_is_a_page() -> None:
    report = report_of(Tally()) | {"files": 1, "requests": None, "unreadable_lines": 0}
    report |= {"unreadable": [], "refused": [], "empty": [], "worst": []}
    assert "0 stored answers" in Seen(page(report)).text
