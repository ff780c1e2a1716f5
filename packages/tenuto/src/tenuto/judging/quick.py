"""Typed readings of the commonest rows, which say in microseconds what the whole reading would.

Theory of operation
-------------------
Each shape accepts only rows that it understands to the last member: one answer, text alone, a stop
of a table or none. Any other member, type or value makes msgspec refuse the row, and then the whole
reading (`judgement.py`) takes it. So this file knows no refusals, calls, errors or enums, and need
not. A test compares both readings over all recorded answers and over rows with anything in any
place.

The shape that fitted the last row is tried first, since files hold rows of one kind. That changes
how long a row takes, and never what is said of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec

from tenuto.core.answer.stop import NO_STOP, Confidence, Stop, StopReason
from tenuto.core.deciding.outcome import Batch, Readable, Sign, outcome_of
from tenuto.judging.days import day_of
from tenuto.judging.opening import may_open
from tenuto.judging.signs import at_end, runs_away
from tenuto.judging.verdict import GRAVITY, Verdict, is_certain
from tenuto.wires.registry import WIRES

Tokens = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]
Nothing = Annotated[list[None], msgspec.Meta(max_length=0)] | None
"""A list that is empty, or null."""


class Found(NamedTuple):
    """What a shape found.

    Attributes:
        text: the text of the answer.
        stop: the stop's value as it is stored; "": none is.
        stop_at: the field of the stop.
        tokens: the tokens of the answer; None: not stored.
        id, model, wire: those of `Verdict`.
        limit: the limit that the row itself tells; None: none.
        day: that of `Verdict`.
    """

    text: str
    stop: str = ""
    stop_at: str = ""
    tokens: int | None = None
    id: str = ""
    model: str = ""
    wire: str = ""
    limit: int | None = None
    day: str = ""


class Strict(msgspec.Struct, forbid_unknown_fields=True):
    """An object with no other members."""


# --- Chat Completions


class _ChatMessage(Strict):
    role: Literal["assistant"]
    content: str
    refusal: None = None
    tool_calls: Nothing = None
    function_call: None = None
    audio: None = None
    annotations: Nothing = None
    reasoning_content: None = None


class _ChatChoice(Strict):
    message: _ChatMessage
    finish_reason: Literal["stop", "length"]
    index: Literal[0] = 0
    logprobs: None = None


class _ChatUsage(msgspec.Struct):
    completion_tokens: Tokens
    prompt_tokens: Tokens
    completion_tokens_details: Any = None


class _Groq(Strict):
    id: str


class _Chat(Strict):
    object: Literal["chat.completion"]
    choices: tuple[_ChatChoice]
    id: str = ""
    created: int = 0
    model: str = ""
    usage: _ChatUsage | None = None
    system_fingerprint: str | None = None
    service_tier: str | None = None
    x_groq: _Groq | None = None

    def found(self, name: str = "") -> Found | None:
        choice, usage = self.choices[0], self.usage
        if self.id and "-" not in self.id:  # Mistral's, which is another wire
            return None
        return Found(
            choice.message.content,
            choice.finish_reason,
            "choices[0].finish_reason",
            usage.completion_tokens if usage is not None else None,
            id=name,
            model=self.model,
            wire="openai-chat",
            day=day_of(self.created),
        )


# --- Messages


class _Text(Strict):
    type: Literal["text"]
    text: str
    citations: Nothing = None


class _MessageUsage(msgspec.Struct):
    output_tokens: Tokens
    input_tokens: Tokens = 0


class _Message(Strict):
    type: Literal["message"]
    role: Literal["assistant"]
    content: tuple[_Text]
    stop_reason: Literal["end_turn", "max_tokens"]
    usage: _MessageUsage
    id: str = ""
    model: str = ""
    stop_sequence: None = None
    stop_details: None = None
    container: None = None

    def found(self, name: str = "") -> Found | None:
        if self.id and (self.id[:4] != "msg_" or self.id[:9] == "msg_bdrk_"):
            return None  # another wire's, such as Bedrock's
        return Found(
            self.content[0].text,
            self.stop_reason,
            "stop_reason",
            self.usage.output_tokens,
            id=name,
            model=self.model,
            wire="anthropic-messages",
        )


# --- generateContent


class _Part(Strict):
    text: str


class _Content(Strict):
    parts: tuple[_Part]
    role: Literal["model"]


class _Candidate(Strict, rename="camel"):
    content: _Content
    finish_reason: Literal["STOP", "MAX_TOKENS"]
    index: Literal[0] = 0
    avg_logprobs: float | None = None


class _GeminiUsage(msgspec.Struct, rename="camel"):
    candidates_token_count: Tokens
    thoughts_token_count: None = None


class _Gemini(Strict, rename="camel"):
    candidates: tuple[_Candidate]
    usage_metadata: _GeminiUsage
    model_version: str = ""
    response_id: str = ""
    create_time: str = ""

    def found(self, name: str = "") -> Found:
        candidate = self.candidates[0]
        return Found(
            candidate.content.parts[0].text,
            candidate.finish_reason,
            "candidates[0].finishReason",
            self.usage_metadata.candidates_token_count,
            id=name,
            model=self.model_version,
            wire="gemini-generate",
            day=day_of(self.create_time),
        )


# --- Responses


class _Skipped(msgspec.Struct):
    """An object of which nothing is read."""


class _Thought(msgspec.Struct, tag_field="type", tag="reasoning"):
    """Reasoning, which says nothing beside a text."""


class _OutputText(Strict):
    type: Literal["output_text"]
    text: str
    annotations: Nothing = None
    logprobs: Nothing = None


class _OutputMessage(Strict, tag_field="type", tag="message"):
    role: Literal["assistant"]
    content: tuple[_OutputText]
    status: Literal["completed"]
    id: str = ""


class _ResponseUsage(msgspec.Struct):
    output_tokens: Tokens
    input_tokens: Tokens


class _Response(Strict):
    object: Literal["response"]
    status: Literal["completed"]
    output: list[_Thought | _OutputMessage]
    id: str
    usage: _ResponseUsage
    model: str = ""
    max_output_tokens: Tokens | None = None
    error: None = None
    incomplete_details: None = None
    background: bool | None = None
    billing: _Skipped | None = None
    completed_at: float | None = None
    created_at: float | None = None
    frequency_penalty: float | None = None
    instructions: str | None = None
    max_tool_calls: int | None = None
    metadata: _Skipped | None = None
    parallel_tool_calls: bool | None = None
    presence_penalty: float | None = None
    previous_response_id: str | None = None
    prompt_cache_key: str | None = None
    prompt_cache_retention: str | None = None
    reasoning: _Skipped | None = None
    safety_identifier: str | None = None
    service_tier: str | None = None
    store: bool | None = None
    temperature: float | None = None
    text: _Skipped | None = None
    tool_choice: str | _Skipped | None = None
    tools: list[_Skipped] | None = None
    top_logprobs: int | None = None
    top_p: float | None = None
    truncation: str | None = None
    user: str | None = None

    def found(self, name: str = "") -> Found | None:
        messages = [item for item in self.output if type(item) is _OutputMessage]
        if len(messages) != 1 or self.id[:5] != "resp_":
            return None
        return Found(
            messages[0].content[0].text,
            "completed",
            "status",
            self.usage.output_tokens,
            id=name or self.id,
            model=self.model,
            wire="openai-responses",
            limit=self.max_output_tokens or None,
            day=day_of(self.created_at) or day_of(self.completed_at),
        )


# --- batches


class _Sent(Strict):
    status_code: Literal[200]
    body: _Chat
    request_id: str | None = None


class _SentResponse(Strict):
    status_code: Literal[200]
    body: _Response
    request_id: str | None = None


class _OpenaiBatch(Strict):
    custom_id: str
    response: _Sent
    error: None
    id: str | None = None

    def found(self) -> Found | None:
        return self.response.body.found(self.custom_id)


class _ResponsesBatch(Strict):
    custom_id: str
    response: _SentResponse
    error: None
    id: str | None = None

    def found(self) -> Found | None:
        return self.response.body.found(self.custom_id)


class _Succeeded(Strict):
    type: Literal["succeeded"]
    message: _Message


class _AnthropicBatch(Strict):
    custom_id: str
    result: _Succeeded

    def found(self) -> Found | None:
        return self.result.message.found(self.custom_id)


class _GeminiBatch(Strict):
    key: str
    response: _Gemini

    def found(self) -> Found:
        return self.response.found(self.key)


# --- inspect_ai


class _InspectMessage(msgspec.Struct):
    content: str
    tool_calls: Nothing = None
    function_call: None = None


class _InspectChoice(msgspec.Struct):
    message: _InspectMessage
    stop_reason: Literal["stop", "max_tokens"]


class _InspectUsage(msgspec.Struct):
    output_tokens: Tokens | None = None


class _InspectOutput(msgspec.Struct):
    choices: tuple[_InspectChoice]
    model: str = ""
    usage: _InspectUsage | None = None


Absent = msgspec.UnsetType
"""A member of another kind, so that a row which has it is refused."""


class _InspectSample(msgspec.Struct):
    epoch: int
    output: _InspectOutput
    id: str | int = ""
    custom_id: Absent = msgspec.UNSET
    request: Absent = msgspec.UNSET
    key: Absent = msgspec.UNSET
    record_id: Absent = msgspec.field(default=msgspec.UNSET, name="recordId")
    stage: Absent = msgspec.UNSET
    generic_request: Absent = msgspec.UNSET
    rollout_results: Absent = msgspec.UNSET
    started_at: Any = None
    completed_at: Any = None
    created: Absent = msgspec.UNSET
    created_at: Absent = msgspec.UNSET
    created_at_camel: Absent = msgspec.field(default=msgspec.UNSET, name="createdAt")
    create_time: Absent = msgspec.UNSET
    create_time_camel: Absent = msgspec.field(default=msgspec.UNSET, name="createTime")
    timestamp: Absent = msgspec.UNSET
    start_time: Absent = msgspec.UNSET
    start_time_camel: Absent = msgspec.field(default=msgspec.UNSET, name="startTime")
    start_time_nano: Absent = msgspec.field(default=msgspec.UNSET, name="startTimeUnixNano")
    processed_time: Absent = msgspec.UNSET

    def found(self) -> Found:
        output = self.output
        return Found(
            output.choices[0].message.content,
            output.choices[0].stop_reason,
            "output.choices[].stop_reason",
            output.usage.output_tokens if output.usage is not None else None,
            id=str(self.id),
            model=output.model,
            day=day_of(self.started_at) or day_of(self.completed_at),
        )


# --- rows without a stop


class _Turn(Strict):
    role: Literal["system", "user", "assistant"]
    content: str


class _Messages(Strict):
    messages: list[_Turn]


class _Ray(Strict):
    generated_text: str
    num_generated_tokens: Tokens
    prompt: str = ""
    num_input_tokens: Tokens = 0

    def found(self) -> Found | None:
        text = self.generated_text
        return None if may_open(text) else Found(text, tokens=self.num_generated_tokens)


class _Completion(Strict):
    prompt: str
    completion: str

    def found(self) -> Found | None:
        return None if may_open(self.completion) else Found(self.completion)


class _Alpaca(Strict):
    instruction: str
    output: str
    input: str

    def found(self) -> Found | None:
        opens = may_open(self.output) or may_open(self.instruction)
        return None if opens else Found(self.output)


class Flat(NamedTuple):
    """A shape whose members are texts and numbers, so that a table may have them as columns.

    Attributes:
        fields: the type of each member.
        required: the members that each row has.
        text, tokens: those with the text and its tokens; "": none has them.
        opening: the texts that may not open.
    """

    fields: Mapping[str, type]
    required: frozenset[str]
    text: str
    tokens: str
    opening: tuple[str, ...]


def _flat(shape: type[Any], text: str, tokens: str = "", opening: tuple[str, ...] = ()) -> Flat:
    fields = msgspec.structs.fields(shape)
    return Flat(
        {field.name: str if field.type is str else int for field in fields},
        frozenset(field.name for field in fields if field.required),
        text,
        tokens,
        opening or (text,),
    )


FLAT: Final = (
    _flat(_Ray, "generated_text", "num_generated_tokens"),
    _flat(_Completion, "completion"),
    _flat(_Alpaca, "output", opening=("output", "instruction")),
)

# --- reading


class _Shape(NamedTuple):
    kind: str
    shape: type[Any]
    decode: Callable[[bytes | str], Any]


def _shape(kind: str, shape: type[Any]) -> _Shape:
    return _Shape(kind, shape, msgspec.json.Decoder(shape).decode)


_SHAPES: Final = [
    _shape("openai_batch", _OpenaiBatch),
    _shape("anthropic_batch", _AnthropicBatch),
    _shape("gemini_batch", _GeminiBatch),
    _shape("openai_batch", _ResponsesBatch),
    _shape("inspect_sample", _InspectSample),
    _shape("body", _Chat),
    _shape("body", _Response),
    _shape("body", _Message),
    _shape("body", _Gemini),
    _shape("messages", _Messages),
    _shape("ray_data_llm", _Ray),
    _shape("prompt_completion", _Completion),
    _shape("alpaca", _Alpaca),
]
"""The shape that fitted last is the first."""

Shapes = list[_Shape]


def shapes_of(kinds: Collection[str]) -> Shapes:
    """Return the shapes of some kinds.

    >>> len(shapes_of(["openai_batch"])), shapes_of(["vertex_batch"])
    (2, [])
    """
    return [shape for shape in _SHAPES if shape.kind in kinds]


_REFUSED = (msgspec.DecodeError, UnicodeError, RecursionError)


def quickly(row: object, limit: int | None, shapes: Shapes | None = None) -> Verdict | None:
    """Return the verdict on a row of a common shape; None: the whole reading has to take it.
    `limit`: as for `judge`. `shapes`: those that are tried; None: all."""
    kind = type(row)
    if WIRES.changes:  # a wire that was registered may claim a row
        return None
    tried = _SHAPES if shapes is None else shapes
    for number, shape in enumerate(tried):
        try:
            if kind is dict:
                found = msgspec.convert(row, shape.shape)
            elif kind is bytes or kind is str:
                found = shape.decode(row)  # type: ignore[arg-type]
            else:
                return None
        except _REFUSED:
            continue
        if number:
            tried.insert(0, tried.pop(number))
        if type(found) is _Messages:
            return _conversation(found.messages, limit)
        told = found.found()
        return verdict_on(told, shape.kind, limit) if told is not None else None
    return None


_STOPS: Final = {
    "": StopReason.END_TURN,
    "stop": StopReason.END_TURN,
    "end_turn": StopReason.END_TURN,
    "completed": StopReason.END_TURN,
    "STOP": StopReason.END_TURN,
    "length": StopReason.MAX_TOKENS,
    "max_tokens": StopReason.MAX_TOKENS,
    "MAX_TOKENS": StopReason.MAX_TOKENS,
}
"""What the values in the shapes mean, as in the tables of their wires."""


@cache
def _stop(raw: str, at: str) -> Stop:
    """Return the stop as the builder makes it."""
    if not raw:
        sure = Confidence.MEDIUM
        return Stop(StopReason.END_TURN, confidence=sure, anomalies=(NO_STOP,))
    return Stop(_STOPS[raw], raw, at, confidence=Confidence.HIGH)


_RUNAWAY: Final[tuple[Sign, tuple[str, ...]]] = (Sign.RUNAWAY, ("runaway",))


@cache
def _words(first: str, others: tuple[str, ...]) -> tuple[str, ...]:
    return (first, *others)


def verdict_on(
    found: Found, kind: str, limit: int | None, stop: Stop | None = None
) -> Verdict | None:
    """Return the verdict on what a shape found; None: its text needs the whole reading. `stop`:
    what its stop is; None: one of those in the shapes."""
    text, stored = found.text, found.stop != ""
    if not text or text[0] in "<[" or text[0].isspace() or ("<" in text and "<think" in text):
        return None  # calls in the text, thinking, and what may be blank
    limit = limit or found.limit
    at_limit = limit is not None and found.tokens is not None and found.tokens >= limit
    sign, evidence = _RUNAWAY if runs_away(text) else at_end(text, stored=stored, at_limit=at_limit)
    stop = stop or _stop(found.stop, found.stop_at)
    outcome = outcome_of(stop.reason, Batch.NONE, Readable.SEEN, sign)
    return Verdict(
        outcome,
        is_certain(outcome, stored=stored),
        _words("stop" if stored else "no_stop", evidence),
        stop,
        text,
        limit,
        found.tokens,
        found.model,
        found.id,
        kind,
        found.wire,
        0,
        1,
        False,
        "",
        found.day,
    )


def _conversation(messages: Sequence[_Turn], limit: int | None) -> Verdict | None:
    """Return the verdict on the worst of the model's messages; the first of those as bad."""
    if not messages or messages[-1].role != "assistant":
        return None
    worst: Verdict | None = None
    choices = choice = 0
    for message in messages:
        if message.role != "assistant":
            continue
        verdict = verdict_on(Found(message.content), "messages", limit)
        if verdict is None:
            return None
        if worst is None or GRAVITY[verdict.outcome] < GRAVITY[worst.outcome]:
            worst, choice = verdict, choices
        choices += 1
    if worst is not None and choices > 1:
        return dataclasses.replace(worst, choice=choice, choices=choices)
    return worst
