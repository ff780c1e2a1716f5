"""Why it stopped, and what a provider can do."""
# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from typing import Literal, assert_never, assert_type

import tenuto


def read(body: bytes) -> str:
    stop = tenuto.detect(body, wire="openai-chat")
    assert_type(stop, tenuto.Stop)
    assert_type(stop.reason, tenuto.StopReason)
    assert_type(stop.raw, str | None)
    assert_type(stop.message, str)
    assert_type(stop.terminal, bool)
    if stop.reason is tenuto.StopReason.MAX_TOKENS:
        return "cut"
    match stop.confidence:
        case tenuto.Confidence.HIGH:
            return "sure"
        case tenuto.Confidence.LOW:
            return "unsure"
        case _:
            return stop.confidence.value


def follow(pieces: list[bytes]) -> tenuto.Stop:
    detector = tenuto.StreamDetector()
    for piece in pieces:
        assert_type(detector.feed(piece), tenuto.Stop)
    return detector.finalize()


def ask_what_a_model_can_do() -> None:
    can = tenuto.capabilities("anthropic", "claude-sonnet-4-5")
    assert_type(can, tenuto.Capabilities)
    assert_type(can.output_tokens, int | None)
    assert_type(can.continues_by, Literal["prefill", "hint"])
    if can.continues_by == "prefill":
        print(can.window_tokens)
    elif can.continues_by == "hint":
        print(can.stops)
    else:
        assert_never(can.continues_by)


def refused() -> None:
    tenuto.detect()  # type: ignore[call-arg]
    tenuto.detect(b"", "openai-chat")  # type: ignore[call-arg]
    tenuto.capabilities(None)  # type: ignore[arg-type]
    tenuto.detect(b"").reason = tenuto.StopReason.END_TURN  # type: ignore[misc]
