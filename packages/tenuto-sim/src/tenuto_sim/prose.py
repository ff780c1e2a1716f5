"""The simulator's content: texts, documents and arguments, derived from the prompt alone.

Every sentence has a number and a key of its own, so that a lost, doubled or moved passage shows.
Nothing is random: the same prompt gives the same answer on every machine, so a test can compute the
answer without a server.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_SUBJECTS = (
    "the harbour clerk", "an elderly botanist", "the night porter", "a visiting surveyor",
    "the third violinist", "a patient locksmith", "the ferry captain", "an apprentice baker",
    "the village archivist", "a travelling optician", "the lighthouse keeper", "a retired judge",
)  # fmt: skip
_VERBS = (
    "counted", "repaired", "catalogued", "borrowed", "measured", "painted",
    "returned", "weighed", "polished", "delivered", "sketched", "misplaced",
)  # fmt: skip
_OBJECTS = (
    "copper kettles", "paper lanterns", "walnut drawers", "glass marbles", "woollen blankets",
    "brass hinges", "silver thimbles", "clay saucers", "linen sails", "ivory combs",
    "cedar planks", "amber beads",
)  # fmt: skip
_CJK_SUBJECTS = (
    "港口的职员",
    "年老的植物学家",
    "夜班门房",
    "来访的测量员",
    "灯塔看守人",
    "退休的法官",
)
_CJK_OBJECTS = ("铜壶🫖", "纸灯笼🏮", "胡桃木抽屉", "玻璃弹珠🔮", "羊毛毯子", "黏土碟子🍵")
_SENTENCES = 10

BEGINNINGS = ("Point 1: ", "第1点：")
"""How a text begins (`prose`, `cjk_prose`)."""


def _seed(*parts: str) -> int:
    said = "\0".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(said).digest()[:12], "big")


def key_of(*parts: str, length: int = 24) -> str:
    """Return a short lower-case key that depends only on the parts.

    >>> key_of("a", "b") == key_of("a", "b") != key_of("a", "c")
    True
    """
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:length]


def prose(prompt: str, sentences: int = _SENTENCES) -> str:
    """Return numbered sentences in paragraphs of three, about 60 characters each.

    >>> prose("hello").count("Point ")
    10
    >>> prose("hello") == prose("hello") != prose("goodbye")
    True
    """
    seed = _seed("prose", prompt)
    out: list[str] = []
    for number in range(1, sentences + 1):
        seed, subject = divmod(seed, len(_SUBJECTS))
        seed, verb = divmod(seed, len(_VERBS))
        seed, object_ = divmod(seed, len(_OBJECTS))
        count = 11 + 7 * number + _seed(prompt, str(number)) % 7
        out.append(
            f"Point {number}: {_SUBJECTS[subject]} {_VERBS[verb]} {count} {_OBJECTS[object_]}."
        )
        seed = seed or _seed("more", prompt, str(number))
    paragraphs = [" ".join(out[i : i + 3]) for i in range(0, len(out), 3)]
    return "\n\n".join(paragraphs)


def cjk_prose(prompt: str) -> str:
    """Return an answer in Chinese with emoji, where nearly every character has several bytes.

    >>> len(cjk_prose("x").encode()) > 2 * len(cjk_prose("x"))
    True
    """
    seed = _seed("cjk", prompt)
    out = []
    for number in range(1, 16):
        seed, subject = divmod(seed, len(_CJK_SUBJECTS))
        seed, object_ = divmod(seed, len(_CJK_OBJECTS))
        count = 11 + 7 * number + _seed(prompt, str(number)) % 7
        out.append(
            f"第{number}点：{_CJK_SUBJECTS[subject]}清点了{count}个{_CJK_OBJECTS[object_]}。"
        )
    return "\n".join("".join(out[i : i + 5]) for i in range(0, len(out), 5))


def preface(prompt: str) -> str:
    """Return the sentence before a tool call.

    >>> preface("x").endswith(".")
    True
    """
    return f"I shall write the notes down first, under the key {key_of('preface', prompt)[:8]}."


def reasoning(prompt: str) -> str:
    """Return a chain of thought that contains no passage of the answer.

    >>> "Point" in reasoning("x")
    False
    """
    return " ".join(
        f"Thought {number}: weigh option {key_of('thought', prompt, str(number))[:6]} first."
        for number in range(1, 7)
    )


def document(prompt: str, schema: Mapping[str, Any] | None = None) -> Any:
    """Return the value of a structured answer, in the shape of `schema` if there is one.

    >>> document("x", {"type": "object", "properties": {"n": {"type": "integer"}}})["n"] > 0
    True
    >>> sorted(document("x"))
    ['items', 'title']
    """
    if isinstance(schema, Mapping):
        return from_schema(schema, prompt)
    sentences = prose(prompt).replace("\n\n", " ").split(". ")
    return {
        "title": f"Notes {key_of(prompt)[:8]}",
        "items": [
            {"number": number, "text": text} for number, text in enumerate(sentences, start=1)
        ],
    }


def arguments(prompt: str, index: int = 0, schema: Mapping[str, Any] | None = None) -> str:
    """Return the whole JSON arguments of the call with this index.

    They hold `path` and `content` (about 300 characters), or what the tool's schema asks for if it
    has other properties.

    >>> sorted(json.loads(arguments("x")))
    ['content', 'path']
    """
    properties = (schema or {}).get("properties")
    usual = not isinstance(properties, Mapping) or {"path", "content"} <= {*properties}
    if properties and not usual:
        return json.dumps(from_schema(schema or {}, f"{prompt}/{index}"), ensure_ascii=False)
    text = prose(f"{prompt}/{index}", sentences=5)
    return json.dumps(
        {
            "path": f"notes/{key_of(prompt, str(index))[:8]}.txt",
            # Quotes, a backslash, braces and a non-ASCII letter break naive repairs.
            "content": f'"Résumé {index}" {{\\}}\n{text}',
        },
        ensure_ascii=False,
    )


def from_schema(
    schema: Mapping[str, Any], seed: str, root: Mapping[str, Any] | None = None, depth: int = 0
) -> Any:
    """Return a value that satisfies the common part of JSON Schema.

    >>> from_schema({"enum": ["a", "b"]}, "x")
    'a'
    """
    root = schema if root is None else root
    if depth > 8 or not isinstance(schema, Mapping):  # it may contain itself, or not be a schema
        return None
    if isinstance(reference := schema.get("$ref"), str):
        target: Any = root
        for part in reference.removeprefix("#/").split("/"):
            target = target.get(part, {}) if isinstance(target, Mapping) else {}
        return from_schema(target, seed, root, depth + 1)
    if isinstance(choices := schema.get("enum"), list) and choices:
        return choices[0]
    if "const" in schema:
        return schema["const"]
    for word in ("anyOf", "oneOf", "allOf"):
        if isinstance(options := schema.get(word), list) and options:
            return from_schema(options[0], seed, root, depth + 1)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0] if kind else None
    if kind == "object" or (kind is None and "properties" in schema):
        properties = schema.get("properties")
        return {
            name: from_schema(part, f"{seed}.{name}", root, depth + 1)
            for name, part in (properties.items() if isinstance(properties, Mapping) else ())
        }
    if kind == "array":
        return [
            from_schema(schema.get("items", {}), f"{seed}[{i}]", root, depth + 1) for i in range(2)
        ]
    scalars: dict[Any, Any] = {
        "integer": 1 + _seed(seed) % 900,
        "number": (1 + _seed(seed) % 900) / 4,
        "boolean": _seed(seed) % 2 == 0,
        "null": None,
    }
    known = isinstance(kind, str) and kind in scalars
    return scalars[kind] if known else prose(seed, sentences=2)
