"""Check values against JSON Schemas from anybody, in bounded time and memory.

Only `truncated_calls="execute_complete"` needs to know whether a call satisfies its tool's
parameters (T3). It passes on calls of a response that the limit cut, so no clean stop confirms
them. JSON Schema is so large that optional packages read it.

Theory of operation
-------------------
A schema may come from an MCP server, or from anybody who sends a request. Two of its features are
programs: patterns, and references, with which a few lines of schema can demand 2²⁴ checks of one
value. Nothing can stop Python's `re` from within the process, so it never gets a pattern.

`jsonschema_rs` reads the schema once (`Checker(…)`). It checks that it is a schema, that everything
it refers to is there, and that its patterns compile within a size. A schema that it rejects is
reported by name before any call comes. `jsonschema` judges values, and each part of its work is
counted: after `LIMIT_S` seconds of processor time, the check ends. The engine of `jsonschema_rs`
matches patterns. This takes time that is linear in the text if the pattern allows it. Patterns that
look around or refer back have a limit on backtracking steps instead.
docs/decisions/2026-11-23-schemas-are-checked-in-bounded-time.md has the measurements.
"""

from __future__ import annotations

import functools
import importlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from types import ModuleType
from typing import Any, Final, TypeVar

import msgspec

from tenuto.core.answer.arguments import Finding
from tenuto.core.answer.calls import ToolCall
from tenuto.core.errors import PolicyError
from tenuto.core.settings.policy import Policy

T = TypeVar("T")

LIMIT_S: Final = 2.0
"""Seconds of this thread's processor time that one check may take."""

MAX_LOOKAROUND_CHARS: Final = 10_000
"""The longest text that is matched with a pattern that looks around or refers back. Each step may
read all of the text, and 10,000 steps through this much take 0.4 s."""

LEFT_OUT: Final = "…"
"""Replaces a value in the message of a fault if the value is too long."""

_MOST_STEPS_BACK: Final = 10_000
_PATTERN_BYTES: Final = 10 << 20  # compiled; ^[\p{L}\p{N}]{1,128}$ needs more than 1 MB
_PATTERNS_BYTES: Final = 32 << 20  # for one schema in all: compiling this much takes about 0.7 s
_LEAST_PATTERN_BYTES: Final = 16 << 10
_MESSAGE_CHARS: Final = 2_000
_STEPS_BETWEEN_LOOKS: Final = 32


class Uncheckable(ValueError):
    """The schema is invalid, or no value can be checked against it in bounded time."""


def require_packages(policy: Policy) -> None:
    """Check that the packages that the policy needs are installed.

    Raises:
        PolicyError: a package is missing; the message says what to install.
    """
    if policy.truncated_calls != "execute_complete":
        return
    for package in ("jsonschema", "jsonschema_rs"):
        try:
            importlib.import_module(package)
        except ImportError:
            raise PolicyError(
                f"truncated_calls is 'execute_complete', which needs the package {package} to "
                "check arguments: pip install 'tenuto[schema]'"
            ) from None


def runnable(
    calls: Sequence[ToolCall], parameters: Mapping[str, dict[str, Any]]
) -> tuple[ToolCall, ...]:
    """Return the calls that are whole and satisfy the parameters of the tool that they name.

    Args:
        calls: the calls of one response.
        parameters: the JSON Schema of each tool of the request, by the tool's name.

    >>> needs = {"read": {"type": "object", "required": ["path"]}}
    >>> good = ToolCall("a", "read", '{"path": "x"}', Finding.WHOLE)
    >>> [call.id for call in runnable([good, ToolCall("b", "read", "{}", Finding.WHOLE)], needs)]
    ['a']
    """
    return tuple(
        call
        for call in calls
        if call.finding is Finding.WHOLE
        and not call.free
        and call.name in parameters
        and _satisfies(call.arguments, parameters[call.name])
    )


def _satisfies(arguments: str, schema: dict[str, Any]) -> bool:
    try:
        return Checker(schema).fits(msgspec.json.decode(arguments))
    except (Uncheckable, msgspec.DecodeError):
        # An unchecked call is unproven: half of a surrogate pair is valid in JSON, but is not text.
        return False


