"""docs/reference.md: everything that is public, by its signature and its docstring."""

import ast
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from importlib import import_module
from itertools import pairwise
from types import GenericAlias
from typing import get_overloads

from page import code, codes

HEAD = """\
# Reference

This page documents every public name of Tenuto. The events of a turn (`tenuto.events`) have
[their own page](events.md). All other names are private and may change. The tests run the examples.
Ids such as C23 name a [behaviour](behaviours.md).
"""

MODULES = (
    "tenuto",
    "tenuto.agent",
    "tenuto.agent.events",
    "tenuto.agent.files",
    "tenuto.sansio",
    "tenuto.litellm",
    "tenuto.sim",
    "tenuto.telemetry",
    "tenuto.telemetry.opentelemetry",
    "tenuto.watch",
    "tenuto.wire_kit",
)
"""Modules whose names are public; a name that an earlier one has too stands there."""

SECTION = re.compile(r"(Args|Attributes|Returns|Raises):")
WIDTH = 96
ITEM = re.compile(r"(\w+(?:, \w+)*): (.*)")
GROUP = re.compile(r"    (\w[\w ]*):")


def render() -> str:
    """The page."""
    lines = [HEAD]
    for module in MODULES:
        lines += [f"**{module}**: {', '.join(_links(module))}", ""]
    lines.pop()
    for module in MODULES:
        for name in _names(module):
            value, title = getattr(import_module(module), name), _title(module, name)
            made = callable(value) and not isinstance(value, GenericAlias)  # an alias is no class
            said = _described(name, value) if made else _constant(module, name)
            lines += ["", f"## {title}", "", *said]
            for member, found in _members(value):
                lines += ["", f"### {title}.{member}", "", *_described(member, found)]
    return "\n".join(lines) + "\n"


def _links(module: str) -> Iterator[str]:
    """Links to the names. Of headings that differ only in capitals, GitHub numbers the later."""
    made: Counter[str] = Counter()
    for name in _names(module):
        anchor = _title(module, name).lower().replace(".", "")
        times, made[anchor] = made[anchor], made[anchor] + 1
        yield f"[{name}](#{anchor}{f'-{times}' if times else ''})"


def _title(module: str, name: str) -> str:
    return name if module == "tenuto" else f"{module}.{name}"


@cache
def _names(module: str) -> list[str]:
    before = {name for earlier in MODULES[: MODULES.index(module)] for name in _names(earlier)}
    names = sorted(import_module(module).__all__, key=str.lower)
    own = [name for name in names if not name.startswith("__") and name not in before]
    return [name for name in own if not inspect.ismodule(getattr(import_module(module), name))]


def _constant(module: str, name: str) -> Iterator[str]:
    """What is said below a constant, where it is made."""
    for node, after in pairwise(_statements(ast.parse(inspect.getsource(import_module(module))))):
        given = [
            each.name
            for each in (node.names if isinstance(node, ast.ImportFrom) else ())
            if (each.asname or each.name) == name
        ]
        if isinstance(node, ast.ImportFrom) and given:
            yield from _constant(str(node.module), given[0])
        elif name in _assigned(node):
            yield from _prose(_string(after) or "")


def _statements(module: ast.Module) -> Iterator[ast.stmt]:
    """Its statements, those under `if TYPE_CHECKING` (a room may load its names when they are first
    asked for) and those under `try` (a member of the repository may be missing)."""
    for node in module.body:
        yield from node.body if isinstance(node, ast.If | ast.Try) else [node]
    yield ast.Pass()  # so that the last one has one behind it


