"""Define and read the error tables of the wires.

A table is a tuple of rows, the most specific first. The first row that matches decides, and the
last one matches everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tenuto.core.answer.fault import Fault, FaultKind
from tenuto.core.answer.stop import printable
from tenuto.wires.json import JsonObject, decode_object
from tenuto.wires.retry_after import retry_after_s


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """One way in which a wire reports a failure: by code or type, or by the words of its message.

    Named groups of `words` are read: `wanted_…` is a member that the model's rows must hold;
    `allowed`, `maximum` and `most` are the output tokens that the provider allows, and `below` is
    one more than that; `window` is the context window, and `prompt` the part of it that the prompt
    takes. For an unknown key every group names keys."""

    kind: FaultKind
    codes: frozenset[str] = frozenset()
    words: re.Pattern[str] | None = None
    statuses: range = range(0)
    named: re.Pattern[str] | None = None


def row(
    kind: FaultKind,
    *codes: str,
    words: str = "",
    statuses: range = range(0),
    named: str = "",
) -> ErrorRow:
    """Return a row of an error table.

    Args:
        codes: codes and types; each text may hold several, separated by spaces.
        words: a regular expression to search for, ignoring case.
        named: a regular expression that codes may match, for codes that have many spellings.
    """
    pattern = re.compile(words, re.IGNORECASE | re.DOTALL) if words else None
    spelled = re.compile(named) if named else None
    return ErrorRow(kind, frozenset(" ".join(codes).split()), pattern, statuses, spelled)


Codes = Mapping[FaultKind, str]
"""Codes and types by meaning, separated by spaces."""

_K = FaultKind

GOOGLE: Codes = {
    _K.RATE_LIMITED: "resource_exhausted",
    _K.OVERLOADED: "unavailable",
    _K.TIMEOUT: "deadline_exceeded",
    _K.AUTHENTICATION: "unauthenticated permission_denied",
    _K.SERVER: "internal",
    _K.INVALID_REQUEST: "invalid_argument failed_precondition not_found",
}
"""The codes of all Google APIs: https://cloud.google.com/apis/design/errors (read 2026-11-22)."""

BEDROCK: Codes = {
    _K.RATE_LIMITED: "throttlingexception servicequotaexceededexception",
    _K.OVERLOADED: "serviceunavailableexception modelnotreadyexception",
    _K.TIMEOUT: "modeltimeoutexception",
    _K.AUTHENTICATION: "accessdeniedexception unrecognizedclientexception expiredtokenexception",
    # The second and the third may have the status 424.
    _K.SERVER: "internalserverexception modelerrorexception modelstreamerrorexception",
    _K.INVALID_REQUEST: "validationexception resourcenotfoundexception",
}
"""The codes of Amazon Bedrock: https://docs.aws.amazon.com/bedrock/latest/APIReference/
API_runtime_InvokeModel.html, "Errors" (shapes read in botocore 1.43, 2026-11-22)."""


def by_code(*codes: Codes) -> tuple[ErrorRow, ...]:
    """Return a row for each kind that has codes."""
    kinds = dict.fromkeys(kind for given in codes for kind in given)
    return tuple(row(kind, *(given.get(kind, "") for given in codes)) for kind in kinds)


def by_status(*codes: Codes, overloaded: range = range(503, 504)) -> tuple[ErrorRow, ...]:
    """Return the last rows of a table: what HTTP statuses mean on all wires, each with the codes of
    the same meaning. `overloaded`: further statuses that mean the same as 503.

    >>> [entry.kind.value for entry in by_status() if 503 in entry.statuses]
    ['overloaded']
    """
    statuses = (
        (_K.RATE_LIMITED, range(429, 430)),
        (_K.OVERLOADED, overloaded),
        (_K.OVERLOADED, range(503, 504)),
        (_K.TIMEOUT, range(504, 505)),
        (_K.TIMEOUT, range(408, 409)),
        (_K.PAYMENT, range(402, 403)),
        (_K.AUTHENTICATION, range(401, 404)),
        (_K.SERVER, range(0)),
        (_K.CANCELLED, range(499, 500)),
        (_K.INVALID_REQUEST, range(400, 500)),
    )
    waiting = {kind: " ".join(given.get(kind, "") for given in codes) for kind, _ in statuses}
    rows = [row(kind, waiting.pop(kind, ""), statuses=at) for kind, at in dict.fromkeys(statuses)]
    return (*(one for one in rows if one.codes or one.statuses), row(_K.SERVER))


