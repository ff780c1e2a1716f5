"""Policy: every limit and switch, as plain validated data.

Each field is one key in code, in TOML (`[tool.tenuto]` or tenuto.toml) and in the environment
(`TENUTO_CONTINUATION_MAX_ATTEMPTS`, …). Only a field's rule (`RULES`) says which values are
allowed; error messages and documentation are generated from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Set
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from typing import Any, Literal, get_args

from tenuto.core.answer.stop import Stop
from tenuto.core.errors import PolicyError
from tenuto.core.settings.names import check_arguments, not_known, refuses_unknown
from tenuto.core.settings.presets import PRESETS, values_of
from tenuto.core.settings.read_only import ReadOnly
from tenuto.core.settings.rule import Direction, Rule, shown, wrong_value

OnIncomplete = Literal["stop", "notice", "error"]
TruncatedCalls = Literal["refuse", "execute_complete"]
Prefill = Literal["auto", "always", "never"]
StructuredStreams = Literal["flow", "hold"]
InvalidDocuments = Literal["pass", "error", "ask_again"]
RequestsMay = Literal["listed", "everything"]
ToolChoice = Literal["auto", "required"]

Changes = Mapping[str, Mapping[str, object]]
"""Settings for a part of the turns, by the provider's name or by a pattern for models."""


GROUPS: dict[str, str] = {
    "ending": "What the caller sees and may change",
    "text": "Cut answers",
    "calls": "Broken calls",
    "empty": "Empty answers",
    "faults": "Faults and waits",
    "tokens": "Tokens",
    "sizes": "Memory",
    "agent": "The agent",
    "observing": "Observing",
}
"""The groups of settings, each with its title, in the order of the documentation."""


MAY_CHANGE = ("off", *(group for group in GROUPS if group not in ("agent", "observing")))
"""What a policy may let a single request change: groups of settings, and "off" to switch Tenuto
off."""


def _f(
    group: str,
    by_request: Direction,
    default: Any,
    kind: type,
    least: float = 0,
    most: float = float("inf"),
    **more: Any,
) -> Any:
    rule = Rule(kind, least, most, group=group, by_request=by_request, **more)
    return field(default=default, metadata={"rule": rule})


