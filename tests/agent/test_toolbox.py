"""What is a tool, and which calls of the model may run."""

import json
import sys
from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenuto.core import hints
from tenuto.core.answer.arguments import Finding, judge
from tenuto.core.answer.calls import ToolCall
from tenuto.core.errors import ToolError
from tenuto.wires.form import Declared
from tenuto_agent.function_tool import Failure, Tool, tool
from tenuto_agent.toolbox import Toolbox


class Range(msgspec.Struct):
    start: Annotated[int, msgspec.Meta(ge=1)]
    end: int | None = None


@tool(truncated_call_hint="Error: read less at once.")
def read(path: str, lines: Range | None = None, mode: Literal["text", "hex"] = "text") -> str:
    """Read a file."""
    return f"{path} {lines} {mode}"


@tool
def write(path: str, text: str) -> str:
    """Write a file."""
    return path + text


TOOLBOX = Toolbox([read, write])


def call(name: str, arguments: str) -> ToolCall:
    judged = judge(arguments)
    return ToolCall("call_1", name, judged.text, judged.finding, judged.detail)


def refused(name: str, arguments: str, toolbox: Toolbox = TOOLBOX) -> str:
    checked = toolbox.check(call(name, arguments))
    assert isinstance(checked, Failure)
    return checked.text


def test_arguments_that_fit_are_handed_on():
    given = TOOLBOX.check(call("read", '{"path": "a", "lines": {"start": 3.0}}'))
    assert given == {"path": "a", "lines": {"start": 3}}
    assert isinstance(given["lines"]["start"], int)  # 3.0 is an integer to JSON Schema


@pytest.mark.behaviour("T1", "T2")
@pytest.mark.parametrize("arguments", ["", "null", "[1]", '"a"', '{"path": 1,}', '{"path": "a"} x'])
def test_arguments_that_are_no_whole_object_do_not_run(arguments):
    assert refused("write", arguments).startswith("Error: this call was not run.")


@pytest.mark.behaviour("T1")
@given(st.integers(min_value=0, max_value=60))
def test_no_beginning_of_a_call_runs(cut):
    whole = '{"path": "notes.txt", "text": "one \\u00e9 {two}"}'
    cut = min(cut, len(whole) - 1)
    assert refused("write", whole[:cut]) == hints.CALL_CUT_RESULT


@pytest.mark.behaviour("T2", "T6")
def test_a_cut_call_gets_the_hint_of_its_tool_and_a_malformed_one_another():
    assert refused("read", '{"path": "a') == "Error: read less at once."
    assert refused("write", '{"path": "a') == hints.CALL_CUT_RESULT
    assert refused("read", "{path: 'a'}") == hints.CALL_MALFORMED_RESULT
    assert TOOLBOX.hints() == {"read": "Error: read less at once."}


@pytest.mark.behaviour("T3")
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
@pytest.mark.parametrize("arguments", ['{"size": %s}', '{"sizes": {"each": [1, %s]}}'])
def test_a_number_that_json_cannot_hold_never_reaches_a_tool(number, arguments):
    size = {"size": {"type": "number", "multipleOf": 0.5}, "sizes": {"type": "object"}}
    parameters = {"type": "object", "properties": size}
    toolbox = Toolbox([Tool(name="cut", description="", parameters=parameters, function=print)])
    made = toolbox.check(ToolCall("c", "cut", arguments % number, Finding.WHOLE))
    assert isinstance(made, Failure)
    said = "Error: this call was not run. Its arguments do not fit the parameters of cut:\n- "
    assert made.text.startswith(said)
    if "999" in number:
        assert made.text.startswith(f'{said}"{number}" is too large a number')


@pytest.mark.behaviour("T12")
def test_arguments_that_were_encoded_twice_are_read():
    assert TOOLBOX.check(call("read", json.dumps('{"path": "a"}'))) == {"path": "a"}


@pytest.mark.behaviour("T3")
@pytest.mark.parametrize(
    ("arguments", "faults"),
    [
        ('{"path": 7}', ["path: 7 is not of type 'string'"]),
        ("{}", ["'path' is a required property"]),
        ('{"path": "a", "mode": "octal"}', ["mode: \"octal\" is not one of ['hex', 'text']"]),
        ('{"path": "a", "lines": {"start": "x"}}', ["lines.start: \"x\" is not of type 'integer'"]),
        ('{"path": "a", "lines": {"start": 0}}', ["lines.start: 0 is less than the minimum of 1"]),
        (
            '{"path": "a", "file": 1}',
            [
                "Additional properties are not allowed ('file' was unexpected); known are path, lines, mode"
            ],
        ),
        (
            '{"path": [], "mode": 1}',
            ["mode: 1 is not one of ['hex', 'text']", "path: [] is not of type 'string'"],
        ),
    ],
)
def test_arguments_that_break_the_schema_do_not_run_and_the_model_is_told_why(arguments, faults):
    said = "Error: this call was not run. Its arguments do not fit the parameters of read:\n"
    assert refused("read", arguments) == said + "\n".join(f"- {fault}" for fault in faults)


