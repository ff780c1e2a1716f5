"""What makes an object in the outline of an answer one.

A wire reads every object of its own outline, also from servers that write it freely. Whoever gives
an object without naming a wire may have found it anywhere, so here it must have what only the
wire's answers have (N14). `EVIDENCE` says what that is, wire by wire. An answer that a wire was
named for, and the events of a stream that has begun, are not asked.
"""

from __future__ import annotations

from collections.abc import Callable

from tenuto.core.answer.stop import StopReason
from tenuto.wires.base import Wire
from tenuto.wires.bedrock_invoke.makers import METRICS, PLACES
from tenuto.wires.bedrock_invoke.makers import STOPS as STOPS_OF_MAKERS
from tenuto.wires.bedrock_like.guardrail import GUARDRAIL
from tenuto.wires.json import JsonObject
from tenuto.wires.members import list_in, object_in, objects_in, value_at
from tenuto.wires.moved import is_cohere_event, shape_of
from tenuto.wires.one_text import OneText, steps
from tenuto.wires.registry import wire_for_shape
from tenuto.wires.stops import stop_reader

_read_stop = stop_reader({})
_read_makers_stop = stop_reader(STOPS_OF_MAKERS)

_SIGNED = frozenset(
    {"id", "model", "object", "created", "usage", "usageMetadata", "usage_metadata"}
    | {"modelVersion", "model_version", "responseId", "response_id"}
)
"""What bodies have beside their answers. With any of it, an odd answer is still one."""


def is_lookalike(
    value: JsonObject, shape: Callable[[JsonObject], Wire | None] = wire_for_shape
) -> bool:
    """Return whether an object looks like an answer and is none. `shape`: finds its wire.

    >>> is_lookalike({"choices": [{"message": {"title": "x"}, "finish_reason": "stop"}]})
    True
    >>> is_lookalike({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]})
    False
    """
    if _OUTLINES.isdisjoint(value):  # fast, since every object is asked
        return False
    wire = shape(value)
    shows = EVIDENCE.get(wire.name) if wire is not None else None
    return shows is not None and not shows(value)


_OUTLINES = frozenset(
    {"messageStart", "messageStop", "contentBlockStart", "contentBlockDelta", "contentBlockStop"}
    | {"choices", "candidates", "usageMetadata", "usage_metadata", "type", "is_finished", "output"}
    | {"object", "status", "done", "request_id", "event_type", "message", "content"}
    | {"completion", "completions", "generation", "generations", "outputs", "outputText", "results"}
)
"""Every outline in which other programs write has one of these members."""


def moved_wire(value: JsonObject) -> str:
    """Return the name of the wire in another package that would read an object as an answer; "":
    none is known.

    >>> moved_wire({"output": {"text": "Hi", "finish_reason": "stop"}}), moved_wire({"words": "Hi"})
    ('dashscope', '')
    """
    name = shape_of(value)
    return name if name and EVIDENCE.get(name, bool)(value) else ""


def is_notice(value: JsonObject) -> bool:
    """Return whether an object is a notice about an answer, whatever wire was named. OpenAI's
    webhooks name the answer's id alone, and not why it ended:
    https://platform.openai.com/docs/api-reference/webhook-events

    >>> is_notice({"object": "event", "type": "response.incomplete", "data": {"id": "resp_1"}})
    True
    >>> is_notice({"type": "response.incomplete", "response": {"id": "resp_1"}})
    False
    """
    told = value.get("type")
    if value.get("object") == "event":
        return True
    named = isinstance(told, str) and told.startswith("response.")
    return named and "response" not in value and isinstance(value.get("data"), dict)


def begins_answer(value: JsonObject) -> bool:
    """Return whether an object that broke off is the beginning of an answer: it has the outline and
    the evidence of one, or an id or a message as only answers have them.

    >>> begins_answer({"id": "chatcmpl-1"}), begins_answer({"candidates": [{"address": "Main St"}]})
    (True, False)
    """
    told = str(value.get("id")).startswith
    if told("chatcmpl-") or (told(("resp_", "gen-")) and "status" not in value):
        return True
    if value.get("type") == "message":  # its stop and its usage come behind its content
        return value.get("role") == "assistant" or told("msg_")
    if "message" in object_in(value.get("output")):  # Bedrock's
        return True
    if object_in(value.get("message")).get("role") == "assistant":
        return True
    return wire_for_shape(value) is not None and not is_lookalike(value) and not is_notice(value)


