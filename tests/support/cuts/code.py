"""Made source code in several languages."""

from __future__ import annotations

import random

from support.cuts.words import ACTIONS, NOUNS, sentence


def snippet(rng: random.Random) -> tuple[str, str]:
    """(Info string of a code fence, some functions in that language)."""
    info, made = rng.choice(_LANGUAGES)
    return info, "\n".join(made(rng) for _ in range(rng.randrange(1, 6)))


def _python(rng: random.Random) -> str:
    act, one, two = rng.choice(ACTIONS), rng.choice(NOUNS), rng.choice(NOUNS)
    lines = [
        f"def {act}_{one}({two}: str, limit: int = {rng.randrange(1, 900)}) -> list[{one.title()}]:"
    ]
    lines.append(f'    """{sentence(rng)}"""')
    for _ in range(rng.randrange(2, 9)):
        name, other, verb = rng.choice(NOUNS), rng.choice(NOUNS), rng.choice(ACTIONS)
        lines += rng.choice(
            (
                [f"    {name}s = [{verb}({other}) for {other} in {two}.{other}s if {other}.{name} > {rng.random():.2f}]"],
                [f"    if not {name}:", f'        raise ValueError(f"no {name} for {{{two}!r}}")'],
                [f"    with {verb}_{name}({two}) as {name}:", f"        {name}.{verb}()", "        yield"],
                [f"    for {other} in {verb}_{name}s({two}):", "        try:", f"            {other}.{verb}(limit)",
                 "        except KeyError:", f"            log.warning('{verb} failed: %s', {other})", "            continue"],
                [f"    self._{name} = {name} or {{}}  # {sentence(rng).lower()[:40]}"],
                [f"    assert {name} == {rng.randrange(100)}, {verb}({name})"],
            )
        )  # fmt: skip
    return "\n".join([*lines, f"    return {one}s", ""])


def _javascript(rng: random.Random) -> str:
    act, one = rng.choice(ACTIONS), rng.choice(NOUNS)
    lines = [
        f"export async function {act}{one.title()}({one}, {{ retries = {rng.randrange(9)} }} = {{}}) {{"
    ]
    for _ in range(rng.randrange(2, 8)):
        name, verb = rng.choice(NOUNS), rng.choice(ACTIONS)
        lines += rng.choice(
            (
                [f"  const {name} = await {verb}({one}.{name}Id);"],
                [
                    f"  if (!{name}) {{",
                    f"    throw new Error(`missing {name}: ${{{one}.id}}`);",
                    "  }",
                ],
                [
                    f"  {name}s.forEach(({name}, index) => {{",
                    f"    {one}[index] = {verb}({name});",
                    "  });",
                ],
                [
                    f"  // {sentence(rng)}",
                    f"  return {name}.map((x) => x.{verb}()).filter(Boolean);",
                ],
            )
        )
    return "\n".join([*lines, "}", ""])


def _sql(rng: random.Random) -> str:
    one, two = rng.sample(NOUNS, 2)
    columns = ",\n       ".join(
        f"{one[0]}.{name}" for name in rng.sample(NOUNS, rng.randrange(2, 6))
    )
    return (
        f"SELECT {columns},\n       COUNT(*) AS {two}s\nFROM {one}s AS {one[0]}\nLEFT JOIN {two}s AS b\n"
        f"    ON b.{one}_id = {one[0]}.id\nWHERE {one[0]}.created_at >= '{rng.randrange(1990, 2027)}-01-01'\n"
        f"  AND b.state IN ('open', '{rng.choice(ACTIONS)}ed')\nGROUP BY 1\nORDER BY {two}s DESC\nLIMIT {rng.randrange(500)};\n"
    )


def _c(rng: random.Random) -> str:
    act, one = rng.choice(ACTIONS), rng.choice(NOUNS)
    body = "".join(
        rng.choice(
            (
                f"\tif ({name}->len >= {rng.randrange(4096)})\n\t\treturn -EINVAL;\n",
                f"\tmemcpy({name}, src + {rng.randrange(64)}, sizeof(*{name}));\n",
                f"\tfor (i = 0; i < n_{name}; i++) {{\n\t\t{name}[i] = {rng.choice(ACTIONS)}(i, {one});\n\t}}\n",
                f"\t/* {sentence(rng)} */\n\t{name} = NULL;\n",
            )
        )
        for name in rng.sample(NOUNS, rng.randrange(2, 7))
    )
    return f"static int {act}_{one}(struct {one} *{one}, size_t n)\n{{\n\tint i;\n\n{body}\treturn 0;\n}}\n"


def _shell(rng: random.Random) -> str:
    lines = ["#!/bin/sh", "set -eu", ""]
    for _ in range(rng.randrange(3, 10)):
        name, verb = rng.choice(NOUNS), rng.choice(ACTIONS)
        lines.append(
            rng.choice(
                (
                    f'{name.upper()}="${{{name.upper()}:-{rng.randrange(9999)}}}"',
                    f'if [ ! -d "$HOME/.{name}" ]; then\n  mkdir -p "$HOME/.{name}"\nfi',
                    f"curl -fsSL https://example.org/{name}.tar.gz | tar xz -C /opt/{verb}",
                    f'for f in *.{name}; do\n  {verb} "$f" > "${{f%.{name}}}.out"\ndone',
                    f"echo '{sentence(rng)}' >&2",
                )
            )
        )
    return "\n".join([*lines, ""])


def _html(rng: random.Random) -> str:
    items = "\n".join(
        f'      <li class="{name}-item"><a href="/{name}/{rng.randrange(99)}">{sentence(rng)}</a></li>'
        for name in rng.sample(NOUNS, rng.randrange(3, 8))
    )
    return f'<section id="{rng.choice(NOUNS)}">\n  <h2>{sentence(rng)}</h2>\n  <div>\n    <ul>\n{items}\n    </ul>\n  </div>\n</section>\n'


_LANGUAGES = (
    ("python", _python),
    ("py", _python),
    ("javascript", _javascript),
    ("ts", _javascript),
    ("sql", _sql),
    ("c", _c),
    ("c++", _c),
    ("bash", _shell),
    ("html", _html),
    ("", _python),
    ('js title="main.js"', _javascript),
    ("rust,ignore", _c),
)