OURS = "tenuto_incomplete"
"""Part of the errors that Tenuto writes, if a wire has room for it: Tenuto could recover what came
before the error (E9)."""

GAVE_UP = row(_K.UPSTREAM_GAVE_UP, "cascade_exhausted", OURS)
"""The same for text that could not be recovered."""

UNREADABLE_CALL = row(
    _K.MALFORMED_CALL,
    # Groq's.
    "tool_use_failed output_parse_failed",
    words=r"(?:error|fail\w*) (?:\w+ )?pars\w+ (?:the )?tool.?calls?\b|tool call parsing failed"
    r"|(?:fail\w*|unable) to (?:parse|decode) (?:the )?(?:model'?s? )?(?:tool.?call|function call)"
    r"|tool calls? (?:could not|cannot|can't) be parsed"
    # llama.cpp: an answer that doesn't have the form of its chat template.
    r"|failed to parse input at pos \d|model produced output that does not match"
    # Ollama (calls written as XML), vLLM (a forced call; gpt-oss).
    r"|xml syntax error on line \d|validation errors? for list\[function-wrap"
    r"|unexpected tokens? (?:\d+ while expecting start|remaining in message header)",
)
"""A call of the model that the server itself could not read. Servers report it as their own fault,
with status 500 or 400. Sent again unchanged, the same request often gives the same call."""

TOKEN_RATE = row(
    _K.RATE_LIMITED,
    words=r"too many tokens(?:\W*please (?:wait|slow|try)| per (?:second|minute|hour|day|month)\b)",
)
"""A limit of tokens in a time, in Bedrock's words and in those of others. A prompt that is too long
is told alike, so this row stands before that of the context window."""

CLAUDE_LIMIT_WORDS = (
    r"max_tokens: \d+ > (?P<maximum>\d{1,9}(?!\d))"
    # Prompt and max_tokens share the window, so the prompt determines the allowed output.
    r"|exceed context limit: (?P<prompt>\d{1,9}) \+ \d+ > (?P<window>\d{1,9})"
)
"""Claude's words for an output limit that is too large, on all wires that serve it."""

EXTRA_INPUTS_WORDS = r"(?P<key>[\w.\[\]-]+): extra inputs are not permitted"
"""Claude's words for an unknown key."""

PREFILL_REJECTED = row(
    FaultKind.PREFILL_REJECTED,
    words=r"assistant message prefill|must end with (?:a )?user|prefilling assistant message"
    r"|ending with a model turn|expected last role user|prefix mode on|ends? with a user role"
    r"|prefill is incompatible|2 or more assistant messages"
    r"|continue_final_message is set|chat_template is not supported",
)
"""A model uses the same words on every wire, so the wires share this row."""

_HISTORY_WORDS = (
    # A call has one result, directly after it, and a result has a call.
    r"must be followed by tool messages|must be a response to a prece+ding message",
    r"ids were found without `tool_result` blocks|did not find \d+ `tool_result` block",
    r"unexpected `tool_use_id` found|each tool_use must have a single result",
    r"`tool_use` ids must be unique|tool_call_id +is not found",
    r"no tool (?:output|call) found for function call|without its required ",
    r"not the same number of function calls|function response parts is equal",
    r"function (?:call|response) turn comes immediately after",
    r"expected toolresult blocks at|toolresult blocks at \S+ exceeds",
    r"tool result blocks cannot be provided in the same turn",
    r"last entry in chat history contains tool results",
    # The required shape of a call and its result.
    r"tool call id was \S+ but must be|tool_calls\[\d+\]\.id': string too long",
    r"invalid tool call arguments|\[\] is too short - '\S*tool_calls'",
    r"struct field \S*tool_calls\.function\.arguments",
    r"toolresult cannot be empty|toolconfig field must be defined",
    # Rows in a wrong order, and rows without content.
    r"unexpected role '\w+' after role|roles must alternate|must alternate between",
    r"conversation must start with a user|all elements in history must have",
    r"text content blocks must|must have non-empty content|cannot end with trailing",
    r"must have either content or tool_calls|'content': expected a string, got null",
    r"contentblock object at \S+ is blank|message object at \S+ is empty",
    r"must have a text parameter|contents\.parts must not be empty",
    # Reasoning that was changed or left out.
    r"expected `thinking` or `redacted_thinking`|`signature` in `thinking` block",
    r"blocks in the latest assistant message cannot be modified",
    r"(?P<wanted_thinking>[\w.\[\]]+)['`\"]? in the thinking mode must be passed back",
    r"(?P<wanted_text>reasoning_\w+)['`\"]? (?:is missing|is required|must not be empty)",
    r"(?P<wanted_back>reasoning_\w+)['`\"]? \w+(?: to)? be (?:passed|sent|provided|included)",
    r"missing (?:required )?(?:field|parameter|member)?:? ?['`\"]?(?P<wanted_member>reasoning\w*)",
    r"missing an? ['`\"]?(?P<wanted_signature>thought_?signature)|corrupted thought signature",
)

