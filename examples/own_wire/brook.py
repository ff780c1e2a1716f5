"""A wire of one's own, in one file: Brook, an API that is made up (docs/guide/write-a-wire.md).

It asks with `{"model", "talk": [{"who", "words"}], "limit", "tools", "stream"}`, and is answered by
`{"id", "words", "calls": [{"key", "name", "with"}], "stop", "spent"}`, whole or a few at a time.
"""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from tenuto import wire_kit as kit

# --- what Brook's documentation lists

STOPS: kit.StopTable = {
    "end": (kit.StopReason.END_TURN, None),
    "limit": (kit.StopReason.MAX_TOKENS, None),
    "call": (kit.StopReason.TOOL_CALL, None),
    "filter": (kit.StopReason.SAFETY_BLOCKED, None),
}
ERRORS = (
    kit.GAVE_UP,
    kit.error_row(kit.FaultKind.CONTEXT_OVERFLOW, "talk_too_long"),
    kit.HISTORY_REJECTED,
    *kit.by_status(),
)
COUNTS = kit.Counts(input="in", output="out", total="all", reasoning="thought", details="parts")

read_stop = kit.stop_reader(STOPS)
read_fault = kit.fault_reader(ERRORS)


# --- reading: a body, or one event of a stream


def read(value: object, *, event: bool) -> list[kit.AnySignal]:
    if not isinstance(value, dict):
        return []
    signals: list[kit.AnySignal] = []
    if "id" in value:
        signals += [kit.Began(), kit.Said({"id": value["id"]})]
    if (error := kit.error_at(value)) is not None:
        signals.append(kit.FaultSeen(read_fault(error)))
    if words := kit.text_in(value.get("words")):
        signals.append(kit.Piece(("words",), kit.Kind.TEXT, words, holds="words"))
    for call in kit.objects_in(value.get("calls")):
        signals.append(kit.CallPiece(("calls", call.get("key")), _call_in(call)))
    if (stop := read_stop(value.get("stop"), "stop")) is not None:
        signals.append(stop)
    if used := kit.object_in(value.get("spent")):
        signals.append(kit.UsageSeen(COUNTS.read(used.get)))
    return signals


def _call_in(call: kit.JsonObject) -> kit.CallDelta:
    arguments, _ = kit.arguments_of(call.get("with"))
    decoded = isinstance(call.get("with"), dict)  # then no cut shows in their text
    key, name = kit.word_in(call, "key"), kit.word_in(call, "name")
    return kit.CallDelta(None, key, name, arguments, decoded=decoded)


def looks_like(value: kit.JsonObject) -> bool:
    return isinstance(value.get("words"), str) and ("id" in value or "stop" in value)


# --- requests: what they ask for, and how they are continued

ROLES = {"brook": kit.Role.MODEL, "tool": kit.Role.ANSWERS}

RULES = kit.Rules(
    role_of=lambda row: ROLES.get(str(row.get("who")), kit.Role.OTHER),
    stub=lambda call: {"who": "tool", "key": call.get("key"), "words": kit.ORPHAN_RESULT},
    content="words",
    parts="calls",
    kind_of=lambda part: "call",
    shapes={kit.Role.MODEL: {"call": kit.Call(id=("key",), arguments=("with",))}},
    row_kind="who",
    rows={"tool": kit.Result(id=("key",))},
    beside=("calls",),
    result_rows=True,
    object_arguments=True,
)


class BrookRequest(kit.EditableRequest):
    paths: ClassVar[kit.Paths] = kit.Paths(
        rows="talk", output_limit=(("limit",),), constraints=(), tools=((("tools",),),)
    )

    def assistant_rows(self, edit: kit.AppendAssistant, dialect: kit.Dialect) -> Iterable[Any]:
        return [{"who": "brook", "words": edit.text}]

    def user_row(self, text: str) -> Any:
        return {"who": "user", "words": text}

    def call_rows(self, edit: kit.AppendCalls, dialect: kit.Dialect) -> Iterable[Any]:
        calls = [written(kit.valid_call(call)) for call in edit.calls]
        yield {"who": "brook", "words": edit.text, "calls": calls}
        for call, text in zip(calls, edit.results, strict=True):
            yield {"who": "tool", "key": call["key"], "words": text}

    def tool_schemas(self, tools: Any) -> dict[str, kit.JsonObject]:
        return kit.schemas_in(kit.list_in(tools), "takes")