def _assigned(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _string(node: ast.stmt) -> str | None:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return inspect.cleandoc(str(node.value.value))
    return None


def _fields(value: object) -> Iterator[str]:
    """What is said below the fields of a class."""
    if not isinstance(value, type) or not hasattr(value, "__dataclass_fields__"):
        return
    (made,) = ast.parse(inspect.cleandoc("\n" + inspect.getsource(value))).body
    assert isinstance(made, ast.ClassDef)
    said = {
        name: string
        for node, after in pairwise(made.body)
        for name in _assigned(node)
        if (string := _string(after))
    }
    if said:
        yield from ("", "**Attributes**", "")
        yield from (f"- {code(name)}: {' '.join(text.split())}" for name, text in said.items())


def _described(name: str, value: object) -> Iterator[str]:
    is_word = isinstance(value, type) and issubclass(value, Enum | Exception)
    if callable(value) and not is_word:
        yield "```text"
        for each in get_overloads(value) or [value]:
            yield signature(name, each)
        yield from ("```", "")
    yield from _prose(inspect.getdoc(value) or "")
    yield from _fields(value)
    if isinstance(value, type) and issubclass(value, Enum):
        yield from ("", "Values: " + ", ".join(code(member.value) for member in value) + ".")


def signature(name: str, value: Callable[..., object]) -> str:
    """How something is called, as its source says it; an argument a line where it is long.

    >>> def greet(name: str, *, loud: bool = False) -> str: ...
    >>> signature("greet", greet)
    'greet(name: str, *, loud: bool = False) -> str'
    """
    read = inspect.signature(value)
    arguments: list[str] = []
    for parameter in read.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in arguments:
            arguments.append("*")
        arguments.append(_argument(parameter))
    end = "" if isinstance(value, type) else f" -> {_annotation(read.return_annotation)}"
    line = f"{name}({', '.join(arguments)}){end}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + f"){end}"


def _argument(parameter: inspect.Parameter) -> str:
    stars: dict[object, str] = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
    text, default = f"{stars.get(parameter.kind, '')}{parameter.name}", parameter.default
    if parameter.annotation is not parameter.empty:  # the standard library has none
        text += f": {_annotation(parameter.annotation)}"
    if default is parameter.empty:
        return text
    if isinstance(default, Enum):
        return f"{text} = {type(default).__name__}.{default.name}"
    if isinstance(default, frozenset) and default:  # whose order is another one each time
        return f"{text} = frozenset({{{', '.join(map(repr, sorted(default)))}}})"
    if inspect.isroutine(default):
        return f"{text} = {default.__name__}"
    # What a dataclass shows of a default that is made anew each time has no form of its own.
    return f"{text} = …" if "factory" in repr(default) else f"{text} = {default!r}"


def _annotation(annotation: object) -> str:
    """A type as its source says it: by its name, without the module that it stands in."""
    if isinstance(annotation, str):
        return annotation
    return re.sub(r"\btenuto\.(?:\w+\.)*", "", inspect.formatannotation(annotation))


def _members(value: object) -> Iterator[tuple[str, object]]:
    """The methods and properties of a class that are its own and have something to say."""
    if not isinstance(value, type) or issubclass(value, Enum | Exception):
        return
    for name, member in vars(value).items():
        found = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        told = inspect.isfunction(found) or isinstance(found, property)
        if not name.startswith("_") and told and inspect.getdoc(found):
            yield name, found


def _prose(docstring: str) -> Iterator[str]:
    """A docstring as Markdown: its sections as lists, its examples as code."""
    section, example = False, False
    for line in docstring.splitlines():
        text = line.strip()
        if text.startswith(">>>") and not example:
            example = True
            yield "```pycon"
        if example:
            if text:
                yield line
                continue
            example = False
            yield "```"
        begun = SECTION.fullmatch(text)
        if begun:
            section = True
            yield from (f"**{begun[1]}**", "")
        elif section and not text:
            yield line
        elif section and (group := GROUP.fullmatch(line)):
            yield f"*{group[1]}*"
        elif section and line.startswith("    "):
            item = ITEM.fullmatch(text) if not line.startswith("     ") else None
            yield f"- {codes(item[1].split(', '))}: {item[2]}" if item else f"  {text}"
        else:
            section = False
            yield line
    if example:
        yield "```"
