"""What an agent's conversations share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from tenuto.agent.events import AgentEvent
from tenuto.agent.loop import Setup
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

    def client(self) -> Any:
        """The HTTP client that requests are sent with; made when it is first asked for."""
        if self._client is None:
            self._client = http_client(self._library, **self._options)
        return self._client

    def async_client(self) -> Any:
        """One for asyncio: made anew, since it belongs to the loop that is running."""
        return async_http_client(self._library, **self._options)

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
