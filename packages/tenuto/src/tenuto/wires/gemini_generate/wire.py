"""Gemini: generateContent and streamGenerateContent, of the Developer API and of Vertex AI.

https://ai.google.dev/api/generate-content (read through google-genai 3.4, 2026-11-22:
`google/genai/types.py`). This module holds the stop tables, the reader, and how endings are shown.
Errors are in `errors`, requests in `request` and `history`, and writing in `content` and `render`.

Bodies and events look alike: each event of a stream is a response of its own with what is new, and
the last one says why the model stopped. There is no end mark.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.parts import (
    AnySignal,
    CallPiece,
    Checkpoint,
    Envelope,
    Kind,
    Message,
    Opened,
    Said,
)
from tenuto.core.answer.signals import (
    CallDelta,
    ChoiceSeen,
    FaultSeen,
    OtherSeen,
    Signal,
    StopSeen,
    Usage,
    UsageSeen,
)
from tenuto.core.answer.stop import StopReason
from tenuto.core.deciding.outcome import Outcome
from tenuto.wires.answer import Shown, shown_alike
from tenuto.wires.base import Wire
from tenuto.wires.beside_stop import unsafe_ratings, with_words
from tenuto.wires.errors import error_in
from tenuto.wires.gemini_generate import render, short
from tenuto.wires.gemini_generate.content import (
    CITING,
    GROWS,
    SOURCES,
    TOKEN,
    as_body,
    candidates_of,
    is_plain_text,
    member,
    merged_content,
    parts_of,
)
from tenuto.wires.gemini_generate.form import FORM
from tenuto.wires.gemini_generate.request import STREAMING, WHOLE, GenerateRequest, parse_request
from tenuto.wires.gemini_like.errors import (
    ERRORS,
    asked_to_wait_s,
    error_of,
    is_googles,
    read_fault,
)
from tenuto.wires.json import JsonObject, count
from tenuto.wires.members import object_in, word_in
from tenuto.wires.reading import decoded_arguments, explained
from tenuto.wires.request_edits import key_at
from tenuto.wires.retry_after import retry_after_s
from tenuto.wires.short import ShortPath
from tenuto.wires.stops import StopTable, clean_stop, look_up, stop_reader
from tenuto.wires.usage import FindUsage, usage_at

_R = StopReason

STOPS: StopTable = {
    "finish_reason_unspecified": (_R.UNKNOWN, None),
    # A natural stopping point or a configured stop sequence; calls end with it too.
    "stop": (_R.END_TURN, None),
    # `maxOutputTokens`, which the thoughts count towards.
    "max_tokens": (_R.MAX_TOKENS, None),
    # The content may violate safety policies; in streams it is empty then.
    "safety": (_R.SAFETY_BLOCKED, None),
    # The content may be a recitation from a source.
    "recitation": (_R.SAFETY_BLOCKED, "recitation"),
    # An unsupported language.
    "language": (_R.SAFETY_BLOCKED, "language"),
    "other": (_R.UNKNOWN, "other"),
    # A term of a configured blocklist.
    "blocklist": (_R.SAFETY_BLOCKED, "blocklist"),
    "prohibited_content": (_R.SAFETY_BLOCKED, "prohibited_content"),
    # Sensitive personally identifiable information.
    "spii": (_R.SAFETY_BLOCKED, "sensitive_pii"),
    # A call that cannot be parsed; `finishMessage` may quote it.
    "malformed_function_call": (_R.MALFORMED_TOOL_CALL, None),
    "image_safety": (_R.SAFETY_BLOCKED, "image_safety"),
    "image_prohibited_content": (_R.SAFETY_BLOCKED, "prohibited_content"),
    "image_other": (_R.UNKNOWN, "image_other"),
    "no_image": (_R.ERROR, "no_image"),
    "image_recitation": (_R.SAFETY_BLOCKED, "recitation"),
    # A call that makes no sense, such as of a function that was not declared.
    "unexpected_tool_call": (_R.MALFORMED_TOOL_CALL, "unexpected"),
    # The provider's own loop of tools stopped before the final answer.
    "too_many_tool_calls": (_R.ERROR, "tool_loop_limit"),
    # The request lacks a thought signature.
    "missing_thought_signature": (_R.ERROR, "history"),
    "malformed_response": (_R.ERROR, "malformed"),
    "escalation": (_R.SAFETY_BLOCKED, "escalation"),
    # The account is limited for violations of the Prohibited Use Policy.
    "pup_limited_disabled": (_R.SAFETY_BLOCKED, "account_limited"),
    # The limit of one request; continue with the `continuationToken` beside it.
    "continuation": (_R.PAUSED, "resumable"),
    "model_armor": (_R.SAFETY_BLOCKED, "model_armor"),
}
"""`FinishReason`, in the order and spelling (except for case) of the reference."""

BLOCKS: StopTable = {
    "blocked_reason_unspecified": (_R.SAFETY_BLOCKED, "prompt"),
    "safety": (_R.SAFETY_BLOCKED, "prompt"),
    "other": (_R.SAFETY_BLOCKED, "prompt_other"),
    "blocklist": (_R.SAFETY_BLOCKED, "prompt_blocklist"),
    "prohibited_content": (_R.SAFETY_BLOCKED, "prompt_prohibited_content"),
    "image_safety": (_R.SAFETY_BLOCKED, "prompt_image_safety"),
    "model_armor": (_R.SAFETY_BLOCKED, "prompt_model_armor"),
    "jailbreak": (_R.SAFETY_BLOCKED, "prompt_jailbreak"),
}
"""`BlockedReason`: why the prompt was not answered at all."""

NUMBERS = {
    0: "FINISH_REASON_UNSPECIFIED",
    1: "STOP",
    2: "MAX_TOKENS",
    3: "SAFETY",
    4: "RECITATION",
}
"""Numbers of enum values without their names, if both APIs use the same:
https://github.com/googleapis/googleapis/blob/master/google/cloud/aiplatform/v1/content.proto,
https://github.com/googleapis/googleapis/blob/master/google/ai/generativelanguage/v1/generative_service.proto"""