@dataclass(frozen=True, slots=True)
class Decision:
    """What Tenuto is about to do about a response; passed to `Policy.decide`.

    Attributes:
        outcome: what the response means, a value of `Outcome`.
        rung: the id of the rung that decided, or "" if no rung was left.
        proceed: True if another request or a wait follows, False if the turn ends.
        why: one sentence for a person.
        suggestion: what may help: "retry", "modify_prompt", "increase_budget", "stop", or "none"
            if nothing is wrong. "stop": another request can't help until a person has changed
            something, such as a key or a base URL.
        stop: why the response ended, with the provider's own words in `stop.metadata`; None only
            for a decision without a response.
        provider: the provider's name, or "" if it is unknown.
        model: the model that the request names.
        attempts: responses of the turn so far, including this one.
        input_tokens: input tokens of this response; None if the provider did not count them.
        output_tokens: output tokens of all responses so far; Tenuto estimates what the provider did
            not count.
        chars: characters of text received and kept so far.
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


@refuses_unknown(PolicyError, "a setting")
@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How far Tenuto goes to finish a turn, and what the caller sees if it cannot.

    A number of attempts of 0 switches that recovery off. A limit of 0 (characters, bytes, tokens,
    seconds) means no limit. With None, Tenuto works the value out, as the field describes.

    Attributes:
        What the caller sees and may change:

        on_incomplete: how the caller learns that a turn is unfinished. "stop": from the provider's
            own stop reason, or from an error if the provider has no truthful one. "notice": also
            from a line of text, but not in structured output. "error": always from an error. A turn
            that Tenuto leaves alone, such as one that asks for several choices, ends as the
            provider ended it. "error" also puts a single stop at the end of a stream whose text is
            whole but ends oddly, with no stop or with text after it. If the pieces of several tool
            calls arrive mixed, "error" sends all pieces of the first call before those of the next.
        per_request: what a single request may change: ids of groups of settings, such as "tokens",
            and "off", which switches Tenuto off. An empty set ("none" in files and the environment)
            allows nothing.
        requests_may: how far the header `x-tenuto` may change those settings. "listed": as the
            column "Header" says, which lets a request make Tenuto do less, but not more.
            "everything": to any allowed value, and to a preset; only for callers that you trust.

        Cut answers:

        continuation_max_attempts: continuations of cut text per turn; 0: none.
        continuation_max_output_chars: Tenuto does not continue a text longer than this. 0: no
            limit.
        prefill: whether Tenuto sends cut text back as the beginning of the model's own answer:
            "auto" (if the model is known to accept it), "always" or "never".
        structured_streams: how a JSON document is streamed. "flow": as it comes. If it is cut, what
            the caller has already restricts what can follow. "hold": at once, when it is whole.
        invalid_documents: what happens to a JSON document that came whole and does not match its
            schema. "pass": the caller gets it unchanged. "ask_again": Tenuto asks for it again,
            unless the caller has some of it. "error": the caller gets an error. Needs
            `tenuto[schema]`.
        pause_resumes: how often Tenuto resumes a turn that the provider paused, or that broke off
            where the provider itself can continue.

        Broken calls:

        continuation_tool_repair_attempts: how often Tenuto requests a broken tool call again;
            0: never.
        tool_answer_attempts: how often in a row Tenuto answers a broken call with a failed result.
        tool_shrink_attempts: further attempts at a broken call, as long as each makes the call
            smaller.
        missing_call_retries: how often Tenuto requests a call that did not arrive: a stop announced
            it, or it was cut or malformed and the model then answered in words.
        truncated_calls: what happens to the calls of a cut response. "refuse" passes none of them
            on; "execute_complete" passes on those that are complete and match the parameters of
            their tool (needs `tenuto[schema]`).

        Empty answers:

        empty_recovery: False switches off all recovery of empty answers.
        empty_nudges: how often Tenuto asks the model to continue after an empty answer, for each
            cause.
        reasoning_prefills: how often Tenuto sends reasoning without an answer back as the beginning
            of the answer, if the model can continue from it.
        empty_without_tools: how often Tenuto retries an empty answer without the request's tools,
            so that the model can only answer in text. 0: never.
        empty_retries: how often Tenuto retries an empty answer.
        thinking_retries: how often Tenuto asks for less reasoning after reasoning used up the
            output limit.

        Faults and waits:

        fault_retries: retries after an error or a broken connection that comes too late for the
            SDK's own retries.
        parameter_fixes: how often Tenuto corrects a parameter that an error names, and sends the
            request again.
        drop_unsupported: further keys that Tenuto may leave out. If a 400 or 422 names one of them,
            Tenuto sends the request once more without it.
        turn_timeout_s: wall-clock seconds for waits and further attempts, counted from the end of
            the first attempt. 0: no limit.
        backoff_s: the first wait before a retry, in seconds; it doubles with each retry.
        backoff_max_s: the longest such wait, in seconds.
        retry_after_max_s: the longest wait, in seconds, that Tenuto accepts from a provider. If the
            provider asks for more, Tenuto does not wait, and passes the error on with its
            Retry-After.

        Tokens:

        continuation_max_total_completion_tokens: output tokens of a whole turn. None: 4 × the
            request's own limit, or without one 4 × `boost_max_tokens`. 0: no limit.
        hard_max_tokens: the highest output limit, in tokens, of any request that Tenuto makes.
            None: no limit.
        boost_max_tokens: the highest output limit, in tokens, that Tenuto raises a request to.
        default_max_tokens: the lowest output limit, in tokens, that Tenuto sets if the request has
            none and the provider's own limit cut the answer. If 4 × what came is more, that counts.
            If no limit cut the answer, Tenuto sets none.
        context_window_tokens: the model's context window. None: as the provider's row or its
            errors say, if they do.
        context_min_free_tokens: Tenuto does not continue with less free context window than this.
        probe_max_tokens: Tenuto leaves requests for at most this many output tokens alone, because
            they are probes. 0: it leaves none alone.

        Memory:

        hold_max_bytes: bytes of a stream that Tenuto may hold back, counted as what the events
            carry (texts, arguments of calls). 0: no limit.
        event_max_bytes: the largest event of a stream. 0: no limit.
        body_max_bytes: the largest body that Tenuto reads; larger ones pass through unread.
            0: no limit.

        The agent:

        tool_choice: whether the first answer of an agent's turn has to call a tool, if the agent
            has tools. "auto": the model decides. "required": it has to; after the results of its
            tools, the model decides. Only Tenuto's agent reads it. Ollama has no such choice.

        Observing:

        capture: a folder to which Tenuto writes each turn's requests and responses for `tenuto
            explain`, without secrets but with all content. None or "off": no captures.
        capture_max_bytes: bytes of requests and responses in a file, and as many again of what the
            caller got if that differs. 0: no limit.
        capture_max_files: files in that folder. If there are more, Tenuto removes the oldest of its
            own. 0: no limit.
        capture_share: the share of healthy turns to capture, from 0 to 1. Tenuto always captures
            turns that took more than one attempt or did not end complete.
        events: a folder to which each process writes its events, without content, for `tenuto
            tail`. None or "off": no files.

        Exceptions:

        providers: settings for one provider, by its name in docs/providers.md:
            `{"anthropic": {"pause_resumes": 20}}`. Tenuto recognizes a provider by its base URL, so
            one on your own host needs `tenuto.register_provider` first. "unknown" stands for all
            unknown providers.
        models: settings for models, by a pattern with `*` and `?` for the name in the request,
            ignoring case: `{"gpt-5*": {"thinking_retries": 2}}`. They override `providers`, and
            later patterns override earlier ones. Both may name a `preset`. Neither may set
            `per_request`, `requests_may` or the settings that observe turns. The policy holds
            read-only copies of both.

        In code only:

        decide: a function that Tenuto calls with each `Decision`. It returns None to agree, "stop"
            to end the turn, or the id of another rung of the same ladder (docs/ladders.md), which
            Tenuto takes if its guards hold. The id of a rung on another ladder has no effect;
            anything else raises a PolicyError that lists the rungs of this ladder.

    Raises:
        PolicyError: a setting is unknown, or a value is not allowed; the message names the key, and
            the nearest known ones or the value and the allowed values.

    >>> Policy(continuation_max_attempts=5).continuation_max_attempts
    5
    >>> Policy(empty_retries=-1)
    Traceback (most recent call last):
        ...
    tenuto.core.errors.PolicyError: empty_retries is -1, but it must be a whole number from 0 to 10
    """

    on_incomplete: OnIncomplete = _f("ending", "any", "stop", str, choices=get_args(OnIncomplete))
    per_request: Set[str] = _f(
        "ending", "none", frozenset(MAY_CHANGE), frozenset, choices=MAY_CHANGE
    )
    requests_may: RequestsMay = _f("ending", "none", "listed", str, choices=get_args(RequestsMay))
    continuation_max_attempts: int = _f("text", "lower", 3, int, 0, 100)
    continuation_max_output_chars: int = _f("text", "lower", 120_000, int, unlimited_at_0=True)
    prefill: Prefill = _f("text", "any", "auto", str, choices=get_args(Prefill))
    structured_streams: StructuredStreams = _f(
        "text", "any", "flow", str, choices=get_args(StructuredStreams)
    )
    invalid_documents: InvalidDocuments = _f(
        "text", "lower", "pass", str, choices=get_args(InvalidDocuments)
    )
    pause_resumes: int = _f("text", "lower", 10, int, 0, 100)
    continuation_tool_repair_attempts: int = _f("calls", "lower", 1, int, 0, 20)
    tool_answer_attempts: int = _f("calls", "lower", 2, int, 0, 20)
    tool_shrink_attempts: int = _f("calls", "lower", 5, int, 0, 20)
    missing_call_retries: int = _f("calls", "lower", 1, int, 0, 10)
    truncated_calls: TruncatedCalls = _f(
        "calls", "none", "refuse", str, choices=get_args(TruncatedCalls)
    )
    empty_recovery: bool = _f("empty", "lower", True, bool)
    empty_nudges: int = _f("empty", "lower", 1, int, 0, 10)
    reasoning_prefills: int = _f("empty", "lower", 1, int, 0, 10)
    empty_without_tools: int = _f("empty", "lower", 0, int, 0, 10)
    empty_retries: int = _f("empty", "lower", 1, int, 0, 10)
    thinking_retries: int = _f("empty", "lower", 1, int, 0, 10)
    fault_retries: int = _f("faults", "lower", 2, int, 0, 20)
    parameter_fixes: int = _f("faults", "lower", 2, int, 0, 10)
    drop_unsupported: Set[str] = _f("faults", "none", frozenset(), frozenset)
    turn_timeout_s: float = _f("faults", "lower", 600.0, float, unlimited_at_0=True)
    backoff_s: float = _f("faults", "lower", 0.5, float, 0, 60)
    backoff_max_s: float = _f("faults", "lower", 8.0, float, 0, 120)
    retry_after_max_s: float = _f("faults", "lower", 120.0, float, 0, 3_600)
    continuation_max_total_completion_tokens: int | None = _f(
        "tokens", "lower", None, int, optional=True, unlimited_at_0=True
    )
    hard_max_tokens: int | None = _f("tokens", "lower", None, int, 1, optional=True)
    boost_max_tokens: int = _f("tokens", "lower", 32_768, int, 1)
    default_max_tokens: int = _f("tokens", "lower", 4_096, int, 1)
    context_window_tokens: int | None = _f("tokens", "lower", None, int, 1, optional=True)
    context_min_free_tokens: int = _f("tokens", "raise", 512, int)
    probe_max_tokens: int = _f("tokens", "raise", 16, int)
    hold_max_bytes: int = _f("sizes", "lower", 16_777_216, int, unlimited_at_0=True)
    event_max_bytes: int = _f("sizes", "lower", 16_777_216, int, unlimited_at_0=True)
    body_max_bytes: int = _f("sizes", "lower", 67_108_864, int, unlimited_at_0=True)
    tool_choice: ToolChoice = _f("agent", "none", "auto", str, choices=get_args(ToolChoice))
    capture: str | None = _f("observing", "none", None, str, optional=True)
    capture_max_bytes: int = _f("observing", "none", 16_777_216, int, unlimited_at_0=True)
    capture_max_files: int = _f("observing", "none", 0, int, unlimited_at_0=True)
    capture_share: float = _f("observing", "none", 1.0, float, 0, 1)
    events: str | None = _f("observing", "none", None, str, optional=True)
    providers: Changes = field(default_factory=dict, hash=False)
    models: Changes = field(default_factory=dict, hash=False)
    decide: Callable[[Decision], str | None] | None = None

    def __post_init__(self) -> None:
        for key, rule in RULES.items():
            given = getattr(self, key)
            value = rule.checked(key, given)
            if value is not given:
                object.__setattr__(self, key, value)
        for table in EXCEPTIONS:
            object.__setattr__(self, table, _checked_exceptions(table, getattr(self, table)))
        if self.decide is not None and not callable(self.decide):
            raise wrong_value("decide", self.decide, "a callable, or None")

    @classmethod
    def for_chat(cls, **changes: Any) -> Policy:
        """Create a policy for a chat window, where a person is reading along: short waits, and a
        line of text in place of what is missing. docs/policy.md lists its values and their reasons.

        Args:
            changes: settings by name, which override the preset.

        Raises:
            PolicyError: a setting is unknown, or a value is not allowed.

        >>> policy = Policy.for_chat(turn_timeout_s=30)
        >>> policy.on_incomplete, policy.turn_timeout_s
        ('notice', 30)
        """
        return _preset("chat", changes)

    @classmethod
    def for_agents(cls, **changes: Any) -> Policy:
        """Create a policy for an agent loop, a framework's or your own: an unfinished turn is an
        error, so that no loop takes it for a complete one. docs/policy.md lists its values and
        their reasons.

        Args:
            changes: settings by name, which override the preset.

        Raises:
            PolicyError: a setting is unknown, or a value is not allowed.

        >>> Policy.for_agents().on_incomplete
        'error'
        """
        return _preset("agents", changes)

    @classmethod
    def for_batch(cls, **changes: Any) -> Policy:
        """Create a policy for jobs that nobody waits for: more retries, a larger budget, and an
        error for what stays unfinished. docs/policy.md lists its values and their reasons.

        Args:
            changes: settings by name, which override the preset.

        Raises:
            PolicyError: a setting is unknown, or a value is not allowed.

        >>> policy = Policy.for_batch(hard_max_tokens=4_000)
        >>> policy.fault_retries, policy.hard_max_tokens
        (6, 4000)
        """
        return _preset("batch", changes)

    def changed(self, values: Mapping[str, object]) -> Policy:
        """Return this policy with other values, as in a TOML table.

        Raises:
            PolicyError: a key is not known or a value is not allowed.

        >>> Policy().changed({"empty_recovery": False}).empty_recovery
        False
        """
        check_names(values, (*RULES, *EXCEPTIONS))
        return replace(self, **dict(values))  # type: ignore[arg-type]

    def resolved(self, provider: str, model: str) -> Policy:
        """Return the policy for one provider and model: this one, changed by the provider's
        settings and then by those of each pattern that matches the model, in order.

        Args:
            provider: its name in docs/providers.md; "unknown" for any other.
            model: the name in the request; "" if there is none.

        >>> policy = Policy(providers={"groq": {"fault_retries": 5}}, models={"gpt-*": {}})
        >>> policy.resolved("groq", "gpt-oss-20b").fault_retries
        5
        >>> policy.resolved("openai", "gpt-5.4").fault_retries
        2
        """
        if not self.providers and not self.models:
            return self
        values: dict[str, Any] = dict(self.providers.get(provider, {}))
        for pattern, changes in self.models.items():
            if _matches(model, pattern):
                values |= changes
        return replace(self, **values, providers={}, models={})

    def with_environment(self, variables: Mapping[str, str]) -> Policy:
        """Return this policy with the values of `TENUTO_*` variables, which apply to every provider
        and model.

        It ignores variables with that prefix that are not settings. An empty variable counts as
        unset.

        Raises:
            PolicyError: a value is not allowed; the message names the variable.

        >>> Policy().with_environment({"TENUTO_EMPTY_RETRIES": "0"}).empty_retries
        0
        """
        found: dict[str, object] = {}
        for key, rule in RULES.items():
            name = f"TENUTO_{key.upper()}"
            if text := text_in(variables, name):
                found[key] = rule.checked(name, rule.read(text))
        if not found:
            return self
        exceptions = {
            table: {
                name: {key: value for key, value in changes.items() if key not in found}
                for name, changes in getattr(self, table).items()
            }
            for table in EXCEPTIONS
        }
        return self.changed(found | exceptions)

    def observed_by(self, variables: Mapping[str, str]) -> Policy:
        """Return this policy with the `TENUTO_*` variables that observe turns, and no others:
        whoever runs a program can observe its turns, whatever policy the code passes.

        Raises:
            PolicyError: a value is not allowed.

        >>> variables = {"TENUTO_CAPTURE": "turns", "TENUTO_EMPTY_RETRIES": "0"}
        >>> policy = Policy().observed_by(variables)
        >>> policy.capture, policy.empty_retries
        ('turns', 1)
        """
        names = [f"TENUTO_{key.upper()}" for key in OBSERVING]
        return self.with_environment({n: variables[n] for n in names if n in variables})


