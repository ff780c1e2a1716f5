"""Schemas of strangers are checked in bounded time, and what cannot be is refused by name."""

import json
import time
from typing import Any

import pytest

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.errors import ToolError
from tenuto.schema import checking
from tenuto.schema.checking import Checker, runnable
from tenuto_agent.function_tool import Failure, Tool
from tenuto_agent.toolbox import Toolbox

LETTERS = "a" * 40 + "!"
DRAFTS = ("http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema")


def of(member: Any, **beside: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": member}, **beside}


def doubled(word: str, times: int) -> dict[str, Any]:
    """References of which each asks for the next one twice: 2 to that power in all."""
    parts: dict[str, Any] = {
        f"d{n}": {word: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(times)
    }
    return of({"$ref": "#/$defs/d0"}, **{"$defs": {**parts, f"d{times}": {"type": "string"}}})


def nested(times: int) -> dict[str, Any]:
    """Each level asks anew what all those below it have seen."""
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(times):
        schema = {"allOf": [schema], "unevaluatedProperties": False}
    return of(schema)


def dependent(times: int) -> dict[str, Any]:
    parts: dict[str, Any] = {
        f"d{n}": {"dependentSchemas": {name: {"$ref": f"#/$defs/d{n + 1}"} for name in "ab"}}
        for n in range(times)
    }
    parts[f"d{times}"] = {}
    return of({"unevaluatedProperties": False, "$ref": "#/$defs/d0"}, **{"$defs": parts})


TREE = {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/t"}}] * 2}
DEEP: Any = json.loads("[" * 40 + '"s"' + "]" * 40)

ENDLESS = {
    "a pattern": (of({"pattern": "^(a+)+$"}), LETTERS),
    "names by a pattern": (of({"patternProperties": {"^(a+)+$": False}}), {LETTERS: 1}),
    "what no pattern names": (
        of({"patternProperties": {"^(a+)+$": True}, "additionalProperties": False}),
        {LETTERS: 1},
    ),
    "names": (of({"propertyNames": {"pattern": "^(a+)+$"}}), {LETTERS: 1}),
    "a pattern that looks around": (of({"pattern": "^(?:(?=a)a+)+$"}), LETTERS),
    "one through a long text": (of({"pattern": "(?=(a+)+$)(?!b)x*"}), "a" * 200_000 + "!"),
    "a pattern of another draft in a part": (
        of({"$schema": DRAFTS[1], "pattern": "^(a+)+$"}),
        LETTERS,
    ),
    "references, all": (doubled("allOf", 24), "s"),
    "references, any": (doubled("anyOf", 24), 1),
    "references, one": (doubled("oneOf", 24), "s"),
    "a union in a tree": (of({"$ref": "#/$defs/t"}, **{"$defs": {"t": TREE}}), DEEP),
    "what is left over": (nested(24), {"a": 1}),
    "what depends": (dependent(24), {"a": 1, "b": 2}),
    "items alike": (of({"uniqueItems": True}), [{"n": n} for n in range(20_000)]),
    "a reference to itself": (of({"$ref": "#/properties/x"}), 1),
    "depth": (
        of({"$ref": "#/$defs/t"}, **{"$defs": {"t": {"items": {"$ref": "#/$defs/t"}}}}),
        DEEP,
    ),
    "many long faults": (of({"allOf": [{"type": "string"}] * 3_000}), list(range(50_000))),
}


def toolbox(schema: dict[str, Any], name: str = "t") -> Toolbox:
    return Toolbox([Tool(name=name, description="", parameters=schema, function=dict)])


@pytest.mark.behaviour("T3")
@pytest.mark.parametrize("what", ENDLESS)
def test_no_schema_makes_a_check_endless(monkeypatch, what):
    monkeypatch.setattr(checking, "LIMIT_S", 0.3)
    schema, value = ENDLESS[what]
    arguments = json.dumps({"x": value})
    call = ToolCall("call_1", "t", arguments, Finding.WHOLE)
    began_s = time.thread_time()
    try:
        checked = toolbox(schema).check(call)
    except ToolError:
        pass  # refused at once is as good
    else:
        assert isinstance(checked, dict) or len(checked.text) < 3_500
    runnable([call], {"t": schema})
    assert time.thread_time() - began_s < 3


@pytest.mark.parametrize("what", ["references, any", "a union in a tree"])
def test_a_check_that_would_take_too_long_is_told_with_what_can_be_done(monkeypatch, what):
    monkeypatch.setattr(checking, "LIMIT_S", 0.3)
    schema, value = ENDLESS[what]
    call = ToolCall("call_1", "t", json.dumps({"x": value}), Finding.WHOLE)
    checked = toolbox(schema).check(call)
    assert isinstance(checked, Failure)
    assert checked.text.startswith(
        "Error: this call was not run. The parameters of t cannot be checked: its check takes "
        "longer than 0.3 s"
    )
    assert runnable([call], {"t": schema}) == ()  # what cannot be checked has not been proved


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        ({"pattern": "^(a+)+$"}, "a" * 5_000, True),
        ({"pattern": "^(?!.*\\.\\.)[a-z.]+$"}, "a.b", True),
        ({"pattern": "^(?!.*\\.\\.)[a-z.]+$"}, "a..b", False),
        ({"pattern": "^[\\p{L}\\p{N}_-]{1,128}$"}, "é1", True),
        ({"pattern": "^\\d+$"}, "١", False),  # ECMA 262: digits are 0 to 9
        ({"pattern": "^a$"}, "a\n", False),
        ({"pattern": "b"}, "abc", True),
        ({"patternProperties": {"^n_": {"type": "integer"}}}, {"n_a": 1, "b": "x"}, True),
        ({"patternProperties": {"^n_": {"type": "integer"}}}, {"n_a": "x"}, False),
        ({"patternProperties": {"^n_": {}}, "additionalProperties": False}, {"n_a": 1}, True),
        ({"patternProperties": {"^n_": {}}, "additionalProperties": False}, {"b": 1}, False),
        ({"uniqueItems": True}, [1, True, "1", [1], {"a": 1}, {"a": True}, None], True),
        ({"uniqueItems": True}, [{"a": [1]}, {"a": [1.0]}], False),
        ({"uniqueItems": False}, [1, 1], True),
        ({"$ref": DRAFTS[1]}, {"type": "object"}, True),
        ({"$ref": DRAFTS[1]}, {"type": "text"}, False),
        ({"unevaluatedProperties": False, "properties": {"a": {}}}, {"a": 1}, True),
        ({"unevaluatedProperties": False, "properties": {"a": {}}}, {"b": 1}, False),
        (doubled("allOf", 8), {"x": "s"}, True),
        (doubled("anyOf", 8), {"x": 1}, False),
    ],
)
def test_values_are_judged_as_json_schema_says(schema, value, fits):
    checker = checking.Checker(schema)
    assert checker.fits(value) is fits
    assert (checker.faults(value) == []) is fits


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_draft_that_a_schema_names_is_the_one_that_counts(draft):
    checker = checking.Checker({"$schema": draft, "prefixItems": [{"type": "string"}]})
    assert checker.fits([1]) is (draft == DRAFTS[0])  # draft 7 knows no prefixItems


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (of({"pattern": "("}), 'properties.x.pattern: "(" is not a "regex"'),
        (of({"pattern": "((a{1,1000}){1,1000}){1,100}"}), 'properties.x.pattern: "((a{1,1000})'),
        (of({"pattern": "(" * 3_000 + ")" * 3_000}), "properties.x.pattern: "),
        (of({"type": "text"}), 'properties.x.type: "text" is not valid'),
        (of({"$ref": "#/$defs/nowhere"}), "Pointer '/$defs/nowhere' does not exist"),
        (of({"$ref": "http://127.0.0.1:9/schema.json"}), "Retrieval is disabled"),
        (of({"$ref": "file:///etc/hostname"}), "Retrieval is disabled"),
        (
            of({"patternProperties": {"a": {}}, "unevaluatedProperties": False}),
            "unevaluatedProperties is not checked beside patternProperties",
        ),
        (
            {"$schema": "http://json-schema.org/draft-03/schema#", "type": "object"},
            "Draft3 is not supported",
        ),
        (of({"const": {1, 2}, "x": object()}), "object"),
    ],
)
def test_what_cannot_be_checked_is_refused_by_name_when_the_tool_is_taken(schema, said):
    with pytest.raises(ToolError) as raised:
        toolbox(schema, "weather")
    text = str(raised.value)
    assert text.startswith("the parameters of weather are no JSON Schema that can be checked: ")
    assert said in text
    assert len(text) < 600


