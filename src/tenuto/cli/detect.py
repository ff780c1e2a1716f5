"""`tenuto detect`: why recorded answers ended."""

from __future__ import annotations

import sys
from typing import Annotated, Any

from cyclopts import Parameter

from tenuto.cli.app import CommandError
from tenuto.cli.printing import JsonFlag, print_json, read_file, visible, why_unread
from tenuto.core.response import Response
from tenuto.core.stop import printable
from tenuto.detection import recognize
from tenuto.wires.base import Wire

EXAMPLES = (
    "tenuto detect answer.json stream.sse",
    "curl -s $URL -d @request.json | tenuto detect -",
    "tenuto detect --json *.json",
)
_BAD_FILE = 2


def detect(
    *files: Annotated[str, Parameter(allow_leading_hyphen=True)], json: JsonFlag = False
) -> int:
    """Show why each recorded answer ended.

    The exit code is 2 where a file cannot be read, or holds no answer that a wire knows.

    Args:
        files: bodies (JSON) or streams (server-sent events) as they were received; "-" reads from
            standard input.
        json: print one JSON object per line.
    """
    if not files:
        raise CommandError("name at least one file, or - for standard input", _BAD_FILE)
    code = 0
    for name in files:
        try:
            found = described(name, read_file(name))
            if found["wire"] is None and found["message"] == _OF_NO_WIRE:
                code = _BAD_FILE
        except OSError as error:
            found, code = {"file": name, "error": why_unread(name, error)}, _BAD_FILE
        if json:
            print_json(found, indent=None)
        elif "error" in found:
            shown = printable(name, 200) or '""'
            print(f"tenuto: {shown} cannot be read: {found['error']}", file=sys.stderr)
        else:
            print(visible(_sentence(found)), flush=True)
    return code


_OF_NO_WIRE = "No known API has this format: it is not an answer, or it broke off."
_OF_SEVERAL_WIRES = "Several APIs return this error in the same format."


def _message(response: Response, wire: Wire | None) -> str:
    if wire is not None:
        return response.stop.message
    return f"{response.stop.message} {_OF_SEVERAL_WIRES}" if response.fault else _OF_NO_WIRE


def described(name: str, content: bytes) -> dict[str, Any]:
    """Why an answer ended, as plain values; `wire` is None where no wire knows its shape, and for
    an error that several write alike.

    >>> described("x", b'{"choices": [{"mess')["reason"]
    'dropped'
    >>> described("x", b"Good morning.")["message"]
    'No known API has this format: it is not an answer, or it broke off.'
    >>> refused = b'{"error": {"message": "No.", "code": "invalid_api_key"}}'
    >>> described("x", refused)["message"].partition(". ")[2]
    'Several APIs return this error in the same format.'
    """
    response, wire = recognize(content)
    stop = response.stop
    return {
        "file": name,
        "wire": wire.name if wire else None,
        "reason": stop.reason.value,
        "raw": stop.raw,
        "field": stop.field,
        "detail": stop.detail,
        "confidence": stop.confidence.value,
        "anomalies": list(stop.anomalies),
        "broken": stop.broken,
        "message": _message(response, wire),
    }


def _sentence(found: dict[str, Any]) -> str:
    native = ""
    if found["raw"] is not None:
        native = f", {found['field']} = {printable(found['raw'])!r}"
    odd = f", odd: {', '.join(found['anomalies'])}" if found["anomalies"] else ""
    why = f"{found['reason']} ({found['confidence']} confidence{native}{odd})"
    return f"{printable(found['file'], 200)}: {why}. {found['message']}"
