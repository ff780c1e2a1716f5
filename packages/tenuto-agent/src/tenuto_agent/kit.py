"""What an agent's conversations share."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import cached_property
from typing import Any

from tenuto.clients.http_client import client_of, imported
from tenuto.clients.wrap import engine
from tenuto.core.settings.policy import Policy
from tenuto.turn.pipeline.engine import Engine
from tenuto_agent.asking import Posts
from tenuto_agent.events import AgentEvent
from tenuto_agent.requests import Setup
from tenuto_agent.toolbox import Toolbox

OnEvent = Callable[[AgentEvent], None]


class _Shared:
    """A client for asyncio that turns share; its last user closes it. Several tasks may be inside
    an `async with` of one agent, and a turn may outlast it.

    Attributes:
        opened: the number of `async with` blocks that keep it open.
    """

    def __init__(self, client: Any) -> None:
        self.opened = 0
        self._client = client
        self._users = 0

    def take(self) -> Any:
        self._users += 1
        return self._client

    async def let_go(self) -> None:
        self._users -= 1
        if not self._users:
            await self._client.aclose()


class Kit:
    """What an agent's conversations share: its settings, its tools, and the clients for its
    models."""

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
        self.posts: Posts = Posts()
        self._policy = policy
        self._library: Any = library
        self._client: Any = None
        self._making = threading.RLock()  # a signal handler may call close in the same thread
        # Each loop reads and writes its own entry alone, so these need no lock.
        self._shared: dict[asyncio.AbstractEventLoop, _Shared] = {}

    def client(self) -> Any:
        """Return the HTTP client that sends requests; it is created on first use."""
        with self._making:  # if two threads made a client each, one would never be closed
            if self._client is None:
                self._client = self._made("Client")
            return self._client

    @asynccontextmanager
    async def async_client(self) -> AsyncGenerator[Any, None]:
        """Give a client for asyncio: the one of an `async with` block on the running loop, or else
        one that lasts as long as this context."""
        shared = self._shared.get(asyncio.get_running_loop())
        if shared is not None:
            try:
                yield shared.take()
            finally:
                await shared.let_go()
            return
        async with self._made("AsyncClient") as client:
            yield client

    async def aopen(self) -> None:
        """Keep one client for asyncio until `aclose`, so that turns share its connections. Repeated
        calls on the same loop share one client."""
        loop = asyncio.get_running_loop()
        if loop not in self._shared:
            self._shared[loop] = _Shared(self._made("AsyncClient"))
        self._shared[loop].opened += 1
        self._shared[loop].take()

    async def aclose(self) -> None:
        """Release the client; its last user, which may be a running turn, closes its
        connections."""
        loop = asyncio.get_running_loop()
        shared = self._shared.get(loop)
        if shared is None:
            return
        shared.opened -= 1
        if not shared.opened:
            del self._shared[loop]
        await shared.let_go()

    def _made(self, name: str) -> Any:
        """Return a new HTTP client. It doesn't follow redirects, because most headers would go
        along, and the key and the conversation are for the model's own host only."""
        options = {"verify": self._authorities, "follow_redirects": False}
        with self._making:  # two engines would not share what they learn
            finishes = self._engine
        return client_of(finishes, name, self._library, options)

    @cached_property
    def _engine(self) -> Engine:
        """What finishes the turns of all clients. An async turn may have a client of its own, and
        what it learns of the provider is for the turns that follow."""
        return engine(self._policy, None)

    @cached_property
    def _authorities(self) -> Any:
        """Return the trusted certificates, which are slower to read than the rest of a turn."""
        return imported(self._library).create_ssl_context()

    def close(self) -> None:
        """Close connections."""
        with self._making:
            client, self._client = self._client, None
        if client is not None:
            client.close()