# --- the evidence of each wire


_OF_OTHERS = frozenset(
    {"user", "human", "customer", "system", "developer", "tool", "function", "admin", "moderator"}
)
"""Roles of messages that are no model's."""


def _is_models(role: object, *, signed: bool = True) -> bool:
    """Return whether a message may be a model's, by its role. `signed`: whether the object that
    holds it has what bodies have, so that it may write the role in a way of its own."""
    if not role:
        return True
    if not isinstance(role, str):
        return signed
    if role.lower() in _OF_OTHERS:
        return False
    return signed or role.lower() in ("assistant", "model", "chatbot", "ai", "bot")


def _is_signed(value: JsonObject) -> bool:
    return not _SIGNED.isdisjoint(value)


def _chat(value: JsonObject) -> bool:
    """Return whether a choice is a model's, and whether what has none has more than a name."""
    if "object" in value and _OF_CHUNKS.isdisjoint(value):
        return False
    choice = object_in(next(iter(list_in(value.get("choices"))), None))
    said = object_in(choice.get("message") or choice.get("delta"))
    if not said:
        return True
    signed = _is_signed(value)
    if not _is_models(said.get("role"), signed=signed):
        return False
    if not signed and value.keys() != {"choices"} and not ("role" in said or _ends(choice)):
        return False  # a choice of a poll has a message with a content, too
    return signed or not _OF_MESSAGES.isdisjoint(said)


_OF_CHUNKS = frozenset(
    {"choices", "id", "created", "model", "usage", "error", "x_groq", "base_resp"}
)


def _ends(choice: JsonObject) -> bool:
    return "finish_reason" in choice or "stop_reason" in choice


_OF_MESSAGES = frozenset(
    {"role", "content", "tool_calls", "function_call", "refusal", "audio", "annotations", "images"}
    | {"reasoning", "reasoning_content", "reasoning_details", "thinking"}
)


_OF_CONTENTS = frozenset({"parts", "role"})


def _gemini(value: JsonObject) -> bool:
    """Return whether it has candidates of Gemini, or nothing but what its answers have: many of its
    objects count tokens."""
    if "candidates" not in value:
        feedback = value.get("promptFeedback") or value.get("prompt_feedback")
        if not {"blockReason", "block_reason"}.isdisjoint(object_in(feedback)):
            return True
        return "error" in value or all(_spelled(name) in _BESIDE_CANDIDATES for name in value)
    candidate = object_in(next(iter(list_in(value["candidates"])), None))
    if not isinstance(candidate.get("content"), dict | None) and not _is_signed(value):
        return False
    content = object_in(candidate.get("content"))
    parts = content.get("parts")
    if not _is_models(content.get("role"), signed=_is_signed(value)):
        return False
    ended = not _STOPS_OF_CANDIDATES.isdisjoint(candidate)
    if isinstance(parts, list) and not (ended or all(isinstance(p, dict | None) for p in parts)):
        return False
    known = all(_spelled(name) in _OF_CANDIDATES for name in candidate)
    if _is_signed(value):
        told = candidate.get("finishReason", candidate.get("finish_reason"))
        return known or bool(content) or not isinstance(told, str) or _is_stop(told)
    if content:  # people who apply for a job have contents, too
        return ended or not _OF_CONTENTS.isdisjoint(content)
    return known


def _spelled(name: str) -> str:
    return name.replace("_", "").lower()


_OF_CANDIDATES = frozenset(
    {"content", "finishreason", "finishmessage", "index", "safetyratings", "citationmetadata"}
    | {"tokencount", "avglogprobs", "logprobsresult", "groundingmetadata", "urlcontextmetadata"}
    | {"groundingattributions", "urlretrievalmetadata"}
)
"""Members of a candidate of Gemini, in any spelling: https://ai.google.dev/api/generate-content
(read 2026-11-28)."""

_STOPS_OF_CANDIDATES = frozenset({"finishReason", "finish_reason"})

_BESIDE_CANDIDATES = frozenset(
    {"promptfeedback", "usagemetadata", "modelversion", "responseid", "modelstatus", "createtime"}
    | {"sdkhttpresponse", "automaticfunctioncallinghistory", "parsed"}
)
"""The other members of a response, and those that google-genai adds."""


