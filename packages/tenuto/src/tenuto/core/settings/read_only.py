"""A dictionary that cannot change: a policy is checked once, when it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, TypeVar

_Value = TypeVar("_Value")


class ReadOnly(dict[str, _Value]):
    """A dictionary without the methods that change it.

    It is still a `dict`, so that `json.dumps`, `dataclasses.asdict` and pickle take it.

    >>> ReadOnly(a=1)["b"] = 2
    Traceback (most recent call last):
        ...
    TypeError: the tables of a policy are read-only; make another policy, such as \
dataclasses.replace(policy, models={...})
    >>> ReadOnly(a=1) | {"b": 2}
    {'a': 1, 'b': 2}
    """

    __slots__ = ()

    if not TYPE_CHECKING:

        def _refuse(self, *_: object, **__: object) -> NoReturn:
            raise TypeError(
                "the tables of a policy are read-only; make another policy, such as "
                "dataclasses.replace(policy, models={...})"
            )

        __setitem__ = __delitem__ = __ior__ = _refuse
        clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type, tuple[dict[str, _Value]]]:
        return type(self), (dict(self),)
