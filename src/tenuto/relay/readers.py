"""Who reads streams that are no server-sent events, or not all of these, by the path that asks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from urllib.parse import unquote, urlsplit

from tenuto.core.policy import Policy
from tenuto.frames.aws_messages import render_event, render_named
from tenuto.frames.frame import Framing
from tenuto.relay.aws_messages import MessageFraming, Render
from tenuto.relay.commands import Run
from tenuto.relay.data_lines import LineFraming
from tenuto.relay.json_array import ArrayFraming
from tenuto.relay.json_lines import LinesFraming
from tenuto.relay.reframing import Reframing, reframed
from tenuto.relay.repeating import RepeatingFraming
from tenuto.relay.turn import Asked

Reader = tuple[Framing, Reframing] | None
"""What a caller reads, and how it is given that; None: events as they come."""


def _aws(render: Render, asked: Asked, policy: Policy, left_alone: bool) -> Reader:
    # Anthropic's SDK fails on exceptions, and raises on an error within an event.
    anthropics = any(key[:12].lower() == b"x-stainless-" for key, _ in asked.request.headers)
    return Framing.MESSAGES, MessageFraming(
        policy, left_alone=left_alone, render=render, exceptions=not anthropics
    )


def _googles(asked: Asked, policy: Policy, left_alone: bool) -> Reader:
    if "alt=sse" not in urlsplit(asked.request.url).query:
        return Framing.ARRAY, ArrayFraming(policy, left_alone=left_alone)
    return None if left_alone else (Framing.EVENTS, LineFraming(policy, left_alone=False))


def _ollamas(asked: Asked, policy: Policy, left_alone: bool) -> Reader:
    streams = asked.parsed.facts.stream
    return (Framing.LINES, LinesFraming(policy, left_alone=left_alone)) if streams else None


def _dashscopes(asked: Asked, policy: Policy, left_alone: bool) -> Reader:
    repeats = asked.parsed.facts.repeats
    if left_alone or repeats is False or not asked.parsed.facts.stream:
        return None
    return Framing.EVENTS, RepeatingFraming(policy, repeats=repeats)


READERS: dict[str, Callable[[Asked, Policy, bool], Reader]] = {
    "/invoke-with-response-stream": partial(_aws, render_event),
    "/converse-stream": partial(_aws, render_named),
    ":streamGenerateContent": _googles,
    "/api/chat": _ollamas,
    "/api/generate": _ollamas,
    "/text-generation/generation": _dashscopes,
    "/multimodal-generation/generation": _dashscopes,
}
"""How the path of such a request ends, and who reads its answer."""


def framed(run: Run, asked: Asked, policy: Policy, *, left_alone: bool) -> Run:
    """The same turn, as whoever asked for it reads it. `left_alone`: it is only watched."""
    path = unquote(asked.path).rstrip("/")
    for end, reader_of in READERS.items():
        if path.endswith(end):
            reader = reader_of(asked, policy, left_alone)
            return run if reader is None else reframed(run, *reader, policy, left_alone=left_alone)
    return run
