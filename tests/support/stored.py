"""Small rows of each kind, written from the documentation or from what the real tool writes; none is
a recorded one. Each says which outcome it has."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any, NamedTuple

from tenuto import Outcome

ASK = {
    "model": "m",
    "max_tokens": 20,
    "messages": [{"role": "user", "content": "Why do tides rise?"}],
}


class Example(NamedTuple):
    """A row, its kind, its outcome, and the stop as it is stored (None: it is not)."""

    kind: str
    row: Any
    outcome: Outcome
    stop: str | None = None
    text: str | None = None


def chat(
    content: Any = "The moon pulls the se", stop: Any = "length", **more: Any
) -> dict[str, Any]:
    """A body of Chat Completions."""
    message = {"role": "assistant", "content": content, **more}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-x",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": stop}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 20, "total_tokens": 29},
    }  # fmt: skip


def message(text: str = "The moon pulls the se", stop: Any = "max_tokens") -> dict[str, Any]:
    """A body of Messages."""
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x",
        "content": [{"type": "text", "text": text}], "stop_reason": stop, "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 20},
    }  # fmt: skip


def gemini(text: str = "The moon pulls the se", stop: Any = "MAX_TOKENS") -> dict[str, Any]:
    """A body of generateContent."""
    content = {"role": "model", "parts": [{"text": text}]}
    return {
        "candidates": [{"content": content, "finishReason": stop, "index": 0}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 20},
        "modelVersion": "gemini-x",
    }


def responses(status: str = "incomplete") -> dict[str, Any]:
    """A body of Responses, which repeats its limit."""
    text = {"type": "output_text", "text": "The moon pulls the se", "annotations": []}
    why = {"reason": "max_output_tokens"} if status == "incomplete" else None
    return {
        "id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "gpt-x",
        "error": None, "incomplete_details": why, "max_output_tokens": 20,
        "output": [{"id": "m", "type": "message", "role": "assistant", "status": status, "content": [text]}],
        "usage": {"input_tokens": 9, "output_tokens": 20, "total_tokens": 29},
    }  # fmt: skip


def chunks(stop: str = "length") -> list[dict[str, Any]]:
    """The events of a chat's stream."""
    head = {"id": "c", "object": "chat.completion.chunk", "model": "gpt-x"}
    return [
        {**head, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "The moon"}, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {"content": " pulls"}, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]},
    ]  # fmt: skip


def sse(stop: str = "length") -> str:
    """The same as server-sent events."""
    return "".join(f"data: {json.dumps(event)}\n\n" for event in chunks(stop)) + "data: [DONE]\n\n"


def inspect_output(stop: str = "max_tokens", **more: Any) -> dict[str, Any]:
    """What inspect_ai keeps of a model's answer."""
    said = {"role": "assistant", "content": "The moon pulls the se", "source": "generate", **more}
    return {
        "model": "gpt-x",
        "choices": [{"message": said, "stop_reason": stop}],
        "usage": {"input_tokens": 9, "output_tokens": 20, "total_tokens": 29},
    }


def model_event(stop: str = "max_tokens") -> dict[str, Any]:
    """A model event of inspect_ai."""
    return {
        "event": "model", "uuid": "e1", "model": "openai/gpt-x", "input": [], "tools": [],
        "config": {"max_tokens": 20}, "output": inspect_output(stop),
    }  # fmt: skip


