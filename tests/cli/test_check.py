"""`tenuto check`: what is in files of stored answers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.stored import DONE, chat

from tenuto.cli import main


def batch(number: int, body: dict[str, Any]) -> str:
    response = {"status_code": 200, "request_id": "q", "body": body}
    return json.dumps({"custom_id": f"r{number}", "error": None, "response": response})


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder with a batch of 20 answers, of which 5 are cut, and 30 answers without a stop, of
    which 4 pile up."""
    folder = tmp_path / "results"
    folder.mkdir()
    bodies = [chat() if number % 4 == 0 else chat(DONE, "stop") for number in range(20)]
    (folder / "a.jsonl").write_text("\n".join(batch(n, body) for n, body in enumerate(bodies)))
    tokens = [512] * 4 + [30 + 11 * number for number in range(26)]
    rows = [{"prompt": "x", "generated_text": DONE, "num_generated_tokens": n} for n in tokens]
    (folder / "b.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


def test_it_says_how_many_answers_are_complete_cut_and_likely_cut(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(results)]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "50 answers in 2 files (ray_data_llm, openai_batch)"
    assert lines[1:4] == [
        "complete 41 82.0 %",
        "cut by the limit 5 10.0 % worst: gpt-x: 25 %",
        "likely cut 4 8.0 % no stop stored; 4 answers pile up at 512 tokens",
    ]


def test_as_json_it_says_the_same(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(results), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["outcomes"] == {"done": 41, "text_cut": 5, "likely_cut": 4}
    assert (told["rows"], told["files"], told["unreadable_lines"]) == (50, 2, 0)


@pytest.mark.parametrize(("most", "code"), [("1%", 1), ("18%", 0), ("0.5", 0), ("0", 1)])
def test_the_exit_code_says_whether_too_many_are_cut_or_broken(
    results: Path, most: str, code: int
) -> None:
    assert main(["check", str(results), "--fail-over", most]) == code


def test_a_folder_does_not_look_clean_because_it_was_not_read(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (results / "c.jsonl").write_text('{"name": "Mia"}\n' * 5)
    assert main(["check", str(results)]) == 2
    assert "5 rows (9.1 %) are no answers of a known kind" in capsys.readouterr().out


def test_a_line_that_cannot_be_read_is_named(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (results / "a.jsonl").open("a") as file:
        file.write('\n{"custom_id": "r20", "resp\n')
    assert main(["check", str(results)]) == 2
    head = capsys.readouterr().out.splitlines()[0]
    assert f"1 line unreadable: {results}/a.jsonl:21" in head.replace("\n", "")


def test_a_report_has_places_and_verdicts_and_no_text(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "report"
    assert main(["check", str(results), "--out", str(out)]) == 0
    text = (out / "rows.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    assert len(rows) == 50
    assert sum(row["outcome"] == "likely_cut" for row in rows) == 4, "as all rows together show"
    assert rows[0] | {"file": "", "line": 1, "id": "r0", "outcome": "text_cut", "stop": "length"} == {
        **rows[0], "file": "",
    }  # fmt: skip
    assert "moon" not in text
    assert json.loads((out / "report.json").read_text("utf-8"))["rows"] == 50


def test_without_out_nothing_is_written(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    main(["check", "results"])
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nothing.jsonl"], "nothing.jsonl cannot be read: No such file or directory"),
        ([], "name at least one file or folder"),
        (["x", "--fail-over", "much"], "--fail-over is 'much'"),
        (["x", "--kind", "opnai"], "--kind is 'opnai'"),
    ],
)
def test_wrong_usage_is_said(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_requests_beside_the_results_are_no_answers(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = {"model": "m", "max_tokens": 20, "messages": [{"role": "user", "content": "x"}]}
    lines = [
        json.dumps({"custom_id": f"r{n}", "url": "/v1/chat/completions", "body": body})
        for n in range(20)
    ]
    (results / "requests.jsonl").write_text("\n".join(lines))
    assert main(["check", str(results), "--requests", str(results / "requests.jsonl")]) == 0
    assert "worst: gpt-x at limit 20: 25 %" in capsys.readouterr().out


WITHOUT_EXTRA = """
import sys
sys.modules["cyclopts"] = sys.modules["rich"] = None
from tenuto.cli import main
sys.exit(main())
"""


@pytest.mark.parametrize("options", [[], ["--json"], ["--fail-over", "1%"], ["--kind", "opnai"]])
def test_the_base_install_runs_it_too(
    results: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["check", str(results), *options]
    command = [sys.executable, "-c", WITHOUT_EXTRA, *arguments]
    bare = subprocess.run(command, capture_output=True, text=True, check=False)
    code = main(arguments)
    shown = capsys.readouterr()
    assert (bare.returncode, bare.stderr) == (code, shown.err)
    if "--json" in options:
        assert json.loads(bare.stdout) == json.loads(shown.out)
    else:
        assert bare.stdout == shown.out


def test_the_base_install_says_what_is_wrong() -> None:
    for arguments in (["check", "--bogus"], ["check"], ["check", "nothing.jsonl"]):
        command = [sys.executable, "-c", WITHOUT_EXTRA, *arguments]
        bare = subprocess.run(command, capture_output=True, text=True, check=False)
        assert bare.returncode == 2
        assert bare.stderr
        assert "Traceback" not in bare.stderr
