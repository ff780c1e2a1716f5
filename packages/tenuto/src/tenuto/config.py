"""Settings from outside the program: `[tool.tenuto]` of pyproject.toml, tenuto.toml, `TENUTO_*`."""

from __future__ import annotations

import logging
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, cast

from tenuto.core.answer.stop import printable
from tenuto.core.errors import PolicyError
from tenuto.core.settings.names import not_known
from tenuto.core.settings.policy import EXCEPTIONS, PRESET, RULES, Policy, text_in
from tenuto.core.settings.presets import values_of
from tenuto.core.settings.rule import wrong_value
from tenuto.providers.registry import check_providers

log: logging.Logger = logging.getLogger("tenuto")


class Settings(NamedTuple):
    """Settings from outside the program.

    Attributes:
        policy: what they make.
        sources: where each value comes from that is not the default: `pyproject.toml`,
            `tenuto.toml`, the variable's name, or `preset agents`; by setting, and by
            `models.<pattern>.<setting>` for one of some models.
        preset: the name of the preset, or None.
    """

    policy: Policy
    sources: dict[str, str]
    preset: str | None


def load_policy(folder: Path | None = None, variables: Mapping[str, str] | None = None) -> Policy:
    """Return the policy that files and environment variables set. Each of these overrides those
    before it: a preset, pyproject.toml's `[tool.tenuto]`, tenuto.toml, the tables `providers` and
    `models` of both files, the environment. If a `TENUTO_*` variable resembles no setting, Tenuto
    logs a warning that names it, once in a process.

    If the files have settings for a provider of your own, call `tenuto.register_provider` before
    this function, and before `tenuto.wrap` and whatever else reads the files.

    Args:
        folder: the folder with the files; None: the working directory. Parent folders are not
            searched.
        variables: the environment; None: the process's own.

    Raises:
        PolicyError: an argument has the wrong type, a file is not valid TOML, a key, a variable or
            a provider is unknown, a value is not allowed, or a file cannot be read; the message
            names the file or the variable. A pyproject.toml that is not valid TOML counts as empty
            if it has no `[tool.tenuto]`.

    >>> load_policy(Path("/nonexistent"), {"TENUTO_ON_INCOMPLETE": "error"}).on_incomplete
    'error'
    >>> load_policy(Path("/nonexistent"), {"TENUTO_PRESET": "chat"}).on_incomplete
    'notice'
    """
    return load_settings(folder, variables).policy


def load_settings(
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
    *,
    any_provider: bool = False,
) -> Settings:
    """The same, with where each value comes from. `any_provider`: for commands, which do not know
    what the user's program registers."""
    if folder is not None and not isinstance(folder, Path):
        raise wrong_value("folder", folder, "a pathlib.Path, or none")
    if variables is not None and not isinstance(variables, Mapping):
        raise wrong_value("variables", variables, "a mapping of names to texts, or none")
    base = Path.cwd() if folder is None else folder
    variables = os.environ if variables is None else variables
    _check_variables(variables)
    tables = [
        (name, _table_in(base / name, path))
        for name, path in (("pyproject.toml", ("tool", "tenuto")), ("tenuto.toml", ()))
    ]
    return _settled(tables, variables, any_provider=any_provider)


def _settled(
    tables: Sequence[tuple[str, dict[str, object]]],
    variables: Mapping[str, str],
    *,
    any_provider: bool,
) -> Settings:
    """The policy of the tables of files, by the file's name, and of the environment: a later one
    overrides an earlier one, and each of them the preset, whoever names that."""
    preset, values, sources = None, dict[str, object](), dict[str, str]()
    exceptions: dict[str, dict[str, dict[str, object]]] = {part: {} for part in EXCEPTIONS}
    for name, table in tables:
        given: dict[str, Any] = dict(table)
        try:
            if "preset" in given:
                preset = _preset("preset", given.pop("preset"))
            policy = Policy().changed(given)
            if not any_provider:
                check_providers(policy.providers)
        except PolicyError as error:
            raise PolicyError(f"{name}: {error}") from None
        for part in EXCEPTIONS:
            for whose, changes in given.pop(part, {}).items():
                exceptions[part][whose] = exceptions[part].get(whose, {}) | changes
                sources |= {f"{part}.{whose}.{key}": name for key in changes}
        values |= given
        sources |= dict.fromkeys(given, name)
    if text := text_in(variables, "TENUTO_PRESET"):
        preset = _preset("TENUTO_PRESET", PRESET.read(text))
    begun = values_of(preset) if preset is not None else {}
    sources = dict.fromkeys(begun, f"preset {preset}") | sources
    sources |= {key: name for name, key in _NAMES.items() if text_in(variables, name)}
    policy = Policy().changed(begun | values | exceptions).with_environment(variables)
    return Settings(policy, sources, preset)


