"""Access to the page.

Without a token, only programs on the same machine may read it, and only under a name of that
machine. A website can point its own name at 127.0.0.1 (DNS rebinding), and a browser would then let
it read the answers, so the `Host` header must be one of the known names. With a token, the page can
be read from anywhere.

A website can't read what it requests here under its own name, but it could hold all streams open.
So a request that a browser sends for another page is refused, unless it has the token itself.
Browsers say so in `Sec-Fetch-Site` (https://www.w3.org/TR/fetch-metadata/) or in `Origin`; programs
send neither.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs

Scope = Mapping[str, Any]
Header = tuple[bytes, bytes]

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""Names of the local machine."""

TOKEN_MIN_CHARS = 16
"""The minimum length of a token, so that it can't be guessed."""

COOKIE = "tenuto_watch"

SECURITY: tuple[Header, ...] = (
    (
        b"content-security-policy",
        b"default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""Headers of every response."""


class Refusal(NamedTuple):
    """Why a request is refused: an HTTP status and a sentence."""

    status: int
    why: str


_OF_ANOTHER_PAGE = Refusal(
    403, "A page of another address asked for this. Open it by its own address."
)
_OWN_SITES = (b"", b"same-origin", b"none")
"""Values of `Sec-Fetch-Site` of requests that no other page made."""


class Access:
    """Decides which requests may read the page.

    Args:
        token: the token that readers need; None: readers must be on the same machine.
        hosts: the values of `Host` to accept without a token.

    Raises:
        ValueError: the token is shorter than `TOKEN_MIN_CHARS`.
    """

    def __init__(self, token: str | None, hosts: Iterable[str]) -> None:
        if token is not None and len(token) < TOKEN_MIN_CHARS:
            raise ValueError(f"a token has at least {TOKEN_MIN_CHARS} characters")
        self._token = token.encode() if token is not None else None
        self._hosts = {host.lower() for host in hosts}

    def refusal(self, scope: Scope) -> Refusal | None:
        """Return why a request is refused; None if it is allowed."""
        if self._token is not None:
            if self._has_token(scope):
                return None
            if self._has_cookie(scope):
                return _OF_ANOTHER_PAGE if _is_of_another_page(scope) else None
            return Refusal(
                401, "This needs the token: ?token=… in the address, or the header Authorization."
            )
        if _is_of_another_page(scope):
            return _OF_ANOTHER_PAGE
        if not _is_loopback(scope):
            return Refusal(403, "Without a token, this is for programs of the same machine.")
        if _host(scope) not in self._hosts:
            return Refusal(403, "This is not served under this name. Ask for localhost.")
        return None

    def cookie(self, scope: Scope) -> Header | None:
        """Return the header that sets the browser's cookie if the address has the token, or
        None."""
        if self._token is None or not self._is_token(_queried(scope)):
            return None
        path = scope.get("root_path") or "/"
        secure = "; Secure" if scope.get("scheme") == "https" else ""
        value = f"{COOKIE}={self._cookie()}; Path={path}; HttpOnly; SameSite=Strict{secure}"
        return b"set-cookie", value.encode()

    def _has_token(self, scope: Scope) -> bool:
        kind, _, given = _header(scope, b"authorization").partition(b" ")
        if kind.lower() == b"bearer" and self._is_token(given.strip()):
            return True
        return self._is_token(_queried(scope))

    def _has_cookie(self, scope: Scope) -> bool:
        for each in _header(scope, b"cookie").split(b";"):
            name, _, value = each.strip().partition(b"=")
            if name == COOKIE.encode() and hmac.compare_digest(value, self._cookie().encode()):
                return True
        return False

    def _is_token(self, given: bytes) -> bool:
        return self._token is not None and hmac.compare_digest(given, self._token)

    def _cookie(self) -> str:
        """Return the cookie's value, which doesn't reveal the token."""
        return hmac.new(self._token or b"", COOKIE.encode(), hashlib.sha256).hexdigest()


def _header(scope: Scope, wanted: bytes) -> bytes:
    """Return the value of a header; b"" if it is missing or repeated."""
    found: list[bytes] = [value for name, value in scope["headers"] if name.lower() == wanted]
    return found[0] if len(found) == 1 else b""


def _queried(scope: Scope) -> bytes:
    query: str = scope.get("query_string", b"").decode("latin-1")
    try:
        (token,) = parse_qs(query, max_num_fields=20).get("token", [""])
    except ValueError:  # too many fields, or more than one token
        return b""
    return token.encode("utf-8", "replace")


def _is_of_another_page(scope: Scope) -> bool:
    """Return whether a browser sends a request for a page of another address."""
    if _header(scope, b"sec-fetch-site") not in _OWN_SITES:
        return True
    origin = _header(scope, b"origin").lower()
    return bool(origin) and origin.partition(b"://")[2] != _header(scope, b"host").lower()


def _host(scope: Scope) -> str:
    """Return the host that a request names, without the port."""
    host = _header(scope, b"host").decode("latin-1").strip().lower()
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def _is_loopback(scope: Scope) -> bool:
    """Return whether the client is on the same machine; False if the server doesn't say."""
    client = scope.get("client")
    try:
        return client is not None and ipaddress.ip_address(client[0]).is_loopback
    except ValueError:
        return False
