"""Asking a simulator that speaks a provider's Chat Completions through that provider's own SDK. They
are made like OpenAI's, so that what is asked and judged stands in `openai_chat`."""

from __future__ import annotations

from typing import Any

import groq
import together
from cerebras.cloud import sdk as cerebras

from support.asking.openai_chat import Asker


class GroqAsker(Asker):
    """Its SDK adds `/openai/v1` itself."""

    dialect = "groq"
    own_errors = (groq.GroqError,)
    refusal = groq.BadRequestError

    def clients(self, **given: Any) -> tuple[Any, Any]:
        given["base_url"] = self.sim.root_url
        return groq.Groq(**given), groq.AsyncGroq(**given)


class TogetherAsker(Asker):
    """As OpenAI's, by another name."""

    dialect = "together"
    own_errors = (together.TogetherError,)
    refusal = together.BadRequestError

    def clients(self, **given: Any) -> tuple[Any, Any]:
        given["base_url"] = self.sim.base_url
        return together.Together(**given), together.AsyncTogether(**given)


class CerebrasAsker(Asker):
    """Its SDK adds `/v1` itself, and would make a request when it is made."""

    dialect = "cerebras"
    own_errors = (cerebras.CerebrasError,)
    refusal = cerebras.BadRequestError

    def clients(self, **given: Any) -> tuple[Any, Any]:
        given |= {"base_url": self.sim.root_url, "warm_tcp_connection": False}
        return cerebras.Cerebras(**given), cerebras.AsyncCerebras(**given)


ASKERS: tuple[Any, ...] = (GroqAsker, TogetherAsker, CerebrasAsker)
