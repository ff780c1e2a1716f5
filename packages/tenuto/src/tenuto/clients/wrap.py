"""`wrap()`: returns a client of an official SDK that finishes its turns."""

from __future__ import annotations

import os
from typing import Any, Protocol, TypeVar, cast

from tenuto.clients import (
    botocore_client,
    cohere_client,
    google_client,
    mistral_client,
    sdk_client,
)
from tenuto.clients.libraries import library_of
from tenuto.config import policy_in_force
from tenuto.core.errors import PolicyError, UnsupportedClient
from tenuto.core.events.event import OnEvent
from tenuto.core.settings.names import refuses_unknown
from tenuto.core.settings.policy import RULES, Policy
from tenuto.turn.pipeline.engine import Engine
from tenuto.turn.settings import switch
from tenuto.wires.moved import HOW


class _Optioned(Protocol):
    """The SDKs of OpenAI, Anthropic, Groq, Together and Cerebras."""

    @property
    def with_options(self) -> Any: ...


class _Chatting(Protocol):
    """The SDKs of Ollama, Cohere and Mistral."""

    @property
    def chat(self) -> Any: ...


class _OfModels(Protocol):
    """The SDK of Google."""

    @property
    def models(self) -> Any: ...

    @property
    def aio(self) -> Any: ...


class _OfAws(Protocol):
    """Clients of boto3 and aiobotocore."""

    @property
    def meta(self) -> Any: ...


Wrappable = _Optioned | _Chatting | _OfModels | _OfAws
"""The clients that a type checker accepts, by their public members, because none of the SDKs has to
be installed. Only the running program can check which client it really is."""

Client = TypeVar("Client", bound=Wrappable)


class Kind(Protocol):
    """A kind of client that can be wrapped: a module of this package."""

    NAMES: tuple[str, ...]
    """The names of what the module wraps, for error messages."""

    def is_client(self, client: object) -> bool:
        """Return whether the module wraps this client."""
        ...

    def engine_of(self, client: Any) -> Engine | None:
        """Return the engine of a wrapped client, or None."""
        ...

    def is_wrapped(self, client: Any) -> bool:
        """Return whether the client is wrapped already."""
        ...

    def recovering(self, client: Any, engine: Engine) -> Any:
        """Return a copy of the client that finishes its turns."""
        ...


KINDS: tuple[Kind, ...] = (
    sdk_client,
    google_client,
    cohere_client,
    mistral_client,
    botocore_client,
)


@refuses_unknown(PolicyError, settings=RULES)
def wrap(
    client: Client, *, policy: Policy | None = None, on_event: OnEvent | None = None
) -> Client:
    """Return a client like this one, an instance of the same class, that finishes its turns.

    You use it exactly as before. Its settings still apply: timeouts, retries, proxies, headers,
    cookies, hooks, transports, and what a subclass adds. The client that you pass is not changed.
    Its `with_options()` and `copy()` return clients that finish their turns as well, also with an
    `http_client` of their own.

    Wrapping twice is the same as wrapping once: a second `policy` or `on_event` replaces the first,
    and what you leave out stays. To remove a listener, wrap the original client.

    Args:
        client: an `openai.OpenAI` (or `BedrockOpenAI` and so on), `anthropic.Anthropic` (or
            `AnthropicBedrock`, `AnthropicVertex` and so on), `groq.Groq`, `together.Together`,
            `cerebras.cloud.sdk.Cerebras`, `ollama.Client`, `cohere.ClientV2`, or one of their async
            counterparts; a `cohere.Client`, if the package of its wire is installed
            (examples/wires); a `google.genai.Client` (`aio` then uses httpx2 or httpx
            instead of aiohttp); a `mistralai.client.Mistral`, `MistralAzure` or `MistralGCP`; an
            instance of a subclass of one of them; or a client of boto3 or aiobotocore for
            `bedrock-runtime`. A client that signs requests signs Tenuto's requests too.
        policy: the limits; None: those of the wrapped client that you pass, or else of
            `[tool.tenuto]`, tenuto.toml and `TENUTO_*`, or else the defaults.
        on_event: called with each `Event` of each turn, from the thread that runs the turn; None:
            that of the wrapped client that you pass, or else none.

    Raises:
        UnsupportedClient: the object is none of these, or one of its methods, such as
            `chat.completions.create`, was replaced on the instance (wrap it first, then replace the
            method). Methods replaced on the class, as tracing libraries do, work as before.
        PolicyError: a setting in a file or variable is not allowed, or needs a package that is not
            installed.

    >>> import openai
    >>> client = wrap(openai.OpenAI(api_key="none"))
    >>> isinstance(client, openai.OpenAI)
    True
    """
    kind = next((kind for kind in KINDS if kind.is_client(client)), None)
    if kind is None:
        given = f"{type(client).__module__}.{type(client).__qualname__}"
        raise UnsupportedClient(f"cannot wrap {given}; {_advice(client) or _supported()}")
    before = kind.engine_of(client)
    if before is not None:
        if policy is None and on_event is None and kind.is_wrapped(client):
            return client
        policy = before.policy if policy is None else policy
        on_event = before.on_event if on_event is None else on_event
    return cast("Client", kind.recovering(client, engine(policy, on_event)))


