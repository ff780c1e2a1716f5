"""The kinds of rows: how each is told, and where its answers, its request and its id are.

Theory of operation
-------------------
A kind is told by members that only it has, which `needs` lists as paths. Kinds that store a stop
come before those that do not: an inspect sample has `messages` too. A plain body of an API, and a
walk through the row (`walk.py`), come between the two tables, in `judgement.py`.

`source` says what stands behind a kind: rows that the real tool wrote, or its documentation or
source code alone, whose address is in `titles.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from tenuto.judging import logs, tools
from tenuto.judging.cells import count_in, is_nothing
from tenuto.judging.held import Held
from tenuto.judging.messages import are_messages, is_conversation, messages, turns_in
from tenuto.judging.names import IDS, MODELS
from tenuto.wires.json import JsonObject

_MISSING = object()


class Source(StrEnum):
    """What stands behind a kind."""

    REAL = "real"
    """Rows that the real tool or service wrote."""
    DOCUMENTED = "documented"
    """The shape in its documentation or its source code."""
    TOLD = "told"
    """What the user says of rows of their own."""


@cache
def _steps(path: str) -> tuple[str | int, ...]:
    return tuple(int(step) if step.lstrip("-").isdigit() else step for step in path.split("."))


def at(value: Any, path: str) -> Any:
    """Return the value at a path of names and numbers; None: the path leads nowhere.

    >>> at({"a": [{"b": 1}]}, "a.0.b"), at({}, "a.0.b")
    (1, None)
    """
    found = _at(value, path)
    return None if found is _MISSING else found


def _at(value: Any, path: str) -> Any:
    for step in _steps(path):
        if isinstance(step, int):
            if not isinstance(value, list) or not -len(value) <= step < len(value):
                return _MISSING
            value = value[step]
        elif isinstance(value, dict):
            value = value.get(step, _MISSING)
        else:
            return _MISSING
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of rows.

    Attributes:
        name: its name, for `judge(kind=...)`.
        needs: paths that a row of this kind has, whatever is there.
        only: what else must hold of it.
        source: what stands behind it.
        answers: where its answers are, the first path that leads to one. A list is several answers
            if `each` is set, else one stream.
        request, id, model, limit: where these are; the first path that leads to a value counts.
        failed: where the tool says that there is no answer, and why.
        path: the path of the API's URL, or where the row keeps it (with `path_at`).
        read: reads what paths cannot say, in place of `answers`.
    """

    name: str
    needs: Sequence[str] = ()
    only: Callable[[JsonObject], bool] | None = None
    source: Source
    answers: Sequence[str] = ()
    each: bool = False
    request: Sequence[str] = ()
    id: Sequence[str] = ("id",)
    model: Sequence[str] = ()
    limit: Sequence[str] = ()
    failed: Sequence[str] = ()
    wire: str = ""
    path_at: Sequence[str] = ()
    read: Callable[[JsonObject], Iterable[Held]] | None = None

    def fits(self, row: JsonObject) -> bool:
        """Return whether a row is of this kind."""
        return all(_at(row, path) is not _MISSING for path in self.needs) and (
            self.only is None or self.only(row)
        )

    def held(self, row: JsonObject) -> Iterator[Held]:
        """Return the answers of a row, and what it says beside them."""
        request_at = next((path for path in self.request if at(row, path) is not None), "")
        beside: dict[str, Any] = {
            "request": at(row, request_at) if request_at else None,
            "request_at": request_at,
            "id": _word(row, self.id),
            "model": _word(row, self.model),
            "limit": _number(row, self.limit),
            "wire": self.wire,
            "path": _word(row, self.path_at),
        }
        if self.read is not None:
            for one in self.read(row):
                yield tools.beside(one, beside)
            return
        found = next(
            (item for path in self.answers if not is_nothing(item := at(row, path))),
            None,
        )
        if found is None:
            yield Held(failed=_word(row, self.failed), **beside)
        elif self.each and isinstance(found, list):
            for item in found:
                yield Held(answer=tools.answer_in(item), **beside)
        else:
            yield Held(answer=tools.answer_in(found), **beside)


def _word(row: JsonObject, paths: Sequence[str]) -> str:
    for path in paths:
        found = at(row, path)
        if isinstance(found, str) and found:
            return found
        if isinstance(found, int) and not isinstance(found, bool):
            return str(found)
    return ""


