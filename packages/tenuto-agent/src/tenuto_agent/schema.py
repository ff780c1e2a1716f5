"""The JSON Schema of a function's parameters, and the conversion of JSON into their types.

Theory of operation
-------------------
Each parameter has a `_Kind`: the schema of its annotation, and a function that converts JSON.
msgspec provides both for the types that it supports. pydantic provides them for the others (its own
models and fields, anywhere in the annotation); it is installed if an annotation uses it.
Descriptions come from `Annotated`, or else from the docstring.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated, Any, Final, get_args, get_origin

import msgspec

from tenuto.core.errors import ToolError
from tenuto_agent.definitions import PREFIX, Definitions
from tenuto_agent.shown import message_of

Convert = Callable[[Mapping[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Signature:
    """The description of a function for a model, and the conversion of its arguments.

    Attributes:
        description: the docstring without its sections; "" if there is none.
        parameters: the JSON Schema of an object with a property for each parameter.
        convert: turns JSON arguments into keyword arguments. It raises a ValueError that names the
            parameter if a value doesn't match the annotation.
    """

    description: str
    parameters: dict[str, Any]
    convert: Convert


def read_signature(function: Callable[..., object], name: str) -> Signature:
    """Read the parameters of a function from its annotations and its docstring.

    Args:
        function: the function for the model to call.
        name: its name in error messages.

    Raises:
        ToolError: a parameter has no annotation, has one that JSON can't express, or can't be
            passed by name.

    >>> def repeat(word: str, times: int = 2) -> str:
    ...     '''Say a word again and again.
    ...
    ...     Args:
    ...         word: what is to be said.
    ...     '''
    ...     return word * times
    >>> signature = read_signature(repeat, "repeat")
    >>> signature.description
    'Say a word again and again.'
    >>> signature.parameters["properties"]["word"]
    {'type': 'string', 'description': 'what is to be said.'}
    >>> signature.parameters["required"], signature.parameters["properties"]["times"]
    (['word'], {'type': 'integer', 'default': 2})
    """
    description, described = _read_docstring(function)
    properties: dict[str, Any] = {}
    required: list[str] = []
    kept: dict[str, Any] = {}
    kinds: dict[str, _Kind] = {}
    for parameter in _parameters(function, name):
        kind = _kind(parameter.annotation, f"parameter {parameter.name!r} of {name}")
        definitions = Definitions(kind.definitions)
        schema = definitions.inlined(kind.schema)
        for key, definition in definitions.kept.items():
            if kept.setdefault(key, definition) != definition:
                raise ToolError(f"{name} takes two types named {key!r}: give one another name")
        if described.get(parameter.name):
            schema.setdefault("description", described[parameter.name])
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        else:
            _set_default(schema, parameter.default)
        properties[parameter.name] = schema
        kinds[parameter.name] = kind
    whole = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        whole["required"] = required
    if kept:
        whole["$defs"] = kept
    return Signature(description, whole, _converter(kinds))


def _parameters(function: Callable[..., object], name: str) -> list[inspect.Parameter]:
    """Return the parameters, after checking that each can be passed by name and has an
    annotation."""
    try:
        signature = inspect.signature(function, eval_str=True)
    except NameError as error:
        raise ToolError(
            f"an annotation of {name} names {error.name!r}, which is not known where the function "
            "stands: import it there, not under TYPE_CHECKING"
        ) from None
    except (TypeError, ValueError, AttributeError, SyntaxError) as error:
        raise ToolError(f"the parameters of {name} cannot be read: {error}") from None
    for parameter in signature.parameters.values():
        said = f"{name} cannot be a tool as it is: its parameter {parameter}"
        match parameter.kind:
            case parameter.VAR_POSITIONAL | parameter.VAR_KEYWORD:
                raise ToolError(f"{said} takes any number; name each, or make a Tool with a schema")
            case parameter.POSITIONAL_ONLY:
                raise ToolError(f"{said} cannot be given by its name")
        if parameter.annotation is parameter.empty:
            raise ToolError(
                f"{name} cannot be a tool as it is: its parameter {parameter.name!r} has no "
                f"annotation; say what it is, as in {parameter.name}: str"
            )
    return list(signature.parameters.values())


def _set_default(schema: dict[str, Any], default: object) -> None:
    try:
        made = msgspec.to_builtins(default, enc_hook=_json_of)
        json.dumps(made, allow_nan=False)  # NaN and infinity would leave as null
        schema["default"] = made
    except (TypeError, ValueError):
        schema.pop("default", None)  # JSON can't express it; the function uses it anyway


def _json_of(value: Any) -> object:
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(type(value), "model_dump"):
        return value.model_dump(mode="json")
    raise TypeError


def _converter(kinds: Mapping[str, _Kind]) -> Convert:
    def convert(arguments: Mapping[str, Any]) -> dict[str, Any]:
        given: dict[str, Any] = {}
        for name, value in arguments.items():
            try:
                given[name] = kinds[name].convert(value)
            except ValueError as error:
                raise ValueError(f"{name}: {_faults(error)}") from None
        return given

    return convert


def _faults(error: ValueError) -> str:
    """Return what is wrong, at most a line for each fault."""
    errors: Callable[..., Any] | None = getattr(error, "errors", None)
    if not callable(errors):
        return message_of(error)
    return "; ".join(
        ".".join(map(str, each["loc"])) + (": " if each["loc"] else "") + each["msg"]
        for each in errors(include_url=False)
    )


@dataclass(frozen=True, slots=True)
class _Kind:
    """The schema and the conversion of one annotation."""

    schema: Any
    definitions: Mapping[str, Any]
    convert: Callable[[Any], Any]


def _kind(annotation: Any, whose: str) -> _Kind:
    pydantic = sys.modules.get("pydantic")
    annotation = _with_meta(annotation)
    reason = "only pydantic knows what its fields mean"
    if not _has_pydantic_fields(annotation):
        try:
            return _of_msgspec(annotation)
        except TypeError as error:
            reason = str(error)
    if pydantic is not None:
        try:
            return _of_pydantic(pydantic.TypeAdapter(annotation))
        except pydantic.errors.PydanticUserError as error:
            reason = error.message.partition("\n")[0]
    shown = inspect.formatannotation(annotation)
    raise ToolError(f"{whose} is annotated as {shown}, which JSON cannot fill: {reason}")


def _of_msgspec(annotation: Any) -> _Kind:
    (schema,), definitions = msgspec.json.schema_components(
        [annotation], ref_template=PREFIX + "{name}", schema_hook=_schema_of_path
    )

    def convert(value: Any) -> Any:
        return msgspec.convert(value, annotation, dec_hook=_path_of)

    return _Kind(schema, definitions, convert)


def _of_pydantic(adapter: Any) -> _Kind:
    schema = adapter.json_schema(ref_template=PREFIX + "{model}")
    return _Kind(schema, schema.get("$defs", {}), adapter.validate_python)


def _schema_of_path(kind: type) -> dict[str, Any]:
    if isinstance(kind, type) and issubclass(kind, PurePath):
        return {"type": "string"}
    raise TypeError(f"{kind!r} is no type that JSON has a form for")


def _path_of(kind: type, value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError(f"Expected `str`, got `{type(value).__name__}`")
    return kind(value)


def _with_meta(annotation: Any) -> Any:
    """Turn descriptions in an annotation into the form that msgspec reads: from Annotated[int, "…"]
    and from PEP 727's Annotated[int, Doc("…")]."""
    if get_origin(annotation) is not Annotated:
        return annotation
    kind, *notes = get_args(annotation)
    said: list[Any] = []
    for note in notes:
        text = note if isinstance(note, str) else getattr(note, "documentation", None)
        said.append(msgspec.Meta(description=text) if isinstance(text, str) else note)
    return Annotated[(kind, *said)]


def _has_pydantic_fields(annotation: Any) -> bool:
    """Return whether an annotation uses pydantic's metadata, which msgspec ignores silently."""
    if get_origin(annotation) is Annotated and any(
        type(note).__module__.startswith("pydantic") for note in annotation.__metadata__
    ):
        return True
    return any(_has_pydantic_fields(each) for each in get_args(annotation))


INSTALL: Final = "pip install 'tenuto[agent]'"


def _read_docstring(function: Callable[..., object]) -> tuple[str, dict[str, str]]:
    """Return the descriptions of a function and of each parameter, from a docstring in Google,
    NumPy or Sphinx style."""
    text = inspect.getdoc(function)
    if not text:
        return "", {}
    try:
        library = importlib.import_module("docstring_parser")
    except ImportError:
        raise ToolError(
            "making a tool of a function needs the package docstring-parser: " + INSTALL
        ) from None
    try:
        parsed = library.parse(text)
    except library.ParseError:
        return text, {}
    parts = (parsed.short_description, parsed.long_description)
    of_each = {each.arg_name: (each.description or "").strip() for each in parsed.params}
    return "\n\n".join(part.strip() for part in parts if part), of_each
