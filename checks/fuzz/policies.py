"""Settings from files and the environment: a policy, or a `PolicyError`, and nothing else."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from checks.fuzz.drawing import seed, split, text_of
from tenuto.config import load_policy
from tenuto.core.errors import PolicyError
from tenuto.core.settings.policy import RULES, Policy

KEYS = list(RULES)


def seeds() -> Iterator[bytes]:
    table = "\n".join(f"{key} = {toml(getattr(Policy(), key))}" for key in KEYS)
    yield seed(table.encode(), 0)
    yield seed(b"[tool.tenuto]\n" + table.encode(), 1)
    yield from (seed(b"empty_retries = " + odd) for odd in (b"9" * 4400, b"0x" + b"f" * 4000))
    yield from (seed(b"a = " + b"[" * 1_500, form) for form in (0, 1))
    tables = 'preset = "chat"\n[providers.groq]\nempty_retries = 1\n[models."gpt-*"]\n'
    yield seed(f'{tables}preset = "batch"\n{table}'.encode(), 0)
    for number, word in enumerate(("1", "none", "true", "1e3", "notice", " 7 ", "-1", "nan")):
        yield from (seed(word.encode(), 2, at) for at in range(number, len(KEYS), 8))


def toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, frozenset):
        return repr(sorted(value))
    return "1" if value is None else repr(value)


def check(data: bytes) -> None:
    knobs, payload = split(data)
    form, key = knobs[0] % 3, KEYS[knobs[1] % len(KEYS)]
    with tempfile.TemporaryDirectory(prefix="tenuto-fuzz-") as folder:
        variables: dict[str, str] = {}
        if form == 2:
            variables[f"TENUTO_{key.upper()}"] = text_of(payload)
        else:
            (Path(folder) / ("tenuto.toml", "pyproject.toml")[form]).write_bytes(payload)
        try:
            policy = load_policy(Path(folder), variables)
        except PolicyError:
            return
    for one in (policy, policy.resolved("groq", "gpt-oss")):
        for name, rule in RULES.items():
            assert rule.accepts(getattr(one, name))
