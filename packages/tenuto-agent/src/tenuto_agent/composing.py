"""Write whole requests, for an agent, which has no client's request to edit.

This reuses what a wire has already: each row of a conversation is one of the edits that continue a
turn, applied to a request with a single word from the user.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from tenuto.core import hints
from tenuto.core.answer.calls import ToolCall
from tenuto.core.deciding.actions import AppendAssistant, AppendCalls, Edit
from tenuto.wires.base import Wire
from tenuto.wires.dialect import Dialect, taught_by
from tenuto.wires.form import Opening
from tenuto.wires.json import JsonObject, encode
from tenuto.wires.members import members_of, rows_of
from tenuto.wires.request import RequestFacts, WireRequest
from tenuto_agent.transcript import Assistant, Results, Row, User

_END = b"]}"


class Composed:
    """A whole request that grows with its conversation (`wires.request.WireRequest`).

    Each row is written once, so a step costs only what is new, however long the conversation is.
    What the provider's errors say of the rows is heeded in all of them (H5b): then they are written
    once more, beside the others, since a lesson may expire.

    Args:
        wire: a wire with a `form`.
        path: the path to send it to.
    """

    repairs: tuple[str, ...] = ()

    def __init__(self, wire: Wire, dialect: Dialect, path: str, opening: Opening) -> None:
        assert wire.form is not None, wire.name
        self._wire, self._dialect, self._path, self._form = wire, dialect, path, wire.form
        self._opening, self._rows = opening, list[Row]()
        self._taught, self._heeded = self, dialect.learned
        opening = replace(opening, output_key=dialect.output_key)
        members = {**self._form.members(opening), **opening.options}
        members.pop(self._form.rows, None)
        head = encode(members)[:-1]
        begin = b"," if len(head) > 1 else b""
        self._body = bytearray(head + begin + encode(self._form.rows) + b":[")
        whole = self._parsed(bytes(self._body) + encode(self._form.user("-")) + b"]}")
        self._tools, self._facts = whole.tool_parameters(), whole.facts
        self._document = whole.document()
        self._base = self._one_row(opening)
        self._whole = b""
        self._ids: dict[str, int] = {}
        self._asking: Assistant | None = None
        self._first = True
        if opening.system and self._form.system is not None:
            self._write([encode(self._form.system(opening.system))])
        self.facts: RequestFacts = self._facts

    def add(self, row: Row) -> None:
        """Append a row. A row with calls is written when their results are there."""
        self._rows.append(row)
        if self._taught is not self:
            self._taught.add(row)
        match row:
            case User(text):
                self._write([encode(self._form.user(text))])
            case Assistant():
                foreign = row.wire != self._wire.name
                row = self._unique(self._translated(row) if foreign else row)
                self._asking = row if row.calls else None
                if not row.calls:
                    self._append(
                        AppendAssistant(row.text, False, row.reasoning, row.content), foreign
                    )
            case Results(results):
                assert self._asking is not None
                asked, self._asking = self._asking, None
                self._append(
                    AppendCalls(
                        asked.text,
                        asked.calls,
                        tuple(_not_blank(result.text) for result in results),
                        asked.reasoning,
                        asked.content,
                        tuple(result.failed for result in results),
                    ),
                    asked.wire != self._wire.name,
                )
        after = isinstance(row, Results)
        self.facts = msgspec.structs.replace(self._facts, after_tool_result=after)

    @property
    def body(self) -> bytes:
        """Return the current request. Returns the same object until a row is added, which tells the
        pipe that nothing has changed."""
        if not self._whole:
            self._whole = b"".join((self._body, _END))
        return self._whole

    def __len__(self) -> int:
        """Return the size of `body` in bytes, without building it."""
        return len(self._body) + len(_END)

    @property
    def tools_may_go(self) -> bool:
        """Whether the provider accepts the request without the tools that it offers."""
        return self._parsed(self.body).tools_may_go

    def tool_parameters(self) -> dict[str, JsonObject]:
        """Return the JSON Schema of each attached tool, by name."""
        return self._tools

    def document(self) -> JsonObject | None:
        """Return the JSON Schema of the document that is asked for; None: there is none."""
        return self._document

    def apply(self, edits: Sequence[Edit], dialect: Dialect) -> bytes:
        """Return the bytes of the request with these edits, and with all rows as the dialect says
        that the provider takes them."""
        body = self._as_taught(dialect).body
        return self._parsed(body).apply(edits, dialect) if edits else body

    def _as_taught(self, dialect: Dialect) -> Composed:
        """Return the same request for what errors said of its rows; often itself."""
        learned = dialect.learned
        if learned == self._dialect.learned:
            return self
        if learned != self._heeded:
            dialect, self._heeded = taught_by(self._dialect, learned), learned
            self._taught = Composed(self._wire, dialect, self._path, self._opening)
            for row in self._rows:
                self._taught.add(row)
        return self._taught

    def _translated(self, row: Assistant) -> Assistant:
        """Return a row without content that only the wire it came from understands."""
        extra = self._form.foreign_call
        calls = tuple(replace(call, extra=extra) for call in row.calls)
        return replace(row, calls=calls, content=(), reasoning="")

    def _unique(self, row: Assistant) -> Assistant:
        """Return a row whose calls have ids that no earlier call has: some servers start counting
        anew in every answer, and others refuse that."""
        calls: list[ToolCall] = []
        for call in row.calls:
            made, times = call.id, self._ids.get(call.id, 0)
            while made in self._ids:
                times += 1
                made = f"{call.id}_{times}"
            self._ids[call.id] = times  # so that one that comes in every answer costs no search
            self._ids.setdefault(made, 0)
            calls.append(call if made == call.id else replace(call, id=made))
        return replace(row, calls=tuple(calls)) if calls != list(row.calls) else row

    def _append(self, edit: Edit, foreign: bool) -> None:
        """Write the rows that the wire's edit adds. Rows of another wire may need a repair, for
        example of ids that this one refuses."""
        added = self._base.apply((edit,), self._dialect)
        if foreign:
            added = self._parsed(added).apply((), self._dialect)
        self._write(rows_of(members_of(added)[self._form.rows])[1:])

    def _write(self, rows: Sequence[bytes]) -> None:
        self._whole = b""
        for row in rows:
            self._body += row if self._first else b"," + row
            self._first = False

    def _one_row(self, opening: Opening) -> WireRequest:
        """Return the smallest possible request, to append rows to."""
        bare = replace(opening, system="", tools=(), options={})
        members = self._form.members(bare)
        return self._parsed(encode({**members, self._form.rows: [self._form.user("-")]}))

    def _parsed(self, body: bytes) -> WireRequest:
        parsed = self._wire.request(body, 0, self._path, self._dialect)
        assert parsed is not None, self._wire.name
        return parsed


def _not_blank(text: str) -> str:
    """Return the text of a result for the model: some providers refuse one without text."""
    return text if text.strip() else hints.EMPTY_RESULT
