"""What a turn is about, drawn from its key alone: the request, and the answer that is right.

A key is "seed.number.rate". The client and the server both draw from it, so neither tells the other
anything, and a turn can be played again from its key.
"""

from __future__ import annotations

import functools
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WIRES = ("chat", "responses", "messages", "gemini", "converse")
PREFILL, HINT, REFUSES = "claude-sonnet-4-5", "soak-hint", "soak-refuses-prefill"
"""Models: one that goes on with a trailing assistant message, one that is asked with a hint, and one
that is believed to take a prefill and answers 400."""
GEMINI_PREFILL = "gemini-2.5-flash"
CONVERSE_PREFILL = "anthropic.claude-sonnet-4-5-20250929-v1:0"
_MODELS = {
    "messages": (PREFILL, HINT),
    "gemini": (GEMINI_PREFILL, HINT),
    "converse": (CONVERSE_PREFILL, HINT),
}

TOOLS: dict[str, dict[str, Any]] = {
    "write_file": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
    "search": {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query"],
    },
    "list_tasks": {"type": "object", "properties": {"all": {"type": "boolean"}}},
}


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call: its name and its arguments, as the model writes them."""

    name: str
    arguments: str

    @property
    def input(self) -> Any:
        """The arguments as a program reads them."""
        return json.loads(self.arguments or "{}")


@dataclass(frozen=True, slots=True)
class Plan:
    """One turn: what is asked and how, and what the right answer is."""

    key: str
    rate: float
    wire: str
    stream: bool
    task: bool
    on_incomplete: str
    prefill: str
    model: str
    text: str
    calls: tuple[Call, ...]
    document: bool
    tools: bool
    max_tokens: int | None
    usage: bool
    thinks: bool
    history: tuple[tuple[str, Any], ...] = field(default=())

    @property
    def prompt(self) -> str:
        return f"[turn {self.key}] Please answer the question of this turn."


def key_of(seed: int, number: int, rate: int) -> str:
    """The key of a turn; `rate` is in percent."""
    return f"{seed}.{number}.{rate}"


@functools.lru_cache(maxsize=4_096)
def plan_of(key: str) -> Plan:
    """Draw a turn from its key."""
    _, number, rate = (int(part) for part in key.split("."))
    rng = random.Random(key)
    wire = rng.choice(WIRES)
    tools = rng.random() < 0.45
    calls = (
        tuple(_call(rng) for _ in range(rng.choice((1, 1, 1, 2, 3)))) if rng.random() < 0.8 else ()
    )
    document = not tools and wire not in ("messages", "converse") and rng.random() < 0.12
    prefill = "always" if wire == "chat" and rng.random() < 0.3 else "auto"
    known = (PREFILL, PREFILL, REFUSES) if prefill == "always" else _MODELS.get(wire, (HINT,))
    text = _document(rng) if document else text_of(rng)
    if not tools:
        calls = ()
    only_calls = tools and calls and rng.random() < 0.35
    return Plan(
        key=key,
        rate=rate / 100,
        wire=wire,
        stream=rng.random() < 0.6,
        task=number % 2 == 1,
        on_incomplete=rng.choice(("stop", "error")),
        prefill=prefill,
        model=rng.choice(known),
        text="" if only_calls else text,
        calls=calls,
        document=document,
        tools=tools,
        max_tokens=_limit(rng, wire, text, calls),
        usage=rng.random() < 0.7,
        thinks=rng.random() < 0.12,
        history=_history(rng, tools),
    )


def _limit(rng: random.Random, wire: str, text: str, calls: tuple[Call, ...]) -> int | None:
    """What the request allows: enough, nothing said, or somewhat less than the answer needs."""
    drawn = rng.random()
    needed = (len(text) + sum(len(call.arguments) for call in calls)) // 3
    if drawn < 0.04 and needed > 50:
        return max(24, int(needed * rng.uniform(0.5, 0.95)))
    return 4_096 if wire == "messages" or drawn < 0.6 else None


def _history(rng: random.Random, tools: bool) -> tuple[tuple[str, Any], ...]:
    """Rows before the question, in words of our own: who, and what."""
    rows: list[tuple[str, Any]] = []
    if rng.random() < 0.3:
        rows += [("user", _sentences(rng, 1)), ("assistant", _sentences(rng, 2))]
    if tools and rng.random() < 0.4:
        call = _call(rng)
        rows += [("user", "First do this."), ("call", call), ("result", _sentences(rng, 1))]
    return tuple(rows)


def _call(rng: random.Random) -> Call:
    name = rng.choice((*TOOLS, "write_file"))
    given: dict[str, Any]
    if name == "write_file":
        given = {"path": f"src/{_word(rng)}.py", "content": text_of(rng)[: rng.randrange(20, 400)]}
    elif name == "search":
        given = {"query": _sentences(rng, 1)} | (
            {"limit": rng.randrange(1, 50)} if rng.random() < 0.5 else {}
        )
    else:
        given = {"all": True} if rng.random() < 0.4 else {}
    raw = json.dumps(given, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, None, 2)))
    return Call(name, raw)


# Texts

_WORDS = {
    language: words.split()
    for language, words in {
        "en": "the river carries more water than last year and nobody along its banks knows why although"
        " three stations measure rain snow wind pressure each hour some people think that a dam upstream"
        " was opened too early others blame older maps engineers compare every record before they decide"
        " which gate should close first while farmers count their losses in quiet rooms near small towns",
        "de": "der Zug hält heute nicht überall weil zwischen Köln und Düren größere Bäume auf den Gleisen"
        " liegen Reisende müssen früher aufstehen oder später ankommen während Züge über Nebenstrecken"
        " fahren manche Gäste ärgern sich andere lesen ruhig weiter schließlich kommt ein Bus möglichst",
        "fr": "la fenêtre était restée ouverte toute la nuit et le vent avait déplacé les papiers jusqu'à"
        " l'entrée où personne n'osait plus marcher après plusieurs heures quelqu'un décida enfin de ranger"
        " chaque feuille à sa place avant l'arrivée du garçon qui apportait déjà les œufs frais",
        "ru": "весной город просыпается раньше обычного и люди выходят на улицы чтобы увидеть первые цветы"
        " старый мост снова открыт для пешеходов дети бегут к реке где лёд уже почти растаял вечером"
        " музыканты играют возле рынка пока последние торговцы собирают товары домой",
        "el": "ο παλιός φάρος στέκει ακόμη πάνω στον βράχο και φωτίζει τα καράβια που περνούν κάθε νύχτα"
        " οι ψαράδες γυρίζουν νωρίς όταν ο άνεμος δυναμώνει ενώ τα παιδιά μαζεύουν κοχύλια",
    }.items()
}
_EAST = (
    "春天的早晨河水比去年上涨了许多,沿岸的居民不知道原因何在。三个观测站每小时记录降雨和风速,"
    "工程师们比较数据之后决定先关闭北侧的闸门。然而老地图上的标记并不准确,许多农民因此损失了粮食。",
    "会議は午前九時から始まり、参加者は新しい計画について長い時間話し合った。予算は去年より少ないが、"
    "仕事の量は増えている。担当者は資料を配りながら、来月までに結論を出すと約束した。",
    "도서관은 매일 아침 여덟 시에 문을 열고 학생들은 조용히 자리를 찾는다. 오래된 책장 사이로 햇빛이 들어오고"
    " 사서는 반납된 책을 다시 정리한다. 저녁이 되면 마지막 방문자가 불을 끄고 나간다.",
)
_MARKS = ("🙂", "👩‍👩‍👧", "🇩🇪", "é", "ﷺ", "𝛼", "½", "✅", "—", "…")


def text_of(rng: random.Random) -> str:
    """A text with neither white space at its ends nor a passage that repeats on purpose."""
    blocks = [rng.choice(_BLOCKS)(rng) for _ in range(rng.choice((1, 1, 2, 2, 3)))]
    if rng.random() < 0.03:
        blocks += [rng.choice(_BLOCKS)(rng) for _ in range(8)]
    return "\n\n".join(blocks).strip()


def _word(rng: random.Random, language: str = "en") -> str:
    return rng.choice(_WORDS[language])


def _sentences(rng: random.Random, count: int, language: str | None = None) -> str:
    language = language or rng.choice(tuple(_WORDS))
    words = _WORDS[language]
    said = []
    for _ in range(count):
        line = " ".join(rng.choice(words) for _ in range(rng.randrange(4, 16)))
        if rng.random() < 0.12:
            line += " " + rng.choice(_MARKS)
        if rng.random() < 0.15:
            line += f" {rng.randrange(10_000)}"
        said.append(line[0].upper() + line[1:] + rng.choice(("." * 1, ".", "!", "?", ":", " …")))
    return " ".join(said)


def _prose(rng: random.Random) -> str:
    return _sentences(rng, rng.randrange(1, 7))


def _east(rng: random.Random) -> str:
    passage = rng.choice(_EAST)
    clauses = [clause for clause in passage.replace("。", "。\n").split("\n") if clause]
    rng.shuffle(clauses)
    return "".join(clauses) + str(rng.randrange(100_000)) + "。"


def _listing(rng: random.Random) -> str:
    mark = rng.choice(("- ", "* ", "1. ", "  - "))
    return "\n".join(
        (mark if mark != "1. " else f"{n}. ") + _sentences(rng, 1)
        for n in range(1, rng.randrange(3, 7))
    )


def _table(rng: random.Random) -> str:
    rows = [f"| {_word(rng)} | {_word(rng)} | {_word(rng)} |", "| --- | --- | ---: |"]
    rows += [
        f"| {_word(rng)} {_word(rng)} | {rng.randrange(10_000)} | {_word(rng, 'fr')} |"
        for _ in range(rng.randrange(2, 6))
    ]
    return "\n".join(rows)


@functools.cache
def _sources() -> tuple[tuple[str, ...], ...]:
    """Files of the standard library: code that nobody wrote for this."""
    folder = Path(json.__file__).parent
    return tuple(
        tuple(path.read_text(encoding="utf-8").splitlines()) for path in sorted(folder.glob("*.py"))
    )


def _code(rng: random.Random) -> str:
    lines = rng.choice(_sources())
    start = rng.randrange(len(lines))
    taken = lines[start : start + rng.randrange(3, 18)]
    return "\n".join(line for line in taken if "```" not in line).strip("\n") or "pass"


def _fenced(rng: random.Random) -> str:
    return (
        f"{_sentences(rng, 1, 'en')}\n\n```python\n{_code(rng)}\n```\n\n{_sentences(rng, 1, 'en')}"
    )


def _log(rng: random.Random) -> str:
    return "\n".join(
        f"2026-11-23T{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}Z"
        f" {rng.choice(('INFO', 'WARN', 'ERROR'))} {_word(rng)}={rng.randrange(10**6)} {_sentences(rng, 1, 'en')}"
        for _ in range(rng.randrange(2, 6))
    )


def _document(rng: random.Random) -> str:
    made = {
        "title": _sentences(rng, 1),
        "rows": [
            {
                "name": _word(rng),
                "value": rng.randrange(10**6),
                "tags": [_word(rng), _word(rng, "ru")],
            }
            for _ in range(rng.randrange(1, 6))
        ],
        "done": rng.random() < 0.5,
        "note": text_of(rng)[:200],
    }
    return json.dumps(made, ensure_ascii=False, indent=rng.choice((None, 2, 4)))


_BLOCKS = (_prose, _prose, _east, _listing, _table, _code, _fenced, _log, _document)