class Checker:
    """Checks values against one schema.

    Args:
        schema: a JSON Schema, of the draft that it names, otherwise of 2020-12.

    Raises:
        ImportError: `jsonschema` or `jsonschema_rs` is not installed.
        Uncheckable: the value is not a schema, refers to something that is not in it, or has a
            pattern that does not compile. Nothing is ever fetched.

    >>> word = Checker({"type": "string", "pattern": "^(a+)+$"})
    >>> word.fits("aaaa"), word.fits("a" * 50_000 + "!")
    (True, False)
    >>> Checker({"properties": {"path": {"pattern": "("}}})
    Traceback (most recent call last):
        ...
    tenuto.schema.checking.Uncheckable: properties.path.pattern: "(" is not a "regex"
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        try:
            plain = msgspec.json.decode(msgspec.json.encode(schema))
            kind = _judge().validators.validator_for(plain, default=_judge().Draft202012Validator)
            _read(plain, kind.__name__)
            self._validator = _bounded(kind)(plain, registry=_drafts())
        except _library_errors() as error:
            raise Uncheckable(str(error) or type(error).__name__) from None

    def faults(self, value: object) -> list[Any]:
        """Return what is wrong with a value, as errors of `jsonschema`. A long value in a message
        is replaced by `LEFT_OUT`.

        Raises:
            Uncheckable: the check takes longer than `LIMIT_S`, or nests too deeply.
        """
        return self._judged(lambda: list(self._validator.iter_errors(value)))

    def fits(self, value: object) -> bool:
        """Return whether nothing is wrong with a value.

        Raises:
            Uncheckable: as for `faults`.
        """
        return self._judged(lambda: bool(self._validator.is_valid(value)))

    @staticmethod
    def _judged(judge: Callable[[], T]) -> T:
        _work.begin()
        try:
            return judge()
        except _library_errors() as error:
            raise Uncheckable(str(error) or type(error).__name__) from None


def deepest(fault: Any) -> Any:
    """Return the most informative fault within a fault: in a union, that of the nearest
    alternative."""
    return _judge().exceptions.best_match(iter([fault]))


# --- reading a schema ---


def _read(schema: Any, draft: str) -> None:
    """Refuse an invalid schema, references to the outside, and patterns that do not compile."""
    rust = _engine()
    reader = getattr(rust, draft, None)
    if reader is None:
        found = draft.removesuffix("Validator")
        raise Uncheckable(f"{found} is not supported; use draft 4 or later")
    if "unevaluatedProperties" in (keys := _keys(schema)) and "patternProperties" in keys:
        # jsonschema would match these patterns with `re`.
        raise Uncheckable("unevaluatedProperties is not checked beside patternProperties")
    size = max(_LEAST_PATTERN_BYTES, _PATTERNS_BYTES // max(1, keys["pattern"]))
    options = _options(min(size, _PATTERN_BYTES))
    try:
        reader(_without(schema, _UNREAD), pattern_options=options, offline=True)
    except rust.ValidationError as error:
        where = ".".join(map(str, error.instance_path))
        said = error.message if len(error.message) < 300 else error.message[:300] + LEFT_OUT
        raise Uncheckable(f"{where}: {said}" if where else said) from None


_UNREAD: Final = frozenset({"unevaluatedProperties", "unevaluatedItems"})
"""With these keywords beside 24 doubled references, jsonschema_rs reads for eleven minutes."""


def _without(schema: Any, names: frozenset[str]) -> Any:
    """Return a copy of a schema without these keywords."""
    if isinstance(schema, list):
        return [_without(each, names) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _without(schema[key], names) for key in schema if key not in names}


def _keys(schema: Any) -> dict[str, int]:
    """Return how often each keyword that holds patterns may occur in a schema."""
    found = {"pattern": 0}
    left = [schema]
    while left:
        one = left.pop()
        if isinstance(one, list):
            left += one
        elif isinstance(one, dict):
            left += one.values()
            found["pattern"] += isinstance(one.get("pattern"), str)
            if isinstance(named := one.get("patternProperties"), dict):
                found["pattern"] += len(named)
            found |= dict.fromkeys(one.keys() & {"unevaluatedProperties", "patternProperties"}, 1)
    return found


# --- the time that a check takes ---


class _Work(threading.local):
    """The work of this thread's current check."""

    def begin(self) -> None:
        self._steps = 0
        self._end_s = time.thread_time() + LIMIT_S

    def step(self) -> None:
        """Count a part of the work."""
        self._steps += 1
        if self._steps % _STEPS_BETWEEN_LOOKS == 0:
            self.look()

    def look(self) -> None:
        """End the check if its time is over."""
        if time.thread_time() > self._end_s:
            raise Uncheckable(
                f"its check takes longer than {LIMIT_S:g} s; a schema whose references or unions "
                "ask for fewer checks of one value can be used"
            )


_work = _Work()


@functools.cache
def _bounded(kind: Any) -> Any:
    """Return a validator class of jsonschema whose work is counted and whose patterns are safe."""
    own = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional(kind.VALIDATORS["additionalProperties"]),
        "uniqueItems": _unique_items,
        "multipleOf": _multiple_of,
    }
    keywords = {name: _counted(check) for name, check in {**kind.VALIDATORS, **own}.items()}
    made = _judge().validators.extend(kind, keywords)
    names = [(each.name, each.alias) for each in made.__attrs_attrs__ if each.init]

    def evolve(self: Any, **changes: Any) -> Any:
        """Return the validator of a part. For a part that names another draft, jsonschema would use
        its own class, with `re` in it."""
        _work.step()
        given = {alias: getattr(self, name) for name, alias in names}
        return made(**(given | changes))

    made.evolve = evolve
    return made