def text_in(variables: Mapping[str, str], name: str) -> str:
    """Return a variable's text without the white space around it; "" if it is not set.

    Raises:
        PolicyError: the value is no text.
    """
    text: object = variables.get(name, "")
    if not isinstance(text, str):
        raise wrong_value(name, text, "a text")
    return text.strip()


def _matches(model: str, pattern: str) -> bool:
    """Return whether a pattern with `*` and `?` matches a model's name. A `[` stands for itself.

    >>> _matches("Llama[70b]-chat", "llama[70b]*")
    True
    """
    return fnmatchcase(model.lower(), pattern.lower().replace("[", "[[]"))


def _preset(name: str, changes: Mapping[str, Any]) -> Policy:
    check_names(changes, [item.name for item in fields(Policy)])
    return Policy(**{**values_of(name), **changes})


def _checked_exceptions(table: str, given: object) -> Changes:
    """Return a table of exceptions, checked and read-only, with the values of its presets."""
    if not isinstance(given, Mapping):
        raise wrong_value(table, given, "a table of tables of settings")
    checked: dict[str, ReadOnly[object]] = {}
    for name, changes in given.items():
        if not isinstance(name, str):
            raise wrong_value(f"a key of {table}", name, "a text")
        where = f"{table}.{shown(name, str)}"
        if not isinstance(changes, Mapping):
            raise wrong_value(where, changes, "a table of settings")
        checked[name] = ReadOnly(checked_changes(f"{where}.", changes, COMMON))
    return ReadOnly(checked)


