"""Documents of the small real model, cut by a limit that is too small, and four ways to finish them.

    python -m checks.documents.real [--documents 60] [--ways again,continue,plain,tenuto] [--seconds 480]

`plain` is one request with a sufficient limit, `again` asks a cut document again whole, with the schema
and a larger limit, `continue` asks for the rest without the schema, `tenuto` is the wrapped SDK. The
first three are plain HTTP. Each document is judged by `jsonschema` alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any, Final

from checks.documents.checking import valid

SHARES: Final = (0.45, 0.6, 0.75, 0.9)
"""How much of a document the limit lets come."""
ENOUGH_TOKENS: Final = 260
CONTINUATIONS: Final = 3
HINT: Final = (
    "[Your previous message is the beginning of one JSON document, cut off by the output limit. "
    "Continue the document exactly where it stopped, beginning with the very next character, until "
    "it is complete. Write nothing but the rest of the document.]"
)


def _text(most: int = 24) -> dict[str, Any]:
    return {"type": "string", "minLength": 3, "maxLength": most}


def _object(**properties: Any) -> dict[str, Any]:
    closed = {"required": list(properties), "additionalProperties": False}
    return {"type": "object", "properties": properties, **closed}


def _list(items: dict[str, Any], least: int, most: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


_NUMBER: Final = {"type": "integer", "minimum": 0, "maximum": 9999}
SCHEMAS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "book": (
        "a book about {}",
        _object(
            title=_text(), author=_text(), genre={"enum": ["novel", "poetry", "science", "history"]},
            tags=_list(_text(12), 2, 3), pages=_NUMBER,
        ),
    ),
    "order": (
        "an order of goods for {}",
        _object(
            customer=_object(name=_text(), city=_text(16)),
            items=_list(_object(name=_text(16), quantity=_NUMBER), 2, 3),
            status={"enum": ["open", "paid", "shipped"]},
        ),
    ),
    "shape": (
        "a piece of furniture for {}",
        _object(
            name=_text(),
            size={"anyOf": [_object(kind={"const": "round"}, diameter=_NUMBER),
                            _object(kind={"const": "square"}, width=_NUMBER, depth=_NUMBER)]},
            note=_text(40), in_stock={"type": "boolean"},
        ),
    ),
    "places": (
        "three places for {}",
        _object(
            places=_list(_object(name=_text(16), country=_text(16), visitors=_NUMBER), 3, 3),
            best=_text(16),
        ),
    ),
}  # fmt: skip
"""Schemas whose documents have at most 200 tokens, and what is asked for."""
SUBJECTS: Final = (
    *("the sea", "a farm", "winter", "music", "a school", "trains", "bread", "the moon"),
    *("gardens", "a castle", "birds", "travel", "glass", "a market", "rivers"),
)


class Model:
    """The model by plain HTTP. It counts requests and tokens."""

    def __init__(self, base_url: str) -> None:
        self._url = f"{base_url}/chat/completions"
        self.requests = self.tokens = self.prompt_tokens = 0

    def ask(
        self, rows: list[dict[str, str]], limit: int, schema: dict[str, Any] | None, seed: int
    ) -> tuple[str, bool]:
        """Return the text, and whether the limit cut it."""
        body: dict[str, Any] = {"model": "m", "messages": rows, "max_tokens": limit}
        body |= {"temperature": 0.6, "seed": seed}
        if schema is not None:
            body["response_format"] = response_format(schema)
        request = urllib.request.Request(
            self._url, json.dumps(body).encode(), {"content-type": "application/json"}
        )
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
            request, timeout=120
        ) as told:
            answer = json.load(told)
        self.requests += 1
        self.tokens += answer["usage"]["completion_tokens"]
        self.prompt_tokens += answer["usage"]["prompt_tokens"]
        choice = answer["choices"][0]
        return choice["message"]["content"] or "", choice["finish_reason"] == "length"


def response_format(schema: dict[str, Any]) -> dict[str, Any]:
    """Return how Chat asks for a document."""
    named = {"name": "document", "strict": True, "schema": schema}
    return {"type": "json_schema", "json_schema": named}


def again(model: Model, rows: Any, schema: Any, limit: int, seed: int) -> tuple[str, bool]:
    """Ask again whole, with the schema and all that is left of four times the limit."""
    text, cut = model.ask(rows, limit, schema, seed)
    return model.ask(rows, 3 * limit, schema, seed + 1) if cut else (text, cut)


def go_on(model: Model, rows: Any, schema: Any, limit: int, seed: int) -> tuple[str, bool]:
    """Ask for the rest without the schema, until nothing cuts or four times the limit is used."""
    text, cut = model.ask(rows, limit, schema, seed)
    left = 3 * limit
    for number in range(CONTINUATIONS):
        if not cut or left < 1:
            break
        asked = [*rows, {"role": "assistant", "content": text}, {"role": "user", "content": HINT}]
        before = model.tokens
        more, cut = model.ask(asked, min(left, 2 * limit), None, seed + 1 + number)
        left -= model.tokens - before
        text = more if not cut and valid(more, schema) else text + more
    return text, cut


Made = tuple[str, bool, int, int, int]
"""A text, whether it is told complete, and the requests, output tokens and input tokens it took."""


def _direct(
    ladder: Callable[[Model, Any, Any, int, int], tuple[str, bool]],
) -> Callable[[str, Any, Any, int, int], Made]:
    def made(base_url: str, rows: Any, schema: Any, limit: int, seed: int) -> Made:
        model = Model(base_url)
        text, cut = ladder(model, rows, schema, limit, seed)
        return text, not cut, model.requests, model.tokens, model.prompt_tokens

    return made


def _plain(model: Model, rows: Any, schema: Any, limit: int, seed: int) -> tuple[str, bool]:
    return model.ask(rows, max(limit, ENOUGH_TOKENS), schema, seed)


def _wrapped(base_url: str, rows: Any, schema: Any, limit: int, seed: int) -> Made:
    """Ask through the wrapped SDK. The turn's last event says what its requests were billed."""
    import openai

    import tenuto

    told: list[dict[str, Any]] = []
    client = tenuto.wrap(
        openai.OpenAI(base_url=base_url, api_key="none", timeout=120),
        on_event=lambda event: told.append(event.data) if event.name == "turn_ended" else None,
    )
    with client:
        given: dict[str, Any] = {"model": "m", "messages": rows, "max_tokens": limit, "seed": seed}
        given |= {"temperature": 0.6, "response_format": response_format(schema)}
        got: Any = client.chat.completions.create(**given)
    choice, turn = got.choices[0], told[-1]
    tokens = [sum(u[key] for u in turn["usage"]) for key in ("output_tokens", "input_tokens")]
    return choice.message.content or "", choice.finish_reason == "stop", turn["attempts"], *tokens


