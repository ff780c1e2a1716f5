"""docs/policy.md: every setting; what it means stands in the docstring of `Policy` alone."""

from collections.abc import Iterator
from dataclasses import fields

from page import code, sentence, table

from tenuto.cli.docstrings import attributes
from tenuto.core.policy import RULES, Decision, Policy
from tenuto.wires.unsupported import KEYS

HEAD = """\
# Policy

This page lists every limit and switch. A setting has the same name everywhere: as an argument of
`tenuto.Policy`, as a key in `tenuto.toml` or under `[tool.tenuto]` in `pyproject.toml`, and, in
capitals after `TENUTO_`, as an environment variable. Environment variables override `tenuto.toml`,
which overrides `pyproject.toml`. Tenuto ignores all three if you pass a policy in code, except
the `TENUTO_CAPTURE…` variables and `TENUTO_EVENTS`. An empty variable counts as unset.

For a number of attempts, 0 turns that recovery off. For a limit in characters, bytes, tokens or
seconds, 0 removes the limit. `none` means that Tenuto works the value out.
"""

CODE_HEAD = """
## In code only
"""

LEFT_OUT_HEAD = """
## Keys that a provider may reject

A provider may answer with 400 or 422 and name a key that it does not support. If the answer would
be the same without that key, Tenuto sends the request once more without it. The event
`keys_left_out`, the report and the header `x-tenuto-left-out` name the keys that were left out. The
table lists the keys that Tenuto may leave out. It never leaves out any other, and passes the
provider's error to the client. `drop_unsupported` adds names to the table. `*.` means anywhere in
the request.
"""

DECISION_HEAD = """
## The argument of `decide`

Tenuto calls `decide` with each `Decision` before it acts on it. `Report.overridden` names
what `decide` chose in place of the table. A `decide` that raises is logged, and the table's own
choice stands.

```python
def decide(decision: tenuto.Decision) -> str | None:
    return "stop" if decision.output_tokens > 20_000 else None
```
"""


def render() -> str:
    """The page."""
    lines = [HEAD]
    lines += table(["TOML key", "Environment", "Default", "Allowed", "Meaning"], _settings())
    lines.append(CODE_HEAD)
    lines += table(["Argument", "Default", "Meaning"], _code_only())
    lines.append(LEFT_OUT_HEAD)
    lines += table(["Key", "Values that may be left out", "Why", "Where"], _left_out())
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
