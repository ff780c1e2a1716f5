"""What a model is told of a function's parameters, and how its arguments become the function's own."""

import dataclasses
import enum
import functools
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, TypedDict

import msgspec
import pydantic
import pytest

from tenuto.core.errors import TenutoError, ToolError
from tenuto_agent.function_tool import tool
from tenuto_agent.schema import read_signature


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Place(TypedDict, total=False):
    name: str
    where: Point


class Span(msgspec.Struct):
    start: Annotated[int, msgspec.Meta(ge=1)]
    end: int | None = None


class Tree(msgspec.Struct):
    value: int
    children: list["Tree"] = []


class User(pydantic.BaseModel):
    name: str
    age: int = pydantic.Field(ge=0, description="in years")


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]
    owner: User


@dataclasses.dataclass
class Owned:
    by: User


INTEGER = {"type": "integer"}
STRING = {"type": "string"}
POINT = {
    "type": "object",
    "properties": {"x": INTEGER, "y": {"type": "integer", "default": 0}},
    "required": ["x"],
}
USER = {
    "type": "object",
    "properties": {
        "name": STRING,
        "age": {"type": "integer", "minimum": 0, "description": "in years"},
    },
    "required": ["name", "age"],
}

# annotation, its schema, an argument as JSON, what the function is given
KINDS: list[tuple[Any, object, object, object]] = [
    (str, STRING, "a", "a"),
    (int, INTEGER, 1, 1),
    (float, {"type": "number"}, 1, 1.0),
    (bool, {"type": "boolean"}, True, True),
    (list[int], {"type": "array", "items": INTEGER}, [1], [1]),
    (list, {"type": "array"}, [1, "a"], [1, "a"]),
    (dict, {"type": "object"}, {"a": 1}, {"a": 1}),
    (dict[str, int], {"type": "object", "additionalProperties": INTEGER}, {"a": 1}, {"a": 1}),
    (set[int], {"type": "array", "items": INTEGER, "uniqueItems": True}, [1], {1}),
    (
        tuple[int, str],
        {"type": "array", "prefixItems": [INTEGER, STRING], "items": False, "minItems": 2, "maxItems": 2},
        [1, "a"],
        (1, "a"),
    ),
    (Literal["a", 1], {"enum": [1, "a"]}, 1, 1),
    (Color, {"enum": ["blue", "red"]}, "red", Color.RED),
    (Optional[int], {"anyOf": [INTEGER, {"type": "null"}]}, None, None),  # noqa: UP045
    (int | str, {"anyOf": [INTEGER, STRING]}, "a", "a"),
    (Any, {}, {"a": [None]}, {"a": [None]}),
    (date, {"type": "string", "format": "date"}, "2026-11-22", date(2026, 11, 22)),
    (Path, STRING, "a/b.txt", Path("a/b.txt")),
    (list[Path] | None, {"anyOf": [{"type": "array", "items": STRING}, {"type": "null"}]}, ["a"], [Path("a")]),
    (Annotated[int, "how many"], {"type": "integer", "description": "how many"}, 1, 1),
    (Annotated[int, msgspec.Meta(gt=0, description="how many")], {"type": "integer", "exclusiveMinimum": 0, "description": "how many"}, 1, 1),
    (Annotated[int, pydantic.Field(gt=0, description="how many")], {"type": "integer", "exclusiveMinimum": 0, "description": "how many"}, 1, 1),
    (Point, POINT, {"x": 1}, Point(1, 0)),
    (list[Point], {"type": "array", "items": POINT}, [{"x": 1, "y": 2}], [Point(1, 2)]),
    (Place, {"type": "object", "properties": {"name": STRING, "where": POINT}, "required": []}, {"where": {"x": 1}}, {"where": Point(1)}),
    (
        Span,
        {
            "type": "object",
            "properties": {
                "start": {"type": "integer", "minimum": 1},
                "end": {"anyOf": [INTEGER, {"type": "null"}], "default": None},
            },
            "required": ["start"],
        },
        {"start": 3},
        Span(3),
    ),
    (User, USER, {"name": "Ada", "age": 36}, User(name="Ada", age=36)),
    (list[User] | None, {"anyOf": [{"type": "array", "items": USER}, {"type": "null"}]}, [{"name": "Ada", "age": 3}], [User(name="Ada", age=3)]),
    (Owned, {"type": "object", "properties": {"by": USER}, "required": ["by"]}, {"by": {"name": "Ada", "age": 3}}, Owned(User(name="Ada", age=3))),
    (
        Cat | Dog,
        {
            "anyOf": [
                {"type": "object", "properties": {"kind": {"type": "string", "const": "cat"}}, "required": ["kind"]},
                {
                    "type": "object",
                    "properties": {"kind": {"type": "string", "const": "dog"}, "owner": USER},
                    "required": ["kind", "owner"],
                },
            ]
        },
        {"kind": "cat"},
        Cat(kind="cat"),
    ),
]  # fmt: skip


