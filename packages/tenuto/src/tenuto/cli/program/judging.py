"""Judges each client of a program, and writes the line that covers it."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from tenuto.cli.program.makers import FACTS, UNKNOWN_MAKER, Argument
from tenuto.cli.program.reading import Reader
from tenuto.cli.program.values import Site
from tenuto.clients.wrap import INSTEAD

Verdict = Literal["covered", "partly covered", "not covered", "unknown", "left bare", "no turns"]

_LEFT_BARE = re.compile(r"#\s*tenuto:\s*bare\b")
"""The comment of a client that is left without Tenuto on purpose."""

_NATIVE_OF_CREWAI = ("openai/", "anthropic/", "gemini/", "gpt-", "o1", "o3", "o4", "claude",
    "azure/", "bedrock/")  # fmt: skip
"""Beginnings of the names of models that CrewAI reaches without LiteLLM."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on one client.

    Attributes:
        file, line, column: where it is made, or used if the source does not show where it is made.
        end_line, end_column: where that expression ends. Columns count from 0, in bytes of UTF-8.
        what: the class or function, as the program names it.
        client: the SDK, framework or HTTP library.
        verdict: whether Tenuto finishes its turns.
        why: one sentence.
        replace: the expression to write in its place; "": none is known, or none is needed.
        add: a statement to add; "": none.
        imports: what `replace` or `add` needs.
        section: the section of docs/frameworks.md that explains it; "": none.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    what: str
    client: str
    verdict: Verdict
    why: str
    replace: str = ""
    add: str = ""
    imports: tuple[str, ...] = ()
    section: str = ""


def judged(reader: Reader) -> Iterator[Judged]:
    """Return the verdict on each client that the reader found, by file and line."""
    for site in sorted(
        reader.sites.values(), key=lambda s: (s.module.file, s.node.lineno, s.node.col_offset)
    ):
        verdict, why = _verdict(site, reader.facts)
        if verdict == "covered" and "disabled" in reader.facts:
            verdict, why = (
                "unknown",
                "The program calls tenuto.disable(), which switches Tenuto off.",
            )
        if verdict not in ("covered", "no turns") and _is_left_bare(site):
            verdict, why = "left bare", "Its comment says that it is left bare on purpose."
        line = _Line()
        if verdict in ("not covered", "partly covered"):
            line = _line(site)
            why += f" {line.advice}" if line.advice else ""
        yield Judged(
            site.module.file,
            site.node.lineno,
            site.node.col_offset,
            site.node.end_lineno or site.node.lineno,
            site.node.end_col_offset or 0,
            _named(site),
            site.maker.title,
            verdict,
            why,
            line.replace,
            line.add,
            line.imports,
            _section(site),
        )


def _is_left_bare(site: Site) -> bool:
    """Return whether a line of the expression has the comment."""
    lines = site.module.text.split("\n")[site.node.lineno - 1 : site.node.end_lineno]
    return any(map(_LEFT_BARE.search, lines))


def _section(site: Site) -> str:
    """Return the section for a client. Where LangGraph drives LangChain's models, its own tells
    more."""
    title = site.maker.title
    if title == "LangChain" and _imports_langgraph(site.module.text):
        return "LangGraph"
    return title if title in SECTIONS else ""


_imports_langgraph = re.compile(r"^\s*(?:from|import)\s+langgraph\b", re.MULTILINE).search


SECTIONS: Final = frozenset({"LangChain", "pydantic-ai", "openai-agents", "Strands", "agno",
    "LiteLLM", "LlamaIndex", "CrewAI", "Haystack", "AutoGen", "Microsoft Agent Framework",
    "Semantic Kernel", "Google ADK", "smolagents", "instructor", "DSPy", "llm"})  # fmt: skip
"""The sections of docs/frameworks.md that have a framework's name."""


def _named(site: Site) -> str:
    node = site.node
    return ast.unparse(node.func if isinstance(node, ast.Call) else node)


def _verdict(site: Site, facts: dict[str, set[str]]) -> tuple[Verdict, str]:
    maker = site.maker
    if maker is UNKNOWN_MAKER:
        return "unknown", "The source does not show where this client is made."
    told = {_of_fact(site, how, facts) for how in site.covered}
    if told == {"yes"}:
        return "covered", "Tenuto finishes its turns."
    if maker.wraps:
        if site.bare and "yes" not in told:
            lines = ", ".join(str(line) for line in sorted(site.bare) if line)
            where = f", as line {lines} does" if site.wrapped and lines else ""
            return "not covered", f"The client is used without tenuto.wrap(){where}."
        if site.mixed or (site.bare and "yes" in told):
            return (
                "unknown",
                "A condition or the caller decides whether the client is wrapped.",
            )
        if site.wrapped:
            return "covered", "It is wrapped before it is used."
    if maker.assigned:
        missing = [name for name, _ in maker.assigned if name not in site.assigned]
        if not missing:
            return "covered", "Its clients are wrapped."
        if len(missing) < len(maker.assigned):
            return "partly covered", f"{_listed(missing)} is not wrapped."
    if "unknown" in told or len(told) > 1:
        if "unknown" in told and len(told) == 1:
            return "unknown", "The source does not show which client it is given."
        return "unknown", "A condition or the caller decides whether Tenuto sees its requests."
    if "partly" in told:
        return (
            "partly covered",
            f"{_listed(sorted(site.missing))} is missing, so half of its calls are not finished.",
        )
    if maker.wraps and site.others and not site.escapes:
        return "no turns", "It is not asked for a model's turns."
    if "sansio" in facts and maker.title in _HTTP_TITLES:
        return "unknown", "The program drives tenuto.sansio.Turn itself, perhaps with this client."
    return "not covered", "Tenuto does not see its requests."


