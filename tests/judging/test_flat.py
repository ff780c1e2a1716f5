"""The quick reading of flat rows says exactly what the whole reading says, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from random import Random
from typing import Any

import pytest
from judging.test_quick import TEXTS, whole
from support.stored import DONE

from tenuto import judge
from tenuto.judging.flat import _read, plan_of
from tenuto.judging.kinds import WITH_STOP, WITHOUT_STOP
from tenuto.judging.names import IDS, LIMITS, MODELS, SETTINGS, STOPS, TOKENS
from tenuto.judging.walk import ASKED
from tenuto.judging.walk import TEXTS as TEXT_NAMES

NAMES = sorted(
    {*STOPS, *TEXT_NAMES, *ASKED, *IDS, *LIMITS, *SETTINGS, *MODELS, *TOKENS}
    | {"created_at", "timestamp", "usage", "tool_calls", "function_call", "refusal", "type", "role", "object", "kind"}
    | {"status", "error", "choices", "candidates", "results", "generations", "event", "done", "score", "category"}
    | {"index", "logprobs", "reasoning", "is_byok", "meta", "metadata", "name", "data", "encoding", "b64", "finished"}
    | {"prompt_eval_count", "eval_count", "total_duration", "details", "generated_tokens", "outputText", "delta"}
    | {path.split(".")[0] for kind in (*WITH_STOP, *WITHOUT_STOP) for path in kind.needs}
)  # fmt: skip
STOP_VALUES = (
    "stop", "length", "max_tokens", "end_turn", "STOP", "MAX_TOKENS", "eos", "eos_token", "stop_sequence", "completed",
    "tool_calls", "content_filter", "refusal", "error", "timeout", "", "Stop", "FinishReason.STOP", '["stop"]', "1", "tool-use",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, 3, 0.5, -1, *TEXTS, *STOP_VALUES, datetime(2026, 1, 2, tzinfo=UTC), date(2026, 1, 2),
    '{"max_tokens": 20}', {"max_tokens": 20}, "assistant", "ai", "llm", "chat.completion", "GENERATION", "model", "base64", "2026-01-02T00:00:00Z",
    [], {}, {"completion_tokens": 9}, [DONE], {"text": DONE}, [{"role": "assistant", "content": "x"}],
)  # fmt: skip


def rows(seed: int) -> Iterator[dict[str, Any]]:
    """Each name beside a text and its stop, and several by chance."""
    chance = Random(seed)
    for name in NAMES:
        row = {chance.choice(STOPS[:2]): "stop", chance.choice(TEXT_NAMES): DONE}
        yield {name: chance.choice(VALUES), **row}
    for _ in range(400):
        others = {chance.choice(NAMES): chance.choice(VALUES) for _ in range(chance.randrange(5))}
        text = chance.choice([DONE, chance.choice(TEXTS)])
        name, stop = chance.choice(TEXT_NAMES), chance.choice(STOPS)
        yield {**others, stop: chance.choice(STOP_VALUES[:12]), name: text}


@pytest.mark.behaviour("J1", "N6")
@pytest.mark.parametrize("seed", range(4))
def test_with_any_names_and_values_it_says_the_same_or_nothing(seed: int) -> None:
    quick = 0
    for row in rows(seed):
        plan = plan_of(tuple(row))
        if plan is None:
            continue
        for limit in (None, 20):
            found = _read(plan, row, limit)
            quick += found is not None
            assert found is None or found == whole(row, limit), row
    assert quick > 200


@pytest.mark.behaviour("J1")
def test_plain_rows_are_read_quickly() -> None:
    for stop in ("stop", "length", "STOP", "end_turn", "max_tokens", "eos"):
        row = {
            "id": 1,
            "prompt": '{"a": 1}',
            "model": "m",
            "finish_reason": stop,
            "completion": DONE,
            "completion_tokens": 9,
            "max_tokens": 20,
            "score": 0.5,
        }
        plan = plan_of(tuple(row))
        assert plan is not None
        found = _read(plan, row, None)
        assert found == whole(row)
        assert found is not None
        assert (found.model, found.id, found.limit, found.output_tokens) == ("m", "1", 20, 9)


def test_where_the_whole_reading_says_anything_else_it_is_asked() -> None:
    # Names that nobody has thought of: a plan is only followed once both readings agreed.
    row = {"finish_reason": "stop", "completion": DONE, "unheard_of": 1}
    plan = plan_of(tuple(row))
    assert plan is not None
    for _ in range(20):
        assert judge(row).outcome.value == "done"
    assert plan.compared == 8