def _messages(value: JsonObject) -> bool:
    """Return whether what has a type of Anthropic's has the members of that type as there:
    https://platform.claude.com/docs/en/api/messages (read 2026-11-28)."""
    kind = value.get("type")
    if kind == "message":
        if "stop_reason" not in value and "usage" not in value:
            return True
        listed = isinstance(value.get("content"), list | None)  # some servers write a text
        told = listed or _is_stop(value.get("stop_reason")) or _is_signed(value)
        return value.get("role", "assistant") == "assistant" and told
    if kind == "error":  # with what other programs add, it is an error of theirs
        return value.keys() <= _BESIDE_ERRORS
    if kind == "message_delta":
        delta, used = value.get("delta"), value.get("usage")
        known = isinstance(delta, dict) and (not delta or not _OF_DELTAS.isdisjoint(delta))
        return known and isinstance(used, dict | None)
    if kind == "message_stop":  # the helper of the SDK adds the message
        known = value.keys() <= {"type", "message", "index", "usage", METRICS}
        return known and isinstance(value.get("message"), dict | None)
    if isinstance(kind, str) and kind in _HELD:
        return isinstance(value.get(_HELD[kind]), dict)
    blocks = list_in(value.get("content"))
    if blocks and "stop_reason" in value:
        known = all(isinstance(block, dict) for block in blocks)
        return known and _is_models(value.get("role"), signed=_is_signed(value))
    return True


_BESIDE_ERRORS = frozenset(
    {"type", "error", "request_id", "status", "status_code", "message", "trace", "timestamp"}
)


_HELD = {
    "message_start": "message",
    "content_block_start": "content_block",
    "content_block_delta": "delta",
}
"""The objects that events hold, by their type."""

_OF_DELTAS = frozenset({"stop_reason", "stop_sequence", "stop_details", "container"})


def _generated(value: JsonObject) -> bool:
    """Return whether it says `is_finished` as Cohere's version 1 does, whose last event has a
    reason or the whole answer."""
    if not isinstance(value.get("is_finished"), bool) or not _ELSEWHERE.isdisjoint(value):
        return True
    if "event_type" in value or not is_cohere_event(value):
        return is_cohere_event({"event_type": value.get("event_type")})
    return not value["is_finished"] or "finish_reason" in value or "response" in value


_ELSEWHERE = frozenset({"choices", "candidates", "content", "output", "message", "generation_id"})


def _dashscope(value: JsonObject) -> bool:
    """Return whether it has an output of DashScope's, with a stop of some API or a usage. Its
    errors are looked at as those of all APIs are:
    https://www.alibabacloud.com/help/en/model-studio/qwen-api-via-dashscope (read 2026-11-28)."""
    output = object_in(value.get("output"))
    if "choices" in output:
        return True
    if not isinstance(output.get("text"), str):
        return False
    told = output.get("finish_reason")
    return told == "null" or _is_stop(told) or not _SIGNED.isdisjoint(value)


def _responses(value: JsonObject) -> bool:
    """Return whether a body names its model, has an id of OpenAI's, holds an item of a model's
    output, or says why there is none. Jobs of other programs have a status, a model and an output
    too, so what does not call itself a response must have more of one than that:
    https://platform.openai.com/docs/api-reference/responses/object (read 2026-11-28)."""
    kind = value.get("type")
    if isinstance(kind, str) and kind.startswith("response.") and value.get("object") != "response":
        held = value.get("response")
        if kind in _OF_WHOLE:
            return isinstance(held, dict) and (not held or not _OF_RESPONSES.isdisjoint(held))
        return not _OF_EVENTS.isdisjoint(value)
    if "status" not in value and value.get("object") != "response":
        return True  # an error
    items = value.get("output")
    if str(value.get("id")).startswith("resp_"):
        return True
    says_so = value.get("object") == "response"
    if not says_so and value.get("object") is not None:
        return False
    if any(map(_is_output, list_in(items))) or isinstance(value.get("incomplete_details"), dict):
        return True
    if not says_so:
        return "input_tokens" in object_in(value.get("usage"))
    ends = isinstance(value.get("error"), dict) or isinstance(value.get("usage"), dict)
    return ends or isinstance(value.get("model"), str)


