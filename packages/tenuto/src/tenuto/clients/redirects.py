"""Clients that follow redirects only to the same host.

A client of ours never leaves its host. Any other client does with the first request of a turn what
its owner told it, but a further request is not the caller's own: it isn't redirected to a host that
has not answered the turn before (H10).

The libraries remove `Authorization` from a request that is redirected to another host, and leave
every other header in it, such as `api-key`, `x-api-key`, `x-goog-api-key` and those of gateways.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from tenuto.clients.libraries import library_of

_PORTS = {"http": 80, "https": 443}


def is_same_host(asked: Any, next_url: Any) -> bool:
    """Return whether a redirect keeps the host and port, in a protocol that is as safe.

    >>> import httpx
    >>> url = httpx.URL
    >>> is_same_host(url("http://a/x"), url("https://a/y")), is_same_host(url("http://a"), url("http://b"))
    (True, False)
    >>> is_same_host(url("https://a/x"), url("http://a/x"))
    False
    """
    places = [(one.scheme, one.port or _PORTS.get(one.scheme)) for one in (asked, next_url)]
    upgraded = places == [("http", 80), ("https", 443)]
    return asked.host == next_url.host and (places[0] == places[1] or upgraded)


@cache
def staying_with_its_host(base: Any) -> Any:
    """A subclass of a library's client whose `send` follows no redirect to another host."""

    def send(self: Any, request: Any, **options: Any) -> Any:
        return send_within(base, self, request, options)

    async def asend(self: Any, request: Any, **options: Any) -> Any:
        return await send_within_async(base, self, request, options)

    asynchronous = base.__name__ == "AsyncClient"
    members = {"send": asend if asynchronous else send, "__module__": base.__module__}
    return type(base.__name__, (base,), members)


def send_within(
    base: Any, client: Any, request: Any, options: dict[str, Any], also: Any = None
) -> Any:
    """Send a request as a client of the class `base` does, but follow no redirect to another host.
    The response is then the redirect itself.

    Args:
        also: the URL of a host that redirects may lead to as well; None for no other.
    """
    hops = _Hops(client, options, also)
    response = base.send(client, request, follow_redirects=False, **hops.options)
    try:
        while (made := hops.onward(response)) is not None:
            response.read()
            response = base.send(client, made, follow_redirects=False, **hops.options)
            response.history = list(hops.history)
    except BaseException:
        response.close()
        raise
    return response


async def send_within_async(
    base: Any, client: Any, request: Any, options: dict[str, Any], also: Any = None
) -> Any:
    """Do the same as `send_within` for an async client."""
    hops = _Hops(client, options, also)
    response = await base.send(client, request, follow_redirects=False, **hops.options)
    try:
        while (made := hops.onward(response)) is not None:
            await response.aread()
            response = await base.send(client, made, follow_redirects=False, **hops.options)
            response.history = list(hops.history)
    except BaseException:
        await response.aclose()
        raise
    return response


class _Hops:
    """The redirects of one request, and what is sent along with each of them."""

    def __init__(self, client: Any, options: dict[str, Any], also: Any) -> None:
        self.options = dict(options)
        self.history: list[Any] = []
        given = self.options.pop("follow_redirects", None)
        self._follows = bool(given if isinstance(given, bool) else client.follow_redirects)
        self._client = client
        self._also = also

    def onward(self, response: Any) -> Any:
        """Return the request that follows a response, or None if there is none."""
        made = response.next_request
        if not self._follows or made is None:
            return None
        hosts = [response.request.url, *([] if self._also is None else [self._also])]
        if not any(is_same_host(host, made.url) for host in hosts):
            return None
        if len(self.history) >= self._client.max_redirects:
            library: Any = library_of(self._client)
            raise library.TooManyRedirects(
                "Exceeded maximum allowed redirects.", request=response.request
            )
        self.history.append(response)
        return made