HISTORY_REJECTED = row(
    FaultKind.INVALID_REQUEST,
    # Mistral's codes for the order of roles and for ids; Anthropic's for a compacted history.
    "3230",
    "3280",
    "compaction_incomplete_turn",
    "compaction_block_misplaced",
    "tool_reference_unresolved",
    words="|".join(_HISTORY_WORDS),
)
"""Words for a history that breaks a rule. Servers that build prompts from a template report it with
status 500, and sending the same again doesn't help."""

CONTEXT_WORDS = (
    r"(?:maximum context length|available context size|model's context length|prompt is too long"
    r"|input token count \([\d,]*\) exceeds the maximum number of tokens allowed)"
    r"(?:(?:: \d+ tokens >| is| of)? ?\(?(?P<window>\d{1,9}))?"
    r"|exceed context limit|input token count .* exceeds|input is too long"
    # GitHub Copilot: https://github.com/jjleng/copilot-more/issues/35 (read 2026-11-29).
    r"|prompt token count of \d+ exceeds the limit"
    # MiniMax (2013), Moonshot, LM Studio.
    r"|context window exceeds limit|exceeded model token limit|greater than the context length"
)
"""Words for a prompt that is too long."""

_CODE_CHARS = 100
_SEARCHED_CHARS = 2_000
"""Errors name their cause at the beginning; the whole prompt may follow."""

_OF_THE_ACCOUNT = (_K.PAYMENT, _K.AUTHENTICATION)
_OF_THE_SERVER = (408, *range(500, 600))
"""With these statuses, words about a key or about money are those of the server's own troubles."""

_LEAST_TOKENS_LEFT = 512
"""If a prompt leaves less of the window than this, the prompt itself is too long (C12)."""


def read(
    error: object,
    table: Sequence[ErrorRow],
    status: int | None = None,
    retry_after_s: float | None = None,
    code: str = "",
) -> Fault:
    """Return the fault that a table gives for an error object (or a bare text).

    Args:
        error: the object, its message, or something unknown.
        status: the HTTP status; None: there is none.
        code: a code given beside the object, such as in a header.

    >>> table = (row(FaultKind.RATE_LIMITED, "slow_down"), row(FaultKind.SERVER))
    >>> read({"code": "slow_down", "message": "Wait."}, table).kind.value
    'rate_limited'
    >>> read(None, table).kind.value
    'server'
    """
    codes, message = error_words(error)
    codes = [code, *codes] if code else codes
    within_codes, within = _within(error)
    codes, said = [*codes, *within_codes], f"{message}\n{within}" if within else message
    spelled = [each.lower() for each in codes]
    bare = _without_quoted(said)
    status = status if status is not None else next((int(c) for c in codes if is_status(c)), None)
    for entry in table:
        no_account = entry.kind in _OF_THE_ACCOUNT and status in _OF_THE_SERVER
        found = None if no_account else _words_in(entry, said, bare)
        groups = {k: v for k, v in found.groupdict().items() if v} if found else {}
        allowed = _allowed_tokens(groups)
        if "prompt" in groups and (allowed or 0) < _LEAST_TOKENS_LEFT:
            continue
        by_code = _names(entry, spelled)
        if by_code or found or status in entry.statuses or entry is table[-1]:
            named = (name.strip() for v in groups.values() for name in v.split(","))
            return Fault(
                entry.kind,
                code=printable(codes[0]) if codes else "",
                message=message,
                status=status,
                allowed_tokens=allowed,
                window_tokens=int(groups["window"]) if "window" in groups else None,
                keys=tuple(filter(None, named)) if entry.kind is FaultKind.UNKNOWN_KEY else (),
                wanted=next((v for k, v in groups.items() if k.startswith("wanted")), ""),
                retry_after_s=retry_after_s,
            )
    raise AssertionError("the last row of an error table fits everything")


