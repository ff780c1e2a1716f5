"""docs/providers.md: who is known, and what their form of a wire allows."""

from collections.abc import Iterator

from page import attributes, code, codes, sentence, table, yes

from tenuto.providers.table import PROVIDERS, UNKNOWN, Provider
from tenuto.wire.base import Dialect

HEAD = """\
# Providers

A provider is recognized by the host of its base URL, or by the `server` header of its responses.
Whoever is not recognized works as well, with the safe defaults of the last row.
"""

TAIL = """
## Your own

A provider that is not in the table, or a row that should be another one, is registered at run time
or added to the table: [add a provider](guide/add-a-provider.md).
"""


def render() -> str:
    """The page."""
    told = attributes(Dialect.__doc__)
    lines = [HEAD]
    head = ["Provider", "Wire", "Hosts", "`server`", "`prefill`", "`output_key`", "`reasoning_key`"]
    lines += table([*head, "Overrides", "Source"], _rows())
    lines += ["", "## Columns", ""]
    lines += table(["Column", "Meaning"], ([code(k), sentence(v)] for k, v in told.items()))
    return "\n".join(lines) + "\n" + TAIL


def _rows() -> Iterator[list[str]]:
    for row in (*PROVIDERS, UNKNOWN):
        dialect = row.dialect
        flags = (yes(dialect.prefill), code(dialect.output_key), code(dialect.reasoning_key))
        known = (dialect.name, code(row.wire), *_known_by(row), *flags)
        yield [*known, codes(f"{k} → {v}" for k, v in row.overrides.items()), row.source or "–"]


def _known_by(row: Provider) -> tuple[str, str]:
    hosts = codes("*" + host if host.startswith(".") else host for host in row.hosts)
    return hosts, code(row.server) if row.server else "–"
