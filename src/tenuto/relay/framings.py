"""Whose streams are framed otherwise than by server-sent events in full, by the path that asks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from urllib.parse import unquote, urlsplit

from tenuto.core.policy import Policy
from tenuto.relay.commands import Request, Run
from tenuto.relay.data_lines import in_data_lines
from tenuto.relay.json_array import array_framed
from tenuto.relay.reframing import Render, aws_framed
from tenuto.wire.aws_eventstream import render_event, render_named

Framed = Callable[[Run, Request, Policy, bool], Run]


def _aws(render: Render, run: Run, request: Request, policy: Policy, left_alone: bool) -> Run:
    # Anthropic's SDK fails on exceptions, and raises on an error within an event.
    anthropics = any(key[:12].lower() == b"x-stainless-" for key, _ in request.headers)
    return aws_framed(run, policy, left_alone=left_alone, render=render, exceptions=not anthropics)


def _googles(run: Run, request: Request, policy: Policy, left_alone: bool) -> Run:
    if "alt=sse" not in urlsplit(request.url).query:
        return array_framed(run, policy, left_alone=left_alone)
    return run if left_alone else in_data_lines(run)


FRAMINGS: dict[str, Framed] = {
    "/invoke-with-response-stream": partial(_aws, render_event),
    "/converse-stream": partial(_aws, render_named),
    ":streamGenerateContent": _googles,
}
"""How the path of such a request ends, and what its turn is framed by."""


def framed(run: Run, path: str, request: Request, policy: Policy, *, left_alone: bool) -> Run:
    """The same turn, as whoever asked for this path reads it. `left_alone`: it is only watched."""
    path = unquote(path)
    for end, frame in FRAMINGS.items():
        if path.endswith(end):
            return frame(run, request, policy, left_alone)
    return run
