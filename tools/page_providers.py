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

A provider that is not in the table, or a row that should be another one, is registered at run time;
a client that is wrapped already sees it with its next request:

    tenuto.register("acme", wire="openai-chat", hosts=["llm.acme.example"], prefill=True)

Some back ends report a clean stop for answers that the limit cut. That is not to be told from a
whole answer, so nothing is done about it unless you say so, for that host alone:

    tenuto.register(
        "lab", wire="openai-chat", hosts=["gpu.lab:8000"], overrides={"stop": "max_tokens"}
    )

Each override names a native stop and the [reason](stops.md) that it stands for; a stop that was
read so carries the anomaly `stop_overridden`. `tenuto.detect(body, wire="lab")` knows the name as
well. A new wire is registered as an object (see `tenuto.wire.base.Wire`): `register(wire=Mine())`.
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
