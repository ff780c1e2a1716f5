"""Asking a simulator for DashScope's own API through a client that recovers."""

from __future__ import annotations

import tenuto
from support.asking.dashscope import DashScopeAsker
from support.asking.wrapping import Watching


class WrappedDashScope(Watching, DashScopeAsker):
    """Asks through `tenuto.http_client`, in the place of a bare client of httpx."""

    retries = {}  # noqa: RUF012 - its SDK never tries again

    def wrap(self, policy: tenuto.Policy, *, watched: bool = True) -> None:
        """Put recovering clients in the place of the bare ones."""
        self.events: list[tenuto.Event] = []
        self.watched = watched
        hear = self.events.append if watched else None
        self.client.close()
        self.client = tenuto.http_client("httpx", policy=policy, on_event=hear)
        self.async_client = tenuto.async_http_client("httpx", policy=policy, on_event=hear)
