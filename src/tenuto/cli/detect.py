"""`tenuto detect`: why recorded answers ended."""

from __future__ import annotations

from functools import partial
from typing import Any

from tenuto.cli.explained import plain_stop, why
from tenuto.cli.printing import BAD_FILE, FileName, JsonFlag, print_told, read_file, told_of
from tenuto.core.response import Response
from tenuto.core.stop import printable
from tenuto.detection import recognize
from tenuto.wires.base import Wire

EXAMPLES = (
    "tenuto detect answer.json stream.sse",
    "curl -s $URL -d @request.json | tenuto detect -",
    "tenuto detect --json *.json",
)


def detect(*files: FileName, json: JsonFlag = False) -> int:
    """Show why each recorded answer ended.

    The exit code is 2 where a file cannot be read, or holds no answer that a wire knows.

    Args:
        files: bodies (JSON) or streams (server-sent events) as they were received; "-" reads from
            standard input.
        json: print one JSON object per line.
    """
    code = 0
    for found in told_of(files, lambda name: described(name, read_file(name))):
        if "error" in found or (found["wire"] is None and found["message"] == _OF_NO_WIRE):
            code = BAD_FILE
        print_told(found, "read", partial(_sentence, found), json=json)
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
        **plain_stop(stop),
        "broken": stop.broken,
        "message": _message(response, wire),
    }


def _sentence(found: dict[str, Any]) -> str:
    return f"{printable(found['file'], 200)}: {why(found)}. {found['message']}"
