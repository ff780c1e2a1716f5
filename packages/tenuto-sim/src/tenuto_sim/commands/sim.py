"""`tenuto sim`: the simulator in the foreground."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Annotated

from tenuto.command_kit.command_error import CommandError, is_of_output
from tenuto.command_kit.numbers import Rule, whole_number
from tenuto.command_kit.printing import JsonFlag, Switch, cannot_listen, print_json
from tenuto_sim import serve
from tenuto_sim.simulator import Prefill
from tenuto_sim.wires import WIRES

EXAMPLES = (
    "tenuto sim --port 8089",
    "tenuto sim --port 8089 --gzip --prefill continue",
    "OPENAI_BASE_URL=http://127.0.0.1:8089/v1 OPENAI_API_KEY=x python app.py",
    "ANTHROPIC_BASE_URL=http://127.0.0.1:8089 ANTHROPIC_API_KEY=x python app.py",
)

_BELOW: Mapping[str, str] = {
    "openai-chat": "/v1",
    "openai-completions": "/v1",
    "openai-responses": "/v1",
    "mistral": "/mistral",
}
"""The path of the base URL of a wire's clients, below the simulator's address; "" for others."""

_HOW = """\
The simulator runs until Ctrl-C and accepts any API key. The base URL for the clients of each API:
{urls}
Choose a fault by the model name, for example "sim/length_twice", or by a header:
  x-sim-fault: length_twice           one fault by name
  x-sim-script: length,drop,normal    steps, one for each request of a conversation
"sim-model:length_twice" chooses the same fault. On every wire the simulator rejects unknown faults.
A model's name also decides whether it takes a prefill: "claude-haiku-4-5/sim/length_twice".
Your program meets its fault each time it runs. POST {root}/sim/reset clears all conversations.
`tenuto faults` lists the faults, and GET {root}/sim/faults does so as JSON."""


def sim(
    *,
    port: Annotated[int, whole_number(Rule(int, 0, 65_535))] = 0,
    host: str = "127.0.0.1",
    gzip: Switch = False,
    prefill: Prefill = "restart",
    json: JsonFlag = False,
) -> None:
    """Run a simulated provider that fails on command.

    A finished conversation starts over when its first request arrives again, so your program meets
    the same fault each time you run it. For 30 seconds after an error or a broken connection, the
    same request counts as a retry. `POST /sim/reset` clears all conversations. Stop it with Ctrl-C.

    Args:
        port: the port to listen on; 0 chooses a free one.
        host: the address to listen on.
        gzip: compress answers for clients that accept it.
        prefill: what the model does with a trailing assistant message: restart its answer, continue
            it, or reject the request. On Anthropic Messages, "restart" rejects the request too,
            unless the model's name says otherwise.
        json: print the address as one JSON object on one line.
    """

    def ready(url: str) -> None:
        root = url.removesuffix("/v1")
        by_wire = {wire: root + _BELOW.get(wire, "") for wire in WIRES}
        if json:
            urls = {"base_url": url, "anthropic_base_url": root}
            urls |= {"faults_url": f"{root}/sim/faults", "reset_url": f"{root}/sim/reset"}
            print_json(urls | {"base_urls": by_wire}, indent=None)
        else:
            print(_HOW.format(urls=_listed(by_wire), root=root), flush=True)

    try:
        serve(port, host, ready=ready, gzip=gzip, prefill=prefill)
    except OSError as error:
        if is_of_output(error):  # while it printed its address
            raise
        raise CommandError(cannot_listen(host, port, error)) from None


def _listed(by_wire: Mapping[str, str]) -> str:
    """Return each base URL with its wires, one per line.

    >>> print(_listed({"openai-chat": "http://host/v1", "cohere": "http://host"}))
      http://host/v1  openai-chat
      http://host     cohere
    """
    at: dict[str, list[str]] = {}
    for wire, url in by_wire.items():
        at.setdefault(url, []).append(wire)
    width = max(map(len, at)) + 2
    wrapper = textwrap.TextWrapper(100, "  ", " " * (width + 2), break_on_hyphens=False)
    return "\n".join(wrapper.fill(f"{url:<{width}}{', '.join(wires)}") for url, wires in at.items())
