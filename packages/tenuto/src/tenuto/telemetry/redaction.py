"""Remove secrets from everything that is recorded (P8b, N10).

Of headers and query parameters, only those with names that are known to be harmless stay, since
gateways name their keys as they like. Members of JSON, which hold the content, are removed by name,
and texts by their form. In addition, a secret of the request is removed wherever it occurs again,
whatever it looks like. In doubt, too much is removed. No table can recognize a key that a model
writes piece by piece over the events of a stream.

The patterns begin at few places and repeat within bounds, so that a large body takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, lru_cache
from urllib.parse import unquote

from tenuto.core.answer.response import Response
from tenuto.core.answer.stop import Confidence, Stop, printable

REMOVED = "[removed]"

_SECRET_WORD = re.compile(
    r"(?:^|[-_])(?:key|apikey|token|secret|cookie|auth|authorization|authentication|signature"
    r"|credentials?|password|jwt|session|session_?id|auth_?token)(?:$|[-_])"
)

HARMLESS_HEADERS = (
    "accept(?:-[a-z]+)?|connection|keep-alive|content-[a-z-]+|transfer-encoding|te|trailer|host",
    "cache-control|pragma|age|expires|etag|vary|via|date|last-modified|retry-after(?:-ms)?|allow",
    "server|server-timing|user-agent|referer|http-referer|alt-svc|upgrade|expect|range|location",
    "strict-transport-security|referrer-policy|access-control-[a-z-]+|x-[a-z]+-options",
    "x-powered-by|x-accel-buffering|x-robots-tag|x-served-by|x-cache(?:-[a-z]+)?|x-runtime",
    "(?:x-|apim-|cf-|x-ms-|x-amzn-|x-goog-|x-tt-|fly-)?(?:request|correlation|trace|ray)-?id",
    "x-b3-[a-z]+|traceparent|tracestate|cf-ray|cf-cache-status|nel|report-to|idempotency-key",
    "(?:x|anthropic)-ratelimit-[a-z-]+|ratelimit(?:-[a-z]+)?|x-should-retry",
    "(?:anthropic|openai|groq|mistral|cohere)-(?:version|beta|model|processing-ms|organization)",
    "openai-project|anthropic-organization-id|anthropic-dangerous-direct-browser-access",
    "x-stainless-[a-z-]+|x-goog-api-client|x-ms-(?:region|client-request-id|deployment-name)",
    "x-envoy-upstream-service-time|azureml-model-session|x-dashscope-(?:sse|plugin|workspace)",
    "amz-sdk-(?:invocation-id|request)|x-amz-(?:date|content-sha256)|x-amzn-bedrock-[a-z-]+",
    "x-amzn-(?:requestid|errortype)|x-client-name|x-title|x-tenuto(?:-[a-z]+)?|x-sim-[a-z]+",
)
"""Headers whose values may be recorded, as patterns without case."""

_is_harmless_header = re.compile("|".join(HARMLESS_HEADERS), re.IGNORECASE).fullmatch

HARMLESS_PARAMETERS = frozenset(
    {"alt", "api-version", "beta", "fields", "model", "prettyprint", "stream", "version", "wire"}
)
"""Parameters of a URL's query whose values may be recorded, in lower case."""

_parameters = re.compile(r"([?&#])([^&#=]*)(=?)([^&#]*)")

_is_opaque = re.compile(r"(?=[^\s]*\d)(?=[^\s]*[A-Za-z])[^\s]{16,}").fullmatch
"""The form of a key under a name that says nothing."""

_values_within = re.compile(r'=\s*"?([^;,\s"]+)').findall
"""The named values within a header's value, such as those of cookies."""

_is_opaque_segment = re.compile(
    r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}"
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    re.IGNORECASE,
).fullmatch
"""The form of a key in a URL's path. Names of models and deployments have dashes or dots."""

_user_and_password = re.compile(r"^[^/?#]*//([^/?#]*)@").match

SECRET_PARAMETERS = (
    "key",
    "api[-_]?key",
    "(?:access|id|refresh|session|security)?[-_]?token",
    "auth(?:entication|orization)?",
    "jwt",
    "session[-_]?(?:id|key)?",
    "sig",
    "signature",
    "secret",
    "password",
    "code",
    "x-(?:amz|goog)-[a-z-]+",
)
"""Parameters of URLs within texts, as patterns without case. Text after a `?` need not be part of a
URL."""

_is_secret_parameter = re.compile("|".join(SECRET_PARAMETERS), re.IGNORECASE).fullmatch

SECRET_MEMBERS = (
    "api[-_]?key",
    "authorization",
    "(?:access|auth|bearer|refresh|session|security)[-_]?token",
    "(?:client|aws)?[-_]?secret(?:[-_]?access)?(?:[-_]?key)?",
    "password",
    "private[-_]?key",
)
"""Members of JSON whose text is a secret, as patterns without case."""