_OF_WHOLE = frozenset(
    {"response.created", "response.queued", "response.in_progress"}
    | {"response.completed", "response.incomplete", "response.failed", "response.cancelled"}
    | {"response.done"}
)
"""The events that hold the response itself."""

_OF_RESPONSES = frozenset(
    {"id", "object", "model", "output", "status", "usage", "error", "incomplete_details"}
)
_OF_EVENTS = frozenset(
    {"sequence_number", "item", "item_id", "output_index", "content_index", "summary_index"}
    | {"delta", "part", "text", "response", "response_id", "event_id"}
)
"""The members of the other events, each of which has one at least."""


def _is_output(item: object) -> bool:
    """Return whether an item comes from a model. Messages of other programs have another text."""
    told = object_in(item)
    if told.get("type") != "message":
        return "type" in told and not {"id", "summary", "call_id", "arguments"}.isdisjoint(told)
    if not _is_models(told.get("role")):
        return False
    return told.get("role") == "assistant" or isinstance(told.get("content"), list)


def _interactions(value: JsonObject) -> bool:
    """Return whether a body names its model or agent, or holds a step of a model. A job has a
    model, a status and outputs, too: https://ai.google.dev/api/interactions-api
    (read 2026-11-28)."""
    if "event_type" in value:
        return not _OF_STEPS.isdisjoint(value)
    says_so = value.get("object") == "interaction"
    named = {"model", "agent", "error", "errors"} if says_so else {"agent"}
    if not named.isdisjoint(value) or value.keys() == {"error"}:
        return True
    places = ("steps", "outputs") if says_so else ("steps",)
    parts = [object_in(part) for name in places for part in list_in(value.get(name))]
    counted = any(name.startswith("total_") for name in object_in(value.get("usage")))
    return counted or any(part.get("type") in _OF_INTERACTIONS for part in parts)


_OF_INTERACTIONS = ("text", "thought", "model_output", "function_call", "user_input")
_OF_STEPS = frozenset(
    {"interaction", "interaction_id", "step", "index", "delta", "content", "status", "error"}
    | {"event_id"}
)
"""The members of events, each of which has one at least."""

_OLLAMAS = frozenset({"done_reason", "context", "message", "error", "logprobs"})


def _ollama(value: JsonObject) -> bool:
    """Return whether a last line has a message, or counts what it took:
    https://github.com/ollama/ollama/blob/main/docs/api.md (read 2026-11-28)."""
    said = object_in(value.get("message"))
    if not _is_models(said.get("role"), signed=_is_signed(value)):
        return False
    if value.get("done") is not True or not _OLLAMAS.isdisjoint(value):
        return True
    return any(name.endswith(("_duration", "_count")) for name in value)


def _cohere(value: JsonObject) -> bool:
    """Return whether a message is a model's, and an event has what events have beside their type:
    https://docs.cohere.com/v2/reference/chat-stream (read 2026-11-28)."""
    if "finish_reason" in value:
        role = object_in(value.get("message")).get("role")
        return _is_models(role, signed="usage" in value)
    return "type" not in value or not {"delta", "index", "id", "error"}.isdisjoint(value)


def _converse(value: JsonObject) -> bool:
    """Return whether a message is a model's and has a list of blocks, and whether an event has a
    member of events of its kind (shapes read in botocore 1.43, 2026-11-29)."""
    output = value.get("output")
    if not isinstance(output, dict):
        held = [(name, value[name]) for name in _OF_FLOWING if isinstance(value.get(name), dict)]
        return all(not told or not _OF_FLOWING[name].isdisjoint(told) for name, told in held)
    message = output.get("message")
    if message is None:
        return not output or _is_counted(value)
    if not isinstance(message, dict) or not isinstance(message.get("content"), list | None):
        return False
    return _is_models(message.get("role"), signed=_is_signed(value))


_OF_FLOWING: dict[str, frozenset[str]] = {
    "messageStart": frozenset({"role"}),
    "messageStop": frozenset({"stopReason", "additionalModelResponseFields"}),
    "contentBlockStart": frozenset({"start", "contentBlockIndex"}),
    "contentBlockDelta": frozenset({"delta", "contentBlockIndex"}),
    "contentBlockStop": frozenset({"contentBlockIndex"}),
}
"""What the events of a stream hold, by their names. What is empty tells nothing against it."""


def _is_counted(value: JsonObject) -> bool:
    return not {"inputTokens", "outputTokens"}.isdisjoint(object_in(value.get("usage")))


