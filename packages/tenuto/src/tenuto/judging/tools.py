"""Read what tools keep in forms of their own, where paths cannot say it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tenuto.judging.answers import text_in
from tenuto.judging.beside import limit_in, tokens_in, with_beside, word_in
from tenuto.judging.cells import count_in
from tenuto.judging.held import Called, Held, Told
from tenuto.judging.messages import calls_in, messages, reasoning_in, turn, turns_in
from tenuto.judging.names import LIMITS, MODELS
from tenuto.judging.opening import in_base64, joined_pieces, opened_text
from tenuto.judging.requests import asks
from tenuto.judging.walk import TEXTS, found_within, is_own_name
from tenuto.wires.json import JsonObject
from tenuto.wires.members import list_in, object_in, objects_in


def beside(one: Held, said: Mapping[str, Any]) -> Held:
    """Return an answer with what the row says beside it, where the answer itself says nothing."""
    return replace(one, **{name: item for name, item in said.items() if not getattr(one, name)})


def answer_in(item: object) -> object:
    """Return an answer as it can be read: JSON in a string opened, a stream in pieces joined."""
    if isinstance(item, str):
        return opened_text(item)
    if isinstance(item, list):
        return joined_pieces(item) or item
    if isinstance(item, dict):
        if isinstance(item.get("__data__"), dict):
            return item["__data__"]
        data = in_base64(item)
        if data is not None:
            return opened_text(data.decode("utf-8", "replace"))
    return item


# --- results of batches


def is_message_result(row: JsonObject) -> bool:
    """Return whether the result of a row is one of Anthropic's: with what its type promises."""
    result = object_in(row["result"])
    if result["type"] == "succeeded":
        return isinstance(result.get("message", ""), dict | None)
    if result["type"] == "errored":
        error = object_in(result.get("error"))
        return "type" in error or "type" in object_in(error.get("error"))
    return result["type"] in ("canceled", "expired")


def is_gemini_result(row: JsonObject) -> bool:
    """Return whether a row with a key has an answer of Gemini's, a blocked prompt, or an error."""
    response, error = object_in(row.get("response")), object_in(row.get("error"))
    blocked = "blockReason" in object_in(response.get("promptFeedback"))
    return "candidates" in response or blocked or ("code" in error and "message" in error)


# --- recorded exchanges

_STATUSES = ("status", "status_code", "statusCode")
_ERRORS_FROM = 400


def is_exchange(row: JsonObject) -> bool:
    """Return whether a row holds a request to a model beside what came."""
    return asks(row.get("request"))


def exchange(row: JsonObject) -> Iterator[Held]:
    """Read a request and what came, as recorders of HTTP and callers of their own keep them."""
    said = {"response": row.get("response"), "chunks": row.get("chunks")}
    found = found_within(said)
    yield from found
    if found:
        return
    for place in (row, object_in(row["response"])):
        error = place.get("error") or object_in(place.get("body")).get("error")
        if error:
            yield Held(failed=_word_of(error))
            return
    response = object_in(row["response"])
    for name in _STATUSES:
        if (count_in(response.get(name)) or 0) >= _ERRORS_FROM:
            yield Held(failed=str(response[name]))
            return


def _word_of(error: object) -> str:
    """Return a short word for an error: its code or its type. A message may hold anything."""
    if isinstance(error, dict):
        found = (error.get(name) for name in ("code", "type", "status", "errorCode"))
        return next((str(one) for one in found if isinstance(one, str | int) and one), "error")
    return "error"


# --- inspect_ai


def inspect_sample(row: JsonObject) -> Iterator[Held]:
    """Read a sample of an evaluation. That of an agent has no choice of its own: its answers are
    its model events."""
    output = object_in(row.get("output"))
    if output.get("choices"):
        yield from _inspect_output(output)
        return
    events = objects_in(row.get("events"))
    events = events or objects_in(object_in(row.get("transcript")).get("events"))
    called = [event for event in events if event.get("event") == "model"]
    for event in called:
        yield from inspect_event(event)
    if not called:
        yield from messages(row)


def inspect_event(event: JsonObject) -> Iterator[Held]:
    """Read one call of a model."""
    limit = count_in(object_in(event.get("config")).get("max_tokens"))
    output = object_in(event.get("output"))
    if event.get("error") or output.get("error"):
        yield Held(failed=_word_of(event.get("error") or output.get("error")))
        return
    for held in _inspect_output(output):
        yield replace(held, limit=limit, model=held.model or str(event.get("model") or ""))


