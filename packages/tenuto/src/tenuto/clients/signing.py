"""Requests that an SDK signs before it sends them. Tenuto has them signed anew when it edits them.

Theory of operation
-------------------
The clients for Amazon Bedrock, Google Vertex AI and similar services write a signature or a token
into the headers in `_prepare_request`, above `send`. A signature covers body and headers, so an
edited request needs another one, and a repeated request a fresh one.

`signing()` gives a client a class whose `_prepare_request` leaves a note in the request's
extensions: the signer, and which headers it wrote. `send` removes the note (`signer_of`). The note
is on the request and not on the HTTP client, because clients made by `with_options()` have keys of
their own but share one HTTP client. Nothing that outlives the turn keeps it, because the SDKs'
clients close their connections when they are garbage-collected.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from tenuto.turn.drivers.commands import Headers

_NOTE = "tenuto_signer"
_HOOK = "_prepare_request"
_UNSIGNED: Mapping[str, str] = {
    "openai._base_client": "",
    "openai._client": "_provider_runtime",
    "anthropic._base_client": "",
}
"""Modules whose own hook signs nothing that is sent again within one turn, unless the client has
this attribute: in the openai SDK, what `BedrockOpenAI` and `OpenAI(provider=…)` sign with."""


def signing(client: object) -> Any:
    """Return the class for a wrapped client: one that notes its signatures if it signs, else its
    own.

    >>> signing("no client of an SDK")
    <class 'str'>
    """
    cls: Any = type(client)
    hook = getattr(cls, _HOOK, None)
    if hook is None or hasattr(cls, _NOTE):
        return cls
    signs_with = _UNSIGNED.get(hook.__module__)
    signs = signs_with is None or getattr(client, signs_with, None) is not None
    return _noting(cls) if signs else cls


@cache
def _noting(base: Any) -> type:
    hook = getattr(base, _HOOK)

    def prepare(self: Any, request: Any) -> None:
        before = _by_name(request.headers.raw)
        hook(self, request)
        request.extensions[_NOTE] = Signer(self, hook, before, _by_name(request.headers.raw))

    async def prepare_async(self: Any, request: Any) -> None:
        before = _by_name(request.headers.raw)
        await hook(self, request)
        request.extensions[_NOTE] = Signer(self, hook, before, _by_name(request.headers.raw))

    made = prepare_async if inspect.iscoroutinefunction(hook) else prepare
    members = {_HOOK: made, _NOTE: True, "__module__": base.__module__}
    return type(base.__name__, (base,), members)


class Signer:
    """The SDK client that signed a request.

    Args:
        client: the SDK's client.
        hook: its own `_prepare_request`.
        before, after: the headers around its call, by name.
    """

    def __init__(
        self,
        client: object,
        hook: Callable[[Any, Any], Any],
        before: dict[bytes, Headers],
        after: dict[bytes, Headers],
    ) -> None:
        self._client = client
        self._hook = hook
        self._written = [
            name for name in after if _values(after[name]) != _values(before.get(name))
        ]
        self._before = [pair for name in self._written for pair in before.get(name, ())]

    def unsigned(self, headers: Headers) -> Headers:
        """Return the headers as if they had never been signed."""
        kept = (pair for pair in headers if pair[0].lower() not in self._written)
        return (*kept, *self._before)

    def sign(self, request: Any) -> Any:
        """Sign a request that is not signed. For an async client, await the result."""
        return self._hook(self._client, request)


def signer_of(request: Any) -> Signer | None:
    """Return the signer of a request, and remove its note; None if it has none."""
    found = request.extensions.pop(_NOTE, None)
    return found if isinstance(found, Signer) else None


def sealed(headers: Headers) -> frozenset[bytes] | None:
    """Return the names, in lower case, of the headers under a signature that also covers the body.
    Without the signer, neither these nor the body may be changed. None: there is no such signature.
    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html

    >>> sorted(sealed([(b"Authorization", b"AWS4-HMAC-SHA256 SignedHeaders=a;b, Signature=0")]))
    [b'a', b'b']
    """
    for key, value in headers:
        if value[:5] == b"AWS4-" and key.lower() == b"authorization":
            names = value.partition(b"SignedHeaders=")[2].partition(b",")[0]
            return frozenset(names.strip().lower().split(b";"))
    return None


def _by_name(headers: list[tuple[bytes, bytes]]) -> dict[bytes, Headers]:
    found: dict[bytes, Headers] = {}
    for pair in headers:
        name = pair[0].lower()
        found[name] = (*found.get(name, ()), pair)
    return found


def _values(headers: Headers | None) -> list[bytes]:
    """The values alone: a signer may write a name in other letters."""
    return [value for _, value in headers or ()]
