"""What one setting allows. Errors, documentation and the readers of files use it."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, cast

from tenuto.core.errors import PolicyError

Direction = Literal["lower", "raise", "any", "none"]
"""How a request may change a setting by its header: to a lower or a higher value only, to any, or
not at all."""

NEVER_LEFT_OUT = frozenset(
    {"messages", "input", "contents", "prompt", "inputs", "model", "model_id"}
    | {"role", "content", "parts", "type"}
)
"""Keys that a request or a row of it needs: `drop_unsupported` cannot name them."""

NONE_WORDS: dict[type, frozenset[str]] = {
    str: frozenset({"off", "none", "auto", "false", "0"}),
    int: frozenset({"none", "auto"}),
    frozenset: frozenset({"none"}),
}
"""The words, in any case, that mean None for a setting that may be None, by the setting's type. For
a set, they mean the empty set."""

_key_name = re.compile(r"[\w.-]+").fullmatch
_between_names = re.compile(r"[,\s]+").split


@dataclass(frozen=True, slots=True)
class Rule:
    """What one field allows.

    Attributes:
        kind: the type of the value.
        least, most: the range of a number, both included.
        choices: the allowed words; for a set, its allowed members.
        optional: whether None ("work it out") is allowed.
        group: the group of settings that it belongs to, a key of `policy.GROUPS`; "" if there is
            none.
        by_request: how the header `x-tenuto` may change it. Words are in the order of `choices`,
            the lowest first.
        unlimited_at_0: whether 0 means no limit.
    """

    kind: type
    least: float = 0
    most: float = float("inf")
    choices: tuple[str, ...] = ()
    optional: bool = False
    group: str = ""
    by_request: Direction = "none"
    unlimited_at_0: bool = False

    def may_become(self, value: object, now: object) -> bool:
        """Return whether a request may set this value in place of the one that it has now.

        >>> rule = Rule(int, optional=True, by_request="lower", unlimited_at_0=True)
        >>> rule.may_become(5, None), rule.may_become(None, 5), rule.may_become(0, None)
        (True, False, False)
        """
        if self.by_request in ("any", "none"):
            return self.by_request == "any"
        low, high = (value, now) if self.by_request == "lower" else (now, value)
        return self._rank(low) <= self._rank(high)

    def _rank(self, value: object) -> tuple[int, float]:
        """Return the place of a value among the allowed ones. None is above every number, and 0
        above None if it means no limit."""
        if isinstance(value, str):
            return 0, self.choices.index(value)
        if value is None:
            return 1, 0
        number = cast("float", value)
        return (2, 0) if self.unlimited_at_0 and not number else (0, number)

    @property
    def allowed(self) -> str:
        """The allowed values, in words.

        >>> Rule(int, 0, 10, optional=True).allowed
        'a whole number from 0 to 10, or none'
        """
        if self.choices and self.kind is frozenset:
            words = "a set of " + ", ".join(repr(choice) for choice in self.choices)
        elif self.choices:
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
        """Return whether a value of the right type satisfies the rule."""
        if value is None:
            return self.optional
        if self.choices and self.kind is frozenset:
            return isinstance(value, frozenset) and value <= set(self.choices)
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

    def checked(self, name: str, value: object) -> object:
        """Return the value that a setting gets: None for a word that means it, and a set for a list
        of names.

        Raises:
            PolicyError: the value is not allowed; the message uses `name` for the setting.

        >>> Rule(str, optional=True).checked("capture", "off") is None
        True
        """
        given: object = value
        if self._means_none(value):
            given = frozenset() if self.kind is frozenset else None
        elif self.kind is frozenset and isinstance(value, set | list | tuple):
            with contextlib.suppress(TypeError):  # a list inside it: the check below reports it
                given = frozenset(value)
        if not self.accepts(given):
            raise wrong_value(name, value, self.allowed)
        return given

    def _means_none(self, value: object) -> bool:
        """Return whether a text, or the `false` of a TOML file, is one of `NONE_WORDS`."""
        if not (isinstance(value, str) or value is False):
            return False
        may_be_none = self.optional or self.kind is frozenset
        return may_be_none and str(value).strip().lower() in NONE_WORDS.get(self.kind, ())

    def read(self, text: str) -> object:
        """Return the value of an environment variable's text, for `checked`. Text that cannot be
        read is returned as it is, so that the error shows it."""
        word = text.strip()
        if self._means_none(word):
            return word
        if self.optional and not word:
            return None
        if self.kind is bool:
            return {"true": True, "1": True, "on": True, "yes": True}.get(
                word.lower(),
                {"false": False, "0": False, "off": False, "no": False}.get(word.lower(), text),
            )
        if self.kind is frozenset:
            names = frozenset(filter(None, _between_names(word)))
            return names if self.accepts(names) else text
        if self.kind in (int, float):
            try:
                return self.kind(word)
            except ValueError:
                return text
        return word


def shown(value: object, form: Callable[[object], str] = repr) -> str:
    """Return a value as an error message shows it: of limited length, and safe if its `repr`
    raises.

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
    """Return the error for a setting with a wrong value: its name, the value, and what is allowed.

    >>> wrong_value("empty_retries", -1, "a whole number from 0 to 10")
    PolicyError('empty_retries is -1, but it must be a whole number from 0 to 10')
    """
    return PolicyError(f"{name} is {shown(value)}, but it must be {allowed}")