def error_at(value: JsonObject) -> object | None:
    """Return the error that an object has in its member `error`; None: it has none, or one without
    a word. Some servers write the members of an error although there is none.

    >>> error_at({"error": "busy"}), error_at({"error": {"code": None, "message": ""}})
    ('busy', None)
    """
    error: object = value.get("error")
    if isinstance(error, str):
        return error if error.strip().lower() not in _NO_ERROR else None
    if isinstance(error, dict):
        return error if any(error.values()) else None
    return error or None


_NO_ERROR = ("", "none", "null")


def rows_with_code(rows: Iterable[ErrorRow], codes: Sequence[str]) -> Iterator[ErrorRow]:
    """Yield the rows that name one of the codes of an error."""
    spelled = [code.lower() for code in codes]
    return (entry for entry in rows if _names(entry, spelled))


def rows_with_words(rows: Iterable[ErrorRow], message: str) -> Iterator[ErrorRow]:
    """Yield the rows that have the words of an error's message."""
    bare = _without_quoted(message)
    return (entry for entry in rows if _words_in(entry, message, bare))


def _words_in(entry: ErrorRow, message: str, bare: str) -> re.Match[str] | None:
    """Return where a row's words stand in a message. `bare`: the message without what it quotes."""
    if entry.words is None:
        return None
    said = message if entry.kind in _ABOUT_PARAMETERS else bare
    return entry.words.search(said, 0, _SEARCHED_CHARS)


def _without_quoted(message: str) -> str:
    """Return a message without what an error about a parameter quotes of the request, which tells
    nothing but the parameter's name."""
    return _quoted_parameter.sub("", message[:_SEARCHED_CHARS])


_ABOUT_PARAMETERS = (_K.UNKNOWN_KEY, _K.INVALID_REQUEST)

_quoted_parameter = re.compile(
    r"\b(?:invalid|unknown|unrecognized|unsupported)"
    r" (?:enum value|value|parameter|schema|type|argument)(?: for \S+)?:?"
    r" (?:'[^']*'|\"[^\"]*\")|['\"]input['\"]: .*",
    re.IGNORECASE | re.DOTALL,
)


def _names(entry: ErrorRow, codes: Sequence[str]) -> bool:
    """Return whether a row has one of these codes, which are in lower case as in the tables."""
    if any(code in entry.codes for code in codes):
        return True
    named = entry.named
    return named is not None and any(named.match(code, 0, _CODE_CHARS) for code in codes)


ReadFault = Callable[..., Fault]
"""Reads an error by a wire's own table, with the arguments of `read`."""


def fault_reader(table: Sequence[ErrorRow]) -> ReadFault:
    """Return a function that reads an error by this table, from the error, its status, the
    requested wait and its code."""

    def read_fault(
        error: object, status: int | None = None, retry_after_s: float | None = None, code: str = ""
    ) -> Fault:
        return read(error, table, status, retry_after_s, code)

    return read_fault


def error_in(body: bytes, error_of: Callable[[dict[str, Any]], object]) -> object:
    """Return the error in the body of an error response: from where the wire keeps it, else the
    object itself; "": there is none. Google's APIs put a stream's error into a list.

    >>> error_in(b'[{"error": {"code": 429}}]', lambda value: value.get("error"))
    {'code': 429}
    """
    value = decode_object(body)
    if isinstance(value, list) and value:
        value = value[0]
    return (error_of(value) or value) if isinstance(value, dict) else ""


