"""Read the rows of logs, traces and generated data sets, where paths cannot say it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tenuto.judging.answers import text_in
from tenuto.judging.cells import count_in
from tenuto.judging.held import Called, Held, Told
from tenuto.judging.messages import are_messages, calls_in, reasoning_in, turn, turns_in
from tenuto.judging.opening import in_base64, opened_text
from tenuto.judging.walk import found_within, told_in
from tenuto.wires.json import JsonObject, as_text
from tenuto.wires.members import list_in, object_in, objects_in


def _opened(value: object) -> Any:
    return opened_text(value) if isinstance(value, str) else value


def _word(*values: object) -> str:
    return next((value for value in values if isinstance(value, str) and value), "")


# --- gateways


def litellm(row: JsonObject) -> Iterator[Held]:
    """Read a line of LiteLLM's log. Its request is in two members."""
    settings = object_in(_opened(row.get("model_parameters")))
    asked = {**settings, "model": row.get("model"), "messages": _opened(row.get("messages"))}
    response = _opened(row["response"])
    if row.get("status") == "failure" or not response:
        error = object_in(row.get("error_information"))
        why = _word(error.get("error_code"), error.get("error_class"), "failure")
        yield Held(failed=why, request=asked, request_at="messages")
        return
    yield Held(answer=response, request=asked, request_at="messages")


# --- recorded exchanges


def har(row: JsonObject) -> Iterator[Held]:
    """Read the entries of a HAR file that are exchanges with a model."""
    for number, entry in enumerate(objects_in(object_in(row["log"]).get("entries"))):
        content = object_in(object_in(entry.get("response")).get("content"))
        data = in_base64(content)
        text = data.decode("utf-8", "replace") if data is not None else content.get("text")
        answer = _opened(text)
        if answer is None:
            continue
        asked = _opened(object_in(object_in(entry.get("request")).get("postData")).get("text"))
        where = f"log.entries[{number}].request.postData.text" if asked is not None else ""
        yield Held(answer=answer, request=asked, request_at=where)


def capture(row: JsonObject) -> Iterator[Held]:
    """Read the last attempt of a capture of Tenuto."""
    attempts = objects_in(row.get("attempts"))
    if not attempts:
        return
    last = attempts[-1]
    first = object_in(object_in(attempts[0].get("request")).get("body"))
    asked = _body_of(first)
    at = "attempts[0].request.body" if asked is not None else ""
    response = object_in(last.get("response"))
    answer = _body_of(object_in(response.get("body")))
    if answer is None and last.get("lost"):
        kind = object_in(last["lost"]).get("kind")
        yield Held(failed=_word(kind, "connection"), request=asked, request_at=at)
    elif answer is not None:
        yield Held(answer=answer, request=asked, request_at=at)


def _body_of(kept: JsonObject) -> Any:
    data = in_base64(kept)
    return _opened(data.decode("utf-8", "replace") if data is not None else kept.get("text"))


# --- batches and data sets


def ellmer(row: JsonObject) -> Iterator[Held]:
    """Read the results of a batch of ellmer, which are as the provider sent them, without ids."""
    for number, result in enumerate(objects_in(row["results"])):
        answer = result.get("message") or result.get("body") or result.get("response")
        error = result.get("error")
        if answer is None and (error or result.get("type") not in (None, "succeeded")):
            yield Held(failed=_word(result.get("type"), "error"), id=str(number))
        elif answer is not None:
            yield Held(answer=_opened(answer), id=str(number))


def curator(row: JsonObject) -> Iterator[Held]:
    """Read a response of curator: the raw one where it is kept, else the message."""
    raw = row.get("raw_response")
    found = found_within({"response": raw}) if raw else []
    if found:
        yield from found
        return
    errors = row.get("response_errors")
    message = row["response_message"]
    if message is None and errors:
        yield Held(failed="response_errors")
        return
    text = message if isinstance(message, str) else text_in(object_in(message).get("content"))
    usage = object_in(row.get("token_usage"))
    tokens = count_in(usage.get("output")) or count_in(usage.get("completion_tokens"))
    told = Told(
        text=text or None if message is not None else "",
        calls=None,
        stop=row.get("finish_reason"),
        stop_at="finish_reason",
        tokens=tokens,
    )
    yield Held(answer=told)


_ROLLOUTS = ("rollout_results", "inference_results")


def _rollouts_in(row: JsonObject) -> Any:
    """Return the results that datatrove keeps in a document's metadata, or beside it where its
    writer lifts the metadata. None: there are none."""
    for place in (object_in(row.get("metadata")), row):
        for name in _ROLLOUTS:
            if isinstance(place.get(name), list):
                return place[name]
    return None


def has_rollouts(row: JsonObject) -> bool:
    """Return whether a row is a document of datatrove with results of inference."""
    return _rollouts_in(row) is not None


