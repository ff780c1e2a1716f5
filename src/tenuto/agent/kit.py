"""What an agent's conversations share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import cached_property
from typing import Any

from tenuto.agent.events import AgentEvent
from tenuto.agent.requests import Setup
from tenuto.agent.toolbox import Toolbox
from tenuto.clients.http_client import async_http_client, http_client, imported
from tenuto.core.policy import Policy

OnEvent = Callable[[AgentEvent], None]


class Kit:
    """What an agent's conversations share: its set-up, its tools, and the way to its models."""

    def __init__(
        self,
        setup: Setup,
        toolbox: Toolbox,
        policy: Policy,
        on_event: OnEvent | None,
        library: str,
    ) -> None:
        self.setup = setup
        self.toolbox = toolbox
        self.on_event = on_event
        self._policy = policy
        self._library: Any = library
        self._client: Any = None
        self._async_client: tuple[Any, Any] = (None, None)  # the loop that it belongs to, and it

    def client(self) -> Any:
        """The HTTP client that requests are sent with; made when it is first asked for."""
        if self._client is None:
            self._client = http_client(self._library, **self._options)
        return self._client

    @asynccontextmanager
    async def async_client(self) -> AsyncGenerator[Any, None]:
        """One for asyncio: that of the `async with` around, if it belongs to the loop that is
        running; else one that lasts as long as this context."""
        loop, client = self._async_client
        if client is not None and loop is asyncio.get_running_loop():
            yield client
            return
        async with async_http_client(self._library, **self._options) as client:
            yield client

    async def aopen(self) -> None:
        """Keep one client for asyncio until `aclose`, so that turns share its connections."""
        await self.aclose()
        client = async_http_client(self._library, **self._options)
        self._async_client = asyncio.get_running_loop(), client

    async def aclose(self) -> None:
        """Close it and its connections."""
        loop, client = self._async_client
        self._async_client = None, None
        if client is not None and loop is asyncio.get_running_loop():
            await client.aclose()

    @property
    def _options(self) -> dict[str, Any]:
        """No redirect is followed: the key and the conversation go where the model is, and on a way
        elsewhere most headers go along."""
        verify = self._authorities
        return {"policy": self._policy, "verify": verify, "follow_redirects": False}

    @cached_property
    def _authorities(self) -> Any:
        """Whom connections trust; reading them takes longer than all else that a turn does."""
        return imported(self._library).create_ssl_context()

    def close(self) -> None:
        """Close connections."""
        client, self._client = self._client, None
        if client is not None:
            client.close()
