"""Settings from outside the program: `[tool.tenuto]` of pyproject.toml, tenuto.toml, `TENUTO_*`."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

from tenuto.core.errors import PolicyError
from tenuto.core.policy import Policy


def load_policy(folder: Path | None = None, variables: Mapping[str, str] | None = None) -> Policy:
    """The policy that files and environment ask for; the later of these wins: pyproject.toml's
    `[tool.tenuto]`, tenuto.toml, the environment.

    Args:
        folder: where the files are looked for; None: the working folder. Parents are not searched.
        variables: the environment; None: the process's own.

    Raises:
        PolicyError: a file cannot be read as TOML, a key is not known, or a value is not allowed;
            the message names the file or says that the environment is meant.

    >>> load_policy(Path("/nonexistent"), {"TENUTO_ON_INCOMPLETE": "error"}).on_incomplete
    'error'
    """
    base = Path.cwd() if folder is None else folder
    policy = Policy()
    for name, path in (("pyproject.toml", ("tool", "tenuto")), ("tenuto.toml", ())):
        policy = _from_file(policy, base / name, path)
    try:
        return policy.with_environment(os.environ if variables is None else variables)
    except PolicyError as error:
        raise PolicyError(f"environment (TENUTO_…): {error}") from None


def read_policy(file: Path) -> Policy:
    """The policy of one file: `[tool.tenuto]` of a pyproject.toml, of any other the whole table.

    Raises:
        PolicyError: as `load_policy`, and where there is no such file.

    >>> read_policy(Path("/nonexistent/strict.toml"))
    Traceback (most recent call last):
        ...
    tenuto.core.errors.PolicyError: /nonexistent/strict.toml: there is no such file
    """
    if not file.exists():
        raise PolicyError(f"{file}: there is no such file")
    return _from_file(Policy(), file, ("tool", "tenuto") if file.name == "pyproject.toml" else ())


def _from_file(policy: Policy, file: Path, path: tuple[str, ...]) -> Policy:
    try:
        table: object = tomllib.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return policy
    # ValueError: no TOML, no UTF-8, or a number of more than 4,300 digits.
    except (OSError, ValueError, RecursionError) as error:
        if path:  # somebody else's broken pyproject.toml is theirs to mend, not a reason to stop
            return policy
        raise PolicyError(f"{file.name}: cannot be read as TOML: {error}") from None
    for key in path:
        table = table.get(key, {}) if isinstance(table, dict) else {}
    if not isinstance(table, dict):
        raise PolicyError(f"{file.name}: [{'.'.join(path)}] is no table")
    try:
        return policy.changed(table)
    except PolicyError as error:
        raise PolicyError(f"{file.name}: {error}") from None
