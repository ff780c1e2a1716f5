"""Policy: every limit and switch, as plain validated data.

One field is one key, in code, in TOML (`[tool.tenuto]` or tenuto.toml) and in the environment
(`TENUTO_CONTINUATION_MAX_ATTEMPTS`, …). The rule of a field (`RULES`) is the only place that says
what is allowed; errors and documentation are made from it.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from tenuto.core.errors import PolicyError
from tenuto.core.stop import Stop

OnIncomplete = Literal["stop", "notice", "error"]
TruncatedCalls = Literal["refuse", "execute_complete"]
Prefill = Literal["auto", "always", "never"]

NEVER_LEFT_OUT = frozenset(
    {"messages", "input", "contents", "prompt", "inputs", "model", "model_id"}
    | {"role", "content", "parts", "type"}
)
"""Keys without which there is no request, or no row of it: `drop_unsupported` cannot name them."""

_key_name = re.compile(r"[\w.-]+").fullmatch


@dataclass(frozen=True, slots=True)
class Rule:
    """What one field allows.

    Attributes:
        kind: the type of the value.
        least, most: the range of a number, both included.
        choices: the allowed words.
        optional: whether None ("work it out") is allowed.
    """

    kind: type
    least: float = 0
    most: float = float("inf")
    choices: tuple[str, ...] = ()
    optional: bool = False

    @property
    def allowed(self) -> str:
        """What is allowed, in words.

        >>> Rule(int, 0, 10, optional=True).allowed
        'a whole number from 0 to 10, or none'
        """
        if self.choices:
            words = "one of " + ", ".join(repr(choice) for choice in self.choices)
        elif self.kind is bool:
            words = "true or false"
        elif self.kind is str:
            words = "a text"
        elif self.kind is frozenset:
            words = "a set of names of keys, none of which may be " + ", ".join(
                sorted(NEVER_LEFT_OUT)
            )
        else:
            bounded = self.most != float("inf")
            real = "a number" if bounded else "a finite number"
            noun = "a whole number" if self.kind is int else real
            least = f"{self.least:g}"
            words = (
                f"{noun} from {least} to {self.most:g}" if bounded else f"{noun}, {least} or more"
            )
        return words + (", or none" if self.optional else "")

    def accepts(self, value: object) -> bool:
        """Whether a value of the right type lies within the rule."""
        if value is None:
            return self.optional
        if self.choices:
            return isinstance(value, str) and value in self.choices
        if self.kind is bool or self.kind is str:
            return isinstance(value, self.kind)
        if self.kind is frozenset:
            return isinstance(value, frozenset) and all(
                isinstance(name, str) and _key_name(name) and name not in NEVER_LEFT_OUT
                for name in value
            )
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        if self.kind is float:
            try:
                value = float(value)
            except OverflowError:
                return False
        whole = isinstance(value, int) or (self.kind is float and math.isfinite(value))
        return whole and self.least <= value <= self.most

    def read(self, text: str) -> object:
        """A value from the text of an environment variable; returned as it is where it cannot be
        read, so that the check that follows names it."""
        word = text.strip()
        if self.optional and word.lower() in ("", "none", "auto"):
            return None
        if self.optional and self.kind is str and word.lower() in ("off", "false", "0"):
            return None
        if self.kind is bool:
            return {"true": True, "1": True, "on": True, "yes": True}.get(
                word.lower(),
                {"false": False, "0": False, "off": False, "no": False}.get(word.lower(), text),
            )
        if self.kind is frozenset:
            return frozenset(name for part in word.split(",") if (name := part.strip()))
        if self.kind in (int, float):
            try:
                return self.kind(word)
            except ValueError:
                return text
        return word


def shown(value: object, form: Callable[[object], str] = repr) -> str:
    """A value as an error message names it: bounded, and whatever its own `repr` may raise.

    >>> shown(10**5000)
    'an int that cannot be shown'
    """
    try:
        shown = form(value)
    except Exception:  # noqa: BLE001 - somebody else's object, or an int of very many digits
        return f"an {type(value).__name__} that cannot be shown"
    return shown if len(shown) <= _SHOWN_CHARS else f"{shown[:_SHOWN_CHARS]}…"


_SHOWN_CHARS = 200


def wrong_value(name: str, value: object, allowed: str) -> PolicyError:
    """What is raised for a setting with a wrong value: its name, the value, and what is allowed.

    >>> wrong_value("empty_retries", -1, "a whole number from 0 to 10")
    PolicyError('empty_retries is -1, but it must be a whole number from 0 to 10')
    """
    return PolicyError(f"{name} is {shown(value)}, but it must be {allowed}")


def _f(
    default: Any,
    kind: type,
    least: float = 0,
    most: float = float("inf"),
    *,
    choices: tuple[str, ...] = (),
    optional: bool = False,
) -> Any:
    return field(default=default, metadata={"rule": Rule(kind, least, most, choices, optional)})


@dataclass(frozen=True, slots=True)
class Decision:
    """What the table decided for one response; `Policy.decide` sees it before Tenuto acts on it.

    Attributes:
        outcome: what the response means, a word of `Outcome`.
        rung: the id of the rung that decided, or "" where the ladder is spent.
        proceed: True where another request (or a wait) follows, False where the turn ends.
        why: one sentence for a person.
        suggestion: what may help: "retry", "modify_prompt", "increase_budget", "stop", or "none"
            where nothing is wrong.
        stop: why the response ended, with the provider's own words in `stop.metadata`; None only in
            a decision that was made without a response.
        provider: the provider's name as far as it is known, "" where it is not.
        model: as the request says it.
        attempts: responses of the turn so far, this one included.
        input_tokens: input tokens of this response; None where the provider did not count them.
        output_tokens: output tokens of all responses so far; Tenuto estimates what the provider did
            not count.
        chars: characters of text that are kept so far.
        elapsed_s: seconds since the turn began.
    """

    outcome: str
    rung: str
    proceed: bool
    why: str
    suggestion: Literal["retry", "modify_prompt", "increase_budget", "stop", "none"]
    stop: Stop | None = None
    provider: str = ""
    model: str = ""
    attempts: int = 0
    input_tokens: int | None = None
    output_tokens: int = 0
    chars: int = 0
    elapsed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Policy:
    """How far a turn may go to be finished, and what the caller sees when it cannot be.

    For a number of tries, 0 switches that recovery off. For a limit (characters, bytes, tokens,
    seconds), 0 removes the limit. None means that Tenuto works the value out, as each field says.

    Attributes:
        on_incomplete: how the caller learns that a turn is unfinished. "stop" gives the provider's
            own truthful stop, or an error where the provider has no such stop. "notice" adds a line
            of text. "error" always gives an error. With "error", a stream whose text is whole but
            whose end is odd (no stop, text behind it) has one stop, at its end.
        continuation_max_attempts: continuations of cut text per turn; 0: none.
        continuation_max_output_chars: Tenuto starts no continuation of a text longer than this, and
            delivers what it received. 0: no limit.
        continuation_max_total_completion_tokens: output tokens of a whole turn. None: 4 × the
            request's own limit. 0: no limit.
        continuation_tool_repair_attempts: how often Tenuto asks again for a broken tool call;
            0: never.
        tool_answer_attempts: how often in a row Tenuto answers a broken call with a failed result.
        tool_shrink_attempts: further tries at a broken call, as long as each try makes the call
            smaller.
        truncated_calls: what becomes of the calls of a cut response. "refuse" passes none of them
            on; "execute_complete" passes on those that are whole and match the parameters of their
            tool (needs `tenuto[schema]`).
        empty_recovery: False switches every recovery of empty answers off.
        empty_nudges: how often Tenuto asks the model to go on after an empty answer, for each
            cause.
        reasoning_prefills: how often Tenuto gives reasoning without an answer back as the beginning
            of the answer, where the model goes on from that.
        empty_retries: further tries at an empty answer.
        thinking_retries: requests for less reasoning, after reasoning used up the whole limit.
        missing_call_retries: requests after a stop that announces calls where no call came.
        fault_retries: retries after an error or a broken connection that comes too late for the
            SDK's own retry.
        parameter_fixes: how often Tenuto corrects a parameter that an error names, and sends the
            request again.
        drop_unsupported: names of further keys that Tenuto may leave out. When a 400 or 422 names
            one of them, Tenuto sends the request once more without it.
        pause_resumes: how often Tenuto resumes a turn that the provider paused.
        hard_max_tokens: no request that Tenuto makes asks for more output tokens. None: no bound.
        boost_max_tokens: the ceiling of a boosted output limit, in tokens. Where the request sets
            no limit, the ceiling rises to what the cut answer used.
        default_max_tokens: the output limit, in tokens, that Tenuto assumes where neither the
            request nor the usage gives one. A longer text raises it.
        context_window_tokens: the model's context window. None: as the provider's row or its own
            errors name it, if they do.
        context_min_free_tokens: Tenuto starts no continuation with less free context window than
            this.
        probe_max_tokens: Tenuto takes a request for at most this many tokens for a probe, and
            leaves it alone. 0: none is a probe.
        turn_timeout_s: wall-clock seconds of a turn, counted from the end of its first attempt.
            When they are over, waits and further attempts end. 0: no limit.
        backoff_s: the first wait before a retry, in seconds; each further wait is twice as long.
        backoff_max_s: the longest such wait, in seconds.
        retry_after_max_s: the longest wait that a provider may ask for, in seconds. Tenuto keeps
            such a wait to the second. Where a provider asks for more, Tenuto does not wait, and
            passes on its error with its Retry-After.
        hold_max_bytes: bytes of a stream that Tenuto may hold back. 0: no limit.
        event_max_bytes: the largest event of a stream. 0: no limit.
        body_max_bytes: the largest whole body that Tenuto reads; it passes larger ones on unread.
            0: no limit.
        prefill: whether Tenuto sends cut text back as the beginning of the model's own answer:
            "auto" (where the model is known to take it), "always" or "never".
        capture: a folder into which Tenuto writes the exchanges of each turn for `tenuto explain`,
            without secrets but with all content. None: it writes nothing.
        capture_max_bytes: bytes of requests and responses that such a file keeps, and as many of
            what the caller got where that differs. 0: no limit.
        capture_max_files: files that Tenuto keeps in that folder. If there are more, it removes
            those of its own that it wrote first. 0: no limit.
        capture_share: the share of healthy turns that Tenuto captures. A turn that took more than
            one attempt, or did not end complete, is always captured. 1: all turns; 0: only those.
        events: a folder into which each process writes its events, without content, for `tenuto
            tail`. None: it writes none.
        decide: Tenuto calls it with each `Decision`. It returns None to agree, "stop" to end the
            turn, or the id of another rung of the same ladder (docs/ladders.md), which Tenuto takes
            if its guards hold. A rung of another ladder changes nothing; anything else raises a
            PolicyError that lists the rungs of this one.

    Raises:
        PolicyError: a value is not allowed; the message names key, value and what is allowed.

    >>> Policy(continuation_max_attempts=5).continuation_max_attempts
    5
    >>> Policy(empty_retries=-1)
    Traceback (most recent call last):
        ...
    tenuto.core.errors.PolicyError: empty_retries is -1, but it must be a whole number from 0 to 10
    """

    on_incomplete: OnIncomplete = _f("stop", str, choices=get_args(OnIncomplete))
    continuation_max_attempts: int = _f(3, int, 0, 100)
    continuation_max_output_chars: int = _f(120_000, int)
    continuation_max_total_completion_tokens: int | None = _f(None, int, optional=True)
    continuation_tool_repair_attempts: int = _f(1, int, 0, 20)
    tool_answer_attempts: int = _f(2, int, 0, 20)
    tool_shrink_attempts: int = _f(5, int, 0, 20)
    truncated_calls: TruncatedCalls = _f("refuse", str, choices=get_args(TruncatedCalls))
    empty_recovery: bool = _f(True, bool)
    empty_nudges: int = _f(1, int, 0, 10)
    reasoning_prefills: int = _f(1, int, 0, 10)
    empty_retries: int = _f(1, int, 0, 10)
    thinking_retries: int = _f(1, int, 0, 10)
    missing_call_retries: int = _f(1, int, 0, 10)
    fault_retries: int = _f(2, int, 0, 20)
    parameter_fixes: int = _f(2, int, 0, 10)
    drop_unsupported: Set[str] = _f(frozenset(), frozenset)
    pause_resumes: int = _f(10, int, 0, 100)
    hard_max_tokens: int | None = _f(None, int, 1, optional=True)
    boost_max_tokens: int = _f(32_768, int, 1)
    default_max_tokens: int = _f(4_096, int, 1)
    context_window_tokens: int | None = _f(None, int, 1, optional=True)
    context_min_free_tokens: int = _f(512, int)
    probe_max_tokens: int = _f(16, int)
    turn_timeout_s: float = _f(600.0, float)
    backoff_s: float = _f(0.5, float, 0, 60)
    backoff_max_s: float = _f(8.0, float, 0, 120)
    retry_after_max_s: float = _f(120.0, float, 0, 3_600)
    hold_max_bytes: int = _f(16_777_216, int)
    event_max_bytes: int = _f(16_777_216, int)
    body_max_bytes: int = _f(67_108_864, int)
    prefill: Prefill = _f("auto", str, choices=get_args(Prefill))
    capture: str | None = _f(None, str, optional=True)
    capture_max_bytes: int = _f(16_777_216, int)
    capture_max_files: int = _f(0, int)
    capture_share: float = _f(1.0, float, 0, 1)
    events: str | None = _f(None, str, optional=True)
    decide: Callable[[Decision], str | None] | None = None

    def __post_init__(self) -> None:
        for key, rule in RULES.items():
            value = getattr(self, key)
            if rule.kind is frozenset and isinstance(value, set | list | tuple):
                with contextlib.suppress(TypeError):  # a list in it: the check below says so
                    value = frozenset(value)
                    object.__setattr__(self, key, value)
            if not rule.accepts(value):
                raise wrong_value(key, value, rule.allowed)
        if self.decide is not None and not callable(self.decide):
            raise wrong_value("decide", self.decide, "a callable, or none")

    def changed(self, values: Mapping[str, object]) -> Policy:
        """This policy with other values, as a table of TOML gives them.

        Raises:
            PolicyError: a key is not known or a value is not allowed.

        >>> Policy().changed({"empty_recovery": False}).empty_recovery
        False
        """
        for key in values:
            if key not in RULES:
                raise PolicyError(
                    f"{shown(key, str)} is not a setting; the settings are {', '.join(RULES)}"
                )
        return replace(self, **dict(values))  # type: ignore[arg-type]

    def with_environment(self, variables: Mapping[str, str]) -> Policy:
        """This policy with the values of `TENUTO_*` variables.

        Variables with that prefix that are not settings are left alone: others may own them. An
        empty variable counts as unset.

        Raises:
            PolicyError: a value is not allowed; the message names the variable.

        >>> Policy().with_environment({"TENUTO_EMPTY_RETRIES": "0"}).empty_retries
        0
        """
        found: dict[str, object] = {}
        for key, rule in RULES.items():
            name = f"TENUTO_{key.upper()}"
            if text := variables.get(name, "").strip():
                found[key] = value = rule.read(text)
                if not rule.accepts(value):
                    raise wrong_value(name, value, rule.allowed)
        return self.changed(found)

    def observed_by(self, variables: Mapping[str, str]) -> Policy:
        """This policy with what `TENUTO_*` variables say about observing, and nothing else of them:
        whoever runs a program may look at its turns, whatever policy it was written with.

        Raises:
            PolicyError: a value is not allowed.

        >>> variables = {"TENUTO_CAPTURE": "turns", "TENUTO_EMPTY_RETRIES": "0"}
        >>> policy = Policy().observed_by(variables)
        >>> policy.capture, policy.empty_retries
        ('turns', 1)
        """
        names = [f"TENUTO_{key.upper()}" for key in OBSERVING]
        return self.with_environment({n: variables[n] for n in names if n in variables})


def plain(value: object) -> object:
    """The value of a setting as JSON and TOML have it.

    >>> plain(frozenset({"seed", "user"}))
    ['seed', 'user']
    """
    return sorted(value) if isinstance(value, frozenset) else value


OBSERVING = ("capture", "capture_max_bytes", "capture_max_files", "capture_share", "events")
"""Settings that change nothing about a turn, only what is written down about it."""

RULES: dict[str, Rule] = {
    item.name: item.metadata["rule"] for item in fields(Policy) if "rule" in item.metadata
}
"""What each key allows, in the order of the policy's fields."""