def _completion(value: JsonObject) -> bool:
    """Return whether the stop beside a text is some API's: in a game, `finish_reason` may be
    anything. Without one, a text has what only answers have: the choices of a quiz have texts."""
    choice = object_in(next(iter(list_in(value.get("choices"))), None))
    if (told := choice.get("finish_reason")) is not None:
        return _is_stop(told) or _is_signed(value)
    if "object" not in value and "usage" not in value and choice.keys() - _OF_TEXT_CHOICES:
        return False
    return not choice or not _OF_COMPLETIONS.isdisjoint(choice.keys() | value.keys())


_OF_TEXT_CHOICES = frozenset(
    {"text", "index", "logprobs", "finish_reason", "stop_reason", "prompt_logprobs", "token_ids"}
    | {"prompt_token_ids", "log_probs", "matched_stop", "native_finish_reason", "seed", "delta"}
    | {"message", "content_filter_results", "hidden_states", "provider_specific_fields", "tokens"}
)
"""Members of a choice with a text: OpenAI's, vLLM's, SGLang's, Together's and OpenRouter's."""


_OF_COMPLETIONS = frozenset(
    {"finish_reason", "stop_reason", "logprobs", "log_probs", "usage", "object"}
)


def _invoked(value: JsonObject) -> bool:
    """Return whether it has the evidence of the maker whose shape it has: a text, with a stop that
    is known, or counted tokens, or nothing that the maker's answers have not:
    https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html (read 2026-11-28)."""
    if not _OF_INVOKE.isdisjoint(value):
        return True
    if "type" in value and "content" in value:
        return _messages(value)
    if "output" in value:
        return _converse(value)
    place = next((each for each in PLACES if each.text and each.fits(value)), None)
    if place is None or "is_finished" in value or "event_type" in value:
        return _generated(value)
    stops = (value_at(value, steps(path)) for path in place.stop)
    told = next((stop for stop in stops if stop is not None), None)
    known = _read_makers_stop(told, "") if told is not None else None
    counted = any(type(value_at(value, steps(path))) is int for path in place.used if path)
    if known is not None and known.reason is StopReason.REFUSAL and not counted:
        return _has_only(value, place)  # people and programs decline, too
    if known is not None and known.reason is not StopReason.UNKNOWN:
        said = isinstance(value_at(value, steps(place.text)), str | None)
        return said and ("generation" not in value or counted or _has_only(value, place))
    if not isinstance(value_at(value, steps(place.text)), str):
        return False
    named = isinstance(value.get("model"), str)
    return counted or named or (not told and _has_only(value, place))


_OF_INVOKE = frozenset({METRICS, GUARDRAIL, "inputTextTokenCount"})
"""Members that only Bedrock and Titan have."""


def _has_only(value: JsonObject, place: OneText) -> bool:
    """Return whether an object has no members but those of a maker's answers."""
    paths = [steps(path) for path in (*place.shape, place.text, *place.stop, *place.used) if path]
    within = {path[2] for path in paths if len(path) > 2}
    rows = objects_in(value.get(str(paths[0][0]))) if within else []
    known = {path[0] for path in paths} | _BESIDE_TEXTS
    if not isinstance(value.get("id", ""), str):
        return False
    return value.keys() <= known and all(row.keys() <= within | _BESIDE_TEXTS for row in rows)


_BESIDE_TEXTS = frozenset(
    {"stop", "type", "index", "tokenCount", "logprobs", "log_id", "id", "prompt"}
    | {"likelihood", "token_likelihoods"}
)


def _is_stop(told: object) -> bool:
    """Return whether some API has this stop."""
    seen = _read_stop(told, "")
    return seen is not None and seen.reason is not StopReason.UNKNOWN


EVIDENCE: dict[str, Callable[[JsonObject], bool]] = {
    "openai-chat": _chat,
    "mistral": _chat,
    "gemini-generate": _gemini,
    "anthropic-messages": _messages,
    "cohere": _cohere,
    "cohere-v1": _generated,
    "bedrock-converse": _converse,
    "bedrock-invoke": _invoked,
    "openai-completions": _completion,
    "dashscope": _dashscope,
    "openai-responses": _responses,
    "gemini-interactions": _interactions,
    "ollama": _ollama,
}
"""For each wire whose outline other programs write too: what its answers have beside it."""
