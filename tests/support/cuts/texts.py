"""Texts of eight kinds to be cut: made ones, and real ones that are at hand wherever Python is.

The made ones are the same everywhere (`Texts(rng, real=False)`), so a test that uses them gives the
same result on every machine; the real ones change with the Python and the packages installed.
"""

from __future__ import annotations

import json
import random
import sysconfig
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path

from support.cuts import code, records
from support.cuts.east_asian import CHINESE, HEADINGS, JAPANESE
from support.cuts.words import NAMES, NOUNS, paragraph, sentence

KINDS = ("prose", "code", "JSON, TOML", "Markdown", "tables", "logs", "Chinese", "Japanese")
TEXT_CHARS = 6_000
"""A text is at most this long."""

_LEAST_CHARS = 600


class Texts:
    """Gives texts of a kind, each time another.

    Args:
        rng: decides all.
        real: whether texts of this machine are among them.
    """

    def __init__(self, rng: random.Random, *, real: bool) -> None:
        self._rng = rng
        self._files = _at_hand() if real else {}

    def text(self, kind: str) -> str:
        """A text of 600 to 6,000 characters that ends in a line break or a character."""
        files = self._files.get(kind)
        text = self._excerpt(self._rng.choice(files)) if files and self._rng.random() < 0.5 else ""
        least = _LEAST_CHARS if text else self._rng.randrange(_LEAST_CHARS, TEXT_CHARS)
        while len(text) < least:
            text += ("\n" if text else "") + _MADE[kind](self._rng)
        return text[:TEXT_CHARS]

    def _excerpt(self, path: Path) -> str:
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return ""
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufeff", "")
        text = text.replace("\x0c", "").replace("\ufffd", "")
        begin = text.rfind("\n", 0, self._rng.randrange(max(1, len(text) - TEXT_CHARS))) + 1
        return text[begin : begin + TEXT_CHARS]


def _at_hand() -> dict[str, list[Path]]:
    """Real texts: the standard library and what is installed beside. None of this project: each
    change of it would give other texts, and other figures of the same code."""
    library = Path(sysconfig.get_paths()["stdlib"])
    include = Path(sysconfig.get_paths()["include"])
    beside = [Path(str(found.locate_file(""))) for found in distributions()]
    packages = sorted({path for path in beside if path.is_dir()})

    def each(pattern: str, *roots: Path) -> list[Path]:
        return sorted({found for root in roots for found in root.glob(pattern)})

    return {
        "prose": [
            library / "LICENSE.txt",
            library / "pydoc_data" / "topics.py",
            *each("*.dist-info/**/LICENSE*", *packages),
            *each("*.dist-info/METADATA", *packages),
        ],
        "code": [
            *each("*.py", library),
            *each("*/*.py", library / "email", library / "http", library / "json"),
            *each("asyncio/*.py", library),
            *each("*.h", include),
            *each("cpython/*.h", include),
        ],
        "JSON, TOML": [
            *each("jsonschema_specifications/schemas/**/*.json", *packages),
            *each("*.dist-info/sboms/*.json", *packages),
            *each("**/*.toml", *packages),
        ],
        "Markdown": [*each("*.dist-info/**/*.md", *packages)],
        "tables": [
            *each("encodings/cp*.py", library),
            library / "html" / "entities.py",
            *each("*.dist-info/RECORD", *packages),
            Path("/etc/services"),
        ],
        "Chinese": [*each("test/cjkencodings/[bg]*-utf8.txt", library)],
        "Japanese": [*each("test/cjkencodings/*j*-utf8.txt", library)],
        "logs": [Path("/var/log/dpkg.log"), Path("/var/log/alternatives.log")],
    }


