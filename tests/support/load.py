"""A load of turns with known faults: which turns, and how they are asked for."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tenuto
from support.asking.anthropic_messages import WrappedAnthropic
from support.asking.gemini_generate import WrappedGemini, user
from support.asking.wrapping import QUICK, Wrapped
from support.pairing import WAYS
from tenuto_sim import CASES_ON, Simulator

SEED = 24
WIRES: dict[str, Any] = {
    "openai-chat": Wrapped,
    "anthropic-messages": WrappedAnthropic,
    "gemini-generate": WrappedGemini,
}
FAULTS = (
    "normal", "text", "length_once", "length_twice", "length_three_times", "length_then_overlap",
    "length_no_usage", "length_always", "empty_once", "whitespace_once", "reasoning_only_length",
    "drop_before_text", "drop_mid_text", "eof_no_finish", "body_cut", "body_empty", "unknown_stop",
    "finish_conflict", "abort", "http_429_once", "http_500_once", "cut_off_mid_text",
    "reset_mid_text", "length_then_500", "length_then_filter", "error_chunk_mid_text",
)  # fmt: skip
"""Cases of the simulator that the load is drawn from, where the wire and the mode have them."""

Asked = tuple[str, str, str, str]
"""A wire, a mode, a kind of client and a case."""


def drawn(turns: int) -> list[Asked]:
    """So many turns, the same ones each time."""
    modes = ("body", "stream")
    able = [
        (wire, mode, way, fault)
        for wire, mode, way, fault in itertools.product(WIRES, modes, WAYS, FAULTS)
        if fault in CASES_ON[wire] and mode in CASES_ON[wire][fault].modes
    ]
    return random.Random(SEED).choices(able, k=turns)


@contextmanager
def askers(sim: Simulator, hear: tenuto.OnEvent) -> Iterator[dict[str, Any]]:
    """Wrapped SDKs that do not try again by themselves, by wire."""
    policy = tenuto.Policy(**QUICK)
    made: dict[str, Any] = {
        wire: asker(sim, policy, **_once(wire)) for wire, asker in WIRES.items()
    }
    for asker in made.values():
        for name in ("client", "async_client"):
            if (client := getattr(asker, name, None)) is not None:
                setattr(asker, name, tenuto.wrap(client, policy=policy, on_event=hear))
    yield made
    for asker in made.values():
        asker.close()


def _once(wire: str) -> dict[str, Any]:
    return {} if wire == "gemini-generate" else {"max_retries": 0}


def prompt_of(asker: Any, wire: str, fault: str) -> str:
    """Return a prompt that no other turn has."""
    prompt: str = asker.prompt_for(CASES_ON[wire][fault])
    return prompt


def ask(asker: Any, wire: str, mode: str, way: str, fault: str, prompt: str = "") -> None:
    """Ask; `prompt` is one of `prompt_of`, "" for a new one."""
    prompt = prompt or prompt_of(asker, wire, fault)
    counted = wire == "openai-chat" and mode == "stream"
    more = {"stream_options": {"include_usage": True}} if counted else {}
    row = user(prompt) if wire == "gemini-generate" else {"role": "user", "content": prompt}
    asker.ask([row], mode, way, model=f"sim/{fault}", **more)


async def ask_in_task(asker: Any, wire: str, mode: str, fault: str, prompt: str) -> None:
    """Ask by the async client; what the SDK raises is passed over."""
    model, streams = f"sim/{fault}", mode == "stream"
    given: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": prompt}]}
    try:
        if wire == "gemini-generate":
            models = asker.client.aio.models
            create = models.generate_content_stream if streams else models.generate_content
            made = await create(model=model, contents=prompt)
        elif wire == "anthropic-messages":
            create = asker.async_client.messages.create
            made = await create(max_tokens=4_096, stream=streams, **given)
        else:
            counted = {"stream_options": {"include_usage": True}} if streams else {}
            create = asker.async_client.chat.completions.create
            made = await create(stream=streams, **given, **counted)
        if streams:
            async for _ in made:
                pass
    except Exception:  # noqa: BLE001 - the events say which one it is
        pass
