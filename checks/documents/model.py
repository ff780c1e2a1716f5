"""The model: it keeps to a schema that the request carries, and wanders where the request has none.

Each answer of the first kind is worded anew in half of the cases. An answer of the second kind goes on
exactly in half of the cases; in the other half it has other types or keys, is a whole new document,
prose, prose and then the rest, or stands in a code fence.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from typing import Any, Final

from checks.documents.schemas import SCHEMAS
from checks.documents.truth import GROWS, Plan
from checks.documents.wording import worded

ANEW: Final = 0.5
WANDERS: Final = 0.5
WAYS: Final = (
    *("types", "keys", "new", "other", "prose", "prose_rest", "fence_rest", "fence_new", "overlap"),
    "more_keys",
)
"""How it wanders."""
_PREFACES: Final = (
    "Sure! Here is the rest of the document:\n\n",
    "Continuing from where I stopped:\n\n",
    "Apologies for the interruption.\n\n",
    "Here's the remaining JSON:\n",
)
_PROSE: Final = (
    "The document above describes the record that you asked for. Is there anything else?",
    "I have stopped because the answer was getting long. Shall I continue?",
    "In summary, all values are given, and none of them is missing.",
)


@dataclass(slots=True)
class Mind:
    """What the model has said in a turn, each time to its end, although a limit may have cut it."""

    plan: Plan
    whole: list[str] = field(default_factory=list)

    def answer(self, number: int, said: str, schema: Any) -> tuple[str, str]:
        """What it says to request `number` (1 is the first), and in which way."""
        rng = random.Random(f"{self.plan.key} {number}")
        if schema is not None:
            way, text = self._kept(number, rng)
        elif rng.random() >= WANDERS:
            way, text = "exact", self._rest(said, rng)
        else:
            way = rng.choice(WAYS)
            text = self._wandering(way, said, rng)
        self.whole.append(text)
        if schema is None and said:
            self.whole.append(said + text)
        return text, way

    def _kept(self, number: int, rng: random.Random) -> tuple[str, str]:
        """A whole document, because the schema lets nothing else be said."""
        if number == 1 or rng.random() >= ANEW:
            return "same", self.plan.document.text
        return "anew", self._anew(rng)

    def _anew(self, rng: random.Random) -> str:
        most = int(len(self.plan.document.text) * GROWS)
        return worded(self.plan.schema, rng, most).text

    def _rest(self, said: str, rng: random.Random) -> str:
        """What follows behind `said` in something that the model meant to say."""
        for text in reversed(self.whole):
            if text.startswith(said) and len(text) > len(said):
                return text[len(said) :]
        known = any(text == said for text in self.whole)
        return "" if known else self._anew(rng)

    def _wandering(self, way: str, said: str, rng: random.Random) -> str:
        rest = self._rest(said, rng)
        match way:
            case "types":
                return _OTHER_VALUE.sub(lambda found: _other(found.group(), rng), rest)
            case "keys":
                return _KEY.sub(lambda found: f'"{found.group(1)}_value"{found.group(2)}', rest)
            case "more_keys":
                return _END.sub(', "comment": "as asked"\\g<0>', rest)
            case "new":
                return self._anew(rng)
            case "other":
                name = rng.choice([name for name in SCHEMAS if name != self.plan.name])
                return worded(SCHEMAS[name], rng, 3_000).text
            case "prose":
                return rng.choice(_PROSE)
            case "prose_rest":
                return rng.choice(_PREFACES) + rest
            case "fence_rest":
                return f"```json\n{rest}\n```"
            case "fence_new":
                return f"```json\n{self._anew(rng)}\n```"
            case _:
                return said[-rng.randint(8, 40) :] + rest


_OTHER_VALUE: Final = re.compile(r'(?<=: )"[^"\\]*"(?=\s*[,}\]])|(?<=[:,] )-?[0-9.]{2,}(?=\s*[,}\]])'
                                 r'|(?<=":)"[^"\\]*"(?=[,}\]])|(?<=":)-?[0-9.]{2,}(?=[,}\]])')  # fmt: skip
_KEY: Final = re.compile(r'"([a-z_]+)"(\s*:)')
_END: Final = re.compile(r"\s*\}\s*\Z")


def _other(value: str, rng: random.Random) -> str:
    """A value of another type."""
    return rng.choice(("17", "true", "null", "[]")) if value[0] == '"' else f'"{value}"'
