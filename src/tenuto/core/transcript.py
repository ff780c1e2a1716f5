"""What a conversation holds, whichever wire it is sent on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    """What one tool call gave.

    Attributes:
        call_id: the id of the call.
        name: the tool's name, as the call said it.
        text: what the model is told.
        failed: True where the tool was not run, or did not do its work.

    >>> Result("call_1", "add", "3")
    Result(call_id='call_1', name='add', text='3', failed=False)
    """

    call_id: str
    name: str
    text: str
    failed: bool = False
