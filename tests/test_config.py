"""Settings from files and from the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

import tenuto
from tenuto.config import load_policy, policy_in_force
from tenuto.core.errors import PolicyError
from tenuto.core.settings.policy import Policy
from tenuto.providers.table import ROWS

pytestmark = pytest.mark.behaviour("P3")


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


def test_without_files_and_variables_the_policy_is_the_default(tmp_path) -> None:
    assert load_policy(tmp_path, {}) == Policy()
    assert load_policy(tmp_path / "nowhere", {}) == Policy()


def test_the_environment_outweighs_tenuto_toml_and_that_outweighs_pyproject(tmp_path) -> None:
    write(
        tmp_path,
        pyproject="[tool.tenuto]\nempty_retries = 1\nfault_retries = 1\nparameter_fixes = 1\n",
        tenuto="fault_retries = 2\nparameter_fixes = 2\nturn_timeout_s = 5\n",
    )
    policy = load_policy(tmp_path, {"TENUTO_PARAMETER_FIXES": "3"})
    assert (policy.empty_retries, policy.fault_retries, policy.parameter_fixes) == (1, 2, 3)
    assert policy.turn_timeout_s == 5
    assert policy == Policy(empty_retries=1, fault_retries=2, parameter_fixes=3, turn_timeout_s=5)


def test_the_working_folder_and_the_process_s_environment_are_the_default(
    tmp_path, monkeypatch
) -> None:
    write(tmp_path, tenuto="fault_retries = 7\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENUTO_EMPTY_RETRIES", "6")
    policy = load_policy()
    assert (policy.fault_retries, policy.empty_retries) == (7, 6)


@pytest.mark.parametrize("text", ["", "[tool.other]\nx = 1\n", "tool = 3\n", "[project]\n", "= ="])
def test_a_pyproject_that_says_nothing_to_us_is_no_matter(tmp_path, text) -> None:
    assert load_policy(write(tmp_path, pyproject=text), {}) == Policy()


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"tenuto": "= ="}, "tenuto.toml: cannot be read as TOML"),
        ({"tenuto": "retries = 1"}, "tenuto.toml: retries is not a setting; the nearest are "),
        ({"tenuto": "[tool.tenuto]\nfault_retries = 1"}, "tenuto.toml: tool is not a setting"),
        ({"tenuto": 'fault_retries = "1"'}, "tenuto.toml: fault_retries is '1', but it must be "),
        ({"tenuto": "fault_retries = 21"}, "tenuto.toml: fault_retries is 21, but it must be "),
        ({"tenuto": "fault_retries = true"}, "tenuto.toml: fault_retries is True"),
        ({"tenuto": "turn_timeout_s = nan"}, "tenuto.toml: turn_timeout_s is nan"),
        ({"pyproject": "[tool]\ntenuto = 3"}, "pyproject.toml: [tool.tenuto] is not a table"),
        ({"pyproject": "[tool.tenuto]\nx = 1"}, "pyproject.toml: x is not a setting"),
        ({"pyproject": "[tool.tenuto.x]\ny = 1"}, "pyproject.toml: x is not a setting"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_file(tmp_path, files, said) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy(write(tmp_path, **files), {})
    assert str(caught.value).startswith(said)


def test_a_file_that_is_no_text_is_named(tmp_path) -> None:
    (tmp_path / "tenuto.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(PolicyError, match=r"^tenuto\.toml: cannot be read"):
        load_policy(tmp_path, {})
    (tmp_path / "tenuto.toml").unlink()
    (tmp_path / "tenuto.toml").mkdir()
    with pytest.raises(PolicyError, match=r"^tenuto\.toml: cannot be read"):
        load_policy(tmp_path, {})


def test_a_broken_pyproject_is_named_only_where_settings_of_ours_are_in_it(tmp_path) -> None:
    (tmp_path / "pyproject.toml").write_text("x = = 1")
    assert load_policy(tmp_path, {}) == Policy()
    (tmp_path / "pyproject.toml").write_text("[tool.tenuto]\nhard_max_tokens = = 5")
    with pytest.raises(PolicyError, match=r"^pyproject\.toml: cannot be read as TOML"):
        load_policy(tmp_path, {})


@pytest.mark.parametrize(
    "begins",
    ["[tool.tenuto]", "[ tool . tenuto ]", '["tool".tenuto.models.m]', "tool.tenuto.capture = '1'"],
)
def test_a_broken_pyproject_is_named_with_its_line_however_our_table_is_written(tmp_path, begins):
    write(tmp_path, pyproject=f"# first\n{begins}\nhard_max_tokens = = 5")
    with pytest.raises(PolicyError, match=r"^pyproject\.toml: cannot .* TOML: .*\(at line 3, "):
        load_policy(tmp_path, {})


def test_a_broken_pyproject_that_only_depends_on_us_is_ignored(tmp_path):
    write(tmp_path, pyproject='[project]\ndependencies = ["tenuto"]\nx = = 1')
    assert load_policy(tmp_path, {}) == Policy()


def test_a_pyproject_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "pyproject.toml").mkdir()
    with pytest.raises(PolicyError, match=r"^pyproject\.toml: cannot be read: .*directory"):
        load_policy(tmp_path, {})


def test_a_variable_that_resembles_no_setting_is_warned_of_by_name_once(tmp_path, caplog) -> None:
    variables = {"TENUTO_THEIRS": "x", "TENUTO_SERVICE_HOST": "10.0.0.5", "OTHER": "y"}
    assert load_policy(tmp_path, variables) == Policy()
    assert load_policy(tmp_path, variables) == Policy()
    assert [record.getMessage() for record in caplog.records] == [
        "TENUTO_THEIRS is not a setting of Tenuto and has no effect",
        "TENUTO_SERVICE_HOST is not a setting of Tenuto and has no effect",
    ]


@pytest.mark.behaviour("P3a")
def test_a_misspelt_variable_is_refused_with_the_nearest_also_beside_a_policy_in_code(
    monkeypatch, tmp_path
) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy(tmp_path, {"TENUTO_HARD_MAX_TOKEN": "5"})
    assert str(caught.value) == (
        "TENUTO_HARD_MAX_TOKEN is not a setting; the nearest are TENUTO_HARD_MAX_TOKENS, "
        "TENUTO_PROBE_MAX_TOKENS, TENUTO_DEFAULT_MAX_TOKENS"
    )
    monkeypatch.setenv("TENUTO_CAPTRUE", "turns")
    with pytest.raises(PolicyError, match=r"^TENUTO_CAPTRUE .* TENUTO_CAPTURE, TENUTO_"):
        policy_in_force(Policy())


def test_a_bad_variable_is_named_with_its_value_and_what_is_allowed(tmp_path) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy(tmp_path, {"TENUTO_FAULT_RETRIES": "x"})
    allowed = "a whole number from 0 to 20"
    assert str(caught.value) == f"TENUTO_FAULT_RETRIES is 'x', but it must be {allowed}"


def test_arguments_of_other_types_are_refused_by_name(tmp_path) -> None:
    with pytest.raises(
        PolicyError, match=r"^folder is 'x', but it must be a pathlib\.Path, or none"
    ):
        load_policy("x")  # type: ignore[arg-type]
    with pytest.raises(PolicyError, match=r"^variables is 7, but it must be a mapping"):
        load_policy(tmp_path, 7)  # type: ignore[arg-type]
    for name in ("TENUTO_FAULT_RETRIES", "TENUTO_PRESET"):
        with pytest.raises(PolicyError, match=f"^{name} is 3, but it must be a text$"):
            load_policy(tmp_path, {name: 3})  # type: ignore[dict-item]
    assert load_policy(tmp_path, {3: "x"}) == Policy()  # type: ignore[dict-item]


@pytest.mark.parametrize("key", ["hard_max_tokens", "preset", "per_request"])
def test_toml_writes_none_as_the_environment_does(tmp_path, key):
    write(
        tmp_path,
        pyproject='[tool.tenuto]\npreset = "chat"\nhard_max_tokens = 5\nper_request = ["off"]\n',
        tenuto=f'{key} = "none"\n',
    )
    asked = {f"TENUTO_{key.upper()}": "none"}
    policy = load_policy(tmp_path, {})
    (tmp_path / "tenuto.toml").unlink()
    assert policy == load_policy(tmp_path, asked) != load_policy(tmp_path, {})


@pytest.mark.behaviour("P3")
@pytest.mark.parametrize(
    "odd",
    [
        "empty_retries = " + "9" * 5_000,
        "empty_retries = 0x" + "f" * 5_000,
        "empty_retries = " + "[" * 5_000,
    ],
)
def test_toml_without_measure_is_a_policy_error_of_bounded_length(tmp_path, odd):
    (tmp_path / "tenuto.toml").write_text(odd)
    with pytest.raises(PolicyError, match=r"tenuto\.toml") as raised:
        load_policy(tmp_path, {})
    assert len(str(raised.value)) < 1_000


@pytest.mark.behaviour("P3")
def test_a_number_beyond_every_float_is_no_number_of_seconds():
    with pytest.raises(PolicyError, match="turn_timeout_s"):
        Policy(turn_timeout_s=10**400)


@pytest.mark.parametrize("place", ["pyproject", "tenuto", "variable"])
def test_a_preset_gives_what_no_file_and_no_variable_sets_wherever_it_is_named(tmp_path, place):
    named = 'preset = "agents"\n'
    write(
        tmp_path,
        pyproject="[tool.tenuto]\nempty_retries = 1\n" + named * (place == "pyproject"),
        tenuto="tool_answer_attempts = 9\n" + named * (place == "tenuto"),
    )
    variables = {"TENUTO_MISSING_CALL_RETRIES": "0"}
    if place == "variable":
        variables["TENUTO_PRESET"] = "agents"
    assert load_policy(tmp_path, variables) == Policy.for_agents(
        empty_retries=1, tool_answer_attempts=9, missing_call_retries=0
    )


def test_the_last_place_that_names_a_preset_decides(tmp_path):
    write(tmp_path, pyproject='[tool.tenuto]\npreset = "chat"\n', tenuto='preset = "batch"\n')
    assert load_policy(tmp_path, {}) == Policy.for_batch()
    assert load_policy(tmp_path, {"TENUTO_PRESET": ""}) == Policy.for_batch()
    assert load_policy(tmp_path, {"TENUTO_PRESET": "agents"}) == Policy.for_agents()
    assert load_policy(tmp_path, {"TENUTO_PRESET": "none"}) == Policy()


@pytest.mark.parametrize("wrong", ["agnets", "", "Policy"])
def test_a_preset_that_is_not_known_is_named_with_those_that_are(tmp_path, wrong, caplog):
    allowed = "it must be one of 'chat', 'agents', 'batch', or none"
    write(tmp_path, tenuto=f'preset = "{wrong}"\n')
    with pytest.raises(PolicyError) as caught:
        load_policy(tmp_path, {})
    assert str(caught.value) == f"tenuto.toml: preset is '{wrong}', but {allowed}"
    (tmp_path / "tenuto.toml").unlink()
    with pytest.raises(PolicyError, match=f"^TENUTO_PRESET is 'x{wrong}', but {allowed}"):
        load_policy(tmp_path, {"TENUTO_PRESET": f"x{wrong}"})
    assert caplog.records == []


def test_a_policy_in_code_knows_no_preset_of_the_environment(monkeypatch):
    monkeypatch.setenv("TENUTO_PRESET", "agents")
    assert policy_in_force(Policy()) == Policy()
    assert policy_in_force(None) == Policy.for_agents()


def test_tables_of_files_hold_for_providers_and_models_and_outweigh_plain_settings(tmp_path):
    write(
        tmp_path,
        pyproject="""
            [tool.tenuto.providers.groq]
            fault_retries = 5
            empty_retries = 5
            [tool.tenuto.models."gpt-*"]
            preset = "batch"
            empty_nudges = 5
        """,
        tenuto="""
            fault_retries = 1
            empty_nudges = 1
            [providers.groq]
            empty_retries = 6
            [models."gpt-*"]
            backoff_s = 3
        """,
    )
    policy = load_policy(tmp_path, {})
    assert policy.resolved("openai", "o3") == Policy(fault_retries=1, empty_nudges=1)
    assert policy.resolved("groq", "qwen") == Policy(
        fault_retries=5, empty_retries=6, empty_nudges=1
    )
    assert policy.resolved("groq", "gpt-oss-20b") == Policy.for_batch(empty_nudges=5, backoff_s=3)


def test_a_variable_outweighs_the_tables_of_files(tmp_path):
    write(tmp_path, tenuto="[models.m]\nfault_retries = 5\nempty_retries = 5\n")
    policy = load_policy(tmp_path, {"TENUTO_FAULT_RETRIES": "0"})
    assert policy.resolved("unknown", "m") == Policy(fault_retries=0, empty_retries=5)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("models = 3", "models is 3, but it must be a table of tables of settings"),
        ("models.m = 3", "models.m is 3, but it must be a table of settings"),
        ("models.m.x = 3", "models.m.x is not a setting; the nearest are "),
        ("models.m.empty_retries = 11", "models.m.empty_retries is 11, but it must be a whole"),
        ('models.m.preset = "x"', "models.m.preset is 'x', but it must be one of 'chat', "),
        (
            'models.m.capture = "x"',
            "models.m.capture cannot be set here: it holds for all of a client",
        ),
    ],
)
def test_what_a_table_cannot_hold_is_named_with_its_place(tmp_path, table, said):
    with pytest.raises(PolicyError) as caught:
        load_policy(write(tmp_path, tenuto=table), {})
    assert str(caught.value).startswith(f"tenuto.toml: {said}")


@pytest.mark.parametrize("file", ["pyproject.toml", "tenuto.toml"])
def test_settings_for_a_provider_that_nobody_knows_are_refused_with_those_that_are(
    tmp_path, monkeypatch, file
):
    begin = "tool.tenuto." if file == "pyproject.toml" else ""
    (tmp_path / file).write_text(f"[{begin}providers.antropic]\npause_resumes = 20\n")
    with pytest.raises(PolicyError) as caught:
        load_policy(tmp_path, {})
    said = str(caught.value)
    assert said.startswith(
        f"{file}: providers.antropic is not a provider with a known base URL; those are "
    )
    assert ", anthropic, " in said
    assert said.endswith("for one of your own, call tenuto.register_provider first")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PolicyError, match=rf"^{file}: providers.antropic is not a provider"):
        policy_in_force(None)
    assert policy_in_force(Policy()) == Policy()


def test_settings_for_a_provider_that_is_registered_first_are_taken(tmp_path):
    write(tmp_path, tenuto="[providers.lab-of-the-file]\nfault_retries = 5\n")
    with pytest.raises(PolicyError, match=r"providers.lab-of-the-file is not a provider"):
        load_policy(tmp_path, {})
    lab = tenuto.Provider("lab-of-the-file", wire="openai-chat", hosts=["lab.of.the.file"])
    before = ROWS.all()
    tenuto.register_provider(lab)
    assert load_policy(tmp_path, {}).resolved("lab-of-the-file", "m").fault_retries == 5
    ROWS._all, ROWS.changes = before, ROWS.changes + 1
    write(tmp_path, tenuto="[providers.unknown]\nfault_retries = 5\n")
    assert load_policy(tmp_path, {}).resolved("unknown", "m").fault_retries == 5
