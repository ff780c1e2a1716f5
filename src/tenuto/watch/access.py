"""Who may read the page.

Without a token, only programs of the same machine may, and only under a name of the same machine: a
website may point a name of its own at 127.0.0.1 (DNS rebinding), and a browser would then let it
read the answers, so that the `Host` header has to be one of the known ones. With a token, whoever
has it may read the page from anywhere.
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
"""Names of the same machine."""

TOKEN_MIN_CHARS = 16
"""A shorter token could be guessed."""

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
    """Why a request is not answered: an HTTP status, and a sentence."""

    status: int
    why: str


class Access:
    """Decides who may read the page.

    Args:
        token: what a reader must have; None: readers are of the same machine.
        hosts: the names under which they may ask without a token, as `Host` has them.

    Raises:
        ValueError: the token is shorter than `TOKEN_MIN_CHARS`.
    """

    def __init__(self, token: str | None, hosts: Iterable[str]) -> None:
        if token is not None and len(token) < TOKEN_MIN_CHARS:
            raise ValueError(f"a token has at least {TOKEN_MIN_CHARS} characters")
        self._token = token.encode() if token is not None else None
        self._hosts = {host.lower() for host in hosts}

    def refusal(self, scope: Scope) -> Refusal | None:
        """Say why a request is refused; None where it is not."""
        if self._token is not None:
            if self._has_token(scope):
                return None
            return Refusal(
                401, "This needs the token: ?token=… in the address, or the header Authorization."
            )
        if not _is_loopback(scope):
            return Refusal(403, "Without a token, this is for programs of the same machine.")
        if _host(scope) not in self._hosts:
            return Refusal(403, "This is not served under this name. Ask for localhost.")
        return None

    def cookie(self, scope: Scope) -> Header | None:
        """The header that gives a browser its cookie, where the address had the token."""
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
        for each in _header(scope, b"cookie").split(b";"):
            name, _, value = each.strip().partition(b"=")
            if name == COOKIE.encode() and hmac.compare_digest(value, self._cookie().encode()):
                return True
        return self._is_token(_queried(scope))

    def _is_token(self, given: bytes) -> bool:
        return self._token is not None and hmac.compare_digest(given, self._token)

    def _cookie(self) -> str:
        """Whoever sees the cookie of a browser does not have the token by that."""
        return hmac.new(self._token or b"", COOKIE.encode(), hashlib.sha256).hexdigest()


def _header(scope: Scope, wanted: bytes) -> bytes:
    """The value of a header; b"" where it is missing or comes twice."""
    found: list[bytes] = [value for name, value in scope["headers"] if name.lower() == wanted]
    return found[0] if len(found) == 1 else b""


def _queried(scope: Scope) -> bytes:
    query: str = scope.get("query_string", b"").decode("latin-1")
    try:
        (token,) = parse_qs(query, max_num_fields=20).get("token", [""])
    except ValueError:  # too many fields, or several tokens
        return b""
    return token.encode("utf-8", "replace")


def _host(scope: Scope) -> str:
    """The host that a request names, without its port."""
    host = _header(scope, b"host").decode("latin-1").strip().lower()
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def _is_loopback(scope: Scope) -> bool:
    """Whether the other end is the same machine; where a server does not say, it is not."""
    client = scope.get("client")
    try:
        return client is not None and ipaddress.ip_address(client[0]).is_loopback
    except ValueError:
        return False