def rollouts(row: JsonObject) -> Iterator[Held]:
    """Read the results of inference that datatrove keeps with a document. A rollout of one's own
    may return a text alone."""
    for result in list_in(_rollouts_in(row)):
        if isinstance(result, str):
            yield Held(answer=Told(text=result, calls=None))
            continue
        held = object_in(result)
        tokens = count_in(object_in(held.get("usage")).get("completion_tokens"))
        told = told_in(held)
        if told is not None:
            yield Held(answer=replace(told, tokens=tokens))
        elif isinstance(text := held.get("text"), str):
            yield Held(answer=Told(text=text, calls=None, tokens=tokens))
        elif held.get("error"):
            yield Held(failed="error")


def distilabel(row: JsonObject) -> Iterator[Held]:
    """Read a row of distilabel, whose metadata has the raw output and the tokens of each task. Rows
    without raw outputs have at least a generation."""
    metadata = object_in(row["distilabel_metadata"])
    raw = [key for key in metadata if key.startswith(_RAW_OUTPUT)]
    for key in raw:
        task = key.removeprefix(_RAW_OUTPUT)
        for text in _each(metadata[key]):
            yield _of_distilabel(text, _tokens_of(metadata, f"statistics_{task}"))
    if not raw and "generation" in row:
        numbers = [_tokens_of(metadata, k) for k in metadata if k.startswith("statistics_")]
        for text in _each(row["generation"]):
            yield _of_distilabel(text, numbers[0] if len(numbers) == 1 else None)


_RAW_OUTPUT = "raw_output_"


def _each(value: object) -> list[Any]:
    """Return the generations of a task, which may be grouped."""
    return value if isinstance(value, list) else [value]


def _of_distilabel(text: object, tokens: int | None) -> Held:
    if text is None:  # the model failed, and the pipeline went on
        return Held(failed="no_output")
    return Held(answer=Told(text=text_in(text), calls=None, tokens=tokens))


def _tokens_of(metadata: JsonObject, name: str) -> int | None:
    return count_in(_first(object_in(metadata.get(name)).get("output_tokens")))


def _first(value: object) -> object:
    return next(iter(value), None) if isinstance(value, list) else value


_TRACE, _REASONING = "__trace", "__reasoning_content"


def is_of_data_designer(row: JsonObject) -> bool:
    """Return whether a row of Data Designer keeps the trace or the reasoning of a column."""
    return any(
        are_messages(_opened(item))
        if key.endswith(_TRACE)
        else key.endswith(_REASONING) and key.removesuffix(_REASONING) in row
        for key, item in row.items()
    )


def data_designer(row: JsonObject) -> Iterator[Held]:
    """Read the last answer of each trace, and each column beside which only its reasoning is kept.
    What came before the last answer was asked again, or called tools."""
    for key, item in row.items():
        if key.endswith(_TRACE):
            yield from list(turns_in(_opened(item)))[-1:]
        elif key.endswith(_REASONING):
            column = key.removesuffix(_REASONING)
            if column in row and column + _TRACE not in row:
                text = row[column] if isinstance(row[column], str) else None
                yield Held(answer=Told(text, _word(item), calls=None))


# --- evaluations


def annotation(row: JsonObject) -> Iterator[Held]:
    """Read what the judge of AlpacaEval wrote about two answers: the choice of its completion, or
    what was parsed from it."""
    raw = row["raw_completion"]
    choice = object_in(raw)
    if "finish_reason" in choice:
        message = object_in(choice.get("message"))
        told = Told(
            text=text_in(message.get("content") or choice.get("text")),
            calls=calls_in(message),
            stop=choice["finish_reason"],
            stop_at="raw_completion.finish_reason",
        )
        yield Held(answer=told)
    elif raw is not None:
        text = raw if isinstance(raw, str) else as_text(raw)
        yield Held(answer=Told(text=text, calls=None))


def lighteval(doc: object, response: object) -> Iterator[Held]:
    """Read a sample of lighteval. The document has the limit, the response the tokens."""
    held = object_in(_opened(doc) if isinstance(doc, str) else doc)
    said = object_in(_opened(response) if isinstance(response, str) else response)
    tokens = list_in(said.get("output_tokens"))
    limit = count_in(held.get("generation_size")) or None
    for number, text in enumerate(list_in(said.get("text"))):
        own = tokens[number] if number < len(tokens) else None
        counted = len(own) if isinstance(own, list) and own else None
        yield Held(answer=Told(text=text_in(text), calls=None, tokens=counted), limit=limit)


def olmes(row: JsonObject) -> Iterator[Held]:
    """Read a prediction of OLMES."""
    for output in objects_in(row["model_output"]):
        text = output.get("continuation")
        if isinstance(text, str):
            yield Held(
                answer=Told(text=text, calls=None, tokens=count_in(output.get("num_tokens")))
            )


