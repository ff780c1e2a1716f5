"""The pages name no model that a provider takes away: the SDKs themselves list those.

The tables are those of the pinned SDKs, so that an update of a lock file shows what has to change.
"""

from __future__ import annotations

import re
from pathlib import Path

import members
import pytest
from anthropic.resources.messages import DEPRECATED_MODELS
from openai.types.shared import chat_model

from tenuto.providers.models import MODELS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(
        ROOT / name
        for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "checks/live/README.md")
    ),
    *(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "decisions"),
    *members.TENUTO.source.rglob("SKILL.md"),
    *members.TENUTO.source.glob("tenuto/cli/*.py"),
    *(ROOT / "packages").glob("*/src/*/commands/*.py"),
]
"""What a newcomer copies from. Decisions tell what was true on their day."""


def retired_by_openai() -> list[str]:
    """The names below "Deprecated values" of the SDK's list of models."""
    source = Path(str(chat_model.__file__)).read_text("utf-8")
    return re.findall(r'"([^"]+)"', source.partition('"""Deprecated values:')[2])


RETIRED = [*DEPRECATED_MODELS, *retired_by_openai()]


def named(text: str) -> list[str]:
    """The retired models that a text names; a pattern such as `gpt-5*` names none."""
    return sorted(
        name
        for name in set(RETIRED)
        if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w*-]|\.\d)", text)
    )


def test_the_tables_of_the_sdks_are_read() -> None:
    assert "claude-sonnet-4-5" in DEPRECATED_MODELS
    assert {"gpt-5-mini", "gpt-4o"} <= set(retired_by_openai())


def test_a_name_is_found_where_it_is_whole() -> None:
    assert named('model="gpt-5-mini", "openai:gpt-4o"') == ["gpt-4o", "gpt-5-mini"]
    assert named("gpt-5.4-mini, gpt-5*, gpt-4o-next, my-gpt-5") == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_page_names_a_model_whose_end_is_announced(page: Path) -> None:
    text = page.read_text("utf-8")
    for model in MODELS:  # docs/providers.md lists the limits of models, whatever their age
        text = text.replace(f"| `{model.name.pattern}` |", "")
    assert named(text) == []