SECRET_LOOKS = {
    "sk-": r"sk-[A-Za-z0-9_-]{8,}",
    "AIza": r"AIza[A-Za-z0-9_-]{20,}",
    "AKIA": r"AKIA[A-Z0-9]{12,}",
    "ASIA": r"ASIA[A-Z0-9]{12,}",
    **{
        begin: begin + r"[A-Za-z0-9_-]{16,}"
        for begin in ("gsk_", "hf_", "r8_", "fw_", "tgp_v1_", "xai-", "pplx-", "nvapi-", "csk-")
    },
    **{
        begin: begin + r"[A-Za-z0-9_-]{16,}"
        for begin in ("gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_", "glpat-", "xoxb-")
    },
    "ya29.": r"ya29\.[A-Za-z0-9._-]{8,}",
    "eyJ": r"(?<![_-])eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,4096}(?:\.[A-Za-z0-9_-]*)?",
}
"""The forms of the keys of well-known services, and of JSON web tokens, each by its beginning."""

_REPLACED: tuple[tuple[str, re.Pattern[str], str], ...] = (
    (
        "PRIVATE KEY",
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END|\Z)", re.DOTALL),
        REMOVED,
    ),
    *(
        (
            word,
            re.compile(rf"\b{word}(\s+)[A-Za-z0-9._~+/=-]{{8,}}", re.IGNORECASE),
            rf"{word}\1{REMOVED}",
        )
        for word in ("Bearer", "Basic")
    ),
    *(
        (begin, re.compile(rf"(?<![A-Za-z0-9]){look}"), REMOVED)
        for begin, look in SECRET_LOOKS.items()
    ),
    (
        "=",
        re.compile(rf"([?&](?:{'|'.join(SECRET_PARAMETERS)})=)[^&#\s\"'\\]+", re.IGNORECASE),
        rf"\1{REMOVED}",
    ),
    ("://", re.compile(r"\b(\w{1,20}://)[^/?#@\s\"'\\]{1,512}@"), rf"\1{REMOVED}@"),
    (
        # Also inside a text that is JSON itself, where each quote comes after a backslash.
        '"',
        re.compile(
            rf'("(?:{"|".join(SECRET_MEMBERS)})\\{{0,8}}"\s*:\s*\\{{0,8}}")(?:\\{{1,8}}/|[^"\\])+',
            re.IGNORECASE,
        ),
        rf"\1{REMOVED}",
    ),
)
"""A pattern is only tried if the text beside it occurs, ignoring case. Most occur in no body."""

_LEAST_CHARS = 8
"""Shorter secrets of a request are not searched for elsewhere, since they may be any word."""

_LOOKED_AT_CHARS = 2_000
"""Text beyond this length is in no event, log or error."""


def is_secret_header(name: str) -> bool:
    """Return whether a header's value is never recorded.

    >>> is_secret_header("X-Api-Key"), is_secret_header("x-ratelimit-remaining-tokens")
    (True, False)
    """
    return _is_harmless_header(name) is None


def is_named_secret(name: str) -> bool:
    """Return whether a header's name shows that its value is a secret, which no text may repeat.

    >>> is_named_secret("X-Api-Key"), is_named_secret("X-Team")
    (True, False)
    """
    return bool(_SECRET_WORD.search(name.lower()))


def _is_plain_parameter(name: str) -> bool:
    return unquote(name).lower() in HARMLESS_PARAMETERS


def _credentials(url: str) -> list[str]:
    """Return the password before a URL's host, and the user if it looks like a key."""
    stands = _user_and_password(url)
    user, _, password = stands[1].partition(":") if stands else ("", "", "")
    return [password, user] if _is_opaque(user) else [password]


def _opaque_segments(url: str) -> list[str]:
    """Return segments of a URL's path that look like a key: some gateways take it there."""
    path = re.split("[?#]", url, maxsplit=1)[0]
    return [segment for segment in path.split("/")[3:] if _is_opaque_segment(segment)]