def _inspect_output(output: JsonObject) -> Iterator[Held]:
    choices = objects_in(output.get("choices"))
    tokens = count_in(object_in(output.get("usage")).get("output_tokens"))
    for choice in choices:
        message = object_in(choice.get("message"))
        told = Told(
            text=text_in(message.get("content")),
            reasoning=reasoning_in(message),
            calls=calls_in(message),
            stop=choice.get("stop_reason"),
            stop_at="output.choices[].stop_reason",
            tokens=tokens,
        )
        model = str(output.get("model") or "")
        yield Held(answer=told, model=model, shared=len(choices) > 1)


# --- traces

_TRACE_STOPS = (
    "gen_ai.response.finish_reasons", "ai.response.finishReason",
    "gen_ai.completion.0.finish_reason", "llm.response.finish_reason", "llm.response.stop_reason",
    "gen_ai.response.finish_reason", "llm.finish_reason",
)  # fmt: skip
_TRACE_TEXTS = (
    "gen_ai.completion.0.content", "ai.response.text", "gen_ai.output.messages", "output.value",
    "llm.output_messages.0.message.content", "llm.output_messages", "gen_ai.completion",
    "gen_ai.response.text", "gen_ai.response.output_text", "output",
)  # fmt: skip
_TRACE_TOKENS = (
    "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "ai.usage.outputTokens",
    "ai.usage.completionTokens", "llm.token_count.completion", "llm.usage.completion_tokens",
)  # fmt: skip
_TRACE_LIMITS = (
    "gen_ai.request.max_tokens", "ai.settings.maxOutputTokens", "ai.settings.maxTokens",
    "llm.request.max_tokens",
)  # fmt: skip
_TRACE_MODELS = (
    "gen_ai.response.model", "gen_ai.request.model", "ai.response.model", "ai.model.id",
    "llm.model_name",
)  # fmt: skip
_TRACE_MARKS = ("gen_ai.", "ai.response.", "llm.")


def is_llm_span(row: JsonObject) -> bool:
    """Return whether the attributes of a span are those of a call of a model."""
    attributes = attributes_of(row)
    if attributes.get("gen_ai.operation.name") in ("execute_tool", "embeddings", "invoke_agent"):
        return False
    if attributes.get("openinference.span.kind", "LLM") != "LLM":
        return False
    told = any(name in attributes for name in _TRACE_STOPS)
    return told or (
        any(name in attributes for name in _TRACE_MODELS)
        and any(name in attributes for name in _TRACE_TEXTS)
    )


def attributes_of(row: JsonObject) -> JsonObject:
    """Return the attributes of a span, wherever it keeps them: as a list of keys and values, as an
    object, or as members of its own.

    >>> attributes_of({"attributes": [{"key": "a", "value": {"intValue": "5"}}]})
    {'a': '5'}
    """
    held = row.get("attributes")
    if isinstance(held, str):
        held = opened_text(held)
    if isinstance(held, list):
        return {str(one.get("key")): _value_of(one.get("value")) for one in objects_in(held)}
    if isinstance(held, dict):
        nested = any(isinstance(held.get(name), dict) for name in ("llm", "gen_ai", "output"))
        return _flat(held) if nested else held
    own = {key.removeprefix("attributes."): item for key, item in row.items()}  # Phoenix
    return own if any(key.startswith(_TRACE_MARKS) for key in own) else {}


def _flat(value: JsonObject, at: str = "", deep: int = 0) -> JsonObject:
    """Return nested attributes with dots between their names."""
    found: JsonObject = {}
    for key, item in value.items():
        name = f"{at}.{key}" if at else str(key)
        if isinstance(item, list) and deep < _DEEPEST and objects_in(item):
            item = {str(number): one for number, one in enumerate(item)}  # noqa: PLW2901
        if isinstance(item, dict) and deep < _DEEPEST:
            found |= _flat(item, name, deep + 1)
        else:
            found[name] = item
    return found


_DEEPEST = 6


def _value_of(value: object) -> object:
    """Return a value of OpenTelemetry's JSON."""
    told = object_in(value)
    if "arrayValue" in told:
        return [_value_of(one) for one in list_in(object_in(told["arrayValue"]).get("values"))]
    return next(iter(told.values()), value)


def span(row: JsonObject) -> Iterator[Held]:
    """Read the span of one call of a model."""
    yield from span_of(attributes_of(row))


def span_of(attributes: JsonObject) -> Iterator[Held]:
    """Read the attributes of a span."""
    stop_at = next((n for n in _TRACE_STOPS if attributes.get(n) not in (None, "", [])), "")
    text = next((attributes[n] for n in _TRACE_TEXTS if attributes.get(n)), "")
    inner = opened_text(text) if isinstance(text, str) else text
    within = found_within({"output": inner}) if inner is not None and not stop_at else []
    tokens = _first_number(attributes, _TRACE_TOKENS)
    parameters = object_in(_opened(attributes.get("llm.invocation_parameters")))
    limit = _first_number(attributes, _TRACE_LIMITS) or _first_number(parameters, LIMITS)
    model = next((str(attributes[n]) for n in _TRACE_MODELS if attributes.get(n)), "")
    if within:
        yield from (
            replace(one, limit=one.limit or limit, model=one.model or model) for one in within
        )
        return
    said = _said_in_parts(inner)
    told = Told(
        text=_text_of_output(text, inner) if text else None,
        reasoning=_thought_in(said),
        calls=None if said is None else [called for part in said for called in _called(part)],
        stop=attributes.get(stop_at) if stop_at else None,
        stop_at=stop_at,
        tokens=tokens,
    )
    if stop_at or told.text or told.calls:
        yield Held(answer=told, limit=limit, model=model)


