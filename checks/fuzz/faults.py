"""HTTP errors: any status, headers and body are a fault within sensible bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator

from checks.fuzz.drawing import fixtures, seed, split
from tenuto.core.answer.fault import Fault
from tenuto.wires.base import Wire

HEADERS = ("retry-after", "retry-after-ms", "date")
WAITS = (
    b"1.5",
    b"Sat, 21 Nov 99999999999 10:00:07 GMT",
    b"Sat, 21 Nov 2026 10:00:07 GMT",
    b"1e999",
    b"nan",
    b"-1",
    b"",
)
STATUSES = (400, 401, 402, 403, 404, 408, 409, 413, 422, 424, 429, 500, 502, 503, 504, 529, 599)


def seeds(wire: Wire) -> Iterator[bytes]:
    for number, data in enumerate(d for d in fixtures(wire.name) if b"error" in d):
        wait = WAITS[number % len(WAITS)]
        yield seed(b"\n".join((wait, b"", WAITS[1], data)), number)
    for words in (
        b"max_tokens is too large: 90000. This model supports at most 300 completion tokens",
        b"Unrecognized request argument supplied: seed, user",
    ):
        yield seed(b'\n\n\n{"error":{"message":"' + words + b'","code":null}}')


def check(wire: Wire, data: bytes) -> None:
    knobs, payload = split(data)
    *waits, body = [*payload.split(b"\n", 3), b"", b"", b""][:4]
    headers = {k: v.decode("latin-1") for k, v in zip(HEADERS, waits, strict=True) if v}
    fault = wire.parse_fault(STATUSES[knobs[0] % len(STATUSES)], headers, body)
    assert isinstance(fault, Fault)
    assert fault.retry_after_s is None or 0 <= fault.retry_after_s < math.inf
    assert fault.allowed_tokens is None or fault.allowed_tokens >= 0
    assert all(isinstance(key, str) and key for key in fault.keys)
    assert all(isinstance(text, str) for text in (fault.code, fault.message))
    assert len(fault.code) <= 80
    assert fault.code.isprintable()
