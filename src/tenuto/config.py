"""Settings from outside the program: `[tool.tenuto]` of pyproject.toml, tenuto.toml, `TENUTO_*`."""

from __future__ import annotations

import logging
import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from tenuto.core.errors import PolicyError
from tenuto.core.policy import RULES, Policy, wrong_value
from tenuto.core.stop import printable

log = logging.getLogger("tenuto")


def load_policy(folder: Path | None = None, variables: Mapping[str, str] | None = None) -> Policy:
    """The policy that files and environment ask for; the later of these wins: pyproject.toml's
    `[tool.tenuto]`, tenuto.toml, the environment. A `TENUTO_*` variable that is not a setting has
    no effect: a warning names it, once in a process.

    Args:
        folder: where the files are looked for; None: the working folder. Parents are not searched.
        variables: the environment; None: the process's own.

    Raises:
        PolicyError: an argument is of another type, a file cannot be read as TOML, a key is not
            known, or a value is not allowed; the message names the file or the variable.

    >>> load_policy(Path("/nonexistent"), {"TENUTO_ON_INCOMPLETE": "error"}).on_incomplete
    'error'
    """
    if folder is not None and not isinstance(folder, Path):
        raise wrong_value("folder", folder, "a pathlib.Path, or none")
    if variables is not None and not isinstance(variables, Mapping):
        raise wrong_value("variables", variables, "a mapping of names to texts, or none")
    base = Path.cwd() if folder is None else folder
    policy = Policy()
    for name, path in (("pyproject.toml", ("tool", "tenuto")), ("tenuto.toml", ())):
        policy = _from_file(policy, base / name, path)
    variables = os.environ if variables is None else variables
    _tell_of_unknown(variables)
    return policy.with_environment(variables)


def policy_in_force(policy: Policy | None) -> Policy:
    """The policy of a client that is given this one in code; None: the one from outside.

    What the environment says about observing (the `TENUTO_CAPTURE…` variables and `TENUTO_EVENTS`)
    outweighs a policy in code. For all else that policy is taken as it is.

    Raises:
        PolicyError: `policy` is none, or as `load_policy`.
    """
    if policy is None:
        return load_policy()
    if not isinstance(policy, Policy):
        raise wrong_value("policy", policy, "a tenuto.Policy, or none")
    _tell_of_unknown(os.environ)
    return policy.observed_by(os.environ)


_NAMES = {f"TENUTO_{key.upper()}": key for key in RULES}
_told: set[str] = set()


def _tell_of_unknown(variables: Mapping[str, str]) -> None:
    """Warn of each variable with our prefix that is not a setting, once. It is no error: others may
    own variables of this prefix."""
    for name in variables:
        if not name.upper().startswith("TENUTO_") or name in _NAMES or name in _told:
            continue
        _told.add(name)
        near = get_close_matches(name.upper(), _NAMES, 1, 0.8)
        hint = f"; did you mean {near[0]}?" if near else ""
        log.warning("%s is not a setting of Tenuto and has no effect%s", printable(name), hint)


def read_policy(name: str, content: bytes) -> Policy:
    """Parse the policy in a file's bytes: `[tool.tenuto]` of a pyproject.toml, of any other
    the whole table.

    Args:
        name: the file's, without its folder.

    Raises:
        PolicyError: as `load_policy`.

    >>> read_policy("strict.toml", b'on_incomplete = "error"').on_incomplete
    'error'
    """
    path = ("tool", "tenuto") if name == "pyproject.toml" else ()
    return _changed_by(Policy(), name, content, path)


def _from_file(policy: Policy, file: Path, path: tuple[str, ...]) -> Policy:
    try:
        content = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return policy
    except OSError as error:
        if path:  # another tool's file, as in `_changed_by`
            return policy
        raise PolicyError(f"{file.name}: cannot be read: {error}") from None
    return _changed_by(policy, file.name, content, path)


def _changed_by(policy: Policy, name: str, content: bytes, path: tuple[str, ...]) -> Policy:
    """A policy changed by the table at this path of a TOML file; () is the whole file."""
    try:
        table: object = tomllib.loads(content.decode("utf-8"))
    # ValueError: no TOML, no UTF-8, or a number of more than 4,300 digits.
    except (ValueError, RecursionError) as error:
        # Somebody else's broken pyproject.toml is theirs to mend, but not where limits are lost.
        if path and f"[{'.'.join(path)}]".encode() not in content:
            return policy
        raise PolicyError(f"{name}: cannot be read as TOML: {error}") from None
    for key in path:
        table = table.get(key, {}) if isinstance(table, dict) else {}
    if not isinstance(table, dict):
        raise PolicyError(f"{name}: [{'.'.join(path)}] is not a table")
    try:
        return policy.changed(table)
    except PolicyError as error:
        raise PolicyError(f"{name}: {error}") from None