INSTEAD = {
    "langchain_": (
        "give it both `http_client=tenuto.http_client()` and "
        "`http_async_client=tenuto.async_http_client()`: each serves one of `invoke` and `ainvoke`"
    ),
    "llama_index.": (
        "give it `http_client=tenuto.http_client('httpx')` and "
        "`async_http_client=tenuto.async_http_client('httpx')`"
    ),
    "instructor.": (
        "wrap the SDK's client first: `instructor.from_openai(tenuto.wrap(openai.OpenAI()))`"
    ),
    "litellm": "call `tenuto.litellm.install()` once",
    "crewai.": (
        "wrap the clients that it made: `llm._client = tenuto.wrap(llm._get_sync_client())`, and "
        "`_async_client` from `_get_async_client()` alike"
    ),
    "haystack.": "give it `http_client_kwargs={'transport': tenuto.HTTPTransport()}`",
    "pydantic_ai.": "give its provider `http_client=tenuto.async_http_client()`",
    "agents.": "give it the SDK's client: `openai_client=tenuto.wrap(openai.AsyncOpenAI())`",
    "strands.": "give its model the SDK's client: `client=tenuto.wrap(openai.AsyncOpenAI())`",
    "agno.": "give it `http_client=tenuto.http_client()`",
    # Its clients share one that it makes itself.
    "huggingface_hub.": (
        "call `huggingface_hub.set_client_factory` with a function that returns "
        '`tenuto.http_client("httpx")`'
    ),
}
"""What to do instead, by the package of the object passed."""

_MOVED = ("dashscope.", "ibm_watsonx_ai.")
"""Packages of the APIs whose wires are in another package."""


def _supported() -> str:
    """Return whose clients can be wrapped, and where each class is named."""
    names = (name.rpartition(".")[0] or name for kind in KINDS for name in kind.NAMES)
    packages = ", ".join(dict.fromkeys(names))
    return f"it takes a client of one of these: {packages}; see docs/guide/drop-in.md"


def _advice(client: object) -> str:
    """Return what to do with an object that can't be wrapped, or "" if nothing is known."""
    library = library_of(client)
    if library is not None:
        maker = "async_http_client" if "Async" in type(client).__name__ else "http_client"
        name = library.__name__
        arguments = "" if name == "httpx2" else repr(name)
        return f"make a client that recovers with `tenuto.{maker}({arguments})` instead"
    cls = client if isinstance(client, type) else type(client)
    if f"{cls.__module__}.".startswith(_MOVED):
        return f"{HOW}, and ask through `tenuto.http_client()`"
    if isinstance(client, type):
        return "give an instance of the class, not the class"
    package = f"{type(client).__module__}."
    return next((advice for name, advice in INSTEAD.items() if package.startswith(name)), "")


def engine(policy: Policy | None, on_event: OnEvent | None) -> Engine:
    """Return the engine of a client with these settings; for a policy of None, the settings come
    from files and the environment."""
    switch.obey(os.environ)
    return Engine(policy_in_force(policy), on_event)
