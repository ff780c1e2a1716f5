"""docs/policy.md: every setting; what it means stands in the docstring of `Policy` alone."""

from collections.abc import Iterator
from dataclasses import fields

from page import code, sentence, table

from tenuto.cli.docstrings import attributes
from tenuto.core.policy import RULES, Decision, Policy
from tenuto.wires.unsupported import KEYS

HEAD = """\
# Policy

Every limit and switch. One setting has one name: as an argument of `tenuto.Policy`, as a key of
`[tool.tenuto]` in pyproject.toml or of tenuto.toml, and, in capitals after `TENUTO_`, as a variable
of the environment. The environment wins over tenuto.toml, and that over pyproject.toml. A policy
that is passed in code is taken as it is; only `TENUTO_CAPTURE` and `TENUTO_CAPTURE_MAX_BYTES` hold
beside it. An empty variable counts as unset.

Numbers of tries: 0 switches that recovery off. Limits in characters, bytes, tokens or seconds:
0 lifts the limit. `none` stands for "work it out".
"""

CODE_HEAD = """
## In code only
"""

LEFT_OUT_HEAD = """
## What a provider may refuse by name

A provider may answer with 400 or 422 and name a key that it does not take. Where the answer is the
same without that key, the request is sent once more without it, and the event `keys_left_out`, the
report and the header `x-tenuto-left-out` name the keys that were left out. The table lists those
that may be. Any other key goes out as it came, and the provider's error goes to the client.
`drop_unsupported` adds names to the table. `*.` means: anywhere in the request.
"""

DECISION_HEAD = """
## What `decide` is asked

`decide` is called with each `Decision` before it is carried out.
"""


def render() -> str:
    """The page."""
    lines = [HEAD]
    lines += table(["TOML key", "Environment", "Default", "Allowed", "Meaning"], _settings())
    lines.append(CODE_HEAD)
    lines += table(["Argument", "Default", "Meaning"], _code_only())
    lines.append(LEFT_OUT_HEAD)
    lines += table(["Key", "Values that may go", "What it is", "Where"], _left_out())
    lines.append(DECISION_HEAD)
    told = attributes(Decision.__doc__)
    lines += table(["Field", "Meaning"], ([code(name), sentence(told[name])] for name in told))
    return "\n".join(lines) + "\n"


def _settings() -> Iterator[list[str]]:
    policy, told = Policy(), attributes(Policy.__doc__)
    for key, rule in RULES.items():
        value = code(_toml(getattr(policy, key)))
        allowed = rule.allowed.replace("'", "`")
        yield [code(key), code(f"TENUTO_{key.upper()}"), value, allowed, sentence(told[key])]


def _code_only() -> Iterator[list[str]]:
    told = attributes(Policy.__doc__)
    for item in fields(Policy):
        if item.name not in RULES:
            yield [code(item.name), code(item.default), sentence(told[item.name])]


def _left_out() -> Iterator[list[str]]:
    for row in KEYS:
        where = [code(name) for name in (*row.wires, *row.providers)]
        said = "rows of the assistant" if row.said else ""
        places = ", ".join(map(code, row.places))
        yield [places, row.values.words, row.why, said or ", ".join(where) or "everywhere"]


def _toml(value: object) -> str:
    """A default as TOML writes it; `none` where the key is left out."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, frozenset):
        return str(sorted(value))
    return f'"{value}"' if isinstance(value, str) else str(value)