def _prose(rng: random.Random) -> str:
    parts = []
    for _ in range(rng.randrange(2, 9)):
        if rng.random() < 0.1:
            parts.append(f"{rng.choice(('Chapter', 'Part'))} {rng.randrange(1, 30)}")
        elif rng.random() < 0.1:
            speakers = rng.sample(NAMES, 2)
            parts += [f"{rng.choice(speakers).upper()}: {sentence(rng)}" for _ in range(5)]
        else:
            parts.append(paragraph(rng))
    text = "\n\n".join(parts)
    if rng.random() < 0.3:
        text = "\n".join(_wrapped(line, rng.randrange(50, 90)) for line in text.split("\n"))
    return text + "\n"


def _wrapped(line: str, width: int) -> str:
    lines = [""]
    for word in line.split(" "):
        if len(lines[-1]) + len(word) > width:
            lines.append(word)
        else:
            lines[-1] += " " * bool(lines[-1]) + word
    return "\n".join(lines)


def _settings(rng: random.Random) -> str:
    if rng.random() < 0.3:
        return records.toml(rng)
    value = records.value(rng, 0)
    style = rng.randrange(4)
    if style == 0:
        return json.dumps(value, ensure_ascii=False)
    if style == 1:
        return json.dumps(value, indent="\t")
    return json.dumps(value, indent=rng.choice((2, 4)), ensure_ascii=False) + "\n"


def _markdown(rng: random.Random) -> str:
    parts = [f"# {sentence(rng)[:-1]}"]
    for _ in range(rng.randrange(3, 8)):
        parts.append(
            f"{'#' * rng.randrange(2, 4)} {rng.choice(NOUNS).title()}s and {rng.choice(NOUNS)}s"
        )
        for _ in range(rng.randrange(1, 4)):
            shape = rng.randrange(7)
            if shape == 0:
                mark = rng.choice(("- ", "* ", "- [ ] ", "+ "))
                parts.append("\n".join(mark + sentence(rng) for _ in range(rng.randrange(2, 7))))
            elif shape == 1:
                parts.append(
                    "\n".join(
                        f"{n + 1}. **{rng.choice(NOUNS)}**: {sentence(rng)}" for n in range(4)
                    )
                )
            elif shape == 2:
                info, lines = code.snippet(rng)
                parts.append(f"```{info}\n{lines.rstrip()}\n```")
            elif shape == 3:
                parts.append(records.markdown_table(rng))
            elif shape == 4:
                parts.append("> " + paragraph(rng).replace(". ", ".\n> "))
            else:
                noun = rng.choice(NOUNS)
                parts.append(
                    paragraph(rng).replace(" the ", f" [the](https://example.org/{noun}) ", 1)
                )
    return "\n\n".join(parts) + "\n"


def _tables(rng: random.Random) -> str:
    return rng.choice(records.TABLES)(rng)


def _logs(rng: random.Random) -> str:
    return rng.choice(records.LOGS)(rng)


def _east_asian(name: str, sentences: list[str]) -> Callable[[random.Random], str]:
    def made(rng: random.Random) -> str:
        parts = []
        pool = rng.sample(sentences, len(sentences))
        for _ in range(rng.randrange(3, 8)):
            size = rng.randrange(2, 8)
            some, pool = pool[:size], pool[size:]
            shape = rng.randrange(6)
            if shape == 0:
                parts.append(f"## {rng.choice(HEADINGS[name])}")
            elif shape == 1:
                parts.append("\n".join("- " + line for line in some))
            elif shape == 2:
                parts.append("\n".join(f"{n}. {line}" for n, line in enumerate(some, 1)))
            else:
                parts.append("".join(some))
        return "\n\n".join(parts) + "\n"

    return made


_MADE: dict[str, Callable[[random.Random], str]] = {
    "prose": _prose,
    "code": lambda rng: code.snippet(rng)[1],
    "JSON, TOML": _settings,
    "Markdown": _markdown,
    "tables": _tables,
    "logs": _logs,
    "Chinese": _east_asian("chinese", CHINESE),
    "Japanese": _east_asian("japanese", JAPANESE),
}
