"""docs/reference.md: everything in `tenuto.__all__`, by its signature and its docstring."""

import inspect
import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import get_overloads

from page import code, codes

import tenuto

HEAD = """\
# Reference

Every public name, from its docstring. What is not named here, and not in `tenuto.sim`, is private
and may change. The examples are run as tests. Ids such as C23 name a [promise](behaviours.md).
"""

SECTION = re.compile(r"(Args|Attributes|Returns|Raises):")
WIDTH = 96
ITEM = re.compile(r"(\w+(?:, \w+)*): (.*)")


def render() -> str:
    """The page."""
    lines = [HEAD]
    lines += [f"- [{name}](#{name.lower()})" for name in _names()]
    for name in _names():
        value = getattr(tenuto, name)
        lines += ["", f"## {name}", "", *_described(name, value)]
        for member, found in _members(value):
            lines += ["", f"### {name}.{member}", "", *_described(member, found)]
    return "\n".join(lines) + "\n"


def _names() -> list[str]:
    return [name for name in sorted(tenuto.__all__, key=str.lower) if not name.startswith("__")]


def _described(name: str, value: object) -> Iterator[str]:
    is_word = isinstance(value, type) and issubclass(value, Enum | Exception)
    if callable(value) and not is_word:
        yield "```text"
        for each in get_overloads(value) or [value]:
            yield signature(name, each)
        yield from ("```", "")
    yield from _prose(inspect.getdoc(value) or "")
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
    text = f"{stars.get(parameter.kind, '')}{parameter.name}: {_annotation(parameter.annotation)}"
    default = parameter.default
    if default is parameter.empty:
        return text
    if isinstance(default, Enum):
        return f"{text} = {type(default).__name__}.{default.name}"
    # What a dataclass shows of a default that is made anew each time has no form of its own.
    return f"{text} = …" if "factory" in repr(default) else f"{text} = {default!r}"


def _annotation(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


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
        elif section and line.startswith("    "):
            item = ITEM.fullmatch(text) if not line.startswith("     ") else None
            yield f"- {codes(item[1].split(', '))}: {item[2]}" if item else f"  {text}"
        else:
            section = section and not text
            yield line
    if example:
        yield "```"
