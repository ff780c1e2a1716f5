"""Whether a text is a document of a schema. `jsonschema` judges it, and nothing of Tenuto's does.

>>> valid('{"a": 1}', {"type": "object", "required": ["a"]}), valid('{"a": 1', {}), valid("NaN", {})
(True, False, False)
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import jsonschema  # type: ignore[import-untyped]


def valid(text: str, schema: dict[str, Any]) -> bool:
    """Whether the text is one strict JSON document, and the schema holds for it."""
    return why_not(text, schema) == ""


def why_not(text: str, schema: dict[str, Any]) -> str:
    """What is wrong with a document, in a few words; "" for nothing."""
    try:
        value = json.loads(text, parse_constant=_no_number, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        return f"no JSON: {error}"
    wrong = next(_validator(json.dumps(schema)).iter_errors(value), None)
    where = "".join(f"[{part!r}]" for part in wrong.absolute_path) if wrong else ""
    return f"{wrong.validator} at ${where}: {wrong.message[:80]}" if wrong else ""


@lru_cache(maxsize=256)
def _validator(schema: str) -> Any:
    return jsonschema.Draft202012Validator(json.loads(schema))


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands twice in an object")
    return dict(pairs)