BLOCK_NUMBERS = {
    0: "BLOCKED_REASON_UNSPECIFIED",
    1: "SAFETY",
    2: "OTHER",
    3: "BLOCKLIST",
    4: "PROHIBITED_CONTENT",
}
"""The same of `BlockedReason`. 0 stands in every answer of the old SDK that was made a dict."""

_UNSPECIFIED = frozenset({"blocked_reason_unspecified", "block_reason_unspecified", "0"})
"""What is no reason beside an answer."""

_look_up = stop_reader(STOPS)

_REPEATING_FAILS = frozenset({"too_many_tool_calls", "missing_thought_signature"})
"""Stops after which the same request would only fail again."""


def read_stop(raw: object, field: str) -> StopSeen | None:
    """Return the stop that a native value means; None: it is no stop at all (N1a).

    >>> read_stop("MAX_TOKENS", "finishReason").reason.value
    'max_tokens'
    >>> read_stop(2, "finishReason").reason.value
    'max_tokens'
    """
    if type(raw) is int and raw in NUMBERS:
        seen = _look_up(NUMBERS[raw], field)
        return None if seen is None else StopSeen(str(raw), field, seen.reason, seen.detail)
    return _look_up(raw, field)


# --- reading ----------------------------------------------------------------------------------

_PART_KEYS = frozenset(
    {"text", "thought", "thoughtSignature", "thought_signature", "partMetadata", "part_metadata"}
)
"""Keys of a part that carry no content beside its text."""


def read(value: object, *, event: bool) -> list[AnySignal]:
    """Return the signals of a body, or of one event; none for an object of another shape."""
    if not isinstance(value, dict):
        return []
    signals: list[AnySignal] = [
        Envelope({key: item for key, item in value.items() if key not in ("candidates", "error")})
    ]
    candidates = candidates_of(value)
    for number, candidate in enumerate(candidates):
        index = count(candidate.get("index"))
        choice = number if index is None or (len(candidates) == 1 and not event) else index
        # The others are never recovered (C28), so nobody needs their parts.
        of_it: list[AnySignal] = [] if choice else signals
        of_it.append(_said(candidate))
        for part in parts_of(candidate):
            of_it += _read_part(part)
        of_it += [] if choice else _checkpoint(candidate)
        of_it += _stop_of(candidate, number) or ([] if event else _unstopped(candidate, number))
        if choice:
            signals.append(ChoiceSeen(choice, tuple(Message().take(of_it))))
    signals += _failure_of(value, bool(candidates))
    usage = usage_object(value)
    if usage is not None:
        signals.append(UsageSeen(_usage(usage)))
    return signals


def _said(candidate: JsonObject) -> Said:
    """Return the members of a candidate beside its parts."""
    adds = {key: candidate[key] for key in GROWS & candidate.keys()}
    if not CITING.isdisjoint(candidate):
        adds[SOURCES] = [candidate]
    beside = {key: item for key, item in candidate.items() if key not in ("content", *adds)}
    return Said(beside, adds if adds or beside.keys() - {"index"} else None)


