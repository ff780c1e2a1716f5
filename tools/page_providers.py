"""docs/providers.md: who is known, and what their form of a wire allows."""

import json
from collections.abc import Iterator

from page import code, codes, sentence, table

from tenuto.command_kit.docstrings import attributes
from tenuto.providers.addresses import ADDRESSES
from tenuto.providers.models import MODELS
from tenuto.providers.provider import Row
from tenuto.providers.table import PROVIDERS, UNKNOWN_OF
from tenuto.wires.dialect import Dialect
from tenuto.wires.registry import WIRES

HEAD = """\
# Providers

This page lists the providers that Tenuto knows. It recognizes them by the beginning of their base
URL, or by the `server` header of their responses. Other providers work too, with the safe defaults
in the last rows. `tenuto providers` prints the same table, with `--json` for programs.

`tenuto.capabilities(provider, model)` tells a program what Tenuto knows of one of them, as
`Capabilities`: whether it finishes its answers and how, and the limits of the model. On the command
line, `tenuto providers anthropic --model claude-haiku-4-5` prints the same.
"""

ANSWERS = """
## Peculiarities of their answers

Stop values that the wire does not define, other places for token counts, and quirks, each with the
recorded or constructed answer that tests it. Tenuto reads them from every provider of the wire.
"""

MODELS_HEAD = """
## Models

The table shows the highest output limit that Tenuto raises a request to. Tenuto never lowers the
limit of the client's own request. A limit that the provider names in an error, or `output_tokens`
in a provider's row, takes precedence.
"""

VARIABLES = """
## Environment variables

An agent (`tenuto.agent`, `tenuto run`) sends its requests where the environment sends those of the
provider's SDK. It reads the variables that the SDK reads: for the base URL, for the key, and for
further headers. Of several variables, the first one that is set counts; an empty one counts as
unset. None of them is used if the program gives a base URL itself. What an SDK adds to a base URL,
such as `/v1`, the agent adds too. Providers that aren't listed need a base URL from the program.

If a variable makes the SDK use another API, which the agent can't call, the model raises an
`AgentError` that names it. Files with profiles and credentials, as AWS has them, are not read.
"""

TAIL = """
## Your own

To add a provider, or to replace a row, see [add a provider](guide/add-a-provider.md).
"""


def render() -> str:
    """The page."""
    lines = [HEAD]
    head = ["Provider", "Wire", "Known by", "Key in", "Prefill", "Output limit", "Reasoning"]
    lines += table([*head, "Source"], _rows())
    lines += [ANSWERS]
    lines += table(["Provider", "Stops", "Tokens", "Quirks"], _answers())
    lines += [MODELS_HEAD]
    rows = ([code(m.name.pattern), f"{m.output_tokens:,}", m.source] for m in MODELS)
    lines += table(["Name", "Output tokens", "Source"], rows)
    lines += [VARIABLES]
    head = [
        "Provider",
        "Base URL",
        "In the provider's own URL",
        "Key",
        "Headers",
        "Refused if true",
    ]
    lines += table(head, _variables())
    lines += ["", "## Columns", "", "How the provider's form of the wire differs:", ""]
    lines += _columns(Dialect)
    lines += ["", "The provider itself:", ""]
    lines += _columns(Row)
    return "\n".join(lines) + "\n" + TAIL


def _variables() -> Iterator[list[str]]:
    for name, address in ADDRESSES.items():
        headers = (*address.headers.values(), address.headers_variable)
        unless = f" unless {code(address.url_switch)}" if address.url_switch else ""
        yield [
            name,
            codes(address.url_variables) + unless or "–",
            codes(address.own_url_variables) or "–",
            codes(key.variable for key in address.keys),
            codes(filter(None, headers)) or "–",
            codes(address.elsewhere) or "–",
        ]


def _columns(of: type) -> list[str]:
    told = attributes(of.__doc__).items()
    return table(["Column", "Meaning"], ([code(key), sentence(text)] for key, text in told))


def _rows() -> Iterator[list[str]]:
    for row in (*PROVIDERS, *UNKNOWN_OF.values()):
        dialect = row.dialect
        yield [
            dialect.name,
            code(row.wire),
            _known_by(row),
            code(row.authorization) if row.source and row.authorization else "–",
            _prefill(dialect),
            code(WIRES.all()[row.wire].limit_key(dialect)),
            _reasoning(dialect),
            row.source or "–",
        ]


def _known_by(row: Row) -> str:
    hosts = codes("*" + host if host.startswith(".") else host for host in row.hosts)
    return f"`server: {row.server}`" if row.server else hosts


def _prefill(dialect: Dialect) -> str:
    if not dialect.prefill and dialect.prefill_models is None:
        return "–"
    form = _members((*dialect.prefill_row, *dialect.prefill_members))
    behind = "; behind reasoning too" if dialect.reasoning_prefill else ""
    return ("yes" if dialect.prefill else "some models") + (f" {form}" if form else "") + behind


def _reasoning(dialect: Dialect) -> str:
    back = f"back as {code(dialect.reasoning_key)}" if dialect.reasoning_key else ""
    less = f"less by {_members(dialect.less_reasoning)}" if dialect.less_reasoning else ""
    return ", ".join(filter(None, (back, less))) or "–"


def _members(members: tuple[tuple[str, object], ...]) -> str:
    return " ".join(code(f"{json.dumps(key)}: {json.dumps(value)}") for key, value in members)


def _answers() -> Iterator[list[str]]:
    for row in PROVIDERS:
        if row.stops or row.usage or row.quirks:
            shown = (f"[{q}](../tests/fixtures/{row.wire}/{q})" for q in row.quirks)
            quirks = ", ".join(shown) or "–"
            yield [row.dialect.name, codes(row.stops), codes(row.usage), quirks]
