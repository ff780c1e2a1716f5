"""Clients that follow redirects only to the same host.

The libraries remove `Authorization` from a request that is redirected to another host, and leave
every other header in it, such as `api-key`, `x-api-key`, `x-goog-api-key` and those of gateways.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from tenuto.clients.libraries import library_of_class

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
    library: Any = library_of_class(base)
    asynchronous = base.__name__ == "AsyncClient"

    def follows(self: Any, given: Any) -> bool:
        return bool(given if isinstance(given, bool) else self.follow_redirects)

    def onward(self: Any, response: Any, history: list[Any]) -> Any:
        """Return the request that follows a response, or None if there is none."""
        made = response.next_request
        if made is None or not is_same_host(response.request.url, made.url):
            return None
        if len(history) >= self.max_redirects:
            raise library.TooManyRedirects(
                "Exceeded maximum allowed redirects.", request=response.request
            )
        return made

    def send(self: Any, request: Any, *, follow_redirects: Any = None, **options: Any) -> Any:
        response = base.send(self, request, follow_redirects=False, **options)
        history: list[Any] = []
        while follows(self, follow_redirects):
            try:
                made = onward(self, response, history)
                if made is None:
                    break
                response.read()
            except BaseException:
                response.close()
                raise
            history.append(response)
            response = base.send(self, made, follow_redirects=False, **options)
            response.history = list(history)
        return response

    async def asend(
        self: Any, request: Any, *, follow_redirects: Any = None, **options: Any
    ) -> Any:
        response = await base.send(self, request, follow_redirects=False, **options)
        history: list[Any] = []
        while follows(self, follow_redirects):
            try:
                made = onward(self, response, history)
                if made is None:
                    break
                await response.aread()
            except BaseException:
                await response.aclose()
                raise
            history.append(response)
            response = await base.send(self, made, follow_redirects=False, **options)
            response.history = list(history)
        return response

    members = {"send": asend if asynchronous else send, "__module__": base.__module__}
    return type(base.__name__, (base,), members)