class Redactor:
    """Removes secrets from the texts of one turn. It reads them from the turn's request when the
    first text comes, since most turns have none.

    Args:
        url, headers: those of the request, whose own secrets are searched for everywhere. Headers
            are pairs of text, or of bytes as they are on the wire.

    >>> redactor = Redactor("https://host/v1?key=abc", [("X-Api-Key", "0123-4567-89")])
    >>> redactor.text("No such key: 0123-4567-89")
    'No such key: [removed]'
    >>> redactor.text("https://host/v1?key=abc&alt=sse")
    'https://host/v1?key=[removed]&alt=sse'
    >>> redactor.headers([("X-Api-Key", "0123-4567-89"), ("Accept", "*/*")])
    [['X-Api-Key', '[removed]'], ['Accept', '*/*']]
    """

    def __init__(self, url: str, headers: Iterable[tuple[str, str] | tuple[bytes, bytes]]) -> None:
        self._url, self._headers = url, headers

    @cached_property
    def _own(self) -> re.Pattern[str] | None:
        """The secrets of the request itself."""
        found: set[str] = set()
        for pair in self._headers:
            name, value = (p if isinstance(p, str) else p.decode("latin-1") for p in pair)
            if is_secret_header(name) and (is_named_secret(name) or _is_opaque(value)):
                found.update((value, value.rpartition(" ")[2], *_values_within(value)))
        for _, before, equals, behind in _parameters.findall(self._url):
            name, value = (before, behind) if equals else ("", before)
            if _is_secret_parameter(name) or (not _is_plain_parameter(name) and _is_opaque(value)):
                found.update((value, unquote(value)))
        for value in (*_credentials(self._url), *_opaque_segments(self._url)):
            found.update((value, unquote(value)))
        # The longest first: otherwise only half of a secret with another one in it would be
        # removed.
        own = sorted((v for v in found if len(v) >= _LEAST_CHARS), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, own))) if own else None

    def brief(self, text: str, most_chars: int = 80) -> str:
        """Return a text of the provider for an event, a log or an error: stop values, error codes
        and messages without secrets, printable, and of limited length (N10). Proxies put anything
        into them.

        >>> Redactor("", ()).brief("rejected: sk-0123456789abcdef\\n")
        'rejected: [removed]\\\\n'
        """
        if len(text) >= _LEAST_CHARS:
            text = self.text(text[:_LOOKED_AT_CHARS])
        return printable(text, most_chars)

    def stop_of(self, response: Response) -> Stop:
        """Return the stop of a response for an event or a report. A value that is in a table is not
        a secret, but any white space may stand around it. If the provider reports an error, the
        value is its code."""
        stop, raw = response.stop, response.stop.raw
        in_table = stop.confidence is Confidence.HIGH and response.fault is None
        if raw is not None:
            raw = printable(raw) if in_table else self.brief(raw)
        words = {name: self.text(said[:_LOOKED_AT_CHARS]) for name, said in stop.metadata.items()}
        if raw == stop.raw and words == stop.metadata:
            return stop
        return replace(stop, raw=raw, metadata=words)

    def text(self, text: str) -> str:
        """Return the text without secrets."""
        if self._own is not None:
            text = self._own.sub(REMOVED, text)
        lowered = text.lower()
        for word, pattern, put in _REPLACED:
            if word.lower() in lowered:
                text = pattern.sub(put, text)
        return text

    def url(self, url: str) -> str:
        """Return the URL without secrets; of its query, only what is known to be harmless stays.

        >>> Redactor("", ()).url("https://host/v1?alt=sse&who=me#top")
        'https://host/v1?alt=sse&who=[removed]#[removed]'
        """

        def kept(found: re.Match[str]) -> str:
            mark, name, equals, value = found.groups()
            if not value and not equals:  # all of it is the value
                known = mark != "#" and (not name or _is_plain_parameter(name))
                return found[0] if known else mark + REMOVED
            return found[0] if _is_plain_parameter(name) else f"{mark}{name}={REMOVED}"

        return self.text(_parameters.sub(kept, url))

    def own_url(self) -> str:
        """Return the URL of the request itself, without secrets. Most turns of a process share a
        URL, so what the URL alone shows is cached.

        >>> Redactor("https://me:hunter2hunter2@host/v1?key=abc", ()).own_url()
        'https://[removed]@host/v1?key=[removed]'
        """
        shown = _shown_alone(self._url)
        behind_host = shown.partition("://")[2].partition("/")[2]
        for _, value in self._headers:
            text = value if isinstance(value, str) else value.decode("latin-1")
            key = text.rpartition(" ")[2]  # after "Bearer"
            if len(key) >= _LEAST_CHARS and key in behind_host:
                return self.text(shown)
        return shown

    def headers(self, headers: Iterable[tuple[str, str]]) -> list[list[str]]:
        """Return headers as pairs, without secrets."""
        return [[name, self._of(name, value)] for name, value in headers]

    def _of(self, name: str, value: str) -> str:
        if is_secret_header(name):
            return REMOVED
        return self.url(value) if "://" in value else self.text(value)


@lru_cache(maxsize=256)
def _shown_alone(url: str) -> str:
    """Return the URL without what looks like a secret in it, whatever else the request holds."""
    return Redactor(url, ()).url(url)
