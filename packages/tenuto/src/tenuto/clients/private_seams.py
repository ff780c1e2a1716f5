"""The private names of other packages that Tenuto uses, and the reasons.

A wrapped client keeps everything that its caller or a subclass set, so Tenuto copies it and
replaces its transport. Most packages have no public way to do that. `pyproject.toml` bounds each
package's version below its next major one, and `tests/clients/test_private_seams.py` fails by name
if one of these names moves.
"""

from __future__ import annotations

from typing import Final, NamedTuple

_GENERATED = (
    "openai.OpenAI", "anthropic.Anthropic", "groq.Groq", "together.Together",
    "cerebras.cloud.sdk.Cerebras",
)  # fmt: skip
_AWS = ("boto3.client", "aiobotocore.client")
_GOOGLE = ("google.genai.Client",)


class PrivateSeam(NamedTuple):
    """Private names used on some objects, and the reason.

    Attributes:
        owners: modules, or classes and functions that make the object that has the names.
        names: each a name, or a path of names from that object.
        why: which public way there is, and what it would not do.
    """

    owners: tuple[str, ...]
    names: tuple[str, ...]
    why: str


PRIVATE_SEAMS: Final = (
    PrivateSeam((*_GENERATED, "ollama.Client"), ("_client",),
        "`with_options(http_client=…)` calls the constructor, which a subclass may have changed, "
        "drops what was set on the instance, and does not tell which HTTP client there is."),
    PrivateSeam(_GENERATED, ("models._client",),
        "Resources point at the client that made them and cannot be given another one."),
    PrivateSeam(("openai", "anthropic", "groq", "together", "cerebras.cloud.sdk"),
        ("_resource.SyncAPIResource", "_resource.AsyncAPIResource"),
        "Nothing public tells a resource that is made of a client alone from a subclass's own."),
    PrivateSeam(_GENERATED, ("_prepare_request",),
        "The SDKs sign here, above the HTTP client, and offer no hook around it."),
    PrivateSeam(("openai", "anthropic"), ("_base_client",),
        "Nothing public tells a hook that signs from the SDK's own, which does nothing."),
    PrivateSeam(("openai.OpenAI",), ("_provider_runtime",),
        "Nothing public tells a client whose `provider` signs from one without a provider."),
    PrivateSeam(("anthropic.Anthropic",), ("_middleware_chain", "_build_middleware_chain"),
        "The public `middleware` says what is in the chain, which is built once, around a "
        "transport."),
    PrivateSeam(_GOOGLE,
        ("_api_client._httpx_client", "_api_client._async_httpx_client",
         "_api_client._http_options", "aio._api_client"),
        "`HttpOptions(httpx_client=…)` is taken by the constructor alone, and a client does not "
        "give out the key, credentials and options that it was made with."),
    PrivateSeam(_GOOGLE, ("_api_client._use_aiohttp",),
        "The option `httpx_async_client` leaves aiohttp aside too, but the SDK's `aclose` does "
        "not close such a client."),
    PrivateSeam(_GOOGLE, ("_api_client._async_httpx_client._client_kwargs",),
        "An HTTP client does not give out the proxy and the TLS context that it was made with."),
    PrivateSeam(("aiohttp.ClientSession",), ("_default_proxy",),
        "A session gives out its headers, cookies and `trust_env`, but not its proxy."),
    PrivateSeam(("cohere.ClientV2", "cohere.Client"),
        ("_client_wrapper.httpx_client.httpx_client",),
        "A client takes an HTTP client in its constructor alone, and does not give out its key."),
    PrivateSeam(("cohere.client",),
        ("validate_args", "throw_if_stream_is_true", "experimental_kwarg_decorator"),
        "They have no low line and are not documented: the constructor puts them over `chat`."),
    PrivateSeam(_AWS, ("_endpoint", "_request_signer"),
        "A client gives out neither the session nor the credentials that another one would be "
        "made of."),
    PrivateSeam(_AWS, ("_endpoint._event_emitter", "_request_signer._event_emitter"),
        "The public `meta.events` of a copy is its own, but endpoint and signer were given the "
        "original's."),
    PrivateSeam(_AWS, ("_endpoint._send",),
        "Handlers of the event `before-send` are all called, so that one of ours would send what "
        "another one answers."),
    PrivateSeam(("aiobotocore.client",), ("_endpoint.http_session._sessions",),
        "aiohttp follows redirects to any host, and aiobotocore has no setting against it."),
    PrivateSeam(_AWS, ("_endpoint._needs_retry",),
        "A handler of the event `needs-retry` can ask for a retry, and cannot rule one out."),
    PrivateSeam(("httpx2.Response", "httpx.Response"), ("_num_bytes_downloaded",),
        "`num_bytes_downloaded` can only be read, and copies and pickles keep what it reads."),
    PrivateSeam(("httpx2.Client", "httpx.Client"), ("_transport_for_url",),
        "The public extension `trace` names no connection that was used before."),
    PrivateSeam(("httpx2.Client", "httpx.Client"), ("_transport",),
        "A client does not give out the transport that it was made with."),
    PrivateSeam(("httpx2.HTTPTransport", "httpx.HTTPTransport"), ("_pool._requests",),
        "The pool lists its connections in public, and not whose request each of them carries."),
    PrivateSeam(("httpcore2.HTTPConnection", "httpcore.HTTPConnection"), ("_connection",),
        "The public `info()` describes the connection, and does not give it out."),
    PrivateSeam(("httpcore2.HTTP11Connection", "httpcore.HTTP11Connection"), ("_network_stream",),
        "A response gives out its stream, but here none has come yet."),
    PrivateSeam(("sys",), ("_current_frames",),
        "It is documented, and the only way to see where another thread waits."),
    PrivateSeam(("socket.SocketIO",), ("_sock",),
        "urllib3 gives out no connection before the response, and the reader only its number."),
)  # fmt: skip
