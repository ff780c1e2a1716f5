"""Every command as a user meets it: arguments in, text, JSON and an exit code out."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest

import tenuto
from tenuto.cli import main
from tenuto.cli.app import COMMANDS, OF_MEMBERS, build
from tenuto.core.settings.policy import RULES
from tenuto.providers.addresses import ADDRESSES
from tenuto.providers.table import ROWS
from tenuto_sim import CASES, CASES_ON, Simulator
from tenuto_sim.commands.faults import WireName

EVERY = (*COMMANDS, *OF_MEMBERS)
COMMAND = [sys.executable, "-c", "import sys; from tenuto.cli import main; sys.exit(main())"]
CUT_BODY = json.dumps(
    {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "length"}],
    }
)
WHOLE_STREAM = (
    'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
    'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},'
    '"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of this project, nor of whoever runs the tests."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(("TENUTO_", "OPENAI_"))]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize("command", [COMMAND, (sys.executable, "-m", "tenuto")])
def test_the_installed_program_runs_main_and_tells_its_version(command: Sequence[str]) -> None:
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"tenuto {tenuto.__version__}\n")


@pytest.mark.parametrize(
    ("wanted", "loaded"), [(["policy"], {"policy"}), (["bogus"], {*EVERY}), ([], {*EVERY})]
)
def test_only_the_command_that_is_asked_for_is_loaded(wanted: list[str], loaded: set[str]) -> None:
    assert {name for name in build(wanted) if name[0] != "-"} == loaded


@pytest.mark.parametrize("command", ["", *EVERY])
def test_help_has_examples_that_are_allowed(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.split(), "--help"]) == 0
    text = capsys.readouterr().out
    examples = text.partition("Examples:")[2].strip().splitlines()
    assert examples
    for line in examples:
        words = shlex.split(line.rpartition("|")[2].strip().removeprefix("OPENAI_API_KEY=... "))
        if "tenuto" in words:
            build().parse_args(words[words.index("tenuto") + 1 :], exit_on_error=False)


@pytest.mark.parametrize("command", [*(name for name in build() if name[0] != "-"), "demo agent"])
def test_help_wraps_at_the_width_of_the_terminal_only(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*command.split(), "--help"]) == 0
    lines = capsys.readouterr().out.partition("Examples:")[0].splitlines()
    for line, following in pairwise(lines):
        # In a box, a line that goes on with a description begins with the width of a name.
        if line.strip() and re.match(r"\w|│ {6,}\S", following):
            left = 80 - 2 * line.endswith("│") - len(line.removesuffix("│").rstrip())
            assert len(following.strip("│ ").split()[0]) >= left, (line, following)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["no-such-command"], "no-such-command"),
        (["bogus"], "'bogus': tenuto takes check, demo, detect, doctor, explain, faults,"),
        (
            ["faults", "ollama"],
            "unexpected argument 'ollama': tenuto faults takes --wire, --json (see",
        ),
        (["demo", "nope"], "unexpected argument 'nope': tenuto demo takes agent, --live, --model,"),
        (["demo", "agent", "nope"], "'nope': tenuto demo agent takes --wire, --json (see"),
        (["tail", "a", "b"], "unexpected argument 'b': tenuto tail takes FILE, --last, --all,"),
        (["tail", "-n", "x", "a"], "-n is x, but it must be a whole number, 0 or more"),
        (["policy", "--jsn"], "--jsn"),
        (["sim", "--port", "many"], "many"),
        (["sim", "--port", "70000"], "65535"),
        (["sim", "--port", "1.5"], "--port is 1.5, but it must be a whole number from 0 to 65535"),
        (["run", "Hi.", "--model", "m", "--max-steps", "1.5"], "a whole number, 1 or more"),
        (["run", "Hi.", "--model", "m", "--max-tokens", "1e3"], "a whole number, 1 or more"),
        (["sim", "--prefill", "perhaps"], "perhaps"),
        (["detect"], "name at least one file"),
        (
            ["detect", "--wire", "foo", "a.json"],
            "--wire is 'foo', but it must be one of anthropic-mes",
        ),
        (["providers", "--url", "foo"], "--url is 'foo', but it must be the URL of a provider"),
        (["providers", "--url", ""], "--url is '', but it must be the URL of a provider"),
        (["providers", "--url", "http://a:99999"], "but it must be the URL of a provider"),
        (["providers", "nobody"], "no provider is named 'nobody'; `tenuto providers` lists those"),
        (["providers", ""], "provider is '', but it must be a name or a URL"),
        (["providers", "http://["], "'http://[' is not a URL"),
        (["providers", "openai", "--wire", "morse"], "openai speaks openai-chat, and not the wire"),
        (["providers", "openai", "--url", "a.b"], "give a name or --url, not both"),
        (["providers", "--model", "m"], "--model needs the name of a provider before it"),
        (["providers", "--wire", "ollama"], "--wire needs the name of a provider before it"),
        (["run", "Hi.", "--model", "m"], "--model is 'm', but it must be provider:model"),
        (["run", "Hi.", "--model", "vllm:m"], "vllm has no base URL of its own: give --base-url"),
        (
            ["run", "Hi.", "--model", "openai-chat:m", "--base-url", "ftp://a"],
            "--base-url is 'ftp://a', but it must be http(s)://host[:port][/path]",
        ),
        (["demo", "--live"], "OPENAI_API_KEY"),
        (["demo", "--model", "x"], "--live"),
        (["demo", "--live", "--no-model"], "cannot be used together"),
    ],
)
def test_a_wrong_request_is_told_in_one_line_and_exits_with_2(
    arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith("tenuto: ")
    assert part in line


def test_without_its_packages_the_command_says_what_to_install(tmp_path: Path) -> None:
    hide = (
        "import sys; sys.modules['cyclopts'] = None; from tenuto.cli import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", hide, "policy"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        "tenuto: the command needs the package cyclopts; install it with: "
        "pip install 'tenuto[cli]'\n"
    )


@pytest.mark.parametrize("module", ["tenuto.cli", "tenuto.cli.model_server"])
def test_importing_loads_no_package_of_the_extra(module: str) -> None:
    code = f"import sys, {module}; print({{'cyclopts', 'rich', 'openai'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_detect_tells_files_and_standard_input_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cut.json").write_text(CUT_BODY)
    stdin = io.TextIOWrapper(io.BytesIO(WHOLE_STREAM.encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main(["detect", "cut.json", "-", "--json"]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["file"], first["reason"], first["raw"]) == ("cut.json", "max_tokens", "length")
    assert first["field"] == "choices[0].finish_reason"
    assert (second["file"], second["reason"]) == ("-", "end_turn")


@pytest.mark.behaviour("N8")
def test_detect_reads_what_explain_reads_half_a_body_gzip_and_the_end_of_a_capture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("half.json", "half.sse", "cut.json.gz", "chat.jsonl")
    (tmp_path / "half.json").write_bytes(b'{"choices": [{"mess')
    (tmp_path / "half.sse").write_bytes(b'data: {"choi')
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(CUT_BODY.encode()))
    started = b'{"is_finished":false,"event_type":"stream-start","generation_id":"g"}\n'
    text = b'{"is_finished":false,"event_type":"text-generation","text":"Hi"}\n'
    (tmp_path / "chat.jsonl").write_bytes(started + text)
    (tmp_path / "one.jsonl").write_bytes(started)
    with Simulator() as sim, tenuto.http_client(policy=tenuto.Policy(capture="turns")) as http:
        row = {"role": "user", "content": "Hi"}
        asked = {"model": "sim/length_always", "messages": [row], "max_tokens": 20}
        http.post(f"{sim.base_url}/chat/completions", json=asked)
    captures = [str(file) for file in Path("turns").iterdir()]
    assert main(["detect", "--json", *names, *captures]) == 0
    detected = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert main(["explain", "--json", *names, *captures]) == 0
    explained = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for one, other in zip(detected, explained, strict=True):
        last = other["attempts"][-1]
        assert (one["wire"], one["reason"], one["message"]) == (
            other["wire"],
            last["reason"],
            last["message"],
        )
    reasons = [one["reason"] for one in detected]
    assert reasons == ["dropped", "dropped", "max_tokens", "dropped", "max_tokens"]
    kinds = [other["kind"] for other in explained]
    assert kinds == ["body", "stream", "body", "stream", "capture"]
    assert main(["explain", "--json", "one.jsonl"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "stream"


def test_detect_takes_the_wire_of_an_answer_or_its_provider(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cut.json").write_text(CUT_BODY, "utf-8")
    for wire in ("openai-chat", "deepseek"):
        assert main(["detect", "--json", "--wire", wire, "cut.json"]) == 0
        assert json.loads(capsys.readouterr().out)["reason"] == "max_tokens"


def test_detect_speaks_to_a_person_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cut.json").write_text(CUT_BODY)
    assert main(["detect", "cut.json"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("cut.json: max_tokens (high confidence")
    assert "The output limit cut the answer." in said


@pytest.mark.behaviour("N14")
def test_detect_tells_each_answer_of_a_file_by_its_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = CUT_BODY.replace("length", "stop")
    rows = [CUT_BODY if number % 9 == 0 else whole for number in range(200)]
    lines = [json.dumps(json.loads(row)) for row in rows]
    (tmp_path / "answers.jsonl").write_text("\n".join(lines) + "\n")
    assert main(["detect", "answers.jsonl"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 200
    assert said[0].startswith("answers.jsonl, answer 1: max_tokens (high confidence")
    assert sum("The output limit cut the answer." in line for line in said) == 23
    assert main(["detect", "answers.jsonl", "--json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["answer"] for one in told] == [*range(1, 201)]
    assert {one["answers"] for one in told} == {200}
    assert [one["raw"] for one in told[:3]] == ["length", "stop", "stop"]
    assert main(["explain", "answers.jsonl"]) == 2
    assert "it holds 200 answers, not one; tenuto detect tells each" in capsys.readouterr().err


@pytest.mark.behaviour("N14")
def test_detect_names_the_lines_that_hold_no_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = json.dumps(json.loads(CUT_BODY))
    (tmp_path / "mixed.jsonl").write_text(f'{row}\n{{"note": "x"}}\n{row}')
    assert main(["detect", "mixed.jsonl"]) == 2
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in said] == [
        f"mixed.jsonl, {place}" for place in ("answer 1", "behind answer 1", "answer 2")
    ]
    assert "not an answer in the format of a known API" in said[1]


@pytest.mark.behaviour("N14")
@pytest.mark.parametrize(
    ("lines", "cut"),
    [("wc", 2), ("wcw", 2), ("cww", 1), ("wnw", 2)],
    ids=["the last is cut", "one between is cut", "the first is cut", "one is null"],
)
def test_detect_tells_a_line_that_cannot_be_read_in_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: str, cut: int
) -> None:
    row = json.dumps({"object": "chat.completion", **json.loads(CUT_BODY)})
    rows = {"w": row, "c": row[:90], "n": "null"}
    (tmp_path / "cut.jsonl").write_text("\n".join(rows[line] for line in lines))
    assert main(["detect", "cut.jsonl", "--json"]) == 2
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [at for at, one in enumerate(told, 1) if one["reason"] != "max_tokens"] == [cut]
    answers = lines.replace("n", "")  # one that is null is none
    assert [one["answers"] for one in told] == [len(answers)] * len(lines)
    numbers = [one["answer"] for one in told if one["answer"] is not None]
    assert numbers == [*range(1, len(answers) + 1)]


REFUSED = '{"error": {"message": "Incorrect API key.", "code": "invalid_api_key"}}'
"""An error that several wires write alike, so that none can be named."""


@pytest.mark.parametrize("command", ["detect", "explain"])
def test_an_error_that_several_wires_write_alike_is_told_as_the_error_that_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    (tmp_path / "refused.json").write_text(REFUSED)
    assert main([command, "refused.json"]) == 0
    said = capsys.readouterr().out
    assert "error" in said
    assert "invalid_api_key" in said
    assert "not an answer in the format of a known API" not in said
    assert "Try again" not in said
    assert main([command, "refused.json", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["wire"] is None
    reason = told["reason"] if command == "detect" else told["attempts"][0]["reason"]
    assert reason == "error"


@pytest.mark.parametrize(
    "junk",
    [
        "Good morning.",
        "root:x:0:0:root:/root:/bin/sh\n",
        "<html>502 Bad Gateway</html>",
        '{"a": 1}',
        '{"object": "chat.completion", "choices": "x"}',
        '{"choices": "x"}',
        '{"choices": [{"message": 5}]}',
    ],
)
def test_detect_says_so_of_what_is_no_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], junk: str
) -> None:
    (tmp_path / "junk").write_text(junk)
    assert main(["detect", "junk"]) == 2
    assert "not an answer in the format of a known API" in capsys.readouterr().out
    assert main(["detect", "junk", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["wire"] is None


@pytest.mark.parametrize("content", [b"", b"\n  \n", gzip.compress(b"", mtime=0)], ids=repr)
def test_detect_says_so_of_an_empty_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    (tmp_path / "empty").write_bytes(content)
    assert main(["detect", "empty"]) == 2
    assert capsys.readouterr() == ("", "tenuto: empty cannot be read: it is empty\n")
    assert main(["detect", "empty", "--json"]) == 2
    assert json.loads(capsys.readouterr().out) == {"file": "empty", "error": "it is empty"}


def test_detect_reads_the_other_files_when_one_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cut.json").write_text(CUT_BODY)
    assert main(["detect", "absent.json", ".", "cut.json", "--json"]) == 2
    absent, folder, cut = map(json.loads, capsys.readouterr().out.splitlines())
    assert "No such file" in absent["error"]
    assert folder["error"]
    assert cut["reason"] == "max_tokens"
    assert main(["detect", "absent.json"]) == 2
    assert "absent.json cannot be read" in capsys.readouterr().err
    assert main(["detect", "--jsno", str(tmp_path / "cut.json")]) == 2
    assert "no such option" in capsys.readouterr().err


def test_faults_lists_every_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults"]) == 0
    names = [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert names == list(CASES)
    assert main(["faults", "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert tables["faults"]["length_once"]["bare"] == "silent"
    for wire in get_args(WireName):
        cases = CASES_ON[wire]
        assert main(["faults", "--wire", wire]) == 0
        names = [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()[1:]]
        assert names == list(cases)


def test_policy_lists_every_setting_with_the_value_in_force(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TENUTO_EMPTY_RETRIES", "4")
    assert main(["policy", "--json"]) == 0
    settings: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert list(settings) == list(RULES)
    assert settings["empty_retries"] == {
        "group": "Empty answers",
        "value": 4,
        "from": "TENUTO_EMPTY_RETRIES",
        "exceptions": {},
        "default": 1,
        "allowed": "a whole number from 0 to 10",
        "variable": "TENUTO_EMPTY_RETRIES",
        "meaning": settings["empty_retries"]["meaning"],
    }
    assert main(["policy"]) == 0
    lines = capsys.readouterr().out.splitlines()
    row = "empty_retries\tEmpty answers\t4\tTENUTO_EMPTY_RETRIES\t1\ta whole number from 0 to 10\tTENUTO_EMPTY_RETRIES\t"
    assert any(line.startswith(row) for line in lines)


@pytest.mark.behaviour("P3")
def test_policy_says_where_each_value_comes_from(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.tenuto]\npreset = "batch"\nbackoff_s = 1\n')
    (tmp_path / "tenuto.toml").write_text("backoff_s = 3\nfault_retries = 4\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENUTO_FAULT_RETRIES", "5")
    assert main(["policy", "--json"]) == 0
    settings = json.loads(capsys.readouterr().out)
    shown = {name: (of["value"], of["from"]) for name, of in settings.items()}
    assert shown["fault_retries"] == (5, "TENUTO_FAULT_RETRIES")
    assert shown["backoff_s"] == (3, "tenuto.toml")
    assert shown["on_incomplete"] == ("error", "preset batch")
    assert shown["empty_nudges"] == (1, "default")


@pytest.mark.behaviour("P3")
def test_policy_shows_what_differs_for_single_providers_and_models(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "tenuto.toml").write_text(
        '[providers.groq]\nfault_retries = 5\n[models."gpt-*"]\npreset = "agents"\n'
    )
    monkeypatch.chdir(tmp_path)
    assert main(["policy", "--json"]) == 0
    settings = json.loads(capsys.readouterr().out)
    assert settings["fault_retries"]["exceptions"] == {
        "providers.groq": {"value": 5, "from": "tenuto.toml"}
    }
    assert settings["on_incomplete"]["exceptions"] == {
        "models.gpt-*": {"value": "error", "from": "preset"}
    }
    assert main(["policy"]) == 0
    lines = capsys.readouterr().out.splitlines()
    [at] = [n for n, line in enumerate(lines) if line.startswith("fault_retries\t")]
    assert lines[at + 1].split("\t")[:4] == [
        "fault_retries for providers.groq",
        "",
        "5",
        "tenuto.toml",
    ]


@pytest.mark.behaviour("P3")
def test_policy_shows_the_settings_of_a_provider_that_only_the_program_registers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "tenuto.toml").write_text("[providers.my-lab]\nfault_retries = 5\n")
    monkeypatch.chdir(tmp_path)
    assert main(["policy", "--json"]) == 0
    written = capsys.readouterr()
    assert json.loads(written.out)["fault_retries"]["exceptions"] == {
        "providers.my-lab": {"value": 5, "from": "tenuto.toml"}
    }
    [line] = written.err.splitlines()
    assert line.startswith("tenuto: providers.my-lab is not a provider with a known base URL; ")


@pytest.mark.behaviour("N8")
def test_providers_lists_who_is_known_and_who_is_behind_a_url(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["providers", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert list(told["providers"]) == list(ROWS.all())
    qwen = told["providers"]["qwen"]
    assert qwen["prefill_row"] == {"partial": True}
    assert qwen["prefill_members"] == {"enable_thinking": False}
    assert re.compile(qwen["prefill_models"]).search("qwen-plus")
    assert qwen["hosts"][0] == "dashscope.aliyuncs.com"
    (gpt_4o,) = [row for row in told["models"] if row["name"] == "gpt-4o"]
    assert gpt_4o["output_tokens"] == 16_384
    beta = "https://api.deepseek.com/beta/chat/completions"
    for url, name in ((beta, "deepseek-beta"), ("https://nobody.example/x", "unknown")):
        assert main(["providers", "--url", url, "--json"]) == 0
        assert list(json.loads(capsys.readouterr().out)["providers"]) == [name]
    assert main(["providers"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split("\t")[:3] == ["provider", "wire", "base URLs"]
    assert [line.split("\t")[0] for line in lines] == list(ROWS.all())


@pytest.mark.behaviour("N8")
@pytest.mark.parametrize(
    ("asked", "options", "known"),
    [
        (
            ("anthropic", "claude-sonnet-4-5"),
            ["--model", "claude-sonnet-4-5"],
            {"wire": "anthropic-messages", "output_tokens": 64_000, "continues_by": "prefill"},
        ),
        (("openai", ""), [], {"provider": "openai", "model": "", "continues_by": "hint"}),
        (("https://api.deepseek.com/beta", ""), [], {"provider": "deepseek-beta"}),
        (
            ("https://api.openai.com/v1", "gpt-4o", "openai-responses"),
            ["--model", "gpt-4o", "--wire", "openai-responses"],
            {"provider": "openai-responses", "output_key": "max_output_tokens"},
        ),
    ],
)
def test_providers_tells_what_one_of_them_can_do(
    capsys: pytest.CaptureFixture[str],
    asked: tuple[str, str] | tuple[str, str, str],
    options: list[str],
    known: dict[str, Any],
) -> None:
    name, model, *wire = asked
    assert main(["providers", name, *options, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == tenuto.capabilities(name, model, wire="".join(wire)).as_dict()
    assert told.items() >= known.items()
    assert main(["providers", name, *options]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split("\t") == ["capability", "value", "meaning"]
    cells = [line.split("\t") for line in lines]
    assert [cell[0] for cell in cells] == list(told)
    assert all(meaning for *_, meaning in cells)
    shown = {key: value for key, value, _ in cells}
    assert shown["wire"] == told["wire"]
    assert shown["finishes"] == "yes"
    assert shown["output_tokens"] == str(told["output_tokens"]).lower()
    native, reason = next(iter(told["stops"].items()))
    assert shown["stops"].startswith(f"{native}: {reason}, ")


def test_providers_knows_a_host_without_its_scheme(capsys: pytest.CaptureFixture[str]) -> None:
    for name, provider in (("localhost:11434", "ollama-chat"), ("api.groq.com/openai/v1", "groq")):
        assert main(["providers", name, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["provider"] == provider


@pytest.mark.parametrize("name", ["gpt-4.1", "claude-3.5-sonnet", "openai:gpt-5-mini"])
def test_providers_takes_no_model_for_a_host(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["providers", name]) == 2
    shown = capsys.readouterr()
    assert (shown.out, f"no provider is named '{name}'" in shown.err) == ("", True)


@pytest.mark.parametrize(
    ("url", "names"),
    [
        ("https://api.openai.com/v1", ["openai", "openai-completions", "openai-responses"]),
        ("https://api.openai.com/v1/responses", ["openai-responses"]),
        ("https://api.anthropic.com", ["anthropic"]),
        ("https://api.anthropic.com/", ["anthropic"]),
        ("api.mistral.ai", ["mistral"]),
        ("localhost:1234", ["lm-studio", "lm-studio-completions"]),
        ("https://generativelanguage.googleapis.com/v1beta/openai/", [
            "gemini-chat", "gemini", "gemini-interactions",
        ]),
        ("https://nobody.example/v1", ["unknown"]),
    ],
)  # fmt: skip
def test_providers_knows_base_urls_and_the_urls_of_requests(
    capsys: pytest.CaptureFixture[str], url: str, names: list[str]
) -> None:
    assert main(["providers", "--url", url, "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["providers"]) == names


def test_every_known_address_leads_to_its_row(capsys: pytest.CaptureFixture[str]) -> None:
    for name, address in ADDRESSES.items():
        url = address.own_url_in({"ANTHROPIC_FOUNDRY_RESOURCE": "acme"})
        if not url:  # as on Azure, where each customer has a host
            assert address.url_variables, name
            continue
        assert main(["providers", "--url", url, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["providers"]
        assert name in found or ROWS.all()[name].hosts == (), name


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns without colours."""
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(
    ("command", "whole"),
    [
        ("policy", [*RULES, *(f"TENUTO_{name.upper()}" for name in RULES)]),
        ("faults", [*CASES, "can be recovered"]),
        ("providers", [*ROWS.all(), "max_completion_tokens"]),
    ],
)
def test_no_table_cuts_or_breaks_a_name_on_80_columns(
    capsys: pytest.CaptureFixture[str], command: str, whole: list[str]
) -> None:
    assert main([command]) == 0
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    words = set(" ".join(lines).split())
    assert not [name for name in whole if not set(name.split()) <= words]
    assert max(map(len, (line for line in lines if "://" not in line))) <= 80
    assert not any("…" in line for line in lines)