WAYS: Final[dict[str, Callable[[str, Any, Any, int, int], Made]]] = {
    "plain": _direct(_plain),
    "again": _direct(again),
    "continue": _direct(go_on),
    "tenuto": _wrapped,
}


def play(base_url: str, count: int, ways: list[str], seconds: float, *, quiet: bool) -> Any:
    """Play every way with each document, and count. The limit is a share of what the first took."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    began, told = time.monotonic(), 0.0
    for number in range(count):
        if time.monotonic() - began > seconds:
            print(f"Stopped after {number} documents: {seconds:g} s are over.", file=sys.stderr)
            break
        which, turn = number % len(SCHEMAS), number // len(SCHEMAS)
        wanted, schema = [*SCHEMAS.values()][which]
        prompt = f"Write JSON that describes {wanted.format(SUBJECTS[turn % len(SUBJECTS)])}."
        asked = [{"role": "user", "content": prompt}], schema
        seed, limit = 1_000 * (number + 1), 0
        for way in ("plain", *(way for way in ways if way != "plain")):
            began_way = time.monotonic()
            text, complete, requests, tokens, input_tokens = WAYS[way](
                base_url, *asked, limit, seed
            )
            limit = limit or max(20, int(tokens * SHARES[turn % len(SHARES)]))
            fits = valid(text, schema)
            found[way] += Counter(
                documents=1, valid=fits and complete, invalid_told_complete=complete and not fits,
                valid_told_unfinished=fits and not complete, requests=requests, tokens=tokens,
                input_tokens=input_tokens, milliseconds=round(1e3 * (time.monotonic() - began_way)),
            )  # fmt: skip
        if not quiet and time.monotonic() - told > 10:
            told = time.monotonic()
            so_far = {way: f"{c['valid']}/{c['documents']}" for way, c in found.items()}
            print(f"{told - began:4.0f} s  {number + 1} documents, valid {so_far}", flush=True)
    return {"seconds": round(time.monotonic() - began), "ways": found}


def table(figures: Any) -> str:
    """Return the figures for a person."""
    head = (
        f"{'':10}{'documents':>10}{'valid':>7}{'invalid told complete':>23}"
        f"{'requests':>10}{'tokens':>8}{'input':>8}{'seconds':>9}"
    )
    lines = [head]
    for way, c in figures["ways"].items():
        n = c["documents"]
        lines.append(
            f"{way:10}{n:>10}{c['valid']:>7}{c['invalid_told_complete']:>23}"
            f"{c['requests'] / n:>10.2f}{c['tokens'] / n:>8.0f}{c['input_tokens'] / n:>8.0f}"
            f"{c['milliseconds'] / n / 1e3:>9.2f}"
        )
    return "\n".join([*lines, "Requests, tokens and seconds are means for one document."])


def main() -> int:
    """Start the model, play, print."""
    from tenuto.cli.model_server import ModelServer, missing_wheels

    parser = argparse.ArgumentParser(prog="make documents REAL=1", description=__doc__)
    parser.add_argument("--documents", type=int, default=60)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--seconds", type=float, default=480.0, help="no document begins later")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    asked = parser.parse_args()
    if missing := missing_wheels():
        print(f"The small model is not installed ({', '.join(missing)}); try: make model")
        return 1
    with ModelServer(prefill=False) as server:
        ways = asked.ways.split(",")
        figures = play(server.base_url, asked.documents, ways, asked.seconds, quiet=asked.json)
    print(json.dumps(figures) if asked.json else table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
