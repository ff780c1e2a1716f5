"""`tenuto sim`: the simulator in the foreground."""

from __future__ import annotations

from typing import Annotated

from tenuto.cli.app import CommandError
from tenuto.cli.numbers import whole_number
from tenuto.cli.printing import JsonFlag, Switch, print_json, reason_of
from tenuto.core.policy import Rule
from tenuto.sim import serve
from tenuto.sim.simulator import Prefill

EXAMPLES = (
    "tenuto sim --port 8089",
    "tenuto sim --port 8089 --gzip --prefill continue",
    "OPENAI_BASE_URL=http://127.0.0.1:8089/v1 OPENAI_API_KEY=none python my_program.py",
    "ANTHROPIC_BASE_URL=http://127.0.0.1:8089 ANTHROPIC_API_KEY=none python my_program.py",
)

_HOW = """\
The simulator answers until Ctrl-C. Any API key will do.
  OpenAI Chat Completions   {url}
  Anthropic Messages        {root}
Choose a fault by the model name, for example "sim/length_twice", or by a header:
  x-sim-fault: length_twice           one fault by name
  x-sim-script: length,drop,normal    steps, one for each request of a conversation
"sim-model:length_twice" says the same. What does not exist is refused, whatever the wire.
A model that takes a prefill, or does not, by its name: "claude-sonnet-4-5/sim/length_twice".
A program that runs again meets its fault again; POST {root}/sim/reset forgets all conversations.
`tenuto faults` lists them, and GET {root}/sim/faults does so as JSON."""


def sim(
    *,
    port: Annotated[int, whole_number(Rule(int, 0, 65_535))] = 0,
    host: str = "127.0.0.1",
    gzip: Switch = False,
    prefill: Prefill = "restart",
    json: JsonFlag = False,
) -> None:
    """Run a provider that can be told to fail, until Ctrl-C.

    A conversation that is over begins anew when its first request comes again, so that each run of
    a program meets its fault. For 30 seconds after an error or a break the same request counts as a
    retry. `POST /sim/reset` forgets all conversations at once.

    Args:
        port: the port to listen on; 0: any that is free.
        host: the address to listen on.
        gzip: compress answers for clients that accept it.
        prefill: what a trailing assistant message does: the answer begins anew, is continued, or
            the request is refused. On Anthropic Messages it is never begun anew: all but "continue"
            refuse, unless the model's name says otherwise.
        json: announce the address as one JSON object on one line.
    """

    def ready(url: str) -> None:
        root = url.removesuffix("/v1")
        if json:
            urls = {"base_url": url, "anthropic_base_url": root}
            urls |= {"faults_url": f"{root}/sim/faults", "reset_url": f"{root}/sim/reset"}
            print_json(urls, indent=None)
        else:
            print(_HOW.format(url=url, root=root), flush=True)

    try:
        serve(port, host, ready=ready, gzip=gzip, prefill=prefill)
    except OSError as error:
        raise CommandError(f"cannot listen on {host} port {port}: {reason_of(error)}") from None
