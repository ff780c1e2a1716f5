"""Read what a request asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tenuto_sim.asked import Asked, Row, at, in_schema, objects_of, texts_of, tokens_of
from tenuto_sim.gemini_generate.seals import said_before
from tenuto_sim.reply import Settings

_TAKES_PREFILL: Final = re.compile(r"gemini-(?:2\.|3-|3\.1-|3\.5-flash(?!-lite)|pro-latest)")


def located(body: Mapping[str, Any], said: Mapping[str, str]) -> dict[str, Any]:
    """Return a body with the model and the mode that the path names.

    >>> located({}, {"model": "sim", "method": "streamGenerateContent"})
    {'model': 'sim', 'stream': True}
    """
    model = said.get("model", "")
    publisher = said.get("publisher", "google")
    named = model if publisher == "google" else f"{publisher}/{model}"
    streams = said.get("method") == "streamGenerateContent"
    return {**body, "model": named, "stream": streams}


def member(value: Any, *names: str) -> Any:
    """Return a member within objects: the service reads `toolConfig` and `tool_config` alike.

    >>> member({"tool_config": {"mode": 1}}, "toolConfig", "mode"), member([], "a")
    (1, None)
    """
    for name in names:
        value = _first(value, name, re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name))
    return value


def _first(value: Any, *names: str) -> Any:
    found = (value[n] for n in names if n in value) if isinstance(value, dict) else iter(())
    return next(found, None)


def read(body: Mapping[str, Any], settings: Settings) -> Asked:
    """Return what a body asks for. `impossible` has checked it.

    >>> read({"model": "sim", "contents": [{"parts": [{"text": "u"}]}]}, Settings()).rows
    (Row(role='user', text='u', resumes=False),)
    """
    contents = body["contents"]
    config = member(body, "generationConfig") or {}
    rows = tuple(row for content in contents for row in _rows(content))
    before = said_before(member(body, "continuationToken"))
    if before is not None:
        rows = (*rows, Row("assistant", before, resumes=True))
    resumes = before is not None or takes_prefill(body["model"], settings.prefill)
    system = member(body, "systemInstruction")
    return Asked(
        model=body["model"],
        rows=rows,
        counted=text_of(system) + json.dumps(contents, ensure_ascii=False),
        tools=tuple(_tools(body.get("tools"))),
        forced=member(body, "toolConfig", "functionCallingConfig", "mode") == "ANY",
        budget_tokens=tokens_of(member(config, "maxOutputTokens")),
        stream=bool(body["stream"]) if "stream" in body else False,
        response_format=_format(config),
        thinking=bool(member(config, "thinkingConfig", "includeThoughts")),
        stop_sequences=texts_of(member(config, "stopSequences")),
        prefill="continue" if resumes else "restart",
    )


def takes_prefill(model: str, setting: str) -> bool:
    """Return whether a model continues its own trailing turn: models up to 3.5 Flash do, and a
    model whose name says nothing follows the server's setting.

    >>> takes_prefill("gemini-2.5-flash", ""), takes_prefill("gemini-3.6-flash", "continue")
    (True, False)
    """
    if model.startswith("gemini-"):
        return _TAKES_PREFILL.match(model) is not None
    return setting == "continue"


def parts_of(content: Any) -> list[dict[str, Any]]:
    """Return the parts of a content.

    >>> parts_of({"parts": [{"text": "x"}, 1]})
    [{'text': 'x'}]
    """
    return objects_of(at(content, "parts"))


def held(parts: Iterable[Any], name: str) -> list[Any]:
    """Return the values of parts under a name, in any spelling.

    >>> held([{"function_call": 1}, {"text": "x"}], "functionCall")
    [1]
    """
    return [found for part in parts if (found := member(part, name)) is not None]


def text_of(content: Any) -> str:
    """Return the text of a content, without thoughts.

    >>> text_of({"parts": [{"text": "a"}, {"text": "b", "thought": True}]})
    'a'
    """
    texts = (part.get("text") for part in parts_of(content) if not part.get("thought"))
    return "".join(text for text in texts if isinstance(text, str))


def _rows(content: Any) -> Iterator[Row]:
    results = held(parts_of(content), "functionResponse")
    for result in results:
        yield Row("tool", json.dumps(member(result, "response"), ensure_ascii=False))
    text = text_of(content)
    if results and not text:
        return
    yield Row("assistant" if content.get("role") == "model" else "user", text)


def _tools(tools: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for tool in tools if isinstance(tools, list) else ():
        declared = member(tool, "functionDeclarations")
        for function in declared if isinstance(declared, list) else ():
            schema = lowered(_first(function, "parameters", "parametersJsonSchema"))
            yield str(member(function, "name")), schema if isinstance(schema, dict) else {}


def lowered(schema: Any) -> Any:
    """Return a schema with its types in lower case, as in JSON Schema.

    >>> lowered({"type": "OBJECT", "properties": {"type": {"type": "STRING"}}})
    {'type': 'object', 'properties': {'type': {'type': 'string'}}}
    """
    if not isinstance(schema, dict):
        return schema
    made = {key: item for key, item in schema.items() if key not in ("properties", "items")}
    if isinstance(made.get("type"), str):
        made["type"] = made["type"].lower()
    if isinstance(schema.get("properties"), dict):
        made["properties"] = {k: lowered(v) for k, v in schema["properties"].items()}
    if "items" in schema:
        made["items"] = lowered(schema["items"])
    return made


def _format(config: Any) -> Mapping[str, Any] | None:
    if member(config, "responseMimeType") != "application/json":
        return None
    schema = _first(config, "responseSchema", "responseJsonSchema", "response_schema")
    if schema is None:
        return {"type": "json_object"}
    return in_schema(lowered(schema))