def _counted(check: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
    def counted(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[Any]:
        _work.step()
        for fault in check(validator, wanted, value, schema) or ():
            if len(fault.message) > _MESSAGE_CHARS:  # thousands of faults may each quote it all
                rest = fault.message.removeprefix(repr(value))
                fault.message = LEFT_OUT + rest[:_MESSAGE_CHARS]
            yield fault

    return counted


# --- keywords ---


def _pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[Any]:
    if validator.is_type(value, "string") and not _matches(pattern, value):
        yield _judge().ValidationError(f"{value!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, named: Any, value: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(value, "object"):
        return
    for pattern, part in named.items():
        for key, member in value.items():
            if _matches(pattern, key):
                yield from validator.descend(member, part, path=key, schema_path=pattern)


def _additional(check: Callable[..., Any]) -> Callable[..., Any]:
    def additional(validator: Any, allowed: Any, value: Any, schema: Any) -> Any:
        patterns = schema.get("patternProperties")
        if patterns and validator.is_type(value, "object"):
            named = [key for key in value if any(_matches(pattern, key) for pattern in patterns)]
            value = {key: value[key] for key in value.keys() - set(named)}
            schema = {key: schema[key] for key in schema if key != "patternProperties"}
        return check(validator, allowed, value, schema)

    return additional


def _multiple_of(validator: Any, step: float, value: Any, schema: Any) -> Iterator[Any]:
    if validator.is_type(value, "number") and _decimal(value) % _decimal(step):
        yield _judge().ValidationError(f"{value!r} is not a multiple of {step}")


def _decimal(number: float) -> Fraction:
    """Return a number as it is written: 19.99 is 1,999 times 0.01, but not in binary."""
    return Fraction(number if isinstance(number, int) else repr(number))


def _unique_items(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[Any]:
    if not wanted or not validator.is_type(value, "array"):
        return
    if len({_hashable(item) for item in value}) < len(value):
        yield _judge().ValidationError(f"{value!r} has non-unique elements")


def _hashable(value: Any) -> Any:
    """Return a key that is equal if JSON Schema says so: 1 and 1.0 are equal, 1 and true are
    not."""
    match value:
        case bool():
            return bool, value
        case list():
            return list, tuple(map(_hashable, value))
        case dict():
            return dict, frozenset((key, _hashable(member)) for key, member in value.items())
    return value


# --- patterns ---


def _matches(pattern: str, text: str) -> bool:
    """Return whether a pattern is found in a text."""
    _work.look()
    validator, is_linear = _compiled(pattern)
    if is_linear:
        return bool(validator.is_valid(text))
    if len(text) > MAX_LOOKAROUND_CHARS:
        raise Uncheckable(
            f"a text of {len(text):,} characters is not matched with {pattern!r}, which looks "
            f"around or refers back; the limit for such patterns is {MAX_LOOKAROUND_CHARS:,}"
        )
    kinds = _engine().ValidationErrorKind
    try:
        validator.validate(text)
    except _engine().ValidationError as error:
        if isinstance(error.kind, kinds.BacktrackLimitExceeded | kinds.RegexEngineFailure):
            raise Uncheckable(f"{pattern!r} takes too long to be matched") from None
        return False
    return True


@functools.lru_cache(64)
def _compiled(pattern: str) -> tuple[Any, bool]:
    """Return the compiled pattern, and whether it matches in linear time."""
    rust, schema = _engine(), {"pattern": pattern}
    try:
        linear = rust.RegexOptions(size_limit=_PATTERN_BYTES)
        return rust.Draft202012Validator(schema, pattern_options=linear, offline=True), True
    except rust.ValidationError:
        options = _options(_PATTERN_BYTES)
        return rust.Draft202012Validator(schema, pattern_options=options, offline=True), False


def _options(size_bytes: int) -> Any:
    """Return options that also accept patterns that look around or refer back. All others stay
    linear."""
    steps = _MOST_STEPS_BACK
    return _engine().FancyRegexOptions(backtrack_limit=steps, size_limit=size_bytes)


# --- the libraries ---


def _judge() -> ModuleType:
    return importlib.import_module("jsonschema")


def _engine() -> ModuleType:
    return importlib.import_module("jsonschema_rs")


@functools.cache
def _drafts() -> Any:
    """Return the schemas of the drafts, the only ones outside a schema that it may refer to. The
    default registry of jsonschema would fetch others from the network."""
    return importlib.import_module("jsonschema_specifications").REGISTRY


@functools.cache
def _library_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that the libraries raise on odd schemas, which may be of any type."""
    unresolvable = importlib.import_module("referencing.exceptions").Unresolvable
    plain = (RecursionError, TypeError, ValueError, AttributeError, LookupError, ArithmeticError)
    return (unresolvable, *plain)
