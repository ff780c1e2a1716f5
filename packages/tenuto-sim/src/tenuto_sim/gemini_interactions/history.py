"""The rules for histories, and the provider's error messages.

Theory of operation: each step is checked by itself, then the turns that they make, and the first
violation is the answer. The rules of calls and results are those of generateContent, which has the
same models; https://github.com/googleapis/python-genai/issues/3003 quotes them from this API.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby, pairwise
from typing import Any, Final

from tenuto_sim.gemini_generate.history import CALL_PLACE, COUNTS, RESULT_PLACE
from tenuto_sim.gemini_interactions.errors import WORDS, failure, mistyped, unsupported
from tenuto_sim.gemini_interactions.request import CONTENT, kind_of
from tenuto_sim.gemini_interactions.seals import is_signature
from tenuto_sim.shapes import Shape, Types, Violations

_OF_STEP: Final[Types] = {
    "id": str, "call_id": str, "name": str, "arguments": dict, "is_error": bool,
}  # fmt: skip
_shape = partial(Shape.of, types=_OF_STEP)
STEPS: Final[Mapping[str, Shape]] = {
    "user_input": _shape("content", "type"),
    "model_output": _shape("content", "type"),
    "thought": _shape("", "type signature summary"),
    "function_call": _shape("arguments id name", "type"),
    "function_result": _shape("call_id name result", "type is_error"),
    "google_search_call": _shape("arguments id", "type search_type signature"),
    "google_search_result": _shape("call_id result", "type is_error signature"),
}

NO_NAME: Final = "Invalid input received."
"""The error for a result without a name, which only the reference calls optional:
https://github.com/robocurve/inspect-robots/issues/380"""

Steps = Sequence[Mapping[str, Any]]


def history_violations(steps: Steps) -> Violations:
    """Yield the violations in the steps of a request.

    >>> next(history_violations([{"type": "thought", "x": 1}])).document["error"]["message"]
    "Unknown parameter: 'input[0].x'."
    """
    for i, step in enumerate(steps):
        yield from _step(f"input[{i}]", step)
    yield from _turns(steps)


def _step(path: str, step: Mapping[str, Any]) -> Violations:
    kind = kind_of(step)
    if kind not in STEPS:
        yield unsupported(path, kind, STEPS)
    if kind == "function_result" and "name" not in step:
        yield failure(NO_NAME)
    yield from STEPS[kind].violations(path, step, WORDS)
    if kind == "thought" and "signature" in step and not is_signature(step["signature"]):
        yield failure(f"Thought signature is not valid at '{path}'.")
    if kind == "function_result" and not isinstance(step["result"], str | dict | list):
        yield mistyped(f"{path}.result")
    if kind in ("user_input", "model_output"):
        yield from _content(path, step["content"])


def _content(path: str, content: Any) -> Violations:
    if not isinstance(content, list) or not content:
        yield failure(f"'content' must hold at least one part at '{path}'.")
    for i, part in enumerate(content):
        if kind_of(part) not in CONTENT:
            yield unsupported(f"{path}.content[{i}]", kind_of(part), CONTENT)
        elif kind_of(part) == "text" and not str(part.get("text") or "").strip():
            yield failure(f"'text' must not be empty at '{path}.content[{i}]'.")


def _turns(steps: Steps) -> Violations:
    """Require that the results of all calls of a turn, and no others, come right after it."""
    turns: list[Steps] = [[], *(list(turn) for _, turn in groupby(steps, _speaker)), []]
    if _of(turns[1], "function_call", "id"):
        yield failure(CALL_PLACE)
    for before, turn in pairwise(turns):
        calls = _of(before, "function_call", "id")
        results = _of(turn, "function_result", "call_id")
        if results and not calls:
            yield failure(f"{RESULT_PLACE} Got function response with name '{results[0][1]}'.")
        if sorted(calls) != sorted(results) or len(set(calls)) < len(calls):
            yield failure(COUNTS)


def _speaker(step: Mapping[str, Any]) -> str:
    kind = str(kind_of(step))
    return kind if kind in ("user_input", "function_result") else "model"


def _of(turn: Steps, kind: str, key: str) -> list[tuple[str, str]]:
    """Return what identifies the calls or the results of a turn."""
    return [(step[key], step["name"]) for step in turn if kind_of(step) == kind]
