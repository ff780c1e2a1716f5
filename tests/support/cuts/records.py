"""Made tables, logs and settings."""

from __future__ import annotations

import random
from typing import Any

from support.cuts.words import ACTIONS, CITIES, NAMES, NOUNS, sentence


def value(rng: random.Random, depth: int) -> Any:
    """Something that JSON can say."""
    shape = rng.randrange(3 if depth == 0 else 12)
    if depth < 4 and shape in {0, 2}:
        keys = rng.sample(NOUNS, rng.randrange(3, 9))
        return {
            f"{key}{rng.choice(('', '_id', 'Name', '-ref'))}": value(rng, depth + 1) for key in keys
        }
    if depth < 4 and shape == 1:
        return [value(rng, depth + 1) for _ in range(rng.randrange(2, 7))]
    if depth < 4 and shape == 3:
        return [
            {
                "id": n,
                "name": rng.choice(NAMES),
                "city": rng.choice(CITIES),
                "ok": rng.random() < 0.5,
            }
            for n in range(rng.randrange(2, 6))
        ]
    return rng.choice(
        (
            rng.randrange(100_000), round(rng.random() * 100, 3), True, None, sentence(rng), rng.choice(NAMES),
            f"{rng.getrandbits(64):016x}", f"20{rng.randrange(10, 30)}-0{rng.randrange(1, 10)}-11T08:{rng.randrange(10, 60)}:00Z",
            "", [], f"https://example.com/{rng.choice(NOUNS)}?{rng.choice(NOUNS)}={rng.randrange(99)}",
        )
    )  # fmt: skip


def toml(rng: random.Random) -> str:
    """A settings file."""
    lines = []
    for section in rng.sample(NOUNS, rng.randrange(2, 6)):
        lines.append(f"[{section}.{rng.choice(ACTIONS)}]")
        for key in rng.sample(NOUNS, rng.randrange(2, 7)):
            simple = rng.choice(
                (
                    rng.randrange(9999),
                    f'"{sentence(rng)}"',
                    "true",
                    f'["{key}", "{rng.choice(NOUNS)}"]',
                )
            )
            lines.append(
                f"{key}_{rng.choice(ACTIONS)} = {simple}  # {sentence(rng).lower()}"
                if rng.random() < 0.3
                else f"{key} = {simple}"
            )
        lines.append("")
    return "\n".join(lines)


def _rows(rng: random.Random) -> list[list[str]]:
    columns = rng.randrange(3, 7)
    kinds = rng.sample(range(6), columns)
    rows = [[rng.choice(NOUNS).title() for _ in range(columns)]]
    for number in range(rng.randrange(4, 40)):
        cells = (
            str(number + 1), rng.choice(NAMES), f"{rng.random() * 1000:.2f}", rng.choice(CITIES),
            rng.choice(("yes", "no", "n/a")), f"{rng.choice(ACTIONS)} {rng.choice(NOUNS)}",
        )  # fmt: skip
        rows.append([cells[kind] for kind in kinds])
    return rows


def markdown_table(rng: random.Random) -> str:
    """With a rule below its head."""
    rows = _rows(rng)
    rule = [rng.choice(("---", ":---", "---:"))] * len(rows[0])
    return "\n".join("| " + " | ".join(row) + " |" for row in [rows[0], rule, *rows[1:]])


