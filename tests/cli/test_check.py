"""`tenuto check`: what is in files of stored answers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.stored import ASK, DONE, OPEN, chat

from tenuto.cli import checked, main


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
    for number, row in enumerate(rows[:4]):
        row["generated_text"] = f"Tide {number}: {OPEN}"
    (folder / "b.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


def test_it_says_how_many_answers_are_complete_cut_and_likely_cut(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(results)]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "50 answers in 2 files (vLLM rows of Ray Data, OpenAI batch results)"
    assert lines[1:] == [
        "complete 41 82.0 %",
        "cut by the limit 5 10.0 %",
        "likely cut 4 8.0 % no stop stored; 4 answers pile up at 512 tokens",
        "empty 0 0.0 %",
    ]


def test_every_other_fate_has_a_line_and_a_share_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = {"function": {"name": "add", "arguments": "{]"}}
    bodies = [
        chat(DONE, "content_filter"),
        chat(None, "stop", refusal="I can't help with that."),
        chat(None, "stop", refusal="No."),
        chat(None, "tool_calls", tool_calls=[call]),
        chat("", "stop"),
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(batch(n, body) for n, body in enumerate(bodies)))
    main(["check", str(path)])
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[1:] == [
        "complete 0 0.0 %",
        "cut by the limit 0 0.0 %",
        "likely cut 0 0.0 %",
        "empty 1 20.0 %",
        "broken call 1 20.0 %",
        "refused 2 40.0 %",
        "blocked 1 20.0 %",
    ]


def test_it_says_which_file_holds_requests_and_how_to_give_it(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = results / "asked.jsonl"
    lines = [json.dumps({"custom_id": f"r{n}", "body": ASK}) for n in range(20)]
    asked.write_text("\n".join(lines))
    assert main(["check", str(results)]) == 2
    told = capsys.readouterr().out
    assert f"{asked} holds 20 requests; add --requests {asked} to read the limits" in told
    assert main(["check", str(results), "--requests", str(asked)]) == 0
    assert "holds" not in capsys.readouterr().out


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
    assert "5 rows are no answers of a known kind (9.1 %)" in capsys.readouterr().out


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
        (["--limt", "3"], "--limt is not an option, and no file; the nearest are --limit, "),
        ([], "name at least one file or folder"),
        (["x", "--fail-over", "much"], "--fail-over is 'much'"),
        (["x", "--kind", "opnai"], "--kind is 'opnai'"),
        (["x", "--limit", "0"], "--limit is '0', but it must be a number of tokens"),
        (["x", "--limit", "9" * 18], f"--limit is '{'9' * 18}'"),
        (["x", "--out", ""], "--out is empty, but it must name a path"),
        (["x", "--requests", ""], "--requests is empty, but it must name a path"),
        (["x", "-limit", "5"], "-limit is not an option, and no file; the nearest are --limit, "),
        (["x", "-"], "standard input is not read; write it to a file first"),
        (["x", "--limit", "much"], "--limit is 'much'"),
        (["x", "--processes", "0"], "--processes is 0, but it must be 1 or more"),
        (["x", "--answer", "text"], "--answer is 'text', but a JSON pointer begins with a slash"),
        (["x", "--stop", "/why"], "--stop names a place in the rows; --answer must say"),
        (["x", "--limit", "/max"], "--limit names a place in the rows; --answer must say"),
        (["x", "--answer", "/a", "--kind", "alpaca"], "leave out --kind"),
        (["x", "--show-text"], "--show-text needs --out"),
        ([".", "--out", "report"], "--out is inside of ., which is checked"),
        (["x.jsonl", "--out", "x.jsonl"], "x.jsonl cannot be written: File exists"),
        (["empty"], "empty cannot be read: there is no file in it that ends in .jsonl"),
        (["x.jsonl", "--requests", "gone.jsonl"], "gone.jsonl cannot be read: No such file"),
        (["x.jsonl", "--requests", "x.jsonl"], "there is no file to read in x.jsonl"),
        (["y.jsonl", "--requests", "x.jsonl"], "x.jsonl cannot be read: it holds no request"),
    ],
)
def test_wrong_usage_is_said(
    arguments: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    for name in ("x", "x.jsonl", "y.jsonl"):
        (tmp_path / name).write_text(f"{json.dumps(chat())}\n")
    assert main(["check", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_an_error_leaves_an_earlier_report_as_it_was(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "report"
    assert main(["check", str(results), "--out", str(out)]) == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    wrong = str(results / "a.jsonl")  # holds no requests
    assert main(["check", str(results), "--out", str(out), "--requests", wrong]) == 2
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_without_answers_there_is_no_table_of_dashes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"name": "Mia"}\n')
    assert main(["check", str(path)]) == 2
    told = "0 answers in 1 file\n  1 row is no answer of a known kind (100.0 %)\n"
    assert capsys.readouterr().out == told


def test_requests_beside_the_results_are_no_answers(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = {"model": "m", "max_tokens": 20, "messages": [{"role": "user", "content": "x"}]}
    lines = [
        json.dumps({"custom_id": f"r{n}", "url": "/v1/chat/completions", "body": body})
        for n in range(20)
    ]
    (results / "requests.jsonl").write_text("\n".join(lines))
    asked = ["--requests", str(results / "requests.jsonl")]
    assert main(["check", str(results), *asked, "--json"]) == 0
    groups = json.loads(capsys.readouterr().out)["groups"]
    assert [(g["model"], g["limit"], g["answers"]) for g in groups if g["model"]] == [
        ("gpt-x", 20, 20)
    ]


WITHOUT_EXTRA = """
import sys
sys.modules["cyclopts"] = sys.modules["rich"] = None
from tenuto.cli import checked, main
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