def test_patterns_that_take_much_to_compile_are_bounded_together():
    many = {f"k{n}": {"pattern": "[^a]{900}" + str(n)} for n in range(1_000)}
    began_s = time.thread_time()
    with pytest.raises(checking.Uncheckable, match='is not a "regex"'):
        checking.Checker({"properties": many})
    usual = {f"k{n}": {"pattern": f"^[a-z]{{1,20}}-\\d{{4}}-{n}$"} for n in range(1_000)}
    assert checking.Checker({"properties": usual}).fits({"k7": "a-1234-7"})
    assert time.thread_time() - began_s < 3


def test_two_thousand_tools_are_taken_in_seconds():
    schema = of({"type": "string"}, required=["x"], additionalProperties=False)
    began_s = time.thread_time()
    tools = [
        Tool(name=f"t{n}", description="", parameters=schema, function=dict) for n in range(2_000)
    ]
    assert len(Toolbox(tools).declarations()) == 2_000
    assert time.thread_time() - began_s < 3


@pytest.mark.behaviour("T3")
def test_arguments_with_half_a_surrogate_pair_are_not_proved_and_raise_nothing() -> None:
    call = ToolCall("a", "t", '{"a": "\\ud83d"}', Finding.WHOLE)
    assert runnable([call], {"t": {"type": "object"}}) == ()


@pytest.mark.parametrize("number", ["19.99", "0.07", "0.29", "4.35", "1234.56", "3", "1e22", "0"])
def test_multiples_are_counted_as_they_are_written(number: str) -> None:
    cents = Checker({"type": "number", "multipleOf": 0.01})
    assert cents.fits(json.loads(number))
    assert not cents.fits(19.995)