def atif(row: JsonObject) -> Iterator[Held]:
    """Read the steps of an agent's trajectory (ATIF)."""
    for step in objects_in(row["steps"]):
        if step.get("source") != "agent":
            continue
        calls = [
            Called(_word(call.get("function_name")), call.get("arguments"))
            for call in objects_in(step.get("tool_calls"))
        ]
        tokens = count_in(object_in(step.get("metrics")).get("completion_tokens"))
        text = text_in(step.get("message"))
        yield Held(answer=Told(text, reasoning_in(step), calls, tokens=tokens))


def swe_agent(row: JsonObject) -> Iterator[Held]:
    """Read the steps of a trajectory of SWE-agent."""
    for step in objects_in(row["trajectory"]):
        if isinstance(text := step.get("response"), str):
            yield Held(answer=Told(text=text, calls=None))


# --- traces


def claude_code_result(row: JsonObject) -> Iterator[Held]:
    """Read what `claude -p --output-format json` prints: the last answer of a session, or why there
    is none."""
    if row["is_error"] or str(row["subtype"]).startswith("error"):
        yield Held(failed=str(row.get("api_error_status") or row["subtype"]))
        return
    stop = row.get("stop_reason")
    told = Told(
        text=text_in(row.get("result")),
        calls=None,
        stop=stop,
        stop_at="stop_reason" if stop else "",
    )
    models = object_in(row.get("modelUsage"))
    yield Held(answer=told, model=next(iter(models), "") if len(models) == 1 else "")


def langsmith(row: JsonObject) -> Iterator[Held]:
    """Read a run of LangSmith: a body, LangChain's generations, or messages."""
    if row.get("error"):
        yield Held(failed="error")
        return
    outputs = object_in(row.get("outputs"))
    choices = objects_in(outputs.get("choices"))
    if choices and any(isinstance(choice.get("finish_reason"), dict) for choice in choices):
        # Chunks that an older version put together hold the last choice as their stop.
        mended = [
            {**choice, "finish_reason": object_in(choice.get("finish_reason")).get("finish_reason")}
            for choice in choices
        ]
        outputs = {**outputs, "object": "chat.completion", "choices": mended}
    found = found_within({"outputs": outputs})
    if found:
        yield from found
        return
    for name in ("messages", "output", "message"):
        value = outputs.get(name)
        if isinstance(value, list):
            yield from turns_in(value)
            return
        if isinstance(value, dict) and "content" in value:
            yield turn(value)
            return
        if isinstance(value, str):
            yield Held(answer=Told(text=value, calls=None))
            return


_LLM_SPANS = frozenset({"LLM", "CHAT_MODEL"})


def is_mlflow_span(row: JsonObject) -> bool:
    """Return whether a span of MLflow is a call of a model."""
    attributes = object_in(row["attributes"])
    kind = attributes.get("mlflow.spanType")
    return isinstance(kind, str) and kind.strip('"') in _LLM_SPANS


def mlflow_span(row: JsonObject) -> Iterator[Held]:
    """Read a span of MLflow, whose inputs and outputs are JSON in strings."""
    attributes = object_in(row["attributes"])
    outputs = _opened(attributes.get("mlflow.spanOutputs"))
    asked = _opened(attributes.get("mlflow.spanInputs"))
    where = "attributes.mlflow.spanInputs" if asked is not None else ""
    found = found_within({"output": outputs}) if outputs is not None else []
    for one in found:
        yield replace(one, request=asked, request_at=where)
    text = attributes.get("mlflow.spanOutputs")
    if not found and isinstance(text, str) and outputs is None:
        yield Held(answer=Told(text=text.strip('"'), calls=None), request=asked, request_at=where)


def is_datadog_span(row: JsonObject) -> bool:
    """Return whether a span of Datadog is a call of a model."""
    meta = object_in(row["meta"])
    kind = meta.get("span.kind") or meta.get("kind") or object_in(meta.get("span")).get("kind")
    return kind == "llm"


def datadog_span(row: JsonObject) -> Iterator[Held]:
    """Read a span of Datadog, which keeps no stop."""
    meta = object_in(row["meta"])
    tokens = count_in(object_in(row.get("metrics")).get("output_tokens"))
    if row.get("status") == "error":
        yield Held(failed=_word(meta.get("error.type"), "error"))
        return
    for message in objects_in(object_in(meta["output"]).get("messages")):
        held = turn(message)
        if isinstance(held.answer, Told):
            yield replace(held, answer=replace(held.answer, tokens=tokens))


# --- LangChain


def langchain_message(row: JsonObject) -> Iterator[Held]:
    """Read a message as `messages_to_dict` writes it."""
    yield Held(answer={"type": "ai", **object_in(row["data"])})
