"""How an SDK meets the faults of a simulator, and how what it gives is judged. The rows stand in
`facing_rows`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import anthropic
import groq
import openai
import pytest
import together
from botocore.retries.standard import ExponentialBackoff
from cerebras.cloud import sdk as cerebras
from cohere.core import http_client as cohere_http
from google.genai._gaos.utils import retries as google_retries

import tenuto
from support.asking import openai_chat
from support.asking.wrapping import QUICK
from support.pairing import WAYS
from tenuto.providers.table import ROWS
from tenuto_sim import CASES_ON, Case, Simulator

Judged = Callable[[Any, Any, Case], Any]
"""An asker, what it was given, and for which case."""


def chats_broken_call(asker: Any, got: Any, case: Case) -> str:
    return openai_chat.broken_call(got)


def chats_refused(asker: Any, got: Any, case: Case) -> bool:
    return openai_chat.next_turn_is_refused(asker, got)


@dataclass(frozen=True)
class Facing:
    """One SDK.

    Attributes:
        name: of the SDK and what it is asked by it.
        kind: what asks through it, wrapped.
        wire: whose cases it meets.
        raises: what it may raise; all else is harmful.
        stops: what an unfinished turn may show instead of `limit`: the provider's own words (P1a).
        limit: the stop of an answer that the limit cut.
        elsewhere: cases that show what they are not in the stop.
        broken_call: what is wrong with the calls that were handed out, "" where nothing is.
        refused: whether the history with the answer in it is refused.
        is_one: asserts that the events of a stream are one message.
        bare: what asks through the bare SDK, where that must take the history as well.
        end_unknown: cases whose text came whole, and nothing shows it: the further answer has no word
            and no mark either (S3c).
        left_to_the_caller: by mode, errors before anything came, which this SDK does not retry, and
            ends that no further request can tell from a break.
        most_requests: more than any ladder of the default policy can send for one turn.
        options: of the asker.
        chars: characters of a piece, of the finer answers and of the coarser.
        ways, strict_ways: through which clients, and with the policy that raises.
        sharing: of an SDK that shares its wire with others, which of so many cases it meets: a smoke
            set, another one for each of these SDKs; all cases are heavy.
        thorough: cases that run in each mode and way: each reaches what no other case does.
        left_out: cases in a mode that this SDK cannot meet.
        dialect: whose Chat Completions the simulator speaks.
    """

    name: str
    kind: Any
    wire: str
    raises: tuple[type[Exception], ...]
    stops: Mapping[str, str | None]
    limit: str = "length"
    elsewhere: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    broken_call: Judged = chats_broken_call
    refused: Judged = chats_refused
    is_one: Callable[[Any], object] = lambda asker: None
    bare: Any = None
    end_unknown: tuple[str, ...] = ()
    left_to_the_caller: tuple[str, ...] = ()
    most_requests: int = 8
    options: Mapping[str, Any] = field(default_factory=dict)
    chars: tuple[int, int] = (20, 60)
    ways: tuple[str, ...] = WAYS
    strict_ways: tuple[str, ...] = ("sync",)
    sharing: tuple[int, int] = (0, 1)
    thorough: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    dialect: str = ""

    def runs(self, *, strict: bool = False, every: bool = False) -> Iterator[tuple[Case, str, str]]:
        """The cases in a mode, and through which client: one of both in turn, with the policy that
        raises the other mode. All of them are heavy.

        What is recovered is the same whatever the policy says of what is not: of eight such
        cases one runs with the policy that raises, of the others every second one."""
        ways = self.strict_ways if strict else self.ways
        if not ways:
            return
        place, shared_by = self.sharing
        for number, case in enumerate(CASES_ON[self.wire].values()):
            modes = [m for m in sorted(case.modes) if f"{case.name}-{m}" not in self.left_out]
            if every or case.name in self.thorough:
                yield from ((case, mode, way) for mode in modes for way in ways)
                continue
            turn, whose = divmod(number, shared_by)
            left_to_others = strict and turn % (8 if case.recoverable else 2)
            if modes and whose == place and not left_to_others:
                mode = modes[(turn // 2 + turn // 8 if strict else turn) % len(modes)]
                yield case, mode, ways[(turn // 2 + strict) % len(ways)]


_WAITS = (
    *(
        (sdk._base_client.BaseClient, "_calculate_retry_timeout")
        for sdk in (openai, anthropic, groq, together, cerebras)
    ),
    (ExponentialBackoff, "delay_amount"),
    (cohere_http, "_retry_timeout"),
    (google_retries, "_get_sleep_interval"),
)
"""How long the SDKs wait before retries of their own."""


@contextmanager
def facing_faults(row: Facing) -> Iterator[dict[str, Any]]:
    """Askers for a matrix of faults, by the way to ask; "strict" is one that raises for what stays
    unfinished. What comes out must be alike on both ways, so they differ in more than the client:
    nobody listens to "sync", and its answers come in smaller pieces than those of the others, since
    reading them takes most of the time of a test."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for owner, name in _WAITS:
            patch.setattr(owner, name, lambda *_, **__: 0.01)
        told: dict[str, Any] = {}
        if row.dialect:
            told = {"dialect": row.dialect, "prefill": "continue"}
        fine, coarse = (
            stack.enter_context(Simulator(token_chars=chars, **told)) for chars in row.chars
        )
        if row.dialect:
            stack.callback(_known_at(row.dialect, fine, coarse))
        policy = tenuto.Policy(**QUICK)
        strict = replace(policy, on_incomplete="error")
        made = {
            "sync": row.kind(fine, policy, watched=False, **row.options),
            "async": row.kind(coarse, policy, **row.options),
            "strict": row.kind(coarse, strict, **row.options),
        }
        if row.bare is not None:
            made |= {f"bare-{way}": row.bare(made[way].sim) for way in WAYS}
        for asker in made.values():
            stack.callback(asker.close)
        # Whatever comes first, the provider has shown how it ends its answers (S3a).
        for through in ("sync", "async", "strict"):
            way = through if through in row.ways else row.ways[0]
            made[through].ask_case(CASES_ON[row.wire]["normal"], "stream", way)
        yield made


def _known_at(provider: str, *sims: Simulator) -> Callable[[], None]:
    """Make these known for a provider; returns what undoes it."""
    before = ROWS.all()
    hosts = [sim.root_url.removeprefix("http://") for sim in sims]
    # The row of a wire from another package has the wire's name, and is made when a URL asks for it.
    wire = before[provider].wire if provider in before else provider
    tenuto.register_provider(
        tenuto.Provider(f"{provider}-here", wire=wire, like=provider, hosts=hosts)
    )

    def undo() -> None:
        ROWS._all = before
        ROWS.changes += 1

    return undo
