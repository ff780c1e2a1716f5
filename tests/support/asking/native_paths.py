"""Asking a simulator on the paths that watsonx.ai and Databricks have of their own, by HTTP alone: of
what comes back the parts are OpenAI's, and how they come is the provider's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx2
from openai.types.chat import ChatCompletion, ChatCompletionChunk

import tenuto
from support.asking.openai_chat import Asker, Assembled, Got, of_body
from support.asking.wrapping import Watching
from support.loops import close_loop


class ErrorTold(Exception):
    """An event of a stream was an error."""


class Refused(httpx2.HTTPStatusError):
    """A status of 400."""


class NativeAsker(Asker):
    """Asks as a program does that has read the provider's reference, and that only."""

    own_errors = (httpx2.HTTPError, ErrorTold)
    refusal = Refused
    ends = True
    """Whether `[DONE]` ends a stream."""

    def clients(self, **given: Any) -> tuple[Any, Any]:
        return httpx2.Client(), httpx2.AsyncClient()

    def close(self) -> None:
        self.client.close()
        self.loop.run_until_complete(self.async_client.aclose())
        close_loop(self.loop)

    def located(self, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The path and the body of a request."""
        raise NotImplementedError

    def _request(self, given: dict[str, Any]) -> dict[str, Any]:
        path, body = self.located(given)
        return {"url": self.sim.root_url + path, "json": body, "headers": {"authorization": "k"}}

    def _ask(self, given: dict[str, Any]) -> Got:
        with self.client.stream("POST", **self._request(given)) as answer:
            answer.read() if answer.is_error else None
            return self._got(answer, given, answer.iter_lines())

    def _ask_async(self, given: dict[str, Any]) -> Got:
        async def run() -> Got:
            made = self.async_client.stream("POST", **self._request(given))
            async with made as answer:
                await answer.aread() if answer.is_error else None
                return self._got(answer, given, iter([line async for line in answer.aiter_lines()]))

        return self.loop.run_until_complete(run())

    def _got(self, answer: Any, given: dict[str, Any], lines: Iterator[str]) -> Got:
        if answer.status_code == 400:
            raise Refused(answer.text, request=answer.request, response=answer)
        answer.raise_for_status()
        if not given["stream"]:
            return of_body(ChatCompletion.construct(**self._judged(json.loads("\n".join(lines)))))
        assembled = Assembled()
        for line in lines:
            name, _, data = line.removeprefix("\ufeff").partition(":")
            if name == "data" and not (self.ends and data.strip() == "[DONE]"):
                assembled.add(ChatCompletionChunk.construct(**self._judged(json.loads(data))))
        return assembled.done()

    def _judged(self, document: dict[str, Any]) -> dict[str, Any]:
        failed = "error" in document or "errors" in document or document.get("object") == "error"
        if failed and not document.get("choices"):
            raise ErrorTold(document)
        return document


class WatsonxAsker(NativeAsker):
    """`/ml/v1/text/chat`; its streams have no end mark, and IBM's clients would fail on one."""

    dialect = "watsonx"
    ends = False

    def located(self, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        body = {key: item for key, item in given.items() if key != "stream_options"}
        body |= {"model_id": body.pop("model"), "project_id": "p"}
        if isinstance(body.get("tool_choice"), str):
            body["tool_choice_option"] = body.pop("tool_choice")
        way = "chat_stream" if body.pop("stream") else "chat"
        return f"/ml/v1/text/{way}?version=2024-05-31", body


class DatabricksAsker(NativeAsker):
    """`/serving-endpoints/<name>/invocations`."""

    dialect = "databricks"

    def located(self, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        body = dict(given)
        return f"/serving-endpoints/{quote(body.pop('model'), safe='')}/invocations", body


class _Recovering(Watching):
    """Asks through `tenuto.http_client`."""

    def wrap(self, policy: tenuto.Policy, *, watched: bool = True) -> None:
        self.events: list[tenuto.Event] = []
        self.watched = watched
        told: Any = {"policy": policy, "on_event": self.events.append if watched else None}
        self.client, self.async_client = (
            tenuto.http_client(**told),
            tenuto.async_http_client(**told),
        )


class WrappedWatsonx(_Recovering, WatsonxAsker):
    """Asks watsonx.ai so."""


class WrappedDatabricks(_Recovering, DatabricksAsker):
    """Asks Databricks so."""