def test_rows_of_ones_own_are_read_where_pointers_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"x": {"said/it": DONE}, "why": "stop", "max": 50, "n": 40, "model": "a"},
        {
            "x": {"said/it": "The moon pulls the se"},
            "why": "length",
            "max": 50,
            "n": 50,
            "model": "a",
        },
        {"x": {"said/it": "The moon pulls the se"}, "max": 50, "n": 50, "model": "b"},
        {"x": {"said/it": ""}, "why": "stop"},
        {"x": json.dumps({"said/it": DONE}), "why": "stop"},
        {"x": {"said/it": chat()}},
        {"x": None},
    ]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    pointers = ["--answer", "/x/said~1it", "--stop", "/why", "--limit", "/max", "--tokens", "/n"]
    assert main(["check", str(path), *pointers, "--json"]) == 2
    told = json.loads(capsys.readouterr().out)
    wanted = {"done": 2, "text_cut": 2, "likely_cut": 1, "empty": 1, "no_answer": 1}
    assert told["outcomes"] == wanted
    assert told["kinds"] == {"own": 6}
    assert {(group["model"], group["limit"]) for group in told["groups"]} >= {("a", 50), ("b", 50)}


OWN = {
    "q": "Why?",
    "result": {"text": "The moon pulls the se"},
    "finish_reason": "length",
    "completion_tokens": 128,
    "max_tokens": 128,
}


