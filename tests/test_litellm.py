"""What `tenuto.litellm` does without LiteLLM; `make frameworks` runs it with it."""

from __future__ import annotations

import sys

import pytest

import tenuto
import tenuto.litellm


def test_without_litellm_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(tenuto.UnsupportedClient, match="pip install litellm"):
        tenuto.litellm.install()


def test_settings_of_the_wrong_type_are_refused_before_litellm_is_looked_for() -> None:
    with pytest.raises(tenuto.PolicyError, match="policy"):
        tenuto.litellm.install(policy="fast")  # type: ignore[arg-type]


def test_uninstalling_what_is_not_installed_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    tenuto.litellm.uninstall()
