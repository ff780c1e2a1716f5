"""One turn through an official SDK, wrapped by Tenuto, and what it gave judged by `jsonschema`."""

from __future__ import annotations

import asyncio
import warnings
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

import tenuto
from checks.differential.sdks import SDKS, Question, Seen, async_answer, sync_answer
from checks.documents.checking import why_not
from checks.documents.server import Server, Turn
from checks.documents.truth import Plan, plan_of

HOLDS: Final = "structured_streams" in {each.name for each in fields(tenuto.Policy)}
"""Whether the library has the setting of the third mode."""
POLICY: Final[dict[str, Any]] = {"backoff_s": 0.004, "backoff_max_s": 0.01, "turn_timeout_s": 20.0}


@dataclass(slots=True)
class Result:
    """How a turn ended. `what` is "valid", "said so" or "WRONG"."""

    key: str
    what: str
    why: str
    seen: dict[str, Any]
    reason: str
    requests: int
    tokens: int
    plain_tokens: int
    lost: bool
    """Whether an unfinished text is shorter than the first answer."""
    notes: list[str]
    attempts: list[dict[str, Any]]


class Asker:
    """Asks turns one after another, of a server in this process."""

    def __init__(self) -> None:
        self.server = Server()
        self._runner = asyncio.Runner()
        self._clients: dict[tuple[str, ...], Any] = {}
        self._told: list[Any] = []

    def play(self, key: str) -> Result:
        """Play the turn with this key."""
        plan = plan_of(key)
        self._told.clear()
        sdk, task, stream = SDKS[plan.wire], plan.number % 2 == 1, plan.mode != "body"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            client = self._client(plan, task)
            given = sdk.given(Question(plan.key, more=asks(plan)))
            if task:
                seen = self._runner.run(async_answer(sdk, client, given, stream=stream))
            else:
                seen = sync_answer(sdk, client, given, stream=stream)
        turn = self.server.turns.pop(key)
        ended = [event for event in self._told if event.name == "turn_ended"]
        return judged(plan, seen, turn, ended)

    def _client(self, plan: Plan, task: bool) -> Any:
        kind = plan.wire, "task" if task else "sync", plan.on_incomplete, plan.mode
        if kind not in self._clients:
            policy: dict[str, Any] = {**POLICY, "on_incomplete": plan.on_incomplete}
            if HOLDS:
                policy["structured_streams"] = "hold" if plan.mode == "hold" else "flow"
            before = SDKS[plan.wire].client(f"http://127.0.0.1:{self.server.port}", task=task)
            wrapped = tenuto.wrap(
                before, policy=tenuto.Policy(**policy), on_event=self._told.append
            )
            self._clients[kind] = wrapped
        return self._clients[kind]


def asks(plan: Plan) -> dict[str, Any]:
    """How the wire's SDK is asked for a document, and limited."""
    form: dict[str, Any]
    named: dict[str, Any] = {"name": "document", "strict": True, "schema": plan.schema}
    match plan.wire:
        case "openai-chat":
            form = {"type": "json_schema", "json_schema": named}
            more = {"stream_options": {"include_usage": True}} if plan.mode != "body" else {}
            return {"response_format": form, "max_completion_tokens": plan.limit, **more}
        case "openai-responses":
            form = {"type": "json_schema", **named}
            return {"text": {"format": form}, "max_output_tokens": plan.limit}
        case "anthropic":
            form = {"type": "json_schema", "schema": plan.schema}
            # differential.sdks gives what has this key as a further body, the limit too
            return {"output_config": {"format": form}, "max_tokens": plan.limit}
        case _:
            form = {"response_mime_type": "application/json", "response_json_schema": plan.schema}
            return {**form, "max_output_tokens": plan.limit}


def judged(plan: Plan, seen: Seen, turn: Turn, ended: list[Any]) -> Result:
    """Judge by the text that the program has, its stop and its error, and by nothing else."""
    complete = not seen.error and seen.stop in SDKS[plan.wire].complete
    texts = [seen.text, *([seen.final.text] if seen.final is not None else [])]
    whys = [why for why in (why_not(text, plan.schema) for text in texts) if why]
    what = "said so" if not complete else "WRONG" if whys else "valid"
    why = whys[0] if whys else "" if complete else "valid, and told unfinished"
    first = next((made.sent for made in turn.attempts if made.sent), "")
    notes = [made.note for made in turn.attempts if made.note]
    if len({*texts}) > 1:
        notes.append("the deltas and the final text differ")
    kept = {k: v for k, v in asdict(seen).items() if k in ("text", "stop", "error") and v}
    reason = " ".join(str(ended[-1].data.get(k)) for k in ("status", "reason")) if ended else ""
    lost = what == "said so" and not seen.error and len(seen.text) < len(first)
    requests = [asdict(made) for made in turn.attempts]
    tokens = sum(made.tokens for made in turn.attempts)
    return Result(
        *(plan.key, what, why, kept, reason, len(requests), tokens, plan.document.tokens),
        *(lost, notes, requests),
    )