def checked_changes(
    where: str, changes: Mapping[str, object], fixed: Collection[str]
) -> dict[str, object]:
    """Return settings that change a policy for a part of its turns, checked. A `preset` among them
    is replaced by its settings.

    Args:
        where: the text before the settings' names in an error message.
        fixed: settings that cannot be changed this way.

    Raises:
        PolicyError: a setting is unknown or can't be changed this way, or its value is not allowed.
    """
    values = dict(changes)
    preset = PRESET.checked(f"{where}preset", values.pop("preset", None))
    for key in values:
        if key in fixed:
            raise PolicyError(f"{where}{key} cannot be set here: it holds for all of a client")
        if key not in RULES:
            known = [key for key in RULES if key not in fixed]
            raise PolicyError(where + not_known(shown(key, str), known, "a setting"))
    begun = values_of(str(preset)) if preset is not None else {}
    return begun | {key: RULES[key].checked(f"{where}{key}", v) for key, v in values.items()}


def check_names(given: Iterable[str], known: Collection[str]) -> None:
    """Raise a `PolicyError` for the first name that is not a known one."""
    check_arguments((shown(name, str) for name in given), known, "a setting", PolicyError)


def plain(value: object) -> object:
    """Return the value of a setting as JSON and TOML have it.

    >>> plain(frozenset({"seed", "user"}))
    ['seed', 'user']
    """
    return sorted(value) if isinstance(value, frozenset) else value


RULES: dict[str, Rule] = {
    item.name: item.metadata["rule"] for item in fields(Policy) if "rule" in item.metadata
}
"""The rule of each key, in the order of the policy's fields."""

OBSERVING = tuple(key for key, rule in RULES.items() if rule.group == "observing")
"""Settings that don't change a turn, only what is recorded about it."""

PRESET = Rule(str, choices=tuple(PRESETS), optional=True)
"""The rule of the key `preset` in files and the environment. It is not a setting of a policy, but
gives values to settings that no file and no variable sets."""

COMMON = ("per_request", "requests_may", *OBSERVING)
"""Settings that are the same for all providers and models."""

FIXED = (*COMMON, "tool_choice")
"""Settings that no single request can change, whatever the policy allows its client."""

EXCEPTIONS = ("providers", "models")
"""The fields that hold settings for a part of the turns, in the order in which they apply."""
