"""Settings for a single request: by the header `x-tenuto`, or by `tenuto.policy()` around it.

The header is "off", or names settings: `x-tenuto: on_incomplete=error, fault_retries=0`. The
client's own policy says what a request may change (`Policy.per_request`). Who wrote the header may
be nobody to trust, so it can only lower limits unless that policy says otherwise
(`Policy.requests_may`, `Rule.by_request`). A request that changes anything else is refused with a
`PolicyError`. The header is never sent to the provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

from tenuto.core.errors import PolicyError
from tenuto.core.settings.policy import FIXED, PRESET, RULES, Policy, checked_changes, plain
from tenuto.core.settings.rule import wrong_value
from tenuto.schema.checking import require_packages
from tenuto.turn.drivers.commands import Headers
from tenuto.turn.settings.switch import OFF_WORDS, ON_WORDS

HEADER = "header x-tenuto"
"""The name of the header in error messages."""

_ALLOWED = "'off', or settings such as 'on_incomplete=error, empty_retries=0'"


class _Block(AbstractContextManager[None]):
    """One `with` block. It is not a decorator, which would have no effect on an `async def`.

    Leaving it removes this block and no other. Blocks inside generators end in any order, and if a
    generator is closed from another task, that task never entered the block.
    """

    def __init__(self, changes: Mapping[str, object]) -> None:
        self.changes = changes

    def __enter__(self) -> None:
        enclosing_blocks.set((*enclosing_blocks.get(), self))

    def __exit__(self, *_: object) -> None:
        blocks = list(enclosing_blocks.get())
        if self in blocks:
            del blocks[-1 - blocks[::-1].index(self)]
            enclosing_blocks.set(tuple(blocks))


enclosing_blocks: ContextVar[tuple[_Block, ...]] = ContextVar("tenuto_policy", default=())
"""The blocks around this thread or task, the outermost first."""


def policy(**changes: Any) -> AbstractContextManager[None]:
    """Change the policy of the requests that begin inside the `with` block.

    The block applies to this thread or asyncio task and the tasks that it starts, and to every
    client that Tenuto wraps. A stream keeps the policy with which its request began. If a generator
    yields inside the block, it applies to the code that iterates it too. The header `x-tenuto` of a
    request changes the policy of the block. If a client's policy doesn't let requests change a
    setting (`Policy.per_request`), the request raises a `PolicyError`.

    Args:
        changes: settings by name, or a `preset`.

    Raises:
        PolicyError: a setting is unknown or can't differ between turns, or a value is not allowed.

    >>> with policy(on_incomplete="error"):
    ...     pass  # client.chat.completions.create(…)
    """
    return _Block(checked_changes("policy(): ", changes, FIXED))


def changes_policy(headers: Headers) -> bool:
    """Return whether a request may have a policy of its own. Nearly none has, so this is quick."""
    for name, _ in headers:
        if len(name) == 8 and name.lower() == b"x-tenuto":
            return True
    return bool(enclosing_blocks.get())


def header_in(headers: Headers) -> str | None:
    """Return the value of the caller's `x-tenuto` header; None if there is none.

    >>> header_in(((b"X-Tenuto", b" Off "),))
    'Off'
    """
    ours = [(key.lower(), value) for key, value in headers if key[:8].lower() == b"x-tenuto"]
    if not ours:
        return None
    return b", ".join(value for key, value in ours if key == b"x-tenuto").decode("latin-1").strip()


def of_request(policy: Policy, header: str | None) -> tuple[Policy, bool]:
    """Return the policy of one request, and whether the request switches Tenuto off.

    Args:
        policy: that of its client, for its provider and model.
        header: the result of `header_in`.

    Raises:
        PolicyError: the request changes a setting that it may not change, or a value is not
            allowed.

    >>> of_request(Policy(), "empty_retries=0")[0].empty_retries
    0
    >>> of_request(Policy(), "off")[1]
    True
    """
    blocks = enclosing_blocks.get()
    if not blocks and not header:
        return policy, False
    changes = dict(pair for block in blocks for pair in block.changes.items())
    _check_allowed("policy()", changes, policy)
    policy = policy.changed(changes) if changes else policy
    word, told = (header or "").lower(), dict[str, object]()
    is_off = word in OFF_WORDS
    if is_off:
        if "off" not in policy.per_request:
            raise _forbidden(f"{HEADER}: a request may not switch Tenuto off", policy)
    elif word not in ON_WORDS:
        told = _changes_in(header or "", policy)
    if not changes and not told:
        return policy, is_off
    changed = policy.changed(told)
    require_packages(changed)
    return changed, is_off


def _changes_in(header: str, policy: Policy) -> dict[str, object]:
    """Return the settings in a header, checked. Several keys in one value are separated by spaces.

    Args:
        policy: the one that they change.
    """
    values: dict[str, object] = {}
    for pair in header.split(","):
        key, equals, text = (part.strip() for part in pair.partition("="))
        if not key or not equals:
            raise wrong_value(HEADER, header, _ALLOWED)
        rule = PRESET if key == "preset" else RULES.get(key)
        values[key] = rule.read(text) if rule is not None else text
    told = checked_changes(f"{HEADER}: ", values, FIXED)
    _check_allowed(HEADER, told, policy)
    if policy.requests_may == "everything":
        return told
    if "preset" in values:
        raise _beyond("not choose a preset")
    for key, value in told.items():
        rule, now = RULES[key], getattr(policy, key)
        if not rule.may_become(value, now):
            only = f"only {rule.by_request} {key}, which is {plain(now)}"
            raise _beyond(f"not change {key}" if rule.by_request == "none" else only)
    return told


def _beyond(what: str) -> PolicyError:
    return PolicyError(
        f"{HEADER}: a request may {what}; a policy with requests_may='everything' lets it do more"
    )


def _check_allowed(where: str, changes: Mapping[str, object], policy: Policy) -> None:
    for key in changes:
        if RULES[key].group not in policy.per_request:
            raise _forbidden(f"{where}: a request may not change {key}", policy)


def _forbidden(what: str, policy: Policy) -> PolicyError:
    allowed = ", ".join(sorted(policy.per_request)) or "nothing"
    return PolicyError(f"{what}; the policy of this client allows (per_request): {allowed}")
