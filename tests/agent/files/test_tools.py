"""The six tools as the agent gets them."""

import json
from pathlib import Path

import pytest

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.errors import ToolError
from tenuto_agent.files import FileProblem, file_tools, guidance
from tenuto_agent.function_tool import Tool
from tenuto_agent.running import CallRunner
from tenuto_agent.toolbox import Toolbox


def by_name(root: Path, **settings: int) -> dict[str, Tool]:
    return {tool.name: tool for tool in file_tools(root, **settings)}


def test_the_tools_do_a_small_work_together(tmp_path: Path) -> None:
    tools = by_name(tmp_path)

    def call(name: str, **arguments: object) -> object:
        return tools[name].function(**arguments)

    call("create_file", path="src/main.py", content="import sys\n")
    call("append_file", path="src/main.py", content="print(sys.argv)\n")
    call("edit_file", path="src/main.py", old_text="sys.argv", new_text="sys.path")
    assert call("read_file", path="src/main.py", start_line=2) == (
        "src/main.py: lines 2 to 2 of 2\nprint(sys.path)"
    )
    assert call("list_files", pattern="**") == "src/\nsrc/main.py"
    assert call("search", pattern="path") == "src/main.py:2: print(sys.path)"


def test_refusals_and_faults_of_arguments_are_failed_results(tmp_path: Path) -> None:
    toolbox = Toolbox(file_tools(tmp_path))

    def result(name: str, **arguments: object) -> tuple[str, bool]:
        made = ToolCall("1", name, json.dumps(arguments), Finding.WHOLE)
        (only,) = CallRunner(toolbox).run([made])
        return only.text, only.failed

    assert result("create_file", path="f", content="x\n") == ("Created f: 1 line, 2 bytes.", False)
    refusal = "FileProblem: '/f' lies outside of the folder; give a path relative to it"
    assert result("read_file", path="/f") == (refusal, True)
    unfit: list[tuple[str, dict[str, object]]] = [
        ("read_file", {"path": "f", "start_line": 0}),
        ("edit_file", {"path": "f", "old_text": "", "new_text": ""}),
        ("create_file", {"path": "f", "content": "y", "limit_bytes": 10**9}),
        ("create_file", {"path": "f"}),
    ]
    for name, arguments in unfit:
        assert result(name, **arguments)[1]
    assert result("read_file", path="f", start_line=1.0)[0].endswith("\nx")
    assert toolbox.hints()["edit_file"] == file_tools(tmp_path)[2].truncated_call_hint


def test_the_schemas_name_each_argument_and_no_other(tmp_path: Path) -> None:
    import inspect

    for tool in file_tools(tmp_path):
        arguments = inspect.signature(tool.function).parameters.values()
        assert tool.parameters["additionalProperties"] is False
        assert list(tool.parameters["properties"]) == [a.name for a in arguments]
        assert tool.parameters["required"] == [a.name for a in arguments if a.default is a.empty]
        for argument in arguments:
            told = tool.parameters["properties"][argument.name]
            if argument.default not in (argument.empty, None):
                assert told["default"] == argument.default
        json.dumps(tool.parameters)


def test_only_what_may_be_run_twice_or_side_by_side_says_so(tmp_path: Path) -> None:
    tools = file_tools(tmp_path)
    assert {t.name for t in tools if t.concurrent} == {"read_file", "list_files", "search"}
    assert {t.name for t in tools if not t.idempotent} == {"edit_file", "append_file"}


def test_each_tool_has_its_own_hint_for_a_cut_call(tmp_path: Path) -> None:
    hints = {name: tool.truncated_call_hint for name, tool in by_name(tmp_path).items()}
    assert all(hint.startswith("Error: this call was not run") for hint in hints.values())
    assert len({hints[n] for n in ("create_file", "edit_file", "append_file", "read_file")}) == 4
    assert "small unique region" in hints["edit_file"]
    assert "rest with append_file" in hints["create_file"]
    assert "smaller piece" in hints["append_file"]
    assert "small edits" in by_name(tmp_path)["edit_file"].description
    assert not [t for t in by_name(tmp_path).values() if "{" in t.truncated_call_hint]


def test_a_known_output_limit_is_told(tmp_path: Path) -> None:
    tools = by_name(tmp_path, output_limit_tokens=8192)
    for name in ("create_file", "append_file", "edit_file"):
        assert "about 12,000 characters" in tools[name].description
        assert "at most about 12,000 characters" in tools[name].truncated_call_hint
    assert "at most 8,192 tokens" in guidance(8192)
    assert "12,000 characters" in guidance(8192)
    assert guidance(None) == ""


@pytest.mark.parametrize("setting", ["max_file_bytes", "max_result_chars", "output_limit_tokens"])
def test_a_limit_below_one_is_refused(tmp_path: Path, setting: str) -> None:
    with pytest.raises(ToolError, match=setting):
        by_name(tmp_path, **{setting: -1})


def test_limits_hold(tmp_path: Path) -> None:
    tools = by_name(tmp_path, max_file_bytes=100, max_result_chars=50)
    with pytest.raises(FileProblem, match="the limit of a file is 100"):
        tools["create_file"].function(path="f", content="x" * 101)
    tools["create_file"].function(path="f", content="x" * 90)
    with pytest.raises(FileProblem, match="the limit of a file is 100"):
        tools["append_file"].function(path="f", content="x" * 11)
    assert "x" * 51 not in str(tools["read_file"].function(path="f"))