@pytest.mark.usefixtures("terminal")
def test_policy_says_what_each_setting_means(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "how the caller learns that a turn is unfinished" in told
    assert main(["policy", "--json"]) == 0
    assert all(one["meaning"] for one in json.loads(capsys.readouterr().out).values())


@pytest.mark.usefixtures("terminal")
def test_explain_keeps_the_paths_of_files_apart_on_80_columns(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / ("a_long_name_of_a_folder_" * 4)
    folder.mkdir()
    files = [folder / "first.json", folder / "second.json"]
    for file in files:
        file.write_text(CUT_BODY)
    assert main(["explain", *map(str, files)]) == 0
    shown = "".join(capsys.readouterr().out.split())
    assert all(str(file) in shown for file in files)


def test_policy_names_a_setting_that_is_not_allowed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TENUTO_EMPTY_RETRIES", "lots")
    assert main(["policy"]) == 2
    assert (
        "TENUTO_EMPTY_RETRIES is 'lots', but it must be a whole number" in capsys.readouterr().err
    )


@pytest.fixture
def running_sim() -> Iterator[subprocess.Popen[str]]:
    arguments = ["sim", "--gzip", "--prefill", "continue", "--json"]
    process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, text=True)
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate()


@pytest.mark.usefixtures("interrupts")
def test_sim_announces_its_address_answers_and_ends_on_an_interrupt(
    running_sim: subprocess.Popen[str],
) -> None:
    assert running_sim.stdout is not None
    announced = json.loads(running_sim.stdout.readline())
    with urllib.request.urlopen(announced["faults_url"], timeout=10) as response:
        assert "length_twice" in json.load(response)["faults"]
    assert announced["base_url"] == announced["anthropic_base_url"] + "/v1"
    assert announced["base_urls"].keys() == set(get_args(WireName))
    assert announced["base_urls"]["mistral"] == announced["anthropic_base_url"] + "/mistral"
    port = announced["base_url"].rpartition(":")[2].removesuffix("/v1")
    taken = subprocess.run(
        [*COMMAND, "sim", "--port", port], capture_output=True, text=True, check=False
    )
    assert taken.returncode == 1
    why = "Address already in use; choose another --port, or 0 for a free one"
    assert taken.stderr == f"tenuto: cannot listen on 127.0.0.1 port {port}: {why}\n"
    running_sim.send_signal(signal.SIGINT)
    assert running_sim.wait(10) == 0