def taking(annotation: object):
    def function(value):
        return value

    function.__annotations__ = {"value": annotation}
    return function


@pytest.mark.parametrize(("annotation", "schema", "argument", "value"), KINDS)
def test_an_annotation_says_what_the_model_may_give_and_what_the_function_gets(
    annotation, schema, argument, value
):
    signature = read_signature(taking(annotation), "function")
    found = signature.parameters["properties"]["value"]
    assert without_empty(found) == without_empty(schema)
    assert "$defs" not in signature.parameters
    given = signature.convert({"value": argument})["value"]
    assert given == value
    assert type(given) is type(value)


def without_empty(schema):
    """Releases of msgspec and pydantic differ in whether they write `"required": []`."""
    return {key: value for key, value in schema.items() if value != []}


def test_a_type_that_contains_itself_keeps_its_reference():
    signature = read_signature(taking(Tree), "function")
    assert signature.parameters["properties"] == {"value": {"$ref": "#/$defs/Tree"}}
    tree = signature.parameters["$defs"]["Tree"]
    assert tree["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
    given = signature.convert({"value": {"value": 1, "children": [{"value": 2}]}})
    assert given == {"value": Tree(1, [Tree(2)])}


def test_a_parameter_named_like_a_keyword_of_schemas_keeps_its_name():
    def function(title: str, properties: dict[str, int], required: bool = False):
        return title, properties, required

    properties = read_signature(function, "function").parameters["properties"]
    assert list(properties) == ["title", "properties", "required"]


@pytest.mark.parametrize(
    ("default", "annotation", "schema"),
    [
        (None, int | None, {"default": None}),
        (Color.RED, Color, {"default": "red"}),
        (Path("a"), Path, {"default": "a"}),
        (Point(1, 2), Point, {"default": {"x": 1, "y": 2}}),
        (User(name="Ada", age=3), User, {"default": {"name": "Ada", "age": 3}}),
        (object(), Any, {}),
        (float("nan"), float, {}),
        ([1.0, float("inf")], list[float], {}),
    ],
)
def test_a_default_is_told_where_json_can_say_it(default, annotation, schema):
    def function(value=default):
        return value

    function.__annotations__ = {"value": annotation}
    signature = read_signature(function, "function")
    found = signature.parameters["properties"]["value"]
    assert {key: found[key] for key in found if key == "default"} == schema
    assert "required" not in signature.parameters
    assert signature.convert({}) == {}


def google(path: str, lines: int = 3):
    """Read a file.

    All of it, or a part.

    Args:
        path: where it is,
            below the root.
        lines (int, optional): how many.

    Returns:
        The text.
    """


def numpy(path: str, lines: int = 3):
    """Read a file.

    All of it, or a part.

    Parameters
    ----------
    path : str
        where it is,
        below the root.
    lines : int, optional
        how many.
    """


def sphinx(path: str, lines: int = 3):
    """Read a file.

    All of it, or a part.

    :param path: where it is,
        below the root.
    :param int lines: how many.
    :returns: the text
    """


@pytest.mark.parametrize("function", [google, numpy, sphinx])
def test_descriptions_come_from_the_docstring(function):
    signature = read_signature(function, "read")
    assert signature.description == "Read a file.\n\nAll of it, or a part."
    properties = signature.parameters["properties"]
    assert properties["path"]["description"] == "where it is,\nbelow the root."
    assert properties["lines"]["description"] == "how many."


def test_an_annotated_description_comes_before_that_of_the_docstring():
    def function(path: Annotated[str, "this one"]):
        """Read.

        Args:
            path: not this one.
        """

    properties = read_signature(function, "function").parameters["properties"]
    assert properties["path"]["description"] == "this one"


def test_methods_and_partials_are_tools_too():
    class Store:
        def put(self, key: str, value: int) -> str:
            """Keep a value."""
            return f"{key}={value}"

    put = tool(Store().put)
    assert (put.name, put.description) == ("put", "Keep a value.")
    assert list(put.parameters["properties"]) == ["key", "value"]
    of_a = tool(functools.partial(Store().put, "a"), description="Keep it.")
    assert of_a.name == "put"
    assert of_a.parameters["required"] == ["value"]


def no_annotation(path):
    return path


def any_number(*paths: str):
    return paths


def any_names(**paths: str):
    return paths


def by_place(path: str, /):
    return path


def unknown(path: "Nowhere"):  # type: ignore[name-defined]  # noqa: F821
    return path


def callback(done: "functools.partial[int]"):
    return done


def pieces():
    yield "a"


async def pieces_in_time():
    yield "a"


class Pieces:
    __name__ = "pieces"

    def __call__(self):
        yield "a"


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (pieces, "the function of pieces yields .*, but it must return it whole"),
        (pieces_in_time, "the function of pieces_in_time yields its result piece by piece"),
        (functools.partial(pieces), "the function of pieces yields its result piece by piece"),
        (Pieces(), "the function of pieces yields its result piece by piece"),
        (no_annotation, "its parameter 'path' has no annotation; say what it is, as in path: str"),
        (any_number, r"its parameter \*paths: str takes any number"),
        (any_names, r"its parameter \*\*paths: str takes any number"),
        (by_place, "its parameter path: str cannot be given by its name"),
        (unknown, "an annotation of unknown names 'Nowhere', which is not known"),
        (callback, "parameter 'done' of callback is annotated as functools.partial.*JSON cannot"),
        (lambda: None, "has no name for a model to call it by"),
        (3, "a tool is a function or a Tool, and 3 is neither"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused_with_its_reason(function, said):
    with pytest.raises(ToolError, match=said) as caught:
        tool(function)
    assert isinstance(caught.value, TenutoError)


@pytest.mark.parametrize(
    ("annotation", "argument", "said"),
    [
        (Span, {"start": 0}, r"value: Expected `int` >= 1 - at `\$.start`"),
        (
            User,
            {"name": "Ada", "age": -1},
            "value: age: Input should be greater than or equal to 0",
        ),
        (date, "tomorrow", "value: Invalid RFC3339"),
        (Path, 3, "value: Expected `str`, got `int`"),
    ],
)
def test_what_cannot_be_what_the_annotation_says_is_named(annotation, argument, said):
    signature = read_signature(taking(annotation), "function")
    with pytest.raises(ValueError, match=said):
        signature.convert({"value": argument})


class Leaf(msgspec.Struct):
    children: list["Leaf"] = []


def test_two_types_of_one_name_that_contain_themselves_are_refused():
    def two(one, other):
        return one, other

    two.__annotations__ = {"one": Tree, "other": msgspec.defstruct("Tree", [("leaf", Leaf)])}
    tool(two)  # the second one is written where it is used, so nothing is taken for it
    Leaf.__name__ = "Tree"
    two.__annotations__["other"] = Leaf
    with pytest.raises(ToolError, match="two takes two types named 'Tree'"):
        tool(two)


def test_without_the_library_for_docstrings_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "docstring_parser", None)
    with pytest.raises(ToolError, match=r"pip install 'tenuto\[agent\]'"):
        tool(google)