def _padded(rng: random.Random) -> str:
    rows = _rows(rng)
    widths = [max(len(row[at]) for row in rows) + 2 for at in range(len(rows[0]))]
    lines = [
        "".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    lines.insert(1, "  ".join("-" * (width - 2) for width in widths))
    return "\n".join(lines) + "\n"


def _separated(rng: random.Random) -> str:
    sign = rng.choice((",", ";", "\t"))
    return "\n".join(sign.join(row) for row in _rows(rng)) + "\n"


def _html(rng: random.Random) -> str:
    rows = ("".join(f"\n    <td>{cell}</td>" for cell in row) for row in _rows(rng))
    return "<table>\n" + "\n".join(f"  <tr>{cells}\n  </tr>" for cells in rows) + "\n</table>\n"


def _boxed(rng: random.Random) -> str:
    rows = _rows(rng)
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    lines = [
        "| " + " | ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule]) + "\n"


TABLES = (lambda rng: markdown_table(rng) + "\n", _padded, _separated, _html, _boxed)


def _clock(rng: random.Random, second: int) -> str:
    second += rng.randrange(3)
    return f"{8 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


def _application(rng: random.Random) -> str:
    lines = []
    for n in range(rng.randrange(10, 50)):
        level = rng.choice(("INFO", "INFO", "DEBUG", "WARNING", "ERROR"))
        says = rng.choice(
            (
                sentence(rng),
                f"{rng.choice(ACTIONS)} {rng.choice(NOUNS)} id={rng.randrange(10_000)} took {rng.random():.3f}s",
            )
        )
        lines.append(
            f"2026-03-{1 + n % 28:02} {_clock(rng, n * 2)},{rng.randrange(1000):03} {level:8} app.{rng.choice(NOUNS)}: {says}"
        )
        if level == "ERROR":
            lines += ["Traceback (most recent call last):", f'  File "/srv/app/{rng.choice(NOUNS)}.py", line {rng.randrange(400)}, in {rng.choice(ACTIONS)}',
                      f"    {rng.choice(NOUNS)} = self.{rng.choice(ACTIONS)}()", f"KeyError: '{rng.choice(NOUNS)}'"]  # fmt: skip
    return "\n".join(lines) + "\n"


def _access(rng: random.Random) -> str:
    return "".join(
        f'10.0.{rng.randrange(4)}.{rng.randrange(255)} - - [12/Jun/2026:{_clock(rng, n)} +0000] "{rng.choice(("GET", "GET", "POST"))} /{rng.choice(NOUNS)}/{rng.randrange(50)} HTTP/1.1"'
        f' {rng.choice((200, 200, 200, 304, 404, 500))} {rng.randrange(9000)} "-" "{rng.choice(("curl/8.5.0", "Mozilla/5.0 (X11; Linux x86_64)"))}"\n'
        for n in range(rng.randrange(8, 40))
    )


def _system(rng: random.Random) -> str:
    host = rng.choice(CITIES).lower()
    return "".join(
        f"Jun {n % 28 + 1:2} {_clock(rng, n * 7)} {host} {rng.choice(('sshd', 'cron', 'kernel', 'systemd'))}[{rng.randrange(30_000)}]: "
        + rng.choice((sentence(rng), f"Accepted publickey for {rng.choice(NAMES).lower()} from 192.168.1.{rng.randrange(255)} port {rng.randrange(65_535)}",
                      f"Started {rng.choice(NOUNS)}.service - {rng.choice(NOUNS).title()} {rng.choice(ACTIONS)}er."))
        + "\n"
        for n in range(rng.randrange(8, 50))
    )  # fmt: skip


def _objects(rng: random.Random) -> str:
    return "".join(
        f'{{"ts":{1_760_000_000 + n * 3},"level":"{rng.choice(("info", "warn"))}","msg":"{rng.choice(ACTIONS)} {rng.choice(NOUNS)}","{rng.choice(NOUNS)}":{rng.randrange(999)}}}\n'
        for n in range(rng.randrange(8, 50))
    )


def _build(rng: random.Random) -> str:
    total = rng.randrange(9, 60)
    lines = []
    for n in range(1, total):
        name = rng.choice(NOUNS)
        lines.append(
            f"[{n:>2}/{total}] Building C object src/{name}/CMakeFiles/{name}.dir/{rng.choice(ACTIONS)}.c.o"
        )
        if rng.random() < 0.2:
            lines += [f"src/{name}.c:{rng.randrange(900)}:{rng.randrange(80)}: warning: unused variable '{rng.choice(NOUNS)}' [-Wunused-variable]",
                      f"  {rng.randrange(900)} |     int {rng.choice(NOUNS)};", "      |         ^~~~~"]  # fmt: skip
    return "\n".join(lines) + "\n"


def _tests(rng: random.Random) -> str:
    lines = ["=" * 24 + " test session starts " + "=" * 25, "collected 48 items", ""]
    for n in range(rng.randrange(8, 40)):
        result = rng.choice(("PASSED", "PASSED", "PASSED", "FAILED", "SKIPPED"))
        lines.append(
            f"tests/test_{rng.choice(NOUNS)}.py::test_{rng.choice(ACTIONS)}_{rng.choice(NOUNS)} {result} [{n * 2:>3}%]"
        )
    return "\n".join(lines) + "\n"


LOGS = (_application, _access, _system, _objects, _build, _tests)
