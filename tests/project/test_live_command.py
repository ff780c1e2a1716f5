"""`make live` as it is run: without a key, dry, with wrong settings, and what it prints."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from checks.live.__main__ import main
from checks.live.checks import CHECKS
from checks.live.providers import MODELS, address, setting, targets
from checks.live.wires import WIRES
from tenuto.providers.registry import behind
from tenuto.providers.table import ROWS
from tenuto_sim import STEPS, Simulator

PROJECT = Path(__file__).parents[2]
SECRET = "sk-live-0123456789"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whoever runs the tests may have keys; none of them is used."""
    for name in MODELS:
        for kind in ("BASE_URL", "KEY", "MODEL"):
            monkeypatch.delenv(setting(kind, name), raising=False)
        for key in address(name).keys:
            monkeypatch.delenv(key.variable, raising=False)
    before = ROWS.all()
    yield
    ROWS._all = before
    ROWS.changes += 1


@pytest.mark.parametrize("name", MODELS)
def test_each_provider_has_a_row_a_wire_and_an_address_that_leads_to_the_row(name: str) -> None:
    (asked,) = targets(name, {})
    assert asked.row.wire in WIRES
    assert asked.base_url
    if asked.row.hosts:
        assert name in [row.dialect.name for row in behind(asked.base_url)]


def test_without_a_key_it_says_how_to_set_one_and_ends_well(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([]) == 0
    said = capsys.readouterr().out
    assert "No key is set" in said
    assert "OPENAI_API_KEY" in said
    assert "At most 1,280 output tokens would be used, of a budget of 5,000." in said


def test_a_named_provider_without_its_key_is_not_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "mistral"]) == 0
    said = capsys.readouterr().out
    assert "MISTRAL_API_KEY" in said
    assert "mistral-small-latest" in said


def test_a_dry_run_asks_nothing_and_tells_the_most_that_it_could_cost(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Simulator() as sim:
        monkeypatch.setenv("BASE_URL_OPENAI", sim.base_url)
        assert main(["--only", "openai", "--dry-run", "--json"]) == 0
        assert sim.requests == []
    (planned,) = json.loads(capsys.readouterr().out)["would_ask"]
    most = {each["check"]: each["most_tokens"] for each in planned["checks"]}
    assert most == {check.name: check.most_tokens for check in CHECKS}


@pytest.mark.parametrize(
    ("arguments", "variables", "said"),
    [
        (["--only", "nobody"], {}, "ONLY names nobody"),
        (["--budget", "0"], {}, "BUDGET must be"),
        (
            ["--only", "openai"],
            {"BASE_URL_OPENAI": "http://example.org/v1"},
            "must begin with https",
        ),
        (["--only", "openai"], {"BASE_URL_OPENAI": "https://a:b@example.org"}, "a path only"),
        (["--only", "openai"], {"OPENAI_API_KEY": "two\nlines"}, "line break"),
        (["--only", "groq", "--rehearse"], {}, "a rehearsal has no groq"),
    ],
)
def test_a_wrong_setting_is_told_and_nothing_is_asked(
    arguments: list[str],
    variables: dict[str, str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert main(arguments) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert said in error


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_what_was_found_is_printed_without_secrets_and_a_difference_ends_with_1(
    form: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Simulator() as sim:
        monkeypatch.setenv("BASE_URL_OPENAI", sim.base_url)
        monkeypatch.setenv("KEY_OPENAI", SECRET)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai-itself")
        assert main(["--only", "openai", *form]) == 0
        sim.script([STEPS["unknown"]])
        assert main(["--only", "openai", *form]) == 1
        sent = {request.headers["authorization"] for request in sim.requests}
    printed = "".join(capsys.readouterr())
    assert sent == {f"Bearer {SECRET}"}, "a key goes to its own provider alone"
    assert "agrees" in printed
    assert "differs" in printed
    assert SECRET not in printed
    assert "sk-of" not in printed


def test_the_checks_know_nothing_of_the_simulator() -> None:
    says = "import sys, checks.live.checks, checks.live.table; print([m for m in sys.modules if 'tenuto_sim' in m])"
    done = subprocess.run(
        [sys.executable, "-c", says], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