def test_a_fault_is_told_in_few_words_however_long_the_argument_is():
    text = refused("write", json.dumps({"path": ["x" * 100_000], "text": "y"}))
    assert len(text) < 300
    many = Tool(
        name="many",
        description="",
        parameters={"type": "object", "additionalProperties": {"type": "integer"}},
        function=dict,
    )
    text = refused("many", json.dumps({f"k{n}": "x" for n in range(50)}), Toolbox([many]))
    assert text.endswith("\n- and 45 more")


def test_an_unknown_tool_is_answered_with_the_known_ones():
    assert refused("reed", "{}") == (
        'Error: this call was not run. There is no tool named "reed". The tools are: read, write.'
    )
    assert "The tools are: (none)." in refused("reed", "{}", Toolbox())
    lots = Toolbox([Tool(name=f"t{n}", description="", parameters=OBJECT, function=dict) for n in range(60)])  # fmt: skip
    assert refused("reed", "{}", lots).endswith(", t39, and 20 more.")


OBJECT = {"type": "object"}


@pytest.mark.behaviour("N6")
@pytest.mark.parametrize(
    "arguments",
    [
        '{"path": "\\ud800", "text": ""}',
        '{"path": 1e999, "text": ""}',
        '{"path": "a", "text": ' + "[" * 5000 + "]" * 5000 + "}",
        '{"path": ' + "9" * 5000 + ', "text": ""}',
    ],
)
def test_whole_arguments_that_no_python_value_holds_do_not_run(arguments):
    assert refused("write", arguments).startswith("Error: this call was not run.")


def test_a_call_of_free_text_does_not_run():
    free = ToolCall("call_1", "write", "any text", judge("{}").finding, "free", free=True)
    assert TOOLBOX.check(free) == Failure(hints.CALL_MALFORMED_RESULT)


def test_what_the_model_is_told_of_the_tools_is_in_their_order():
    names = [declared.name for declared in TOOLBOX.declarations()]
    assert names == ["read", "write"]
    assert TOOLBOX.declarations()[1] == Declared("write", "Write a file.", write.parameters)
    assert TOOLBOX["read"] is read


@pytest.mark.parametrize("name", ["", "a b", "a.b", "ä", "x" * 65, None])
def test_a_name_that_a_provider_would_refuse_is_refused_at_once(name):
    with pytest.raises(ToolError, match="a tool cannot be named"):
        Tool(name=name, description="", parameters=OBJECT, function=dict)


def tools_of(*schemas: object) -> Iterable[Tool]:
    for number, schema in enumerate(schemas):
        yield Tool(name=f"t{number}", description="", parameters=schema, function=dict)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"parameters": {"type": "string"}}, "must be a JSON Schema of an object"),
        ({"parameters": None}, "must be a JSON Schema of an object"),
        ({"function": "dict"}, "the function of t cannot be called: 'dict'"),
        ({"function": tools_of}, "the function of t yields its result piece by piece"),
        ({"timeout_s": 0}, "timeout_s of t is 0, but it must be None or seconds above 0"),
        ({"timeout_s": float("nan")}, "timeout_s of t is nan"),
    ],
)
def test_a_tool_that_cannot_be_is_refused_with_its_reason(wrong, said):
    sound = {"name": "t", "description": "", "parameters": OBJECT, "function": dict}
    with pytest.raises(ToolError, match=said):
        Tool(**(sound | wrong))


def test_a_schema_that_is_none_is_refused_when_the_tools_are_put_together():
    with pytest.raises(ToolError, match="the parameters of t1 are no JSON Schema"):
        Toolbox(tools_of(OBJECT, {"type": "object", "properties": {"a": {"type": "text"}}}))


@pytest.mark.parametrize("reference", ["http://127.0.0.1:9/schema.json", "#/$defs/nowhere"])
def test_a_reference_that_leads_nowhere_is_not_fetched_and_the_tool_is_refused(reference):
    with pytest.raises(ToolError, match="the parameters of t0 are no JSON Schema that can be"):
        Toolbox(tools_of({"type": "object", "properties": {"a": {"$ref": reference}}}))


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ToolError, match="two tools are named 'read'"):
        Toolbox([read, tool(write.function, name="read")])


@pytest.mark.parametrize("package", ["jsonschema", "jsonschema_rs"])
def test_without_the_library_for_schemas_the_error_says_what_to_install(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ToolError, match=rf"package {package} .*pip install 'tenuto\[agent\]'"):
        Toolbox([read])