def _number(row: JsonObject, paths: Sequence[str]) -> int | None:
    return next((n for path in paths if (n := count_in(at(row, path)))), None)


def _is_result(row: JsonObject) -> bool:
    """Return whether it is a line of results: `response` or `error` is there, and no `body`, which
    a line of requests has."""
    return "body" not in row and isinstance(row["response"], dict | None)


_REAL, _DOCUMENTED = Source.REAL, Source.DOCUMENTED
_REQUESTS = (
    "request.body", "request.content", "request.payload", "request.body_segments.0", "request",
)  # fmt: skip

WITH_STOP: tuple[Kind, ...] = (
    # --- results of batches
    # Groq's, Mistral's and vLLM's run-batch are like OpenAI's.
    Kind(
        name="openai_batch",
        needs=("custom_id", "response", "error"),
        only=_is_result,
        source=_REAL,
        answers=("response.body",),
        failed=("error.code", "error.message", "error", "response.status_code"),
        id=("custom_id",),
    ),
    Kind(
        name="anthropic_batch",
        needs=("custom_id", "result.type"),
        only=tools.is_message_result,
        source=_REAL,
        answers=("result.message",),
        failed=("result.error.error.type", "result.error.type", "result.type"),
        id=("custom_id",),
        wire="anthropic-messages",
    ),
    Kind(
        name="vertex_batch",
        needs=("request.contents", "response", "status"),
        source=_REAL,
        answers=("response",),
        request=("request",),
        failed=("status",),
        id=("custom_id", "key"),
        wire="gemini-generate",
    ),
    Kind(
        name="gemini_batch",
        needs=("key",),
        only=tools.is_gemini_result,
        source=_DOCUMENTED,
        answers=("response",),
        request=("request",),
        failed=("error.status", "error.message"),
        id=("key",),
        wire="gemini-generate",
    ),
    Kind(
        name="bedrock_batch",
        needs=("recordId", "modelInput"),
        source=_REAL,
        answers=("modelOutput",),
        request=("modelInput",),
        failed=("error.errorMessage", "error.errorCode", "error"),
        id=("recordId",),
    ),
    Kind(
        name="ellmer_batch",
        needs=("version", "stage", "batch", "results"),
        source=_REAL,
        read=logs.ellmer,
    ),
    # --- data sets that are made by models
    Kind(
        name="curator",
        needs=("generic_request", "response_message"),
        source=_DOCUMENTED,
        read=logs.curator,
        request=("raw_request", "generic_request"),
        id=("generic_request.original_row_idx",),
        model=("generic_request.model",),
        limit=("generic_request.generation_params.max_tokens",),
    ),
    Kind(
        name="datatrove",
        only=logs.has_rollouts,
        source=_DOCUMENTED,
        read=logs.rollouts,
    ),
    # --- evaluations
    Kind(
        name="inspect_sample",
        needs=("epoch", "output"),
        source=_REAL,
        read=tools.inspect_sample,
    ),
    Kind(
        name="inspect_event",
        needs=("event", "output.choices"),
        source=_REAL,
        read=tools.inspect_event,
        id=("uuid",),
    ),
    Kind(
        name="alpaca_eval",  # annotations
        needs=("annotator", "raw_completion", "output_1", "output_2"),
        source=_REAL,
        read=logs.annotation,
        model=("annotator",),
    ),
    # --- logs of gateways and services
    Kind(
        name="litellm_log",
        needs=("call_type", "response", "messages"),
        source=_DOCUMENTED,
        read=logs.litellm,
        id=("id", "request_id", "litellm_call_id"),
        model=("model",),
    ),
    Kind(
        name="bedrock_log",
        needs=("schemaType", "modelId", "output.outputBodyJson"),
        source=_DOCUMENTED,
        answers=("output.outputBodyJson",),
        request=("input.inputBodyJson",),
        id=("requestId",),
        model=("modelId",),
        failed=("errorCode",),
    ),
    Kind(
        name="claude_code_session",
        needs=("sessionId", "message.role", "message.content", "uuid"),
        only=lambda row: row.get("type") == "assistant",
        source=_REAL,
        answers=("message",),
        id=("requestId", "uuid"),
        wire="anthropic-messages",
    ),
    Kind(
        name="claude_code_result",
        needs=("type", "subtype", "is_error"),
        only=lambda row: row["type"] == "result" and ("result" in row or row["is_error"] is True),
        source=_REAL,
        read=logs.claude_code_result,
        id=("uuid", "session_id"),
    ),
    # --- traces
    Kind(
        name="langsmith_run",
        needs=("run_type", "inputs"),
        only=lambda row: row.get("run_type") == "llm",
        source=_REAL,
        read=logs.langsmith,
        request=("inputs",),
        limit=("extra.invocation_params.max_tokens", "extra.metadata.ls_max_tokens"),
        model=("extra.metadata.ls_model_name",),
    ),
    Kind(
        name="mlflow_span",
        needs=("attributes",),
        only=logs.is_mlflow_span,
        source=_DOCUMENTED,
        read=logs.mlflow_span,
        id=("span_id",),
    ),
    Kind(
        name="datadog_span",
        needs=("meta.output", "span_id"),
        only=logs.is_datadog_span,
        source=_DOCUMENTED,
        read=logs.datadog_span,
        id=("span_id",),
        model=("meta.model_name", "meta.metadata.model_name"),
        limit=("meta.metadata.max_tokens",),
    ),
    Kind(
        name="langfuse_observation",
        needs=("type", "output"),
        only=tools.is_generation,
        source=_REAL,
        read=tools.observation,
        request=("input",),
        model=("model", "providedModelName"),
    ),
    Kind(
        name="otel_span",
        only=tools.is_llm_span,
        source=_REAL,
        read=tools.span,
        id=("spanId", "span_id", "context.span_id"),
    ),
    # --- recorded exchanges
    Kind(
        name="har",
        needs=("log.entries",),
        source=_REAL,
        read=logs.har,
    ),
    Kind(
        name="tenuto_capture",
        needs=("tenuto_capture", "attempts"),
        source=_REAL,
        read=logs.capture,
        id=("report.turn",),
        model=("model",),
    ),
    Kind(
        name="gemini_cli_responses",
        needs=("method", "response.0.candidates"),
        source=_REAL,
        answers=("response",),
        wire="gemini-generate",
    ),
    Kind(
        name="exchange",
        needs=("request", "response"),
        only=tools.is_exchange,
        source=_REAL,
        read=tools.exchange,
        request=_REQUESTS,
        path_at=("request.url", "request.path"),
        id=("id", "custom_id", "test_id"),
    ),
    Kind(
        name="exchange",  # Helicone's, and others that keep both bodies
        needs=("request_body", "response_body"),
        source=_DOCUMENTED,
        answers=("response_body",),
        request=("request_body",),
        id=("request_id", "id"),
    ),
    Kind(
        name="langchain",
        needs=("lc", "kwargs.content"),
        source=_DOCUMENTED,
        answers=("kwargs",),
        id=("kwargs.id",),
    ),
    Kind(
        name="langchain",
        needs=("type", "data.content", "data.response_metadata"),
        only=lambda row: row["type"] == "ai",
        source=_DOCUMENTED,
        read=logs.langchain_message,
        id=("data.id",),
    ),
    Kind(
        name="mini_swe_agent",
        needs=("trajectory_format", "messages"),
        source=_DOCUMENTED,
        read=messages,
        id=("instance_id",),
    ),
    Kind(
        name="chatgpt_export",
        needs=("mapping", "current_node"),
        source=_REAL,
        read=tools.chatgpt_export,
    ),
)
"""Kinds that store a stop, asked from top to bottom before anything else."""