def conversation(answer: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": answer}]


def cassette(body: str, answer: str) -> str:
    quoted = [text.replace("'", "''") for text in (body, answer)]
    return (
        "interactions:\n- request:\n    body: '{}'\n    method: POST\n"
        "    uri: https://api.openai.com/v1/chat/completions\n"
        "  response:\n    body:\n      string: '{}'\n    status:\n      code: 200\nversion: 1\n"
    ).format(*quoted)


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


DONE = "The moon pulls the sea, so the tides rise twice a day."
OPEN = "The moon pulls the sea towards itself, and on the far side of the earth the wa"
FENCE = "Here it is:\n```python\nprint("


EXAMPLES: tuple[Example, ...] = (
    Example(
        "openai_batch",
        {"id": "b", "custom_id": "r1", "response": {"status_code": 200, "request_id": "q", "body": chat()}, "error": None},
        Outcome.TEXT_CUT, "length", "The moon pulls the se",
    ),
    Example(
        "openai_batch",
        {"id": "b", "custom_id": "r1", "response": {"status_code": 200, "body": responses()}, "error": None},
        Outcome.TEXT_CUT, "max_output_tokens",
    ),
    Example(
        "openai_batch",
        {"id": "b", "custom_id": "r1", "response": None, "error": {"code": "batch_expired", "message": "Expired."}},
        Outcome.FAULT, "batch_expired",
    ),
    Example(
        "openai_batch",
        {"id": "b", "custom_id": "r1", "error": None, "response": {"status_code": 400, "body": {
            "error": {"message": "No.", "type": "invalid_request_error", "param": None, "code": None}}}},
        Outcome.FAULT,
    ),
    Example(
        "anthropic_batch",
        {"custom_id": "r1", "result": {"type": "succeeded", "message": message()}},
        Outcome.TEXT_CUT, "max_tokens",
    ),
    Example(
        "anthropic_batch",
        {"custom_id": "r1", "result": {"type": "succeeded", "message": message(DONE, "end_turn")}},
        Outcome.DONE, "end_turn", DONE,
    ),
    Example("anthropic_batch", {"custom_id": "r1", "result": {"type": "expired"}}, Outcome.FAULT, "expired"),
    Example(
        "anthropic_batch",
        {"custom_id": "r1", "result": {"type": "errored", "error": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}}},
        Outcome.FAULT, "overloaded_error",
    ),
    Example("gemini_batch", {"key": "r1", "response": gemini()}, Outcome.TEXT_CUT, "MAX_TOKENS"),
    Example("gemini_batch", {"key": "r1", "error": {"code": 8, "message": "Quota."}}, Outcome.FAULT),
    Example(
        "vertex_batch",
        {"status": "", "processed_time": "2026-01-01", "request": {"contents": [], "generationConfig": {"maxOutputTokens": 20}}, "response": gemini()},
        Outcome.TEXT_CUT, "MAX_TOKENS",
    ),
    Example(
        "vertex_batch",
        {"status": "Internal error", "processed_time": "2026-01-01", "request": {"contents": []}, "response": {}},
        Outcome.FAULT, "Internal error",
    ),
    Example(
        "bedrock_batch",
        {"recordId": "r1", "modelInput": {"max_tokens": 20, "messages": []}, "modelOutput": message()},
        Outcome.TEXT_CUT, "max_tokens",
    ),
    Example(
        "bedrock_batch",
        {"recordId": "r1", "modelInput": {"messages": []}, "error": {"errorCode": 400, "errorMessage": "bad"}},
        Outcome.FAULT, "bad",
    ),
    Example(
        "inspect_sample",
        {"id": 1, "epoch": 1, "input": "Why?", "target": "x", "messages": conversation("…"), "output": inspect_output()},
        Outcome.TEXT_CUT, "max_tokens", "The moon pulls the se",
    ),
    Example(
        "inspect_sample",
        {"id": 1, "epoch": 1, "input": "Why?", "messages": conversation("…"), "output": {"model": "m", "choices": []},
         "events": [{"event": "state"}, model_event("tool_calls"), model_event("max_tokens"), model_event("stop")]},
        Outcome.TEXT_CUT, "max_tokens",
    ),
    Example("inspect_event", model_event(), Outcome.TEXT_CUT, "max_tokens"),
    Example("inspect_event", model_event("model_length"), Outcome.OVERFLOW, "model_length"),
    Example("inspect_event", model_event("unknown"), Outcome.UNKNOWN, "unknown"),
    Example("inspect_event", {**model_event(), "output": {"model": "m", "choices": []}, "error": "rate limit"}, Outcome.FAULT),
    Example(
        "langfuse_observation",
        {"id": "o", "traceId": "t", "type": "GENERATION", "input": "[]", "output": json.dumps(chat())},
        Outcome.TEXT_CUT, "length",
    ),
    Example(
        "langfuse_observation",
        {"id": "o", "traceId": "t", "type": "GENERATION", "input": "[]",
         "output": json.dumps([{"role": "assistant", "content": "The moon pulls the se"}]),
         "metadata": json.dumps({"attributes": {"gen_ai.response.finish_reasons": '["length"]', "gen_ai.completion.0.content": "The moon pulls the se"}})},
        Outcome.TEXT_CUT, "length",
    ),
    Example(
        "langfuse_observation",
        {"id": "o", "traceId": "t", "type": "GENERATION", "output": FENCE, "modelParameters": {"max_tokens": "20"}},
        Outcome.LIKELY_CUT,
    ),
    Example(
        "otel_span",
        {"name": "chat m", "attributes": {"gen_ai.operation.name": "chat", "gen_ai.response.model": "m", "gen_ai.response.finish_reasons": ["length"], "gen_ai.usage.output_tokens": 20, "gen_ai.request.max_tokens": 20}},
        Outcome.TEXT_CUT, "length",
    ),
    Example(
        "otel_span",
        {"attributes": [{"key": "ai.response.finishReason", "value": {"stringValue": "tool-calls"}}, {"key": "ai.model.id", "value": {"stringValue": "m"}}]},
        Outcome.DONE, "tool-calls",
    ),
    Example(
        "otel_span",
        {"openinference.span.kind": "LLM", "llm.model_name": "m", "output.value": DONE, "llm.token_count.completion": 12},
        Outcome.DONE, None, DONE,
    ),
    Example(
        "exchange",
        {"request": {"method": "POST", "url": "https://api.acme.example/v1/chat/completions", "body": ASK},
         "response": {"status": 200, "body": {"__type__": "x", "__data__": chat()}}},
        Outcome.TEXT_CUT, "length",
    ),
    Example(
        "exchange",
        {"request": {"url": "https://api.x.ai/v1/chat/completions", "body": {"b64": "e30=", "canonical_json": ASK}},
         "response": {"body": None, "status": 200}, "chunks": [{"b64": _b64(sse()[:60].encode()), "t": 1}, {"b64": _b64(sse()[60:].encode()), "t": 2}]},
        Outcome.TEXT_CUT, "length",
    ),
    Example(
        "exchange",
        {"request": ASK, "response": {"error": "Error code: 400 - …"}, "status": "failed", "finish_reason": None},
        Outcome.FAULT,
    ),
    Example(
        "chatgpt_export",
        {"id": "c", "current_node": "b", "mapping": {"b": {"message": {
            "author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["The moon pulls the se"]},
            "metadata": {"finish_details": {"type": "max_tokens"}, "model_slug": "gpt-x"}}}}},
        Outcome.TEXT_CUT, "max_tokens",
    ),
    Example("cassette", cassette(json.dumps(ASK), json.dumps(chat("It's the se"))), Outcome.TEXT_CUT, "length", "It's the se"),
    Example("messages", {"messages": conversation(FENCE)}, Outcome.LIKELY_CUT),
    Example("messages", {"messages": conversation(OPEN)}, Outcome.OPEN_END, None, OPEN),
    Example("messages", {"messages": conversation("")}, Outcome.EMPTY),
    Example("messages", {"messages": conversation(DONE)}, Outcome.DONE, None, DONE),
    Example(
        "sharegpt",
        {"conversations": [{"from": "human", "value": "Why?"}, {"from": "gpt", "value": FENCE}]},
        Outcome.LIKELY_CUT,
    ),
    Example("trajectory", {"task_id": 0, "reward": 0.0, "traj": conversation(DONE)}, Outcome.DONE),
    Example("preference", {"prompt": "Why?", "chosen": DONE, "rejected": '{"a": [1, 2'}, Outcome.LIKELY_CUT),
    Example(
        "lm_eval",
        {"doc_id": 0, "doc": {}, "target": "x", "arguments": [["Why?", {"until": ["\n\n"], "max_gen_toks": 20}]], "resps": [[FENCE]], "filtered_resps": [FENCE]},
        Outcome.LIKELY_CUT,
    ),
    Example(
        "mt_bench",
        {"question_id": 1, "answer_id": "a", "model_id": "m", "choices": [{"index": 0, "turns": [DONE, FENCE]}]},
        Outcome.LIKELY_CUT,
    ),
    Example("fastchat_answer", {"question_id": 1, "text": OPEN, "answer_id": "a", "model_id": "m", "metadata": {}}, Outcome.OPEN_END),
    Example("ray_data_llm", {"prompt": "Why?", "generated_text": "The tide comes in twi", "num_generated_tokens": 512}, Outcome.DONE),
    Example("alpaca_eval", {"dataset": "d", "instruction": "Why?", "output": DONE, "generator": "m"}, Outcome.DONE),
    Example("alpaca", {"instruction": "Why?", "input": "", "output": FENCE}, Outcome.LIKELY_CUT),
    Example("swe_agent_step", {"action": "ls", "observation": "", "response": DONE, "state": "{}", "thought": "…"}, Outcome.DONE),
    Example("human_eval", {"task_id": "HumanEval/0", "completion": "    return 1"}, Outcome.DONE),
    Example("prompt_completion", {"prompt": "Why?", "completion": FENCE}, Outcome.LIKELY_CUT),
    Example(
        "ellmer_batch",
        {"version": 1, "stage": "done", "batch": {"id": "b"}, "results": [{"body": chat(DONE, "stop")}, {"type": "succeeded", "message": message()}]},
        Outcome.TEXT_CUT, "max_tokens",
    ),
    Example(
        "curator",
        {"generic_request": {"model": "gpt-x", "messages": [], "original_row_idx": 4, "generation_params": {"max_tokens": 20}},
         "response_message": "The moon pulls the se", "response_errors": None, "raw_response": chat(), "finish_reason": "length"},
        Outcome.TEXT_CUT, "length",
    ),
    Example(
        "curator",
        {"generic_request": {"model": "m"}, "response_message": "The moon", "raw_response": None, "finish_reason": "length", "token_usage": {"output": 20}},
        Outcome.TEXT_CUT, "length", "The moon",
    ),
    Example("curator", {"generic_request": {"model": "m"}, "response_message": None, "response_errors": ["Timeout"]}, Outcome.FAULT),
    Example(
        "datatrove",
        {"text": "A document.", "id": "d/1", "rollout_results": [{"text": DONE, "finish_reason": "stop", "usage": {"completion_tokens": 9}}, {"text": "The", "finish_reason": "length", "usage": {"completion_tokens": 20}}]},
        Outcome.TEXT_CUT, "length", "The",
    ),
    Example(
        "datatrove",
        {"text": "A document.", "id": "d/2", "metadata": {"rollout_results": [{"text": DONE, "finish_reason": "stop", "usage": {"completion_tokens": 9}}]}},
        Outcome.DONE, "stop", DONE,
    ),
    Example("datatrove", {"text": "A", "id": "d/3", "metadata": {"inference_results": [{"error": "timeout"}]}}, Outcome.FAULT, "error"),
    Example("datatrove", {"text": "A", "id": "d/4", "metadata": {"rollout_results": ["Yes.", FENCE]}}, Outcome.LIKELY_CUT, None, FENCE),
    Example(
        "alpaca_eval",
        {"instruction": "Why?", "output_1": "a", "output_2": "b", "annotator": "gpt4", "preference": 1.5,
         "raw_completion": {"finish_reason": "length", "index": 0, "message": {"content": "m", "role": "assistant"}, "text": "m", "total_tokens": 900}},
        Outcome.TEXT_CUT, "length", "m",
    ),
    Example(
        "alpaca_eval",
        {"instruction": "Why?", "output_1": "a", "output_2": "b", "annotator": "gpt4", "preference": 1,
         "raw_completion": {"concise_explanation": "M says more.", "ordered_models": [{"model": "M", "rank": 1}]}},
        Outcome.DONE,
    ),
    Example(
        "litellm_log",
        {"id": "l", "call_type": "acompletion", "status": "success", "model": "gpt-x", "messages": ASK["messages"], "model_parameters": {"max_tokens": 20}, "response": chat()},
        Outcome.TEXT_CUT, "length",
    ),
    Example(
        "litellm_log",
        {"id": "l", "call_type": "acompletion", "status": "failure", "model": "gpt-x", "messages": [], "response": {}, "error_information": {"error_code": "429"}},
        Outcome.FAULT, "429",
    ),
    Example(
        "bedrock_log",
        {"schemaType": "ModelInvocationLog", "modelId": "anthropic.claude-x", "requestId": "q", "input": {"inputBodyJson": {"max_tokens": 20, "messages": []}}, "output": {"outputBodyJson": message(), "outputTokenCount": 20}},
        Outcome.TEXT_CUT, "max_tokens",
    ),
    Example(
        "claude_code_result",
        {"type": "result", "subtype": "success", "is_error": False, "result": "The moon pulls the se", "stop_reason": "max_tokens", "session_id": "s", "modelUsage": {"claude-x": {"outputTokens": 20}}},
        Outcome.TEXT_CUT, "max_tokens",
    ),
    Example(
        "claude_code_result",
        {"type": "result", "subtype": "success", "is_error": True, "api_error_status": 429, "result": "You've hit your limit", "stop_reason": "stop_sequence", "session_id": "s"},
        Outcome.FAULT, "429",
    ),
    Example(
        "claude_code_session",
        {"type": "assistant", "sessionId": "s", "uuid": "u", "message": message()},
        Outcome.TEXT_CUT, "max_tokens",
    ),
    Example("claude_code_session", {"type": "assistant", "sessionId": "s", "uuid": "u", "message": message(DONE, None)}, Outcome.DONE),
    Example(
        "langsmith_run",
        {"id": "r", "run_type": "llm", "inputs": {"messages": []}, "outputs": chat()},
        Outcome.TEXT_CUT, "length",
    ),
    Example(
        "langsmith_run",
        {"id": "r", "run_type": "llm", "inputs": {"messages": []}, "outputs": {"llm_output": {}, "generations": [[{"text": "The moon", "generation_info": {"finish_reason": "length"}, "type": "ChatGeneration"}]]}},
        Outcome.TEXT_CUT, "length",
    ),
    Example(
        "langsmith_run",
        {"id": "r", "run_type": "llm", "inputs": {"messages": []}, "outputs": {"choices": [{"index": 0, "finish_reason": {"index": 0, "delta": {}, "finish_reason": "stop"}, "message": {"role": "assistant", "content": DONE}}]}},
        Outcome.DONE, "stop",
    ),
    Example(
        "mlflow_span",
        {"span_id": "s", "name": "Completions", "attributes": {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.spanInputs": json.dumps(ASK), "mlflow.spanOutputs": json.dumps(chat())}},
        Outcome.TEXT_CUT, "length",
    ),
    Example(
        "datadog_span",
        {"span_id": "s", "name": "openai", "meta": {"span.kind": "llm", "model_name": "m", "metadata": {"max_tokens": 20}, "output": {"messages": [{"role": "assistant", "content": DONE}]}}, "metrics": {"output_tokens": 20}},
        Outcome.LIKELY_CUT,
    ),
    Example(
        "otel_span",
        {"attributes.openinference.span.kind": "LLM", "attributes.llm.model_name": "m", "attributes.output.value": json.dumps(chat())},
        Outcome.TEXT_CUT, "length",
    ),
    Example(
        "otel_span",
        {"span_kind": "LLM", "attributes": {"llm": {"model_name": "m", "output_messages": [{"message": {"role": "assistant", "content": FENCE}}]}}},
        Outcome.LIKELY_CUT,
    ),
    Example(
        "har",
        {"log": {"version": "1.2", "entries": [{"request": {"postData": {"text": json.dumps(ASK)}}, "response": {"status": 200, "content": {"text": sse(), "mimeType": "text/event-stream"}}}, {"request": {}, "response": {"content": {"encoding": "base64", "text": json.dumps([_b64(gzip.compress(json.dumps(chat(DONE, "stop")).encode()))])}}}]}},
        Outcome.TEXT_CUT, "length",
    ),
    Example(
        "tenuto_capture",
        {"tenuto_capture": 1, "wire": "openai-chat", "model": "gpt-x", "report": {}, "attempts": [{"request": {"method": "POST", "url": "https://api.openai.com/v1/chat/completions", "headers": [], "body": {"text": json.dumps(ASK)}}, "response": {"status": 200, "headers": [], "body": {"base64": _b64(sse().encode())}}}]},
        Outcome.TEXT_CUT, "length",
    ),
    Example("gemini_cli_responses", {"method": "generateContentStream", "response": [gemini("The", None), gemini(" moon")]}, Outcome.TEXT_CUT, "MAX_TOKENS"),
    Example("exchange", {"id": 1, "request_body": json.dumps(ASK), "response_body": json.dumps(chat())}, Outcome.TEXT_CUT, "length"),
    Example(
        "langchain",
        {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"type": "ai", "content": "The moon", "response_metadata": {"finish_reason": "length", "model_name": "gpt-x"}, "tool_calls": [], "invalid_tool_calls": []}},
        Outcome.TEXT_CUT, "length",
    ),
    Example("langchain", {"type": "ai", "data": {"content": "The moon", "response_metadata": {"stop_reason": "max_tokens"}}}, Outcome.TEXT_CUT, "max_tokens"),
    Example(
        "mini_swe_agent",
        {"info": {}, "trajectory_format": "mini-swe-agent-1", "messages": [{"role": "user", "content": "Fix."}, {"role": "assistant", "content": "The moon pulls the se", "extra": {"response": chat()}}, {"role": "user", "content": "ok"}]},
        Outcome.TEXT_CUT, "length",
    ),
    Example("messages", {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": '{"a": '}}]}]}, Outcome.ARGUMENTS_CUT),
    Example("sharegpt", {"conversation_id": "c", "model": "m", "conversation": conversation(FENCE)}, Outcome.LIKELY_CUT),
    Example(
        "trajectory",
        {"schema_version": "ATIF-v1.4", "session_id": "s", "agent": {"name": "a", "version": "1", "model_name": "m"}, "steps": [{"step_id": 1, "source": "user", "message": "x"}, {"step_id": 2, "source": "agent", "message": DONE, "tool_calls": [{"tool_call_id": "c", "function_name": "f", "arguments": {}}]}]},
        Outcome.DONE,
    ),
    Example("trajectory", {"trajectory": [{"action": "ls", "response": FENCE, "thought": ""}], "info": {}, "history": []}, Outcome.LIKELY_CUT),
    Example("lighteval", {"doc": {"query": "x", "generation_size": 3}, "model_response": {"text": [DONE], "output_tokens": [[1, 2, 3]]}, "metric": {}}, Outcome.LIKELY_CUT),
    Example("lighteval", {"__doc__": {"query": "x"}, "__model_response__": {"text": [DONE], "output_tokens": [[1]]}, "__metric__": {}}, Outcome.DONE),
    Example("olmes", {"doc_id": 0, "native_id": "n", "metrics": {}, "model_output": [{"continuation": FENCE, "num_tokens": 9}], "label": "x"}, Outcome.LIKELY_CUT),
    Example(
        "distilabel",
        {"question": "Why?", "rating": None, "model_name": "m", "distilabel_metadata": {
            "raw_input_rate_0": [], "raw_output_rate_0": '{"rating": [1', "statistics_rate_0": {"input_tokens": 5, "output_tokens": 20},
            "raw_output_text_0": DONE, "statistics_text_0": {"output_tokens": 9}}},
        Outcome.LIKELY_CUT, None, '{"rating": [1',
    ),
    Example("distilabel", {"question": "Why?", "distilabel_metadata": {"raw_output_rate_0": None}}, Outcome.FAULT, "no_output"),
    Example(
        "data_designer",
        {"question": "Why?", "answer": FENCE, "answer__trace": [
            {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
            {"role": "assistant", "content": [{"type": "text", "text": '{"cut": [1'}]},
            {"role": "user", "content": [{"type": "text", "text": "That is no JSON."}]},
            {"role": "assistant", "content": [{"type": "text", "text": FENCE}], "reasoning_content": "Hm."}]},
        Outcome.LIKELY_CUT, None, FENCE,
    ),
    Example("data_designer", {"answer": "", "answer__reasoning_content": "Let me see."}, Outcome.THINKING_ONLY),
    Example("distilabel", {"instruction": "Why?", "generation": FENCE, "model_name": "m", "distilabel_metadata": {"statistics_text_generation_0": {"input_tokens": [5], "output_tokens": [20]}}}, Outcome.LIKELY_CUT),
    Example("prompt_completion", {"prompt": "Why?", "response": DONE, "model": "m"}, Outcome.DONE),
    # A body, a stream, an object of a framework.
    Example("body", chat(), Outcome.TEXT_CUT, "length"),
    Example("body", message(DONE, "end_turn"), Outcome.DONE, "end_turn"),
    Example("body", gemini(), Outcome.TEXT_CUT, "MAX_TOKENS"),
    Example("body", responses("completed"), Outcome.DONE, "completed"),
    Example("body", chunks(), Outcome.TEXT_CUT, "length", "The moon pulls"),
    Example("body", sse(), Outcome.TEXT_CUT, "length"),
    Example(
        "body",
        {"request_id": "1", "prompt": "x", "finished": True, "outputs": [{"index": 0, "text": "The tide", "finish_reason": "length", "stop_reason": None}]},
        Outcome.TEXT_CUT, "length",
    ),
    # Somebody's own.
    Example("found_within", {"question": "Why?", "response": "The moon", "full_data": chat()}, Outcome.TEXT_CUT, "length"),
    Example("found_within", {"q": 1, "raw": json.dumps({"data": json.dumps(gemini())})}, Outcome.TEXT_CUT, "MAX_TOKENS"),
    Example("found_within", {"created": 1, "content": "The moon pulls the se", "model": "m", "finish_reason": "length", "usage": {}}, Outcome.TEXT_CUT, "length"),
    Example("found_within", {"data": {"log": {"encoding": "base64", "text": _b64(gzip.compress(json.dumps(chat()).encode()))}}}, Outcome.TEXT_CUT, "length"),
    Example("found_within", {"name": "mine", "chunks": [gemini("The", None), gemini(" moon")]}, Outcome.TEXT_CUT, "MAX_TOKENS"),
    Example("found_within", {"response": {"body": sse().split("\n")}}, Outcome.TEXT_CUT, "length"),
)  # fmt: skip

NAMES = [
    f"{number}-{example.kind}-{example.outcome.value}" for number, example in enumerate(EXAMPLES)
]
"""A name of each, for tests."""

NO_ANSWERS: tuple[Any, ...] = (
    None, 5, "", b"", "Good morning.", [], {}, [1, 2], {"name": "Mia", "email": "a@b.example"},
    {"id": 1, "speaker": "Ann", "message": "I cannot come, there was an error."},
    {"custom_id": "r1", "method": "POST", "url": "/v1/chat/completions", "body": ASK},
    ASK,
    {**ASK, "messages": [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "The"}]},
    {"messages": [{"role": "user", "content": "Hi"}]},
    {"messages": [{"role": "buyer", "content": "Hi"}, {"role": "seller", "content": "Hi"}]},
    {"question": "2+2?", "choices": ["3", "4"], "answer": 1},
    {"question": "2+2?", "choices": {"text": ["3", "4"], "label": ["A", "B"]}, "answerKey": "B"},
    {"status": "completed", "id": "x", "object": "payment"},
    {"id": "batch_1", "object": "batch", "status": "completed", "errors": None, "output_file_id": "f"},
    {"id": "msgbatch_1", "type": "message_batch", "processing_status": "ended", "results_url": None},
    {"request": {"q": "a"}, "response": {"items": []}},
    {"request": ASK, "response": None},
    {"error": "not found", "path": "/x", "user": {"name": "Mia"}, "items": []},
    {"finish_reason": "left early", "name": "Mia", "text": "bye"},
    {"job": 4, "stop_reason": "timeout", "output": "3 tests failed"},
    {"candidates": [{"index": 0, "name": "Ben", "finishReason": "withdrew"}], "model": "interview"},
    {"candidates": [{"name": "Mia", "finish_reason": "hired"}], "id": 3, "model": "panel"},
    {"event": "stopped", "stop_reason": "cancelled", "message": "The user closed the window."},
    {"task_id": 17, "completion": "50 %"},
    {"prompt": "How was your stay?", "response": "Very nice, thank you"},
    {"chosen": True, "rejected": False},
    {"customer": "Tom", "product": "sofa", "chosen": "blue", "rejected": ["green"]},
    {"chosen": "IMG_7459.jpg", "rejected": "IMG_536.jpg", "photographer": "Mia"},
    # Errors of other services, found by an outsider.
    {"error": {"code": 412, "message": "Insufficient stock", "errors": [{"domain": "global", "reason": "forbidden"}]}},
    {"error": {"code": "BadArgument", "message": "The Resource was not found.", "target": "storageAccount"}},
    {"error": {"message": "No such customer", "type": "invalid_request_error", "code": "resource_missing", "doc_url": "https://stripe.com/docs"}},
    {"error": {"message": "(#100) No permission", "type": "OAuthException", "code": 100, "fbtrace_id": "A"}},
    {"success": False, "error": {"code": "ORDER_NOT_FOUND", "message": "No such order", "order_id": 3932}},
    {"error": "validation", "message": "6 validation errors for O\nemail\n Field required"},
    {"object": "error", "status": 404, "code": "object_not_found", "message": "Could not find page"},
    {"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]},
    b'event: error\ndata: {"message":"Insufficient stock for SKU-7775"}\n\n',
    {"data": {"choices": [{"text": "Yes", "votes": 3}, {"text": "No", "votes": 1}]}},
    {"conversations": [{"from": "Ann", "value": "Hi"}, {"from": "Bob", "value": "Hi"}]},
    *({"messages": [{"role": "user", "content": "Hi"}, {"role": role, "content": "Ann here"}]}
      for role in ("agent", "bot")),
)  # fmt: skip
