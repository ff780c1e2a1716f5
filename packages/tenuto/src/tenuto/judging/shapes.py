"""The shapes of the commonest rows, as `quick.py` reads them.

Each accepts only rows that it understands to the last member: one answer, text alone, a stop of a
table or none. Any other member, type or value makes msgspec refuse the row. So the shapes know no
refusals, calls, errors or enums, and need not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec

from tenuto.judging.days import day_of
from tenuto.judging.opening import may_open

MOST_TOKENS_OF_SHAPE: Final = 1_000_000_000
Tokens = Annotated[int, msgspec.Meta(ge=0, le=MOST_TOKENS_OF_SHAPE)]
Nothing = Annotated[list[None], msgspec.Meta(max_length=0)] | None
"""A list that is empty, or null."""


class Found(msgspec.Struct, gc=False):
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


class Strict(msgspec.Struct, forbid_unknown_fields=True, gc=False):
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


class _ChatUsage(msgspec.Struct, gc=False):
    completion_tokens: Tokens
    prompt_tokens: Tokens
    completion_tokens_details: Any = None


class _Groq(Strict):
    id: str


class Chat(Strict):
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
            # By place, as msgspec makes it twice as fast.
            name,
            self.model,
            "openai-chat",
            None,
            day_of(self.created),
        )


# --- Messages


class _Text(Strict):
    type: Literal["text"]
    text: str
    citations: Nothing = None


class _MessageUsage(msgspec.Struct):
    output_tokens: Tokens
    input_tokens: Tokens = 0


class Message(Strict):
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


class Gemini(Strict, rename="camel"):
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


class Response(Strict):
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
        if not messages[0].content[0].text and len(self.output) > 1:  # reasoning alone
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
    body: Chat
    request_id: str | None = None


class _SentResponse(Strict):
    status_code: Literal[200]
    body: Response
    request_id: str | None = None


class OpenaiBatch(Strict):
    custom_id: str
    response: _Sent
    error: None
    id: str | None = None

    def found(self) -> Found | None:
        return self.response.body.found(self.custom_id)


class ResponsesBatch(Strict):
    custom_id: str
    response: _SentResponse
    error: None
    id: str | None = None

    def found(self) -> Found | None:
        return self.response.body.found(self.custom_id)


class _Succeeded(Strict):
    type: Literal["succeeded"]
    message: Message


class AnthropicBatch(Strict):
    custom_id: str
    result: _Succeeded

    def found(self) -> Found | None:
        return self.result.message.found(self.custom_id)


class GeminiBatch(Strict):
    key: str
    response: Gemini

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


class InspectSample(msgspec.Struct):
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


class Turn(Strict):
    role: Literal["system", "user", "assistant"]
    content: str


class Messages(Strict):
    messages: list[Turn]
    finish_reason: Literal["stop", "length"] | None = None
    completion_tokens: Tokens | None = None
    max_tokens: Tokens | None = None

    def last(self) -> Found | None:
        """Return what the row says of the last answer; None: it may be a request."""
        told = self.finish_reason is not None or self.completion_tokens is not None
        if not told and self.max_tokens is not None:
            return None
        return Found(
            "",
            self.finish_reason or "",
            "finish_reason" if self.finish_reason else "",
            self.completion_tokens,
            limit=self.max_tokens or None,
        )


class _Counted(Strict, kw_only=True):
    completion_tokens: Tokens | None = None
    max_tokens: Tokens | None = None

    def of(self, text: str) -> Found:
        return Found(text, tokens=self.completion_tokens, limit=self.max_tokens or None)


class Ray(Strict):
    generated_text: str
    num_generated_tokens: Tokens
    prompt: str = ""
    num_input_tokens: Tokens = 0
    max_tokens: Tokens | None = None

    def found(self) -> Found | None:
        text = self.generated_text
        if may_open(text):
            return None
        return Found(text, tokens=self.num_generated_tokens, limit=self.max_tokens or None)


class Completion(_Counted):
    prompt: str
    completion: str

    def found(self) -> Found | None:
        return None if may_open(self.completion) else self.of(self.completion)


class Alpaca(_Counted):
    instruction: str
    output: str
    input: str

    def found(self) -> Found | None:
        opens = may_open(self.output) or may_open(self.instruction)
        return None if opens else self.of(self.output)


class Flat(NamedTuple):
    """A shape whose members are texts and numbers, so that a table may have them as columns.

    Attributes:
        fields: the type of each member.
        required: the members that each row has.
        text, tokens, limit: those with the text, its tokens and its limit; a row may lack the
            last two.
        opening: the texts that may not open.
    """

    fields: Mapping[str, type]
    required: frozenset[str]
    text: str
    tokens: str
    limit: str
    opening: tuple[str, ...]


def _flat(
    shape: type[Any], text: str, tokens: str = "completion_tokens", opening: tuple[str, ...] = ()
) -> Flat:
    fields = msgspec.structs.fields(shape)
    return Flat(
        {field.name: str if field.type is str else int for field in fields},
        frozenset(field.name for field in fields if field.required),
        text,
        tokens,
        "max_tokens",
        opening or (text,),
    )


FLAT: Final = (
    _flat(Ray, "generated_text", "num_generated_tokens"),
    _flat(Completion, "completion"),
    _flat(Alpaca, "output", opening=("output", "instruction")),
)