def _said_in_parts(inner: object) -> list[JsonObject] | None:
    """Return the parts of what a model said, as OpenTelemetry's `gen_ai.output.messages` has them;
    None: it has another form."""
    said = [one for one in objects_in(inner) if isinstance(one.get("parts"), list)]
    return [part for one in said for part in objects_in(one["parts"])] if said else None


def _called(part: JsonObject) -> list[Called]:
    if part.get("type") != "tool_call":
        return []
    return [Called(str(part.get("name") or ""), part.get("arguments"))]


def _thought_in(parts: Sequence[JsonObject] | None) -> str:
    thought = (part.get("content") for part in parts or () if part.get("type") in _THOUGHTS)
    return "".join(one for one in thought if isinstance(one, str))


_THOUGHTS: Final = ("reasoning", "thinking")


def _opened(value: object) -> object:
    return opened_text(value) if isinstance(value, str) else value


def _text_of_output(text: object, inner: object) -> str:
    if isinstance(inner, list):
        return "".join(text_in(m.get("content") or m.get("parts")) for m in objects_in(inner))
    if isinstance(inner, dict):
        return text_in(inner.get("content") or inner.get("text") or inner.get("parts"))
    return text if isinstance(text, str) else ""


def _number(value: object) -> int | None:
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return count_in(value)


def _first_number(value: JsonObject, names: Sequence[str]) -> int | None:
    """Return the first of some members that is a number above 0; None: none is."""
    return next((n for name in names if (n := _number(value.get(name)))), None)


def is_generation(row: JsonObject) -> bool:
    """Return whether an observation of Langfuse is a call of a model."""
    return row.get("type") == "GENERATION"


def observation(row: JsonObject) -> Iterator[Held]:
    """Read an observation of Langfuse. Its output is JSON in a string, of whatever its framework
    calls an answer; the stop may be in the attributes of its metadata."""
    limit = _first_number(object_in(row.get("modelParameters")), LIMITS)
    usage = object_in(row.get("usageDetails") or row.get("usage"))
    tokens = next(
        (n for name in _OUTPUT_TOKENS if (n := count_in(usage.get(name))) is not None), None
    )
    tokens = count_in(row.get("outputTokens")) if tokens is None else tokens
    output = _opened(row.get("output"))
    metadata = object_in(_opened(row.get("metadata")))
    attributes = object_in(_opened(metadata.get("attributes")))
    found = list(found_within({"output": output})) if output is not None else []
    if not found and any(attributes.get(name) for name in _TRACE_STOPS):
        found = list(span_of(attributes))
    if not found and isinstance(output, list) and objects_in(output):
        found = [turn(message) for message in objects_in(output) if "content" in message]
    if not found and isinstance(output, dict) and _is_models(output):
        found = [turn(output)]
    if not found and isinstance(row.get("output"), str) and output is None:
        found = [Held(answer=Told(text=row["output"], calls=None))]
    for one in found:
        answer = one.answer
        if isinstance(answer, Told) and answer.tokens is None:
            answer = replace(answer, tokens=tokens)
        yield replace(one, answer=answer, limit=one.limit or limit)


_OUTPUT_TOKENS: Final = ("output", "completionTokens", "outputTokens")


def _is_models(message: JsonObject) -> bool:
    """Return whether a message is the model's, or is a text alone."""
    if "role" in message:
        return message["role"] in ("assistant", "model")
    return isinstance(message.get("content"), str)


# --- data sets and logs of answers without a stop


def texts(*names: str) -> Any:
    """Return a function that reads a text, or each of several, at the first of these members."""

    def read(row: JsonObject) -> Iterator[Held]:
        for name in names:
            if name in row:
                value = row[name]
                for item in value if isinstance(value, list) else [value]:
                    if isinstance(item, dict) and ("role" in item or "from" in item):
                        yield turn(item)
                    else:
                        yield Held(answer=Told(text=text_in(item), calls=None))
                return

    return read


def is_counted(row: JsonObject) -> bool:
    """Return whether a row holds a prompt, a text, and the tokens that a model wrote or its
    name."""
    asked = any(name in row for name in _PROMPTS)
    told = tokens_in(row) is not None or _is_asked_of_model(row)
    return asked and told and _text_of(row) is not None