WITHOUT_STOP: tuple[Kind, ...] = (
    Kind(
        name="data_designer",
        only=logs.is_of_data_designer,
        source=_DOCUMENTED,
        read=logs.data_designer,
    ),
    Kind(
        name="messages",  # a row of training data, of a trajectory, of a chat
        needs=("messages",),
        only=is_conversation,
        source=_REAL,
        read=messages,
        id=("id", "uid", "uuid"),
        model=("model", "model_id"),
    ),
    Kind(
        name="sharegpt",
        needs=("conversations",),
        only=lambda row: are_messages(row["conversations"]) and "chosen" not in row,
        source=_REAL,
        read=lambda row: turns_in(row["conversations"]),
    ),
    Kind(
        name="sharegpt",  # LMSYS-Chat-1M
        needs=("conversation_id", "conversation", "model"),
        only=lambda row: are_messages(row["conversation"]),
        source=_DOCUMENTED,
        read=lambda row: turns_in(row["conversation"]),
        id=("conversation_id",),
        model=("model",),
    ),
    Kind(
        name="trajectory",  # ATIF: https://harborframework.com/docs/trajectory-format
        needs=("schema_version", "steps.0.source"),
        source=_DOCUMENTED,
        read=logs.atif,
        id=("session_id",),
        model=("agent.model_name",),
    ),
    Kind(
        name="trajectory",  # SWE-agent
        needs=("trajectory.0.response", "info"),
        source=_DOCUMENTED,
        read=logs.swe_agent,
    ),
    Kind(
        name="trajectory",  # tau-bench
        needs=("traj", "reward"),
        only=lambda row: are_messages(row["traj"]),
        source=_REAL,
        read=lambda row: turns_in(row["traj"]),
        id=("task_id",),
    ),
    Kind(
        name="preference",
        needs=("chosen", "rejected"),
        source=_REAL,
        read=tools.pair,
    ),
    Kind(
        name="lm_eval",
        needs=("doc", "resps", "arguments"),
        source=_REAL,
        read=tools.lm_eval,
        id=("doc_id",),
    ),
    Kind(
        name="lighteval",
        needs=("doc", "model_response.text"),
        source=_DOCUMENTED,
        read=lambda row: logs.lighteval(row["doc"], row["model_response"]),
    ),
    Kind(
        name="lighteval",
        needs=("__doc__", "__model_response__.text"),
        source=_DOCUMENTED,
        read=lambda row: logs.lighteval(row["__doc__"], row["__model_response__"]),
    ),
    Kind(
        name="olmes",
        needs=("native_id", "model_output.0.continuation"),
        source=_DOCUMENTED,
        read=logs.olmes,
        id=("native_id", "doc_id"),
    ),
    Kind(
        name="distilabel",
        needs=("distilabel_metadata",),
        source=_DOCUMENTED,
        read=logs.distilabel,
        model=("model_name",),
    ),
    Kind(
        name="mt_bench",
        needs=("question_id", "choices.0.turns"),
        source=_REAL,
        read=tools.turns_of_choices,
        id=("answer_id",),
        model=("model_id",),
    ),
    Kind(
        name="fastchat_answer",
        needs=("question_id", "text", "answer_id", "model_id"),
        source=_REAL,
        read=tools.texts("text"),
        id=("answer_id",),
        model=("model_id",),
    ),
    Kind(
        name="ray_data_llm",
        needs=("generated_text",),
        only=tools.is_ray_row,
        source=_REAL,
        read=tools.ray_row,
    ),
    Kind(
        name="alpaca_eval",
        needs=("instruction", "output", "generator"),
        source=_REAL,
        read=tools.texts("output"),
        model=("generator",),
    ),
    Kind(
        name="alpaca",
        needs=("instruction", "input", "output"),
        only=lambda row: all(isinstance(row[name] or "", str) for name in tools.OF_ALPACA),
        source=_REAL,
        read=tools.texts("output"),
    ),
    Kind(
        name="swe_agent_step",
        needs=("action", "observation", "response", "thought"),
        source=_REAL,
        read=tools.texts("response"),
    ),
    Kind(
        name="human_eval",
        needs=("task_id", "completion"),
        only=lambda row: isinstance(row["completion"], str) and "/" in str(row["task_id"]),
        source=_REAL,
        read=tools.texts("completion"),
        id=("task_id",),
    ),
    Kind(
        name="prompt_completion",
        needs=("prompt", "completion"),
        only=tools.is_prompted,
        source=_DOCUMENTED,
        read=tools.texts("completion"),
    ),
    Kind(
        name="prompt_completion",
        needs=("prompt", "response", "model"),
        only=lambda row: isinstance(row["prompt"], str) and isinstance(row["response"], str),
        source=_DOCUMENTED,
        read=tools.texts("response"),
        model=("model",),
    ),
    Kind(
        name="prompt_completion",
        only=tools.is_counted,
        source=_DOCUMENTED,
        read=tools.counted,
        id=IDS,
        model=MODELS,
    ),
)
"""Kinds that store none, asked where nothing else fits."""


@cache
def names() -> tuple[str, ...]:
    """Return the names of all kinds, without repetition."""
    return tuple(dict.fromkeys(kind.name for kind in (*WITH_STOP, *WITHOUT_STOP)))


def kinds_named(name: str) -> list[Kind]:
    """Return the kinds of this name, often one; []: there is none.

    >>> [kind.needs for kind in kinds_named("anthropic_batch")]
    [('custom_id', 'result.type')]
    """
    return [kind for kind in (*WITH_STOP, *WITHOUT_STOP) if kind.name == name]
