"""What a request asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tenuto.sim.asked import Asked, Row, in_schema, texts_of, tokens_of
from tenuto.sim.gemini_generate.seals import said_before
from tenuto.sim.reply import Settings

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


def member(value: Any, name: str) -> Any:
    """Return a member: the service reads `toolConfig` and `tool_config` alike.

    >>> member({"tool_config": 1}, "toolConfig"), member([], "a")
    (1, None)
    """
    return _first(value, name, re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name))


def _first(value: Any, *names: str) -> Any:
    found = (value[n] for n in names if n in value) if isinstance(value, dict) else iter(())
    return next(found, None)


def read(body: Mapping[str, Any], settings: Settings) -> Asked:
    """Return what a body asks for, which `impossible` let pass.

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
    budget = member(config, "maxOutputTokens")
    calling = member(member(body, "toolConfig"), "functionCallingConfig")
    thinking = member(config, "thinkingConfig")
    stops = member(config, "stopSequences")
    system = member(body, "systemInstruction")
    return Asked(
        model=body["model"],
        rows=rows,
        counted=text_of(system) + json.dumps(contents, ensure_ascii=False),
        tools=tuple(_tools(body.get("tools"))),
        forced=member(calling, "mode") == "ANY",
        budget_tokens=tokens_of(budget),
        stream=bool(body["stream"]) if "stream" in body else False,
        response_format=_format(config),
        thinking=bool(member(thinking, "includeThoughts")),
        stop_sequences=texts_of(stops),
        prefill="continue" if resumes else "restart",
    )


def takes_prefill(model: str, setting: str) -> bool:
    """Return whether a model goes on with a trailing turn of its own: up to 3.5 Flash they do, and
    a model whose name says nothing does as the server is set up.

    >>> takes_prefill("gemini-2.5-flash", ""), takes_prefill("gemini-3.6-flash", "continue")
    (True, False)
    """
    if model.startswith("gemini-"):
        return _TAKES_PREFILL.match(model) is not None
    return setting == "continue"


def parts_of(content: Any) -> list[Mapping[str, Any]]:
    """Return the parts of a content.

    >>> parts_of({"parts": [{"text": "x"}, 1]})
    [{'text': 'x'}]
    """
    parts = content.get("parts") if isinstance(content, dict) else None
    return [p for p in parts if isinstance(p, dict)] if isinstance(parts, list) else []


def text_of(content: Any) -> str:
    """Return the text of a content, thoughts aside.

    >>> text_of({"parts": [{"text": "a"}, {"text": "b", "thought": True}]})
    'a'
    """
    texts = (part.get("text") for part in parts_of(content) if not part.get("thought"))
    return "".join(text for text in texts if isinstance(text, str))


def _rows(content: Any) -> Iterator[Row]:
    results = [
        result
        for part in parts_of(content)
        if (result := member(part, "functionResponse")) is not None
    ]
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
            given = _first(function, "parameters", "parametersJsonSchema")
            schema = lowered(given)
            yield str(member(function, "name")), schema if isinstance(schema, dict) else {}


def lowered(schema: Any) -> Any:
    """Return a schema with its types in the small letters of JSON Schema.

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
