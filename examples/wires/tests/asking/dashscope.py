"""Asking a simulator for DashScope's own API with httpx, reading as its SDK does. That one makes its
requests with `requests` and aiohttp, so that no program can give it a client; what it does with a
response is done here: line by line (`_handle_stream` in dashscope/common/utils.py of
dashscope-sdk-python, read 2026-11-22), and joined as `_merge_single_response` joins it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
from support.asking.openai_chat import TOOLS, Asker, Got
from support.asking.wrapping import Watching
from support.loops import close_loop

import tenuto
from tenuto_sim import CASES_ON, Simulator

__all__ = ["CASES", "TOOLS", "WIRE", "DashScopeAsker"]

WIRE = "dashscope"
CASES = CASES_ON[WIRE]


class CallFailed(Exception):
    """A response whose status is not 200: the SDK raises on none, a program has to look."""

    def __init__(self, status: int, said: dict[str, Any]) -> None:
        super().__init__(f"{status} {said.get('code')}: {said.get('message')}")
        self.status, self.said = status, said


class Refused(CallFailed):
    """The provider does not take the request."""


def of_output(output: dict[str, Any], usage: Any) -> Got:
    """What an output says, as a program keeps it."""
    choices = output.get("choices")
    if not choices:
        text, finish = output.get("text") or "", output.get("finish_reason")
        return Got(text, [], finish, {"role": "assistant", "content": text}, usage=usage)
    message = choices[0].get("message") or {}
    content = "" if message.get("content") is None else message["content"]
    text = content if isinstance(content, str) else "".join(p.get("text", "") for p in content)
    kept = {"role": "assistant", "content": content}
    calls = message.get("tool_calls") or []
    kept |= {"tool_calls": calls} if calls else {}
    return Got(text, calls, choices[0].get("finish_reason"), kept, usage=usage)


class Lines:
    """Reads the lines of a stream as the SDK does: what each event says, or its error."""

    def __init__(self) -> None:
        self.is_error = False
        self.name = ""

    def take(self, line: bytes) -> dict[str, Any] | None:
        said = line.decode()
        if said.startswith("event:"):
            self.name = said[len("event:") :]
            self.is_error = self.is_error or self.name == "error"
        elif said.startswith("data:") and self.name != "done":
            told: dict[str, Any]
            try:
                told = json.loads(said[len("data:") :])
            except json.JSONDecodeError:
                raise CallFailed(400, {"code": "Unknown", "message": said}) from None
            if self.is_error:
                raise CallFailed(400, told)
            return told
        return None


class Merged:
    """What events that say what is new amount to."""

    def __init__(self) -> None:
        self.text = ""
        self.calls: list[dict[str, Any]] = []
        self.got = Got()

    def add(self, told: dict[str, Any]) -> None:
        got = of_output(told["output"], told.get("usage"))
        self.text += got.text
        for call in got.calls:
            known = [one for one in self.calls if one.get("index") == call.get("index")]
            if not known:
                self.calls.append({**call, "function": dict(call["function"])})
                continue
            piece = call["function"]
            for key in ("name", "arguments"):
                if key in piece:
                    whole = known[0]["function"]
                    whole[key] = whole.get(key, "") + piece[key]
            known[0].update({k: v for k, v in call.items() if k != "function" and v})
        got.text, got.calls = self.text, self.calls
        listed = isinstance(got.message["content"], list)
        got.message["content"] = [{"text": self.text}] if listed else self.text
        if self.calls:
            got.message["tool_calls"] = self.calls
        got.usage = got.usage or self.got.usage
        # Nothing is told by the text that says that there is no stop yet.
        if got.finish in (None, "", "null"):
            got.finish = self.got.finish
        self.got = got


class Latest(Merged):
    """What events that repeat all that was said amount to: the last one has it all."""

    def add(self, told: dict[str, Any]) -> None:
        got = of_output(told["output"], told.get("usage"))
        if got.finish in (None, "", "null"):
            got.finish = self.got.finish
        self.got = got


class DashScopeAsker(Asker):
    """Asks a simulator, with nothing else around it.

    Args:
        increments: whether a stream is asked to say only what is new.
        form: `result_format`.
        service: the path's.
    """

    own_errors = (CallFailed,)
    refusal = Refused

    def __init__(
        self,
        sim: Simulator,
        increments: bool = True,
        form: str = "message",
        service: str = "text",
    ) -> None:
        self.sim = sim
        self.increments, self.form, self.service = increments, form, service
        self.client: Any = httpx.Client(timeout=30)
        self.async_client: Any = httpx.AsyncClient(timeout=30)
        self.loop = asyncio.new_event_loop()
        self.told: list[dict[str, Any]] = []

    def close(self) -> None:
        self.client.close()
        self.loop.run_until_complete(self.async_client.aclose())
        close_loop(self.loop)

    def _request(self, given: dict[str, Any]) -> dict[str, Any]:
        rows, stream = given.pop("messages"), given.pop("stream")
        body = {"model": given.pop("model"), "input": {"messages": self._rows(rows)}}
        increments = {"incremental_output": True} if self.increments and stream else {}
        body["parameters"] = {"result_format": self.form, **increments, **given}
        headers = {"authorization": "Bearer key", "content-type": "application/json"}
        if stream:
            more = {"accept": "text/event-stream", "x-dashscope-sse": "enable"}
            headers |= more | {"x-accel-buffering": "no"}
        path = f"/api/v1/services/aigc/{self.service}-generation/generation"
        return {"url": f"{self.sim.root_url}{path}", "json": body, "headers": headers}

    def _rows(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if self.service == "text":
            return [{**row, "content": row.get("content") or ""} for row in rows]
        return [
            row if isinstance(row.get("content"), list) or row["role"] == "tool"
            else {**row, "content": [{"text": row["content"]}] if row.get("content") else []}
            for row in rows
        ]  # fmt: skip

    def _ask(self, given: dict[str, Any]) -> Got:
        streams = given["stream"]
        self.told.clear()
        with self.client.stream("POST", **self._request(given)) as response:
            if not (streams and _has_events(response)):
                return self._of_body(response, response.read())
            reader, merged = Lines(), Merged() if self.increments else Latest()
            pending = b""
            for piece in response.iter_bytes():
                *lines, pending = (pending + piece).split(b"\n")
                self._take(lines, reader, merged)
            self._take([pending], reader, merged)
            return merged.got

    def _of_body(self, response: httpx.Response, raw: bytes) -> Got:
        if response.status_code != 200:
            told = json.loads(raw)
            kind = Refused if response.status_code == 400 else CallFailed
            raise kind(response.status_code, told)
        told = json.loads(raw)
        if not told.get("output"):
            raise CallFailed(200, told)
        return of_output(told["output"], told.get("usage"))

    def _ask_async(self, given: dict[str, Any]) -> Got:
        async def run() -> Got:
            streams = given["stream"]
            request = self._request(given)
            async with self.async_client.stream("POST", **request) as response:
                if not (streams and _has_events(response)):
                    return self._of_body(response, await response.aread())
                reader, merged = Lines(), Merged() if self.increments else Latest()
                pending = b""
                async for piece in response.aiter_bytes():
                    *lines, pending = (pending + piece).split(b"\n")
                    self._take(lines, reader, merged)
                self._take([pending], reader, merged)
                return merged.got

        self.told.clear()
        return self.loop.run_until_complete(run())

    def _take(self, lines: list[bytes], reader: Lines, merged: Merged) -> None:
        for line in lines:
            if line.strip() and (told := reader.take(line.rstrip(b"\r"))) is not None:
                self.told.append(told)
                merged.add(told)


def _has_events(response: httpx.Response) -> bool:
    said = response.headers.get("content-type", "")
    return response.status_code == 200 and "text/event-stream" in said


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
