"""How Cohere's API of version 1 says that something failed: the error table.

https://docs.cohere.com/v1/reference/errors (read 2026-11-24) and messages quoted in public issues.
An error is an object with a `message`; of codes there is one, the `error_type` of limits.
"""

from __future__ import annotations

from tenuto.core.fault import Fault, FaultKind
from tenuto.wires.cohere.errors import GAVE_UP, SAID_ALIKE
from tenuto.wires.errors import HISTORY_REJECTED, ErrorRow, ReadFault, by_status, fault_reader, row
from tenuto.wires.json import JsonObject

_K = FaultKind

ERRORS: tuple[ErrorRow, ...] = (
    GAVE_UP,
    row(
        _K.OUTPUT_BUDGET_TOO_LARGE,
        words=r"tokens must be less than or equal to (?P<allowed>\d{1,9})",
    ),
    *SAID_ALIKE,
    HISTORY_REJECTED,
    *by_status(),
)
"""First fit decides: by a code, the words, or the HTTP status; the last row fits all."""


def error_of(value: JsonObject) -> object | None:
    """Return the error that an object carries, None where it carries none.

    >>> error_of({"message": "No."}), error_of({"text": "Hi", "generation_id": "g"})
    ({'message': 'No.'}, None)
    """
    if isinstance(value.get("message"), str) and "event_type" not in value:
        return value
    return value.get("error") or None


read_fault: ReadFault = fault_reader(ERRORS)


def fault_in(value: JsonObject) -> Fault | None:
    """Return the fault that an answer of status 200 tells of, None where it tells of none. At such
    a path many servers are asked for a `message` and answer with one: of these words decide.

    >>> fault_in({"message": "Hello!"}) is None, fault_in({"error": "No."}).kind.value
    (True, 'server')
    """
    error = error_of(value)
    fault = None if error is None else read_fault(error)
    unclear = error is value and fault is not None and fault.kind is _K.SERVER
    return None if unclear else fault
