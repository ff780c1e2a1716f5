"""`tenuto detect`: why recorded answers ended."""

from __future__ import annotations

from functools import partial
from typing import Any

from tenuto.cli.command_error import CommandError
from tenuto.cli.explained import plain_stop, why
from tenuto.cli.printing import BAD_FILE, FileName, JsonFlag, print_told, read_file, told_of
from tenuto.cli.recorded import Answer, Capture, NotRecorded, read_answer, read_recording
from tenuto.core.stop import printable
from tenuto.providers.registry import named
from tenuto.wires.registry import WIRES

EXAMPLES = (
    "tenuto detect answer.json stream.sse turns/*.json",
    "curl -s $URL -d @request.json | tenuto detect -",
    "tenuto detect --json --wire openai-chat *.json",
)


def detect(*files: FileName, wire: str | None = None, json: JsonFlag = False) -> int:
    """Show why each recorded answer ended.

    For a capture, it shows the answer to the last request. The exit code is 2 if a file cannot be
    read, or if its format is unknown.

    Args:
        files: bodies (JSON) or streams (server-sent events) as they were received, or captures,
            gzipped or not; "-" reads standard input.
        wire: the wire of all answers, or their provider. Tenuto does not check it: an answer of
            another wire shows as one that broke off. By default, Tenuto detects the wire of each
            answer.
        json: print one JSON object per line.
    """
    if wire is not None and named(wire)[:2] == (None, None):
        raise CommandError(
            f"--wire is {printable(wire)!r}, but it must be one of "
            f"{', '.join(sorted(WIRES.all()))}, or a provider's name (see tenuto providers)",
            2,
        )
    code = 0
    for found in told_of(files, lambda name: described(name, read_file(name), wire)):
        if "error" in found or found["message"] == _OF_NO_WIRE:
            code = BAD_FILE
        print_told(found, "read", partial(_sentence, found), json=json)
    return code


_OF_NO_WIRE = "No known API has this format: it is not an answer."
_OF_SEVERAL_WIRES = "Several APIs return this error in the same format."


def _message(answer: Answer) -> str:
    if not answer.known:
        return _OF_NO_WIRE
    message = answer.response.stop.message
    several = answer.wire is None and answer.response.fault is not None
    return f"{message} {_OF_SEVERAL_WIRES}" if several else message


def described(name: str, content: bytes, wire: str | None = None) -> dict[str, Any]:
    """Return why an answer ended, as plain values. `wire` is None if no wire knows the format, or
    if several wires share the format of an error.

    Raises:
        NotRecorded: the file holds nothing that can be read.

    >>> described("x", b'{"choices": [{"mess')["message"]
    'The answer broke off without any end mark.'
    >>> described("x", b"Good morning.")["message"]
    'No known API has this format: it is not an answer.'
    >>> refused = b'{"error": {"message": "No.", "code": "invalid_api_key"}}'
    >>> described("x", refused)["message"].partition(". ")[2]
    'Several APIs return this error in the same format.'
    """
    answer = read_recording(content, wire)
    if isinstance(answer, Capture):
        body = answer.exchanges[-1].body
        if body is None:
            raise NotRecorded("it is a capture that does not hold all of the last answer")
        answer = read_answer(body, wire or answer.wire)
    stop = answer.response.stop
    return {
        "file": name,
        "wire": answer.wire.name if answer.wire else None,
        **plain_stop(stop),
        "broken": stop.broken,
        "message": _message(answer),
    }


def _sentence(found: dict[str, Any]) -> str:
    return f"{printable(found['file'], 200)}: {why(found)}. {found['message']}"
