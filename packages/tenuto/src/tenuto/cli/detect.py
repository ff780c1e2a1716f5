"""`tenuto detect`: why recorded answers ended."""

from __future__ import annotations

from functools import partial
from itertools import accumulate
from typing import Any

from tenuto.cli.explained import plain_stop, why
from tenuto.cli.recorded import Answer, Capture, NotRecorded, read_answers, read_recording
from tenuto.command_kit.command_error import CommandError
from tenuto.command_kit.printing import BAD_FILE, FileName, JsonFlag, print_told, read_file, told_of
from tenuto.core.answer.stop import NEEDS_WIRE, NO_ANSWER, SEVERAL_ANSWERS, StopReason, printable
from tenuto.providers.registry import named
from tenuto.wires.registry import WIRES

EXAMPLES = (
    "tenuto detect answer.json stream.sse turns/*.json",
    "curl -s $URL -d @request.json | tenuto detect -",
    "tenuto detect --json --wire openai-chat *.json",
)


def detect(*files: FileName, wire: str | None = None, json: JsonFlag = False) -> int:
    """Show why each recorded answer ended.

    A file may hold several answers, one on each line or in a JSON array; it shows each of them with
    its number, and what is no answer among them without one. For a capture, it shows the answer to
    the last request. The exit code is 2 if a file cannot be read or holds no answer in a known
    format, or if something else, or a line that cannot be read, is among the answers.

    Args:
        files: bodies (JSON) or streams (server-sent events) as they were received, or captures,
            gzipped or not; "-" reads standard input.
        wire: the wire of all answers, or their provider, for answers whose format does not show it.
            By default, Tenuto detects the wire of each answer.
        json: print one JSON object per line.
    """
    if wire is not None and named(wire)[:2] == (None, None):
        raise CommandError(
            f"--wire is {printable(wire)!r}, but it must be one of "
            f"{', '.join(sorted(WIRES.all()))}, or a provider's name (see tenuto providers)",
            2,
        )
    code = 0
    for told in told_of(files, lambda name: {"answers": described(name, read_file(name), wire)}):
        rows = told.get("answers", [told])
        for number, found in enumerate(rows):
            several = len(rows) > 1
            if "error" in found or found["detail"] in _NONE or (several and _is_cut_line(found)):
                code = BAD_FILE
            where = _place(rows, number) if several else ""
            print_told(found, "read", partial(_sentence, found, where), json=json)
    return code


_NONE = (NO_ANSWER.detail, NEEDS_WIRE.detail)


def _is_cut_line(found: dict[str, Any]) -> bool:
    """Return whether so little of it can be read that no wire knows it."""
    return bool(found["reason"] == StopReason.DROPPED) and found["wire"] is None


def _place(rows: list[dict[str, Any]], number: int) -> str:
    """Return where a row of several stands: an answer has a number, anything else a neighbour."""
    if (own := rows[number]["answer"]) is not None:
        return f", answer {own}"
    before = [row["answer"] for row in rows[:number] if row["answer"] is not None]
    return f", behind answer {before[-1]}" if before else ", before answer 1"


_OF_SEVERAL_WIRES = "Several APIs return this error in the same format."


def _message(answer: Answer) -> str:
    message = answer.response.stop.message
    several = answer.wire is None and answer.response.fault is not None
    return f"{message} {_OF_SEVERAL_WIRES}" if several else message


def described(name: str, content: bytes, wire: str | None = None) -> list[dict[str, Any]]:
    """Return why each answer of a file ended, as plain values. `answer` is its number, from 1
    on, or None for what is no answer, and for what broke off before it showed whether it is one;
    `answers` is how many answers the file holds. Both are None for streams that alternate, which
    nobody counts. `wire` is None if no wire knows the format, or if
    several share the format of an error.

    Raises:
        NotRecorded: the file holds nothing that can be read.

    >>> described("x", b'{"choices": [{"mess')[0]["message"]
    'This broke off before it showed whether it is an answer.'
    >>> described("x", b"Good morning.")[0]["message"]
    'This is not an answer in the format of a known API.'
    >>> refused = b'{"error": {"message": "No.", "code": "invalid_api_key"}}'
    >>> described("x", refused)[0]["message"].partition(". ")[2]
    'Several APIs return this error in the same format.'
    """
    answers = read_recording(content, wire)
    if isinstance(answers, Capture):
        body = answers.exchanges[-1].body
        if body is None:
            raise NotRecorded("it is a capture that does not hold all of the last answer")
        answers = read_answers(body, wire or answers.wire)
    numbers = accumulate(int(answer.counted) for answer in answers)
    mixed = any(answer.response.stop == SEVERAL_ANSWERS for answer in answers)
    count = None if mixed else sum(answer.counted for answer in answers)
    return [
        _described(name, number if answer.counted else None, count, answer)
        for number, answer in zip(numbers, answers, strict=True)
    ]


def _described(
    name: str, number: int | None, answers: int | None, answer: Answer
) -> dict[str, Any]:
    stop = answer.response.stop
    return {
        "file": name,
        "answer": number,
        "answers": answers,
        "wire": answer.wire.name if answer.wire else None,
        **plain_stop(stop),
        "broken": stop.broken,
        "message": _message(answer),
    }


def _sentence(found: dict[str, Any], where: str) -> str:
    name = printable(found["file"], 200)
    return f"{name}{where}: {why(found)}. {found['message']}"
