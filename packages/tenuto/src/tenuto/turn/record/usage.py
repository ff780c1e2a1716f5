"""Tokens: what one attempt used, what the caller sees of all attempts, and what was billed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from tenuto.core.answer.response import Response
from tenuto.core.answer.signals import Usage
from tenuto.core.deciding.actions import AppendAssistant, Edit
from tenuto.core.events.report import Report
from tenuto.turn.drivers.commands import Head

BYTES_PER_TOKEN = 3
"""How many bytes of visible text, in UTF-8, count as a token if the provider reports no usage:
three letters of a Latin script, or one Chinese character. This gives more tokens than any common
tokenizer does. Hidden reasoning is not counted."""

MOST_CHARS_PER_TOKEN = 8
"""A count below one token for so many characters is not believed (C4a)."""

CHARS_PER_TOKEN = 4
"""How many characters then count as a token, and in what is shown of an attempt without usage."""


def output_tokens(response: Response, cap_tokens: int | None) -> int:
    """Return the output tokens of a response: as reported, otherwise estimated from its size, and
    then at most the limit of the caller's request. Neither is believed if far more came: some
    providers report zero, or ignore the limit (C4a)."""
    came = _came(response)
    estimate = -(-len(came.encode("utf-8", "replace")) // BYTES_PER_TOKEN)
    capped = estimate if cap_tokens is None else min(estimate, cap_tokens)
    told = response.usage.output_tokens if response.usage is not None else None
    counted = capped if told is None else told
    if counted * MOST_CHARS_PER_TOKEN >= len(came):
        return counted
    # Within a limit of the caller's, the larger of both counts leaves the smaller budget.
    return max(-(-len(came) // CHARS_PER_TOKEN), 0 if cap_tokens is None else capped)


def without_echo(response: Response, edits: Sequence[Edit]) -> Response:
    """Return a response without the prefill that it repeats: the model did not write that (C4a).
    Bodies of llama.cpp and of Mistral do."""
    for edit in edits:
        if (
            isinstance(edit, AppendAssistant)
            and edit.prefill
            and response.text.startswith(edit.text)
        ):
            return replace(response, text=response.text[len(edit.text) :])
    return response


def _came(response: Response) -> str:
    arguments = "".join(call.arguments for call in response.calls)
    return response.text + response.reasoning + arguments


def untold_tokens(response: Response) -> int:
    """Return the output tokens of an attempt that did not report any, such as one that broke off or
    whose rest was not read; 0 if it reported some."""
    if response.usage is not None and response.usage.output_tokens is not None:
        return 0
    return -(-len(_came(response)) // CHARS_PER_TOKEN)


def summed(
    usages: list[Usage | None], untold_tokens: int, went_on: Sequence[int] = ()
) -> Usage | None:
    """Return the usage of one call: the input of its first attempt, the output of all (C19).
    `went_on`: the numbers of the attempts with which the provider went on by itself. Their input
    counts too, since its own SDK adds it (C30).
    `untold_tokens`: those of the attempts that reported none, so that the caller sees at least
    what the attempts shown have used (P10). If no attempt reported any, nothing is made up."""
    known = [usage for usage in usages if usage is not None]
    if not known:
        return None
    told = _sum([usage.output_tokens for usage in known])
    further = [usage for n in went_on if n < len(usages) and (usage := usages[n]) is not None]
    inputs = [usage.input_tokens for usage in further if usage is not known[0]]
    return replace(
        known[0],
        input_tokens=_sum([known[0].input_tokens, *inputs]),
        output_tokens=None if told is None else told + untold_tokens,
        reasoning_tokens=_sum([usage.reasoning_tokens for usage in known]),
    )


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


_OUTPUT_TOKENS = b"x-amzn-bedrock-output-token-count"
"""The header in which Bedrock repeats the output tokens of an InvokeModel."""


def counted(head: Head, usage: Usage | None) -> Head:
    """Return a head with the tokens of the whole turn, as in its body (C19). If the whole is
    unknown, the header with the tokens of one attempt is removed."""
    if not head.get(_OUTPUT_TOKENS):
        return head
    plain, tokens = head.without(_OUTPUT_TOKENS), usage.output_tokens if usage else None
    return plain if tokens is None else plain.plus((_OUTPUT_TOKENS, b"%d" % tokens))


def usage_line(report: Report) -> str:
    """Return the turn's id and what was billed in all, attempt by attempt, as JSON on one line
    (C19). The sum is null if the provider counted no attempt."""
    attempts = [
        None if u is None else {"input_tokens": u.input_tokens, "output_tokens": u.output_tokens}
        for u in report.usage
    ]
    value: dict[str, object] = {
        "turn": report.turn,
        "status": report.status,
        "reason": report.reason,
        "attempts": attempts,
        "billed_output_tokens": report.output_tokens,
    }
    if report.left_out:
        value["left_out"] = list(report.left_out)
    return json.dumps(value, separators=(",", ":"))


def usage_comment(line: str) -> bytes:
    """Return the same as a comment of an event stream, at the start of the event that follows.
    After an event with an `id`, the openai SDK would take the blank line after a separate comment
    for an event, and fail on it."""
    return f": x-tenuto-usage {line}\n".encode()
