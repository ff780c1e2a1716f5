"""Documents with a schema that were cut: the model keeps to the schema where a request carries it.

A new document is another one, in other words; both are what the model said. Which of them a program
may take for whole is in `Truth.others`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from checks.differential.far import Answer, Written
from checks.differential.spoken import Said, answer, says
from checks.differential.truth import State, Truth
from checks.differential.written import BODY, BOTH, STREAM, Script
from tenuto_sim.case import Ending

MARK: Final = "the harbour's record of one tide"
"""Stands in the schema alone, and so tells whether a request carries it."""
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "description": MARK,
    "properties": {
        "station": {"type": "string"},
        "phase": {"type": "string", "enum": ["ebb", "flood", "slack"]},
        "levels": {"type": "array", "items": {"type": "number"}},
        "height": {"type": "number"},
    },
    "required": ["station", "phase", "levels", "height"],
}
_CLOSED: Final = {**SCHEMA, "additionalProperties": False}
_NAMED: Final = {"name": "tide", "schema": _CLOSED, "strict": True}
FORMATS: Final[dict[str, dict[str, Any]]] = {
    "openai-chat": {"response_format": {"type": "json_schema", "json_schema": _NAMED}},
    "openai-responses": {"text": {"format": {"type": "json_schema", **_NAMED}}},
    "anthropic": {"output_config": {"format": {"type": "json_schema", "schema": _CLOSED}}},
    "gemini": {"response_mime_type": "application/json", "response_schema": SCHEMA},
    "mistral": {"response_format": {"type": "json_schema", "json_schema": _NAMED}},
    "cohere": {"response_format": {"type": "json_object", "json_schema": _CLOSED}},
    "ollama": {"format": _CLOSED},
}
"""How each SDK is asked for the document."""

FIRST: Final = json.dumps(
    {
        "station": "Northern pier, by the old lamp",
        "phase": "flood",
        "levels": [1.25, 1.5, 1.75, 2.125, 2.5, 2.875],
        "height": 3.0625,
    }
)
ANEW: Final = json.dumps(
    {
        "height": 2.75,
        "phase": "slack",
        "station": "At the northern pier",
        "levels": [1.5, 1.625, 2.0, 2.25, 2.5],
    }
)
CUT: Final = FIRST[: FIRST.index("1.75") + 2]
REST: Final = FIRST[len(CUT) :]
GAP: Final = "\0"
"""Stands for what the request does not show of the number at the cut: a model writes it then."""
OTHER_KEYS: Final = GAP + '5, 2.125], "tide_height": "three metres"}'
OTHER_TYPE: Final = GAP + REST.replace("3.0625", '"3.0625"')
PROSE: Final = "The record above is complete. Do you need another one?"
LIMIT: Final = 40
"""Of which the whole documents need less than three times as much."""


class Model(Written):
    """A cut document first; then one answer where the schema is asked for, and another where not."""

    def __init__(self, sdk: str, stream: bool, first: Said, kept: Said, free: Said) -> None:
        super().__init__([])
        self._sdk, self._stream = sdk, stream
        self._first, self._kept, self._free = first, kept, free

    def answer(self, method: str, path: str, headers: Any, body: bytes) -> Answer:
        """Answer by the number of the request and by what it carries."""
        del method, headers
        number = len(self.noted.answers)
        later = self._kept if MARK.encode() in body else self._free
        reply, step = later if number else self._first
        shown = json.dumps(CUT)[1:-1].encode() in body
        text = (reply.text or "").replace(GAP, "" if shown else CUT.rpartition(" ")[2])
        said = replace(reply, text=text), step
        made = answer(self._sdk, said, stream=self._stream, number=number)
        return self.noted.note(path, body, made)


def _limited(text: str) -> Said:
    return says(text, finish="length", tokens=LIMIT)


_FREE: Final = {
    "rest": GAP + REST,
    "other_keys": OTHER_KEYS,
    "other_type": OTHER_TYPE,
    "new": ANEW,
    "prose": PROSE,
    "prose_and_rest": f"Here is the rest:\n\n{GAP}{REST}",
    "fence": f"```json\n{GAP}{REST}\n```",
}
"""What the model says without the schema."""
_KEPT: Final = {"same": says(FIRST), "anew": says(ANEW), "cut_again": _limited(CUT)}
"""What it says with it: with "cut_again" it never writes more than that in one answer."""


def _script(sdk: str, key: str, first: Said, kept: Said, free: str, **given: Any) -> Script:
    return Script(
        *(f"doc/{key}", lambda sdk, stream: Model(sdk, stream, first, kept, says(free))),
        *(given.pop("truth", Truth(State.CUT, FIRST, others=(ANEW,))), (sdk,)),
        **{"modes": BOTH, "limit": LIMIT, "more": FORMATS[sdk], **given},
    )


def _of(sdk: str) -> tuple[Script, ...]:
    unfit = json.dumps({"station": 7})
    return (
        *(
            _script(sdk, f"{kept}_or_{free}", _limited(CUT), told, text)
            for kept, told in _KEPT.items()
            for free, text in _FREE.items()
        ),
        *(
            _script(sdk, f"dropped_{kept}", says(CUT, ending=Ending.DROP), told, OTHER_KEYS,
                    modes=STREAM, limit=400)
            for kept, told in _KEPT.items()
        ),
        _script(sdk, "unfit_but_whole", says(unfit), says(FIRST), GAP + REST, truth=Truth(State.WHOLE, unfit)),
        _script(sdk, "whole", says(FIRST), says(ANEW), GAP + REST, truth=Truth(State.WHOLE, FIRST), limit=400),
        _script(sdk, "cut_twice_as_body", _limited(CUT), _limited(CUT), GAP + REST[:12], modes=BODY),
    )  # fmt: skip


SCRIPTS: Final[tuple[Script, ...]] = tuple(script for sdk in FORMATS for script in _of(sdk))