def _preset(name: str, value: object) -> str | None:
    return cast("str | None", PRESET.checked(name, value))


def policy_in_force(policy: Policy | None) -> Policy:
    """The policy of a client that is given this one in code; None: the one from outside.

    What the environment says about observing (the `TENUTO_CAPTURE…` variables and `TENUTO_EVENTS`)
    overrides a policy in code. For all else that policy is taken as it is.

    Raises:
        PolicyError: `policy` is none, or as `load_policy`.
    """
    if policy is None:
        return load_policy()
    if not isinstance(policy, Policy):
        raise wrong_value("policy", policy, "a tenuto.Policy, or None")
    _check_variables(os.environ)
    return policy.observed_by(os.environ)


_NAMES = {f"TENUTO_{key.upper()}": key for key in RULES}
_KNOWN = ("TENUTO_PRESET", *_NAMES)
_told: set[str] = set()


def _check_variables(variables: Mapping[str, str]) -> None:
    """Raise a `PolicyError` for a variable with our prefix that looks like a misspelt setting. Warn
    of others once: they may be somebody else's, as Kubernetes sets `TENUTO_SERVICE_HOST` for a
    service of our name."""
    for name in variables:
        known = name in _KNOWN or name in _told
        if known or not isinstance(name, str) or not name.upper().startswith("TENUTO_"):
            continue
        bare = [each.removeprefix("TENUTO_") for each in _KNOWN]
        if get_close_matches(name.upper().removeprefix("TENUTO_"), bare, 1, 0.8):
            raise PolicyError(not_known(printable(name), _KNOWN, "a setting"))
        _told.add(name)
        log.warning("%s is not a setting of Tenuto and has no effect", printable(name))


def read_policy(name: str, content: bytes) -> Policy:
    """Parse the policy in a file's bytes: `[tool.tenuto]` of a pyproject.toml, of any other
    the whole table.

    Args:
        name: the file's, without its folder.

    Raises:
        PolicyError: as `load_policy`, except that any provider may be named.

    >>> read_policy("strict.toml", b'on_incomplete = "error"').on_incomplete
    'error'
    """
    path = ("tool", "tenuto") if name == "pyproject.toml" else ()
    return _settled([(name, _parsed(name, content, path))], {}, any_provider=True).policy


def _table_in(file: Path, path: tuple[str, ...]) -> dict[str, object]:
    """The table at this path of a TOML file; () is the whole file. Of no file it is empty."""
    try:
        content = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:  # it may hold limits, and nobody can see whether it does
        raise PolicyError(f"{file.name}: cannot be read: {error}") from None
    return _parsed(file.name, content, path)


# A table's header or a dotted key, with or without blanks and quotes.
_ours_in = re.compile(
    rb"""^[ \t]*\[*[ \t]*["']?tool["']?[ \t]*\.[ \t]*["']?tenuto["']?[ \t]*[].]""", re.MULTILINE
).search


def _parsed(name: str, content: bytes, path: tuple[str, ...]) -> dict[str, object]:
    try:
        table: object = tomllib.loads(content.decode("utf-8"))
    # ValueError: no TOML, no UTF-8, or a number of more than 4,300 digits.
    except (ValueError, RecursionError) as error:
        # Somebody else's broken pyproject.toml is theirs to mend, but not where limits are lost.
        if path and not _ours_in(content):
            return {}
        raise PolicyError(f"{name}: cannot be read as TOML: {error}") from None
    for key in path:
        table = table.get(key, {}) if isinstance(table, dict) else {}
    if not isinstance(table, dict):
        raise PolicyError(f"{name}: [{'.'.join(path)}] is not a table")
    return table
