"""`Agent`: a model, its tools and its limits."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from dataclasses import replace
from types import NoneType
from typing import Any

from tenuto.clients.http_client import imported
from tenuto.config import load_policy
from tenuto.core.errors import AgentError
from tenuto.core.settings.names import refuses_unknown
from tenuto.core.settings.policy import RULES, Policy
from tenuto_agent.conversation import Conversation
from tenuto_agent.events import AgentEvent
from tenuto_agent.files.tools import writes_files
from tenuto_agent.kit import Kit, OnEvent
from tenuto_agent.limits import Limits
from tenuto_agent.model import Model, candidates, check_type
from tenuto_agent.requests import Setup
from tenuto_agent.result import RunResult
from tenuto_agent.schema import INSTALL
from tenuto_agent.session import Session
from tenuto_agent.toolbox import Toolbox
from tenuto_agent.transcript import Row

EMPTY_RETRIES, REASONING_PREFILLS = 3, 2
"""An agent retries empty answers more often than a plain turn, whose client may want an empty
one."""


@refuses_unknown(AgentError, settings=RULES)
class Agent:
    """An agent loop: it calls a model, runs the model's tool calls, and repeats until the turn is
    complete or reaches a limit.

    Tenuto finishes every answer: it continues cut text, requests broken calls again and never runs
    them, and recovers empty answers. An agent has no memory; a `Conversation` keeps the messages.

    Args:
        model: `provider:model` or a `Model`; or several, to fall back on when those before fail
            (P4). Of several, one that can't be used, for example without a key, is logged and left
            out.
        tools: plain typed functions, or `Tool`s.
        system: the system prompt. If the tools of `file_tools` are among the tools and the model's
            output limit is known, the agent adds how much one message can hold (`guidance`).
        limits: the limits of a turn; None: `Limits()`.
        policy: how far Tenuto goes to finish each answer; None: the settings of `[tool.tenuto]`,
            tenuto.toml and `TENUTO_*`, with 3 attempts at an empty answer.
        on_event: called with each `AgentEvent`, with `run` too. If it raises, Tenuto logs the
            exception, and the turn continues.
        stream: whether to stream answers from the provider.
        library: the HTTP library to send requests with, "httpx2" or "httpx".

    Raises:
        AgentError: an argument is not allowed; the message says what is.
        PolicyError: a setting is not allowed.
        UnsupportedClient: the library is not installed.

    >>> from tenuto.sim import Simulator
    >>> from tenuto.agent import Model
    >>> with Simulator() as sim:
    ...     model = Model("openai-chat:sim-model:normal", base_url=sim.base_url)
    ...     with Agent(model) as agent:
    ...         result = agent.run("How are tides made?")
    >>> print(result.status, result.steps)
    complete 1
    """

    def __init__(
        self,
        model: str | Model | Sequence[str | Model],
        *,
        tools: Sequence[Any] = (),
        system: str = "",
        limits: Limits | None = None,
        policy: Policy | None = None,
        on_event: OnEvent | None = None,
        stream: bool = True,
        library: str = "httpx2",
    ) -> None:
        given = [model] if isinstance(model, str | Model) else model
        checked: tuple[tuple[str, object, Any, str], ...] = (
            ("model", given, list | tuple, "provider:model, a Model, or a list of them"),
            ("tools", tools, Iterable, "a list"),
            ("system", system, str, "a text"),
            ("limits", limits, Limits | None, "a Limits, or None"),
            ("policy", policy, Policy | None, "a Policy, or None"),
            ("stream", stream, bool, "True or False"),
            ("on_event", on_event, (Callable, NoneType), "a callable, or None"),
        )
        for each in checked:
            check_type(*each)
        tools = list(tools)
        imported(library, INSTALL if library == "httpx2" else "")
        toolbox = Toolbox(tools)
        policy = policy or replace(
            load_policy(), empty_retries=EMPTY_RETRIES, reasoning_prefills=REASONING_PREFILLS
        )
        models = candidates(given)
        setup = Setup(
            models,
            system,
            toolbox.declarations(),
            dict(toolbox.hints()),
            limits or Limits(),
            stream,
            time.monotonic,
            writes_files(tools),
            [_must_call(model, policy) for model in models],
        )
        self._kit = Kit(setup, toolbox, policy, on_event, library)

    # --- turns of a conversation of their own

    def run(self, prompt: str) -> RunResult:
        """Run a turn in a new conversation."""
        return self.conversation().run(prompt)

    async def arun(self, prompt: str) -> RunResult:
        """Like `run`, for asyncio."""
        return await self.conversation().arun(prompt)

    def stream(self, prompt: str) -> Generator[AgentEvent, None, None]:
        """Run a turn in a new conversation and yield its events."""
        return self.conversation().stream(prompt)

    def astream(self, prompt: str) -> AsyncGenerator[AgentEvent, None]:
        """Like `stream`, for asyncio."""
        return self.conversation().astream(prompt)

    def conversation(self, rows: Sequence[Row] | Session = ()) -> Conversation:
        """Start a conversation with this agent, or continue one.

        Args:
            rows: the `rows` of an earlier `Conversation`, or of the `RunResult` of its first turn.
                A row is a value of that conversation; don't make one yourself. With a session, the
                conversation is stored in its file.

        Raises:
            AgentError: the rows are not those of a conversation, in order.
        """
        return Conversation(self._kit, rows)

    def close(self) -> None:
        """Close connections. You can use the agent again."""
        self._kit.close()

    async def __aenter__(self) -> Agent:
        """Share connections between turns of asyncio; without it, each turn opens its own."""
        await self._kit.aopen()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._kit.aclose()
        self.close()

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _must_call(model: Model, policy: Policy) -> bool:
    """Return whether the policy demands a call in the first answer of a turn."""
    return policy.resolved(model.provider.dialect.name, model.id).tool_choice == "required"