def test_what_no_pointer_names_is_read_beside_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    near = {
        "result": {"text": "The moon pulls the se", "stop_reason": "max_tokens"},
        "stop_reason": "stop",
    }
    no_stop = {name: item for name, item in OWN.items() if name != "finish_reason"}
    for row, outcome, limit in (
        (OWN, "text_cut", 128),
        (near, "text_cut", None),
        ({"result": json.dumps(near["result"]), "stop_reason": "stop"}, "text_cut", None),
        (no_stop, "likely_cut", 128),
        ({**OWN, "finish_reason": "stop"}, "done", 128),
    ):
        path = tmp_path / "mine.jsonl"
        path.write_text(json.dumps(row))
        assert main(["check", str(path), "--answer", "/result/text", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["outcomes"] == {outcome: 1}
        assert told["groups"][0]["limit"] == limit


def test_a_pointer_goes_before_what_stands_beside_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({**OWN, "why": None, "most": 999, "n": 3}))
    pointers = ["--answer", "/result/text", "--stop", "/why", "--limit", "/most", "--tokens", "/n"]
    assert main(["check", str(path), *pointers, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["outcomes"] == {"done": 1}
    assert told["groups"][0]["limit"] == 999


def test_a_pointer_that_leads_nowhere_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(OWN) + "\n" + json.dumps({**OWN, "why": None}))
    pointers = ["--answer", "/result/text", "--stop", "/why"]
    assert main(["check", str(path), *pointers]) == 0
    capsys.readouterr()
    for pointers, told in (
        (["--answer", "/nope"], "--answer /nope leads nowhere in any of the rows"),
        (["--answer", "/q", "--stop", "/q/x"], "--stop /q/x leads nowhere in any of the rows"),
    ):
        assert main(["check", str(path), *pointers]) == 2
        assert told in capsys.readouterr().out


def test_samples_of_lm_eval_are_counted_once_whatever_filters_they_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"doc_id": n, "doc": {"question": "x"}, "arguments": [["x", {"max_gen_toks": 64}]],
         "resps": [[DONE]], "filtered_resps": ["42"], "filter": name}
        for name in ("strict-match", "flexible-extract", "third")
        for n in range(4)
    ]  # fmt: skip
    path = tmp_path / "samples.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    other = tmp_path / "other.json"
    other.write_text(json.dumps([{**row, "filter": "none"} for row in rows[:3]]))
    assert main(["check", str(path), str(other), "--out", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().out
    assert told.startswith("7 answers in 2 files (lm-eval samples)")
    assert "  8 more rows repeat answers under another filter of lm-eval" in told
    assert len((tmp_path / "out" / "rows.jsonl").read_text("utf-8").splitlines()) == 7


def test_a_report_shows_ends_of_rows_only_if_asked(results: Path, tmp_path: Path) -> None:
    for options, wanted in (([], False), (["--show-text"], True)):
        out = tmp_path / f"report{len(options)}"
        assert main(["check", str(results), "--out", str(out), *options]) == 0
        for name in ("rows.jsonl", "report.json", "report.html"):
            assert ("pulls the se" in (out / name).read_text("utf-8")) is wanted, name


def test_the_report_as_json_has_a_schema_that_stays(results: Path, tmp_path: Path) -> None:
    assert main(["check", str(results), "--out", str(tmp_path / "report")]) == 0
    told = json.loads((tmp_path / "report" / "report.json").read_text("utf-8"))
    assert {name: type(value).__name__ for name, value in told.items()} == {
        "schema": "int", "rows": "int", "answers": "int", "outcomes": "dict", "likely_cut": "dict",
        "kinds": "dict", "groups": "list", "days": "list", "lengths": "dict", "piled": "list",
        "muted": "list", "undecided": "int", "larger_limits": "list", "files": "int", "requests": "NoneType",
        "unreadable_lines": "int", "unreadable": "list", "refused": "list", "empty": "list",
        "asking": "list", "repeated": "int", "unmatched": "list", "worst": "list",
    }  # fmt: skip
    assert told["schema"] == 1
    assert sum(told["outcomes"].values()) == told["rows"]
    assert {row["outcome"] for row in told["worst"]} == {"text_cut", "likely_cut"}
    assert set(told["worst"][0]) == {
        "file", "line", "outcome", "model", "limit", "output_tokens", "chars", "stop", "id",
    }  # fmt: skip


def test_an_interrupt_keeps_the_rows_of_the_ranges_that_are_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    for name in "ab":
        (folder / f"{name}.jsonl").write_text(f"{json.dumps(chat())}\n" * 3)
    shown = checked.Progress.show

    def interrupted(self: checked.Progress, done: int, size: int) -> None:
        shown(self, done, size)
        raise KeyboardInterrupt

    monkeypatch.setattr(checked.Progress, "show", interrupted)
    out = tmp_path / "report"
    assert main(["check", str(folder), "--out", str(out)]) == 130
    assert len((out / "rows.jsonl").read_text("utf-8").splitlines()) == 3
    assert "the verdicts of 3 rows are in" in capsys.readouterr().err


def test_too_many_says_how_many_they_are(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(results), "--fail-over", "1%"]) == 1
    assert capsys.readouterr().out.endswith("  18.0 % are cut or broken: more than 1 %\n")


def test_what_is_cut_at_the_size_of_a_label_fails_no_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = chat("Y", "length")
    body["usage"]["completion_tokens"] = 1
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(body)}\n" * 5 + f"{json.dumps(chat(DONE, 'stop'))}\n" * 5)
    assert main(["check", str(path), "--fail-over", "0"]) == 0
    assert "5 more were cut at 16 tokens or fewer, the size of a label" in capsys.readouterr().out


def test_with_duckdb_the_rows_are_a_table_too(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB comes with the extra `check`")
    body = chat("The moon 😊 \ud83d", "length")
    body["model"] = "half \ud800"
    path = tmp_path / "it's.jsonl"
    path.write_text(f"{json.dumps(body)}\n{json.dumps(chat(DONE, 'stop'))}\n{json.dumps(ray())}\n")
    out = tmp_path / "rep'ort"
    assert main(["check", str(path), "--out", str(out), "--show-text"]) == 0
    table = str(out / "rows.parquet").replace("'", "''")
    query = f"SELECT line, outcome, stop, model, evidence, \"end\" FROM '{table}' ORDER BY line"
    assert duckdb.sql(query).fetchall() == [
        (1, "text_cut", "length", "half ?", ["stop"], "The moon 😊 ?"),
        (2, "done", "stop", "gpt-x", ["stop"], DONE[-120:]),
        (3, "done", None, "", ["no_stop"], DONE[-120:]),
    ]


def ray() -> dict[str, Any]:
    return {"prompt": "x", "generated_text": DONE, "num_generated_tokens": 30}


def test_half_a_surrogate_pair_stays_in_no_file_of_the_report(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(chat("The moon 😊 \ud83d", "length")))
    out = tmp_path / "report"
    assert main(["check", str(path), "--out", str(out), "--show-text"]) == 0
    row = json.loads((out / "rows.jsonl").read_text("utf-8"))
    assert row["end"] == "The moon 😊 ?"
