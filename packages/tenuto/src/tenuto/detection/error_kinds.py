"""What kind of error a code or words tell, where it is not known whose error it is.

A word means the same to many programs, and so does an HTTP status. Any other number means what its
provider says: 1002 is a limit of rates with MiniMax, and a wrong key with Zhipu and WeatherAPI. So
a number tells something only in the form of the provider, or where the words beside it say the same
(N14).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus

from tenuto.core.answer.fault import FAULT_CLASSES, FaultKind
from tenuto.wires.errors import ErrorRow, by_status, is_status, rows_with_code, rows_with_words
from tenuto.wires.registry import in_order
from tenuto.wires.stops import snake_case

_GENERAL = (FaultKind.SERVER, FaultKind.INVALID_REQUEST)
"""What an error table says of an error of which it knows no more."""

_STATUS_ROWS = by_status()

_says_server = re.compile(
    r"(?:server|api|internal|service)_?(?:server_?|service_?)?error\Z", re.IGNORECASE
).match
"""Matches codes that say no more than that the server failed, which no table needs."""


def is_code(codes: Sequence[str], rows: Iterable[ErrorRow] | None = None) -> bool:
    """Return whether a table has one of these codes, or one is an HTTP status. Those of Google's
    other APIs are HTTP statuses too. `rows`: those of the table; None: of all of them.

    >>> is_code(["rate_limit_error"]), is_code(["1002"]), is_code(["E1"])
    (True, True, False)
    """
    if any(map(is_status, codes)) or any(map(_says_server, codes)):
        return True
    return any(rows_with_code(_rows() if rows is None else rows, codes))


def knows_code(codes: Sequence[str]) -> bool:
    """Return the same, whoever wrote the error: numbers but HTTP statuses don't count.

    >>> knows_code(["rate_limit_error"]), knows_code(["1002"])
    (True, False)
    """
    return is_code([code for code in codes if is_status(code) or not _is_number(code)])


def knows_words(message: str) -> bool:
    """Return whether a table has the words of a message."""
    return any(rows_with_words(_rows(), message))


def says_kind(codes: Sequence[str], message: str) -> bool:
    """Return whether words tell the kind of an error: beside a known code, or beside a number that
    stands for the same.

    >>> [says_kind([code], "The content was blocked") for code in ("403", "1001", "1301")]
    [True, False, True]
    """
    if knows_code(codes):
        return knows_words(message)
    return any(rows_with_words(rows_with_code(_rows(), codes), message))


def leaves_open(kind: FaultKind | None, codes: Sequence[str], read: FaultKind) -> bool:
    """Return whether codes leave it to the words what an error is. A status, or that the request
    was wrong, says little: the words may say what was wrong, but not that the server was. Words
    about money count beside the codes of a limit and of a key, with which providers report it.

    `kind`: what the codes tell; `read`: what the words tell.

    >>> [leaves_open(kind_by_code([code]), [code], FaultKind.CONTENT_BLOCKED)
    ...     for code in ("403", "invalid_request_error", "server_error")]
    [True, True, False]
    """
    if kind is None:
        return True
    general = kind is FaultKind.INVALID_REQUEST or all(map(is_status, codes))
    if read is FaultKind.PAYMENT and kind in _BESIDE_MONEY:
        return True
    return general and not any(FAULT_CLASSES[each].retryable for each in (kind, read))


_BESIDE_MONEY = (FaultKind.RATE_LIMITED, FaultKind.AUTHENTICATION)


def kind_by_code(codes: Sequence[str]) -> FaultKind | None:
    """Return the kind that codes tell, the most specific first; None: they tell none.

    >>> [kind_by_code([code]) for code in ("PermissionDenied", "gateway_timeout", "413")]
    [<FaultKind.AUTHENTICATION: 'authentication'>, <FaultKind.TIMEOUT: 'timeout'>, \
<FaultKind.INVALID_REQUEST: 'invalid_request'>]
    >>> kind_by_code(["1002"]), kind_by_code(["E1"])
    (None, None)
    """
    for code in codes:
        kind = _kind_of_status(int(code)) if is_status(code) else _kind_of_word(code)
        if kind is not None:
            return kind
    return FaultKind.SERVER if any(map(_says_server, codes)) else None


def _kind_of_word(code: str) -> FaultKind | None:
    if _is_number(code):
        return None
    spelled = snake_case(code[:_CODE_CHARS])
    kinds = [row.kind for row in rows_with_code(_rows(), [code, spelled])]
    found = next((kind for kind in kinds if kind not in _GENERAL), next(iter(kinds), None))
    if found is not None:
        return found
    status = _NAMES.get(spelled)
    return _kind_of_status(status) if status is not None else None


def _kind_of_status(status: int) -> FaultKind:
    return next(
        row.kind for row in _STATUS_ROWS if status in row.statuses or row is _STATUS_ROWS[-1]
    )


_CODE_CHARS = 100

_NAMES = {snake_case(one.phrase): one.value for one in HTTPStatus if one.value >= 400} | {
    "payload_too_large": 413,
    "content_too_large": 413,
    "rate_limit": 429,
}
"""The HTTP statuses by their names, as codes have them, and by other words for the same."""


def _is_number(code: str) -> bool:
    return code.lstrip("-").isdigit()


def _rows() -> Iterator[ErrorRow]:
    """Yield the rows of all tables of errors. Many tables have the same ones."""
    seen: set[int] = set()
    for known in in_order():
        for wire in known.values():
            for row in wire.errors:
                if id(row) not in seen:
                    seen.add(id(row))
                    yield row
