"""A continuation that is itself cut within its first characters, on every wire: what may have become
a repetition or a preamble is no new text (S4a, S3b)."""

from __future__ import annotations

from typing import Any

import pytest
from support.asking.wrapping import QUICK
from support.every_wire import MAKERS, ROWS, At, cut_text, made
from support.far_sides import FarSide
from support.pairing import every_pair

import tenuto

TEXT = "The moon pulls the sea towards it, so that water rises below the moon and opposite."
SAID, REST = TEXT[:72], TEXT[72:]
STARTS = {
    "everything again": TEXT,
    "the last words again": SAID[-30:],
    "a preamble": f"Sure, here is the rest:\n\n{TEXT}",
    "a preamble in Chinese": f"好的，继续：\n\n{TEXT}",
}


@pytest.mark.behaviour("S4a", "S3b")
@every_pair(
    wire=sorted(MAKERS),
    mode=["stream", "whole"],
    by=["limit", "break"],
    start=STARTS,
    ends=["4", "8", "13 22", "23 5"],
)
def test_what_broke_off_before_it_could_tell_is_no_new_text(
    wire: str, mode: str, by: str, start: str, ends: str
) -> None:
    if mode == "whole":
        by = "limit"  # of a body that breaks off nothing can be read
    answers: list[Any] = [cut_text(wire, mode, SAID, by)]
    answers += [cut_text(wire, mode, STARTS[start][: int(end)], by) for end in ends.split()]
    answers += [made(wire, mode, REST)]
    policy = tenuto.Policy(
        **QUICK, continuation_max_total_completion_tokens=0, fault_retries=4, prefill="never"
    )
    with FarSide(*answers) as far:
        asker = MAKERS[wire](At(far), policy)
        row = ROWS.get(wire, {"role": "user", "content": "Write it."})
        said = asker.ask([row], "stream" if mode == "stream" else "body", "sync")
        asker.close()
        assert len(far.requests) == len(answers)
    assert (said.error, said.text) == (None, TEXT)
    assert asker.ending["status"] == "complete"
