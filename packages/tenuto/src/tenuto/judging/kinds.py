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

from functools import cache

from tenuto.judging import logs, tools
from tenuto.judging.kind import Kind, Source
from tenuto.judging.messages import are_messages, is_conversation, messages, turns_in
from tenuto.judging.names import IDS, MODELS
from tenuto.wires.json import JsonObject


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