def _checkpoint(candidate: JsonObject) -> list[Checkpoint]:
    """Return the token of a candidate, which goes on behind the parts beside it: between two parts,
    at the limit of one request, and at `maxOutputTokens`. Any other stop is the answer's end."""
    raw = member(candidate, "finishReason", "finish_reason")
    stop = None if raw is None else read_stop(raw, "")
    if stop is not None and stop.reason not in (_R.PAUSED, _R.MAX_TOKENS):
        return [Checkpoint({})]
    token = member(candidate, TOKEN, "continuation_token")
    return [Checkpoint({TOKEN: token})] if token else []


def _failure_of(value: JsonObject, answered: bool) -> list[Signal]:
    error = error_of(value)
    fault: list[Signal] = [] if error is None else [FaultSeen(read_fault(error))]
    return [*_blocked(value, answered), *fault]


def _unstopped(candidate: JsonObject, number: int) -> list[Signal]:
    """Return the stop of a body without one: with a token, "the model has not stopped"."""
    if number or not member(candidate, TOKEN, "continuation_token"):
        return []
    return [StopSeen("", f"candidates[{number}].finishReason", _R.PAUSED, "resumable")]


def _stop_of(candidate: JsonObject, number: int) -> list[Signal]:
    field = f"candidates[{number}].finishReason"
    raw = member(candidate, "finishReason", "finish_reason")
    stop = None if raw is None else read_stop(raw, field)
    if stop is None:
        return []
    if stop.reason is _R.PAUSED and not member(candidate, TOKEN, "continuation_token"):
        # Nothing can continue it: a limit cut the answer.
        stop = StopSeen(stop.raw, field, _R.MAX_TOKENS, "no_continuation_token")
    words = member(candidate, "finishMessage", "finish_message") if number == 0 else None
    ratings = member(candidate, "safetyRatings", "safety_ratings")
    signals = _explained(with_words(stop, safety_ratings=unsafe_ratings(ratings)), words)
    if stop.raw.strip().lower() in _REPEATING_FAILS:
        signals.append(FaultSeen(Fault(FaultKind.INVALID_REQUEST, stop.raw.strip())))
    return signals


def _explained(stop: StopSeen, words: object) -> list[Signal]:
    """Return a stop, and the words beside it if a filter gave them. With other stops they are no
    refusal: `STOP` has "Model generated function call(s).", and a malformed call is quoted."""
    return [*explained(stop, _R.SAFETY_BLOCKED, words)]


def _read_part(part: JsonObject) -> list[AnySignal]:
    call = member(part, "functionCall", "function_call")
    if isinstance(call, dict):
        return [CallPiece((), _call(part, call))]
    text = part.get("text")
    other = any(item is not None for key, item in part.items() if key not in _PART_KEYS)
    if not isinstance(text, str):  # only a signature, or no text at all
        return [Opened((), Kind.OTHER if other else Kind.TEXT, part)]
    kind = Kind.REASONING if part.get("thought") is True else Kind.TEXT
    opened = Opened((), kind, part, "text", text, goes_on=is_plain_text(part))
    return [opened, OtherSeen()] if other else [opened]


def _call(part: JsonObject, call: JsonObject) -> CallDelta:
    """Read a call, which arrives whole. Many models leave out ids, so calls go by their order."""
    name = word_in(call, "name")
    arguments, odd, decoded = _arguments(call, name)
    extra = {
        "part": {k: v for k, v in part.items() if "unction" not in k and v is not None},
        "call": {k: v for k, v in call.items() if k not in ("name", "args") and v is not None},
    }
    return CallDelta(
        None,
        word_in(call, "id"),
        name,
        arguments,
        odd,
        may_be_empty=True,
        may_lack_id=True,
        decoded=decoded,
        extra=extra if any(extra.values()) else None,
        unseen=_more_follows(call),
    )


def _more_follows(call: JsonObject) -> bool:
    return member(call, "willContinue", "will_continue") is True


def _arguments(call: JsonObject, name: str | None) -> tuple[str | None, tuple[str, ...], bool]:
    """Return argument text, what was odd about it, and whether it arrived decoded.

    Streamed arguments (`streamFunctionCallArguments` of Vertex AI) are not assembled. Only their
    end is read, which shows whether they are complete."""
    more = _more_follows(call)
    if more or (name is None and "args" not in call):
        return ("{" if name is not None else "" if more else "}"), (), False
    return decoded_arguments(call.get("args"))


