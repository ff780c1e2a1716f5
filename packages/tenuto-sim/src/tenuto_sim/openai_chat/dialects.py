"""How other providers differ from OpenAI on Chat Completions, one row each.

groq 1.7.0, together 3.1.1 and cerebras_cloud_sdk 1.91.0, types/chat/; the reference of Databricks
(https://docs.databricks.com/aws/en/machine-learning/foundation-model-apis/api-reference), read
2026-11-22. For what self-hosted servers, and DeepSeek's beta address, do with a trailing assistant
row: https://github.com/ggml-org/llama.cpp/pull/23089, measured with xllamacpp 2026.10.11549;
vllm/entrypoints/openai/protocol.py; https://api-docs.deepseek.com/api/create-chat-completion and
https://github.com/farion1231/cc-switch/pull/4239, read 2026-11-23.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tenuto_sim.asked import Asked
from tenuto_sim.errors import Failure
from tenuto_sim.openai_chat.errors import ERRORS, failure
from tenuto_sim.openai_chat.history import (
    PREFILL_REFUSALS,
    body_violations,
    header_violations,
    without,
)
from tenuto_sim.openai_chat.request import read as read_chat
from tenuto_sim.reply import Settings
from tenuto_sim.shapes import Violations

Members = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one provider differs.

    Attributes:
        path: a pattern that must match the whole path of its requests.
        reasoning_key: the key of a message's reasoning.
        stops: its own stop values.
        breaks_off: the event in the middle of a stream that fails.
        in_body, in_piece: further members of bodies, and of further pieces of calls.
        in_last_chunk: further members of the last chunk, made from the usage.
        located: adds what the path says to a body (`Wire.located`).
        said: converts an answer or a chunk to its form.
        refused: converts an error document to its form, with a unique key.
        event: the name of its events.
        done: whether `[DONE]` ends a stream.
        counts_run: whether each chunk reports the usage so far.
        row_keys: further keys that assistant rows may have.
        forbids: the message that refuses a body; "": it may pass.
        continues: whether the answer to a body continues a trailing assistant row; None: it depends
            on the server's setting.
    """

    path: str = "/v1/chat/completions"
    reasoning_key: str = "reasoning"
    stops: Mapping[str | None, str] = field(default_factory=dict)
    breaks_off: Failure = ERRORS["mid_stream"]
    in_body: Members = field(default_factory=dict)
    in_piece: Members = field(default_factory=dict)
    in_last_chunk: Callable[[Members], Members] = lambda usage: {"usage": usage}
    located: Callable[[Members, Mapping[str, str]], Members] = lambda body, _: body
    said: Callable[[dict[str, Any]], dict[str, Any]] = lambda document: document
    refused: Callable[[Members, str], Members] = lambda document, _: document
    event: str = ""
    done: bool = True
    counts_run: bool = False
    row_keys: frozenset[str] = frozenset()
    forbids: Callable[[Members], str] = lambda _: ""
    continues: Callable[[Members], bool | None] = lambda _: None


OPENAI: Final = Dialect(reasoning_key="reasoning_content", in_last_chunk=lambda _: {})

_TIMES: Final = {"time_info": {"queue_time": 0.001, "prompt_time": 0.002, "total_time": 0.1}}


def renamed(body: Members, *names: str) -> dict[str, Any]:
    """Return a body whose members of these names are renamed, so that nothing accepts them."""
    return {f"_{name}" if name in names else name: item for name, item in body.items()}


_BOTH: Final = "Cannot set both add_generation_prompt and continue_final_message to true."


def _opens_twice(body: Members) -> str:
    """Return the refusal of an answer that is both begun and continued. The default is to begin
    one."""
    begun = body.get("add_generation_prompt", True)
    return _BOTH if begun and body.get("continue_final_message") else ""


def _forbidden_by_deepseek(body: Members) -> str:
    last, thinking = body["messages"][-1], body.get("thinking")
    if last.get("role") == "assistant" and last.get("prefix") is not True:
        return PREFILL_REFUSALS["deepseek"]
    if thinking == {"type": "disabled"} and "reasoning_effort" in body:
        return "thinking options type cannot be disabled when reasoning_effort is set"
    return ""


DIALECTS: Final[Mapping[str, Dialect]] = {
    "groq": Dialect(
        path="/openai/v1/chat/completions",
        breaks_off=ERRORS["mid_groq"],
        in_body={"x_groq": {"id": "req_01sim"}, "service_tier": "on_demand"},
        in_last_chunk=lambda usage: {"x_groq": {"id": "req_01sim", "usage": usage}},
    ),
    # A `stop` is a stop string of the request: a natural end is called eos.
    "together": Dialect(stops={"stop": "eos"}, in_body={"prompt": []}),
    "cerebras": Dialect(
        breaks_off=ERRORS["mid_cerebras"],
        in_body=_TIMES,
        in_piece={"type": "function"},
        in_last_chunk=lambda usage: {"usage": usage, **_TIMES},
    ),
    # https://ai.google.dev/gemini-api/docs/openai 2026-11-21
    "gemini": Dialect(
        path="/v1beta/openai/chat/completions", in_last_chunk=lambda _: {}, counts_run=True
    ),
    # The endpoint is the model.
    "databricks": Dialect(
        path=r"/serving-endpoints/(?P<model>[^/]+)/invocations",
        reasoning_key="reasoning_content",
        in_last_chunk=lambda _: {},
        located=lambda body, said: renamed(body, "model") | {"model": said["model"]},
    ),
    "llama.cpp": replace(
        OPENAI,
        row_keys=frozenset({"reasoning_content"}),
        forbids=_opens_twice,
        continues=lambda _: True,
    ),
    "vllm": replace(
        OPENAI,
        row_keys=frozenset({"reasoning_content", "reasoning"}),
        forbids=_opens_twice,
        continues=lambda body: body.get("continue_final_message") is True,
    ),
    "deepseek": replace(
        OPENAI,
        path="/beta(?:/v1)?/chat/completions",
        row_keys=frozenset({"reasoning_content", "prefix"}),
        forbids=_forbidden_by_deepseek,
        continues=lambda _: True,
    ),
}


def violations(
    headers: Mapping[str, str], body: Members, settings: Settings, dialect: Dialect = OPENAI
) -> Violations:
    """Yield the other violations of a request. Reasoning alone counts as a row's content."""
    if words := dialect.forbids(body):
        yield failure(words)
    if dialect.row_keys:
        said = [_saying(row) for row in body["messages"]]
        body = without({**body, "messages": said}, {"assistant": dialect.row_keys})
    yield from header_violations(headers)
    yield from body_violations(body, settings)


def _saying(row: Members) -> Members:
    if row.get("role") != "assistant":
        return row
    return {**row, "content": row.get("content") or row.get("reasoning_content")}


def read(body: Members, settings: Settings, dialect: Dialect = OPENAI) -> Asked:
    """Return what a body asks for. `impossible` has checked it."""
    asked, continues = read_chat(body, settings), dialect.continues(body)
    if continues is None:
        return asked
    return replace(asked, prefill="continue" if continues else "restart")
