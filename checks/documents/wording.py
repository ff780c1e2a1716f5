"""A document of a schema in words of its own, and where each keyword's value stands in its text."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Final

from checks.documents.schemas import Schema

KEYWORDS: Final = ("enum", "anyOf", "$ref", "array", "number", "object")
"""What a cut falls into; `object` is one inside of another value."""
MOST_DEPTH: Final = 4
"""How deep a schema that refers to itself is followed."""

_WORDS: Final = (
    *("harbour", "lantern", "copper", "meadow", "seventeen", "quietly", "between", "the", "old"),
    *("orchard", "and", "a", "letter", "of", "winter", "ferry", "not", "yet", "painted", "blue"),
    *(
        "Søren",
        "naïve",
        "東京",
        'so-called "north"',
        "C:\\\\data",
        "half\nway",
        "{draft}",
        "[1]",
        "🙂",
    ),
)
_GAPS: Final = ((", ", ": ", ""), (",", ":", ""), (", ", ": ", "  "), (",", ": ", " "))
"""What stands between members, behind a key, and what one level is indented by."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text, and the places (keyword, start, end) of its values."""

    text: str
    places: tuple[tuple[str, int, int], ...]

    @property
    def tokens(self) -> int:
        """Its output tokens: one for four characters."""
        return -(-len(self.text) // 4)


@dataclass(slots=True)
class _Writer:
    root: Schema
    rng: random.Random
    comma: str
    colon: str
    indent: str
    shuffles: bool
    out: list[str] = field(default_factory=list)
    size: int = 0
    places: list[tuple[str, int, int]] = field(default_factory=list)

    def put(self, text: str) -> None:
        self.out.append(text)
        self.size += len(text)

    def value(self, schema: Schema, depth: int) -> None:
        """Write a value of the schema, and note where its keyword's value stands."""
        start = self.size
        keyword = self._written(schema, depth)
        if keyword and depth:
            self.places.append((keyword, start, self.size))

    def _written(self, schema: Schema, depth: int) -> str:
        if "$ref" in schema:
            self.value(self.root["$defs"][schema["$ref"].rpartition("/")[2]], depth + 1)
            return "$ref"
        if "anyOf" in schema:
            self.value(self._branch(schema["anyOf"], depth), depth + 1)
            return "anyOf"
        if "enum" in schema:
            self.put(json.dumps(self.rng.choice(schema["enum"])))
            return "enum"
        if "const" in schema:
            self.put(json.dumps(schema["const"]))
            return ""
        kind = schema["type"]
        return self._of(self.rng.choice(kind) if isinstance(kind, list) else kind, schema, depth)

    def _branch(self, schemas: list[Schema], depth: int) -> Schema:
        """Choose of a union; deep down, one that does not go on."""
        ends = [each for each in schemas if "$ref" not in json.dumps(each)]
        return self.rng.choice(ends if depth > MOST_DEPTH and ends else schemas)

    def _of(self, kind: str, schema: Schema, depth: int) -> str:
        match kind:
            case "object":
                self._object(schema, depth)
                return "object"
            case "array":
                self._array(schema, depth)
                return "array"
            case "integer" | "number":
                whole = kind == "integer"
                low, high = schema.get("minimum", 0), schema.get("maximum", 900_000)
                made = self.rng.randint(low, high)
                self.put(str(made if whole else made + self.rng.randrange(1, 1_000) / 1_000))
                return "number"
            case "boolean":
                self.put(self.rng.choice(("true", "false")))
            case "null":
                self.put("null")
            case _:
                self.put(self._text(schema))
        return ""

    def _text(self, schema: Schema) -> str:
        if "pattern" in schema:  # the only one is that of a date
            day, month = self.rng.randint(1, 28), self.rng.randint(1, 12)
            return f'"{self.rng.randint(1900, 2099)}-{month:02}-{day:02}"'
        words = self.rng.choices(_WORDS, k=self.rng.randint(1, 6))
        return json.dumps(" ".join(words), ensure_ascii=self.rng.random() < 0.3)

    def _object(self, schema: Schema, depth: int) -> None:
        names = [
            name
            for name in schema["properties"]
            if name in schema["required"] or self.rng.random() < 0.6
        ]
        if self.shuffles:
            self.rng.shuffle(names)
        self.put("{")
        for number, name in enumerate(names):
            self._next(number, depth)
            self.put(json.dumps(name) + self.colon)
            self.value(schema["properties"][name], depth + 1)
        self._end(bool(names), depth)
        self.put("}")

    def _array(self, schema: Schema, depth: int) -> None:
        least, most = schema["minItems"], schema["maxItems"]
        count = least if depth > MOST_DEPTH else self.rng.randint(least, most)
        self.put("[")
        for number in range(count):
            self._next(number, depth)
            self.value(schema["items"], depth + 1)
        self._end(bool(count), depth)
        self.put("]")

    def _next(self, number: int, depth: int) -> None:
        self.put(self.comma.rstrip() if self.indent and number else self.comma if number else "")
        self.put("\n" + self.indent * (depth + 1) if self.indent else "")

    def _end(self, any_member: bool, depth: int) -> None:
        self.put("\n" + self.indent * depth if self.indent and any_member else "")


def worded(schema: Schema, rng: random.Random, most_chars: int = 0) -> Document:
    """A document of the schema in new words: other values, other white space, keys in another order.
    With `most_chars`, the first of ten that is no longer, or the shortest of them."""
    found: list[Document] = []
    for _ in range(10 if most_chars else 1):
        writer = _Writer(schema, rng, *rng.choice(_GAPS), rng.random() < 0.5)
        writer.value(schema, 0)
        found.append(Document("".join(writer.out), tuple(writer.places)))
        if len(found[-1].text) <= most_chars:
            return found[-1]
    return min(found, key=lambda made: len(made.text))