def _blocked(value: JsonObject, answered: bool) -> list[Signal]:
    """Return the stop of a blocked prompt, which has no candidates (Q11)."""
    feedback = member(value, "promptFeedback", "prompt_feedback")
    raw = member(feedback, "blockReason", "block_reason") if isinstance(feedback, dict) else None
    field = "promptFeedback.blockReason"
    if type(raw) is int and raw in BLOCK_NUMBERS:
        stop = look_up(BLOCK_NUMBERS[raw], field, BLOCKS)
        stop = stop and StopSeen(str(raw), field, stop.reason, stop.detail)
    else:
        stop = None if raw is None else look_up(raw, field, BLOCKS)
    if stop is None or (answered and stop.raw.strip().lower() in _UNSPECIFIED):
        return []
    if not stop.known:
        # Whatever the reason, the prompt was blocked.
        stop = StopSeen(stop.raw, field, _R.SAFETY_BLOCKED, "prompt", stop.known, stop.readable)
    words = member(feedback, "blockReasonMessage", "block_reason_message")
    ratings = member(feedback, "safetyRatings", "safety_ratings")
    return _explained(with_words(stop, safety_ratings=unsafe_ratings(ratings)), words)


usage_object: FindUsage = usage_at("usageMetadata", "usage_metadata")
"""Finds the native usage object, which every event of a stream may hold."""


def _usage(usage: JsonObject) -> Usage:
    return render.COUNTS.read(lambda name: member(usage, name, _IN_SNAKE_CASE[name]))


_IN_SNAKE_CASE = {
    "promptTokenCount": "prompt_token_count",
    "candidatesTokenCount": "candidates_token_count",
    "thoughtsTokenCount": "thoughts_token_count",
    "cachedContentTokenCount": "cached_content_token_count",
}
"""Members of a usage object that Tenuto reads, by their names in the SDK's objects."""


# --- how endings are shown (P1a) --------------------------------------------------------------

SHOWN: dict[Outcome, Shown] = {
    **shown_alike(done="STOP", cut="MAX_TOKENS", blocked="SAFETY"),
    Outcome.ARGUMENTS_MALFORMED: Shown(native="MALFORMED_FUNCTION_CALL"),
    Outcome.CANCELLED: Shown(native="OTHER", received=True),
    Outcome.UNKNOWN: Shown(native="OTHER", received=True),
}
"""How each outcome is shown if the turn is not complete."""


_TOLD_BY = frozenset(
    {"promptFeedback", "prompt_feedback", "candidates", "usageMetadata", "usage_metadata", "error"}
)
"""Every response has at least one of these members."""


def is_request(path: str) -> bool:
    """Return whether the path is that of a generation, on any of the APIs.

    >>> is_request("/v1beta/models/gemini-2.5-flash:generateContent")
    True
    >>> is_request("/v1beta/models/gemini-2.5-flash:countTokens")
    False
    """
    return unquote(path).rstrip("/").endswith((WHOLE, STREAMING))


def looks_like(value: JsonObject) -> bool:
    """Return whether an object is a response of this wire, or one of its events."""
    if _TOLD_BY.isdisjoint(value):  # fast, since every wire is asked about every shape
        return False
    if isinstance(value.get("promptFeedback"), dict) or isinstance(
        value.get("prompt_feedback"), dict
    ):
        return True
    candidates = value.get("candidates")
    if isinstance(candidates, list) and candidates and isinstance(candidates[0], dict):
        if "finishReason" in candidates[0] or "finish_reason" in candidates[0]:
            return True
        content = candidates[0].get("content", "")
        return content is None or isinstance(content, dict)
    used = object_in(value.get("usageMetadata") or value.get("usage_metadata"))
    if any(name.lower().replace("_", "").endswith("tokencount") for name in used):
        return True
    return is_googles(value.get("error"))


def is_event(value: JsonObject) -> bool:
    """Return whether an object is an event that does not end its stream. The last event may also be
    a whole body, and is read the same way."""
    candidates = candidates_of(value)
    for candidate in candidates:
        if read_stop(member(candidate, "finishReason", "finish_reason"), "") is not None:
            return False
    return not _failure_of(value, bool(candidates))


def parse_fault(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    """Return the fault of an HTTP error response, with the wait that it asks for."""
    error = error_in(body, error_of)
    return read_fault(error, status, retry_after_s(headers) or asked_to_wait_s(error))


WIRE = Wire(
    name="gemini-generate",
    stops=STOPS,
    errors=ERRORS,
    shown=SHOWN,
    is_request=is_request,
    request=parse_request,
    limit_key=lambda _: key_at(GenerateRequest.paths.output_limit),
    looks_like=looks_like,
    is_event=is_event,
    last_is_body=True,
    read=read,
    running_usage=b'"usageMetadata"',
    short=ShortPath(
        parse_request,
        read,
        short.asks,
        short.ids_if_whole,
        short.event,
        ends_marked=False,
        holes=short.HOLES,
    ),
    usage_object=usage_object,
    parse_fault=parse_fault,
    layout=render.ResponseLayout,
    content=merged_content,
    clean_stop=clean_stop("STOP"),
    as_body=as_body,
    render_body=render.render_body,
    render_error=render.render_error,
    error_status=render.ERROR_STATUS,
    form=FORM,
)