_HTTP_TITLES = frozenset({"httpx", "httpx2", "requests", "aiohttp", "urllib3", "urllib"})


def _listed(names: list[str]) -> str:
    return " and ".join(f"{name}=" if not name.startswith("_") else name for name in names)


def _of_fact(site: Site, how: str, facts: dict[str, set[str]]) -> str:
    if not how.startswith("fact "):
        return how
    name = how.removeprefix("fact ")
    if name == "crewai":
        if not site.text:
            return "unknown" if "litellm" in facts and not site.assigned else "no"
        name = "none" if site.text.startswith(_NATIVE_OF_CREWAI) else "litellm"
    if name == "llm":
        there = any(
            k.startswith("llm.default_plugins.openai_models") and k.endswith(".get_client")
            for k in facts
        )
        return "yes" if there else "no"
    found = facts.get("openai.http_client" if name == "openai" else name, set())
    return "yes" if "yes" in found else "unknown" if "unknown" in found else "no"


@dataclass(frozen=True, slots=True)
class _Line:
    """What to write instead, or in addition, with its imports; `advice` is for a person."""

    replace: str = ""
    add: str = ""
    imports: tuple[str, ...] = ()
    advice: str = ""


_TENUTO = ("import tenuto",)


def _line(site: Site) -> _Line:
    """Return the line that covers a client."""
    maker, node = site.maker, site.node
    assert isinstance(node, ast.Call)
    if maker.title in _HTTP_TITLES:
        return _of_http(site, node)
    if maker.wraps:
        if site.wrapped:
            return _Line(advice="Use the wrapped client there too.")
        return _Line(f"tenuto.wrap({ast.unparse(node)})", "", _TENUTO)
    if maker.assigned:
        it = site.target or "llm"
        statements = (f"{it}.{name} = {code.format(it=it)}" for name, code in maker.assigned)
        return _Line("", "\n".join(statements), _TENUTO)
    if maker.fact in FACTS:
        statement, imports = FACTS[maker.fact]
        if maker.fact == "dspy":
            call = _with(node, Argument("engine"), '"litellm"')
            return _Line(ast.unparse(call), statement, imports)
        return _Line(
            "",
            statement,
            imports,
            "Once, before the first request." if maker.fact == "litellm" else "",
        )
    for way in maker.ways:
        if all(argument.code for argument in way) and re.fullmatch(maker.models, site.text):
            call = node
            for argument in way:
                call = _with(call, argument, argument.code)
            return _Line(ast.unparse(call), "", _TENUTO)
    for argument in maker.takes:
        code = argument.code
        if "{name" in code:
            provider, _, name = site.text.rpartition(":")
            fits = provider in ("", "openai") if "genai" not in code else not provider
            code = code.format(name=name or site.text) if fits else ""
        if code:
            call = _with(node, argument, code)
            return _Line(ast.unparse(call), "", (*_TENUTO, *argument.imports))
    package = f"{maker.package}."
    known = next((advice for name, advice in INSTEAD.items() if package.startswith(name)), "")
    known = "" if site.text and not re.fullmatch(maker.models, site.text) else known
    known = known or _ADVICE.get(maker.title, "")
    return _Line(
        advice=f"{known[0].upper()}{known[1:]}." if known else "Tenuto has no line for it."
    )


_ADVICE: Final = {
    "llm": "replace get_client of its models by one that wraps",
    "ollama": "make a client with tenuto.wrap(ollama.Client()), and call its methods",
    "openai": "make a client with tenuto.wrap(openai.OpenAI()), and call its methods",
}


def _of_http(site: Site, node: ast.Call) -> _Line:
    library = site.maker.title
    if library not in ("httpx", "httpx2"):
        advice = f"Tenuto cannot work beneath {library}. Send it through tenuto.http_client()."
        return _Line(advice=advice)
    name = _named(site).rpartition(".")[2]
    given = "" if library == "httpx2" else '"httpx"'
    if name in ("Client", "AsyncClient"):
        if transport := next((word for word in node.keywords if word.arg == "transport"), None):
            code = f"tenuto.HTTPTransport({ast.unparse(transport.value)})"
            return _Line(ast.unparse(_with(node, Argument("transport"), code)), "", _TENUTO)
        maker = "async_http_client" if name == "AsyncClient" else "http_client"
        call = copy.deepcopy(node)
        call.func = ast.parse(f"tenuto.{maker}", mode="eval").body
        if given:
            call.args.insert(0, ast.Constant("httpx"))
        return _Line(ast.unparse(call), "", _TENUTO)
    call = copy.deepcopy(node)
    call.func = ast.parse(f"tenuto.http_client({given}).{name}", mode="eval").body
    return _Line(ast.unparse(call), "", _TENUTO)


def _with(node: ast.Call, argument: Argument, code: str) -> ast.Call:
    """Return a copy of a call that passes this code as an argument."""
    call = copy.deepcopy(node)
    value = ast.parse(code, mode="eval").body
    name, _, key = argument.name.partition(".")
    if key:
        before = next((word.value for word in call.keywords if word.arg == name), None)
        pairs = before if isinstance(before, ast.Dict) else ast.Dict([], [])
        if before is not None and pairs is not before:
            pairs = ast.Dict([None], [before])
        kept = [(k, v) for k, v in zip(pairs.keys, pairs.values, strict=True)
                if not (isinstance(k, ast.Constant) and k.value == key)]  # fmt: skip
        value = ast.Dict([*(k for k, _ in kept), ast.Constant(key)], [*(v for _, v in kept), value])
    place = argument.position
    if place is not None and place < len(call.args):
        call.args[place] = value
        return call
    call.keywords = [word for word in call.keywords if word.arg != name]
    call.keywords.append(ast.keyword(name, value))
    return call