def _is_asked_of_model(row: JsonObject) -> bool:
    """Return whether a row names its model, and its text by a name that says whose it is."""
    return bool(word_in(row, MODELS)) and any(is_own_name(name) for name in row)


_PROMPTS = ("prompt", "question", "instruction", "query", "input", "inputs", "messages", "problem")


def _text_of(row: JsonObject) -> str | None:
    names = (*(name for name in row if name not in TEXTS and is_own_name(name)), *TEXTS)
    found = (row.get(name) for name in names)
    return next((text for text in found if isinstance(text, str) and text), None)


def counted(row: JsonObject) -> Iterator[Held]:
    """Read the text of such a row."""
    yield Held(answer=Told(text=_text_of(row), calls=None))


def is_ray_row(row: JsonObject) -> bool:
    """Return whether a row has a generated text, and what it was asked for or its tokens."""
    told = "num_generated_tokens" in row or "prompt" in row
    return told and isinstance(row["generated_text"], str | list)


def ray_row(row: JsonObject) -> Iterator[Held]:
    """Read a row of Ray Data's vLLM stage, which keeps the tokens and throws the stop away."""
    limit = count_in(object_in(row.get("sampling_params")).get("max_tokens"))
    told = Told(
        text=text_in(row["generated_text"]),
        calls=None,
        tokens=count_in(row.get("num_generated_tokens")),
    )
    yield Held(answer=told, limit=limit)


OF_ALPACA: Final = ("instruction", "input", "output")


def is_prompted(row: JsonObject) -> bool:
    """Return whether a row has a prompt and its completion. The completions that a shell offers
    are words."""
    prompt, completion = row["prompt"], row["completion"]
    if isinstance(completion, list):
        said = [one for one in completion if isinstance(one, dict) or " " in str(one).strip()]
        return bool(said) and isinstance(prompt, str | list | dict | None)
    return isinstance(completion, str) and isinstance(prompt, str | list | dict | None)


def pair(row: JsonObject) -> Iterator[Held]:
    """Read the two answers of a preference. Many programs keep what somebody chose: two texts are
    answers if what was asked stands beside them, or if they are more than names."""
    two = row["chosen"], row["rejected"]
    if type(two[0]) is not type(two[1]):
        return
    fewest = min(len(str(text).split()) for text in two)
    if isinstance(two[0], str) and _ASKED.isdisjoint(row) and fewest < _LEAST_WORDS:
        return
    for name in ("chosen", "rejected"):
        value = row[name]
        if isinstance(value, list):
            yield from list(turns_in(value))[-1:]
        elif isinstance(value, dict):
            yield turn(value)
        elif isinstance(value, str):
            yield Held(answer=Told(text=value, calls=None))


_ASKED: Final = frozenset({"prompt", "question", "instruction", "query", "input", "messages"})
_LEAST_WORDS: Final = 4


def turns_of_choices(row: JsonObject) -> Iterator[Held]:
    """Read MT-bench's answers: the turns of each choice."""
    for choice in objects_in(row["choices"]):
        turns = [
            Held(answer=Told(text=text_in(text), calls=None))
            for text in list_in(choice.get("turns"))
        ]
        yield from with_beside(choice, turns)


def lm_eval(row: JsonObject) -> Iterator[Held]:
    """Read a sample of lm-eval, whose texts are lists within lists. An answer that one of the
    strings in `until` ended may stop anywhere, so that its end shows nothing."""
    limit = None
    arguments = row.get("arguments")
    if isinstance(arguments, dict):  # {"gen_args_0": {"arg_0": …, "arg_1": {…}}}
        arguments = [list(object_in(each).values()) for each in arguments.values()]
    for call in list_in(arguments):
        settings = object_in(call[1]) if isinstance(call, list) and len(call) > 1 else {}
        limit = limit or limit_in(settings)
    for answer in list_in(row.get("resps")):
        for text in answer if isinstance(answer, list) else [answer]:
            if isinstance(text, str):
                yield Held(answer=Told(text=text, calls=None), limit=limit)


def chatgpt_export(row: JsonObject) -> Iterator[Held]:
    """Read the messages of a conversation that ChatGPT exported."""
    for node in object_in(row["mapping"]).values():
        message = object_in(object_in(node).get("message"))
        author, content = object_in(message.get("author")), object_in(message.get("content"))
        if author.get("role") == "assistant" and content.get("content_type") == "text":
            metadata = object_in(message.get("metadata"))
            stop = object_in(metadata.get("finish_details")).get("type")
            told = Told(
                text=text_in(content),
                calls=None,
                stop=stop,
                stop_at="mapping.*.message.metadata.finish_details.type",
            )
            yield Held(answer=told, model=str(metadata.get("model_slug") or ""))