def request(
    body: bytes, probe_max_tokens: int, path: str, dialect: kit.Dialect
) -> BrookRequest | None:
    asked = kit.object_in(kit.decode_object(body)) if kit.is_utf8(body) else {}
    talk = kit.objects_in(asked.get("talk"))
    if not talk or len(talk) != len(asked["talk"]):
        return None  # it is not ours, so it passes unchanged
    limit, last = kit.limit_in(asked.get("limit")), talk[-1].get("who")
    facts = kit.RequestFacts(
        model=kit.text_in(asked.get("model")),
        stream=asked.get("stream") is True,
        max_tokens=limit,
        tools=bool(asked.get("tools")),
        after_tool_result=last == "tool",
        prefill_barred=last == "brook",
        include_usage=True,  # Brook always says what was spent
        left_alone=kit.why_left_alone({}, limit, probe_max_tokens),
    )
    try:
        return BrookRequest(body, facts, talk, RULES)
    except kit.UNREADABLE:
        return None


# --- writing: what the caller sees


def written(call: kit.ToolCall) -> kit.JsonObject:
    return {"key": call.id, "name": call.name, "with": kit.object_of(call)}


def ended(answer: kit.Answer) -> kit.JsonObject:
    members: kit.JsonObject = {"stop": answer.native_stop}
    if answer.calls:
        members["calls"] = list(map(written, answer.calls))
    if answer.usage is not None:
        members["spent"] = COUNTS.merged(answer.raw_usage, answer.usage)
    return members


def error(code: str, message: str) -> kit.JsonObject:
    return {"error": {"code": code, "message": message, "source": kit.TENUTO_ERROR}}


def render_body(first: kit.JsonObject, last: kit.JsonObject, answer: kit.Answer) -> bytes:
    others = {key: item for key, item in first.items() if key not in ("calls", "error")}
    return kit.encode({**others, "words": answer.text, **ended(answer)})


class BrookLayout(kit.FlatLayout):  # parts have neither a beginning nor an end
    def __init__(self, model: str) -> None:
        self._new: kit.JsonObject = {"id": "tenuto"}  # what the first event has

    def begin(self, value: kit.JsonObject) -> None:
        self._new = {"id": value.get("id", "tenuto")}

    def given(self, signals: Sequence[kit.AnySignal]) -> None:
        self._new = {}  # an event was passed on as it came

    def said(self, kind: kit.Kind, text: str) -> bytes:
        return self._event({"words": text}) if kind is kit.Kind.TEXT else b""

    def end(self, answer: kit.Answer, *, include_usage: bool) -> bytes:
        return self._event(ended(answer))

    def error(self, code: str, message: str) -> bytes:
        return self._event(error(code, message))

    def _event(self, members: kit.JsonObject) -> bytes:
        new, self._new = self._new, {}
        return kit.encode_event({**new, **members})


WIRE = kit.Wire(
    name="brook",
    stops=STOPS,
    errors=ERRORS,
    shown=kit.shown_alike(done="end", cut="limit", blocked="filter"),
    is_request=lambda path: path.endswith("/brook/answer"),
    hosts=("api.brook.example",),
    request=request,
    limit_key=lambda _: kit.key_at(BrookRequest.paths.output_limit),
    looks_like=looks_like,
    is_event=lambda value: not {"id", "stop"} <= value.keys(),
    read=read,
    usage_object=lambda value: kit.object_in(value.get("spent")) or None,
    parse_fault=kit.fault_parser(kit.error_at, read_fault),
    layout=BrookLayout,
    clean_stop=kit.clean_stop("end", "call"),
    render_body=render_body,
    render_error=kit.error_body(error),
)