def fault_parser(
    error_of: Callable[[dict[str, Any]], object], read_fault: ReadFault
) -> Callable[[int, Mapping[str, str], bytes], Fault]:
    """Return a function that reads the fault of an HTTP error response, with the wait that it
    requests. Takes where the wire keeps its errors, and what they mean."""

    def parse_fault(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
        return read_fault(error_in(body, error_of), status, retry_after_s(headers))

    return parse_fault


def _allowed_tokens(groups: dict[str, str]) -> int | None:
    """Return the highest output limit that an error's words allow; None if they name none."""
    if "prompt" in groups:
        return int(groups["window"]) - int(groups["prompt"])
    if "below" in groups:
        return max(int(groups["below"]) - 1, 0) or None
    allowed = next((groups[k] for k in ("allowed", "maximum", "most") if k in groups), None)
    return (int(allowed) or None) if allowed else None


def error_words(error: object) -> tuple[list[str], str]:
    """Return the codes and types of an error object, most specific first and as they came, and its
    message, from all the places that providers use.

    >>> error_words({"type": "api_error", "message": "Internal server error"})
    (['api_error'], 'Internal server error')
    """
    if not isinstance(error, dict):
        return [], error if isinstance(error, str) else ""
    nested = (("innererror", "code"), ("metadata", "error_type"), ("details", "error_code"))
    inner = [part.get(key) for name, key in nested if isinstance(part := error.get(name), dict)]
    names = ("code", "type", "status_code", "status", "source")  # the last one is our own
    places = (*inner, *(error.get(key) for key in names))
    codes = [code for place in places if (code := _code(place))]
    messages = (error.get(key) for key in ("message", "status_msg", "detail", "Message"))
    message = next((text for message in messages if (text := _message(message))), "")
    param = error.get("param")  # MiMo writes its whole message there
    if isinstance(param, str) and " " in param and param not in message:
        message = f"{message}: {param}"
    return codes, message


def _within(error: object) -> tuple[list[str], str]:
    """Return the codes and the words of another provider's error inside this one, where OpenRouter
    keeps it: as text, and as what its moderation found."""
    metadata = error.get("metadata") if isinstance(error, dict) else None
    if not isinstance(metadata, dict):
        return [], ""
    codes = ["flagged_input"] if "flagged_input" in metadata else []
    raw = metadata.get("raw")
    if not isinstance(raw, str):
        return codes, ""
    inner = decode_object(raw[:_SEARCHED_CHARS].encode("utf-8", "replace"))
    if isinstance(inner, dict):
        codes += error_words(inner.get("error", inner))[0]
    return codes, raw


_NEVER = re.compile(r"(?!)")


def blames(
    value: Mapping[str, Any], params: re.Pattern[str], words: re.Pattern[str] = _NEVER
) -> bool:
    """Return whether an object is an error in OpenAI's shape that blames something which only one
    wire has: by the beginning of its `param`, or by its words.

    >>> blames({"error": {"param": "input[0].content"}}, re.compile("input"))
    True
    """
    error = value.get("error")
    if not isinstance(error, dict) or "param" not in error:
        return False
    param, message = (v if isinstance(v := error.get(k), str) else "" for k in ("param", "message"))
    return bool(params.match(param) or words.search(message, 0, _SEARCHED_CHARS))


def _code(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and abs(value) < 1_000_000 else ""


def _message(value: object) -> str:
    """Return a message as text. FastAPI's list of findings (Mistral, vLLM) gives its paths and
    words."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = value.get("detail") or value.get("error")  # the second is LiteLLM's
        if isinstance(value, str):
            return value
    if not isinstance(value, list):
        return ""
    found = [item for item in value[:10] if isinstance(item, dict)]
    paths = [loc if isinstance(loc := item.get("loc"), list) else [] for item in found]
    return "; ".join(
        ".".join(str(step) for step in path[:10] if isinstance(step, str) and step != "body")
        + f": {item.get('msg')}"
        for path, item in zip(paths, found, strict=True)
        if isinstance(item.get("msg"), str)
    )


def is_status(code: str) -> bool:
    """Return whether a code is an HTTP status of an error. A code may have any length, and Python
    reads no number of more than 4,300 digits.

    >>> is_status("429"), is_status("1302"), is_status("4" * 5_000)
    (True, False, False)
    """
    return len(code) == 3 and code.isascii() and code.isdigit() and code[0] in "45"


def openai_error(code: str, message: str) -> dict[str, Any]:
    """Return Tenuto's own error in OpenAI's shape, for all of its wires.

    >>> openai_error("dropped", "…")["type"]
    'tenuto_incomplete'
    """
    return {"message": message, "type": OURS, "param": None, "code": code}


def bare_error(code: str, message: str) -> dict[str, Any]:
    """Return the same for wires whose error is a bare message.

    >>> bare_error("dropped", "…")
    {'message': '…', 'type': 'tenuto_incomplete', 'code': 'dropped'}
    """
    return {"message": message, "type": OURS, "code": code}
