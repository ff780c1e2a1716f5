"""The members of the repository: what each distribution requires, holds and adds to the others."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import members
import pytest
from member_metadata import written_out
from members import AGENT, MEMBERS, PUBLISHED, SIM, TENUTO
from packaging.requirements import Requirement

from tenuto.cli.app import OF_MEMBERS

ROOT = members.ROOT
STUBS = {
    "tenuto.sim": "tenuto_sim",
    "tenuto.agent": "tenuto_agent",
    "tenuto.agent.events": "tenuto_agent.events",
    "tenuto.agent.files": "tenuto_agent.files",
}
WITHOUT = """
import sys
from importlib.machinery import PathFinder
class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name in {hidden} else super().find_spec(name, path, target)
sys.meta_path[sys.meta_path.index(PathFinder)] = Without
"""
RUN = "from tenuto.cli import main; sys.exit(main(sys.argv[1:]))"


def project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))


def without(*hidden: str, code: str, given: tuple[str, ...] = ()) -> tuple[int, str]:
    """What a program prints that has no package of these names, with its exit code."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(hidden=set(hidden)) + code, *given],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def required(member: members.Member) -> list[Requirement]:
    return [*map(Requirement, importlib.metadata.requires(member.name) or [])]


def test_the_members_are_those_of_the_workspace() -> None:
    patterns = project(ROOT)["tool"]["uv"]["workspace"]["members"]
    folders = {folder for pattern in patterns for folder in ROOT.glob(pattern)}
    assert folders == {member.folder for member in MEMBERS}
    assert {member.name for member in MEMBERS} == {
        project(member.folder)["project"]["name"] for member in MEMBERS
    }
    assert {*PUBLISHED} == {member for member in MEMBERS if member.published}
    makefile = (ROOT / "Makefile").read_text("utf-8")
    folders_of = [member.folder.relative_to(ROOT).as_posix() for member in MEMBERS]
    packages = " ".join(folders_of[:-1])
    assert f"\nPACKAGES := {packages}\n" in makefile
    assert f"\nMEMBERS := $(PACKAGES) {folders_of[-1]}\n" in makefile


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_every_target_of_make_has_what_it_needs() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE)
    assert {"engines", "frameworks", "lowest", "site"} <= {*targets}
    got = subprocess.run(["make", "-n", *targets], cwd=ROOT, capture_output=True, check=False)
    assert got.returncode == 0, got.stderr[-400:]


@pytest.mark.behaviour("N17")
def test_the_members_have_one_version_and_require_each_other_at_exactly_that() -> None:
    version = importlib.metadata.version(TENUTO.name)
    assert {importlib.metadata.version(member.name) for member in PUBLISHED} == {version}
    for member in (SIM, AGENT):
        (own,) = (each for each in required(member) if each.name == "tenuto")
        assert str(own.specifier) == f"=={version}"
    extras = {
        each.name: str(each.specifier)
        for each in required(TENUTO)
        if each.name in ("tenuto-sim", "tenuto-agent")
    }
    assert extras == {"tenuto-sim": f"=={version}", "tenuto-agent": f"=={version}"}


def test_only_msgspec_comes_with_tenuto_and_h11_with_the_simulator_and_the_page() -> None:
    base = [each for each in required(TENUTO) if each.marker is None]
    assert [each.name for each in base] == ["msgspec"]
    assert {each.name for each in required(SIM)} == {"tenuto", "h11"}
    (h11,) = (each for each in required(TENUTO) if each.name == "h11")
    assert str(h11.marker) == 'extra == "watch"'


def test_an_extra_that_names_another_keeps_the_marker() -> None:
    extras = {
        "schema": ["jsonschema>=4.20"],
        "documents": ["it[schema]; platform_machine == 'arm64'"],
        "sdk": ["it[documents]", "sdk>=1"],
        "both": ["it[documents]; os_name == 'nt'"],
    }
    made = written_out("it", extras)
    assert made["sdk"] == ['jsonschema>=4.20; platform_machine == "arm64"', "sdk>=1"]
    (both,) = map(Requirement, made["both"])
    assert both.marker is not None
    assert not both.marker.evaluate({"platform_machine": "arm64", "os_name": "posix"})
    assert both.marker.evaluate({"platform_machine": "arm64", "os_name": "nt"})


def test_each_member_says_that_it_has_types() -> None:
    assert [m.name for m in MEMBERS if not (m.source / m.package / "py.typed").exists()] == []


def test_each_member_that_is_published_holds_the_licence_and_no_package_of_another() -> None:
    licence = (ROOT / "LICENSE").read_bytes()
    assert [(m.folder / "LICENSE").read_bytes() == licence for m in PUBLISHED] == [True] * 3
    hooks = {(member.folder / "hatch_build.py").read_text("utf-8") for member in PUBLISHED}
    assert len(hooks) == 1
    found = [
        path.stem for member in MEMBERS for path in member.source.iterdir() if path.stem[0] != "_"
    ]
    beside = ["tenuto_command", "tenuto_sim_pytest"]
    assert sorted(found) == sorted([*(member.package for member in MEMBERS), *beside])


@pytest.mark.parametrize(("stub", "module"), STUBS.items())
def test_a_stub_gives_exactly_the_names_of_the_member(stub: str, module: str) -> None:
    given, own = importlib.import_module(stub), importlib.import_module(module)
    assert given.__all__ == own.__all__
    assert [n for n in own.__all__ if getattr(given, n) is not getattr(own, n)] == []


@pytest.mark.behaviour("N17")
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("from tenuto.sim import Simulator", "tenuto.sim needs the package tenuto-sim; install it with: pip install 'tenuto[sim]'"),
        ("import tenuto; tenuto.agent", "tenuto.agent needs the package tenuto-agent; install it with: pip install 'tenuto[agent]'"),
        ("import tenuto.agent.files", "tenuto.agent needs the package tenuto-agent; install it with: pip install 'tenuto[agent]'"),
    ],
)  # fmt: skip
def test_a_stub_without_its_member_says_what_to_install(code: str, said: str) -> None:
    status, printed = without("tenuto_sim", "tenuto_agent", code=code)
    assert status == 1
    assert printed.splitlines()[-1] == f"ImportError: {said}"
    assert "During handling" not in printed
    assert "direct cause" not in printed


def test_without_the_other_members_tenuto_and_all_its_public_names_can_be_had() -> None:
    code = "from tenuto import *; import tenuto; print(wrap, 'agent' in dir(tenuto))"
    status, printed = without("tenuto_sim", "tenuto_agent", "tenuto_wires", "h11", code=code)
    assert (status, printed.split()[-1]) == (0, "False")


def test_an_error_within_a_member_is_not_said_to_be_its_absence() -> None:
    status, printed = without("h11", code="import tenuto.sim")
    assert status == 1
    assert "No module named 'h11'" in printed.splitlines()[-1]


@pytest.mark.behaviour("N17")
@pytest.mark.parametrize(("command", "extra"), OF_MEMBERS.items())
def test_a_command_without_its_member_says_in_one_line_what_to_install(
    command: str, extra: str, tmp_path: Path
) -> None:
    hide = "import importlib.metadata as m; m.entry_points = lambda **_: ();"
    status, printed = without("nothing", code=hide + RUN, given=(command,))
    package = f"tenuto-{extra}"
    assert (status, printed) == (
        2,
        (
            f"tenuto: the command {command} needs the package {package}; "
            f"install it with: pip install 'tenuto[{extra}]'\n"
        ),
    )
    status, printed = without("cyclopts", code=hide + RUN, given=(command,))
    assert (status, printed) == (
        2,
        (
            "tenuto: the command needs the package cyclopts; "
            f"install it with: pip install 'tenuto[cli,{extra}]'\n"
        ),
    )


def test_the_demo_without_the_other_members_says_what_to_install_and_help_still_works() -> None:
    code = "import importlib.metadata as m; m.entry_points = lambda **_: ();" + RUN
    status, printed = without("tenuto_sim", "tenuto_agent", code=code, given=("demo",))
    assert (status, printed) == (
        2,
        (
            "tenuto: the demo needs the package tenuto-sim; "
            "install it with: pip install 'tenuto[demo]'\n"
        ),
    )
    status, printed = without("tenuto_sim", "tenuto_agent", code=code, given=("--help",))
    assert status == 0
    assert "demo" in printed


@pytest.mark.behaviour("N17")
def test_a_command_that_cannot_be_loaded_leaves_the_others_in_order() -> None:
    status, printed = without("h11", code=RUN, given=("--help",))
    assert status == 0
    assert "the command sim of the package tenuto-sim cannot be loaded" in printed
    assert "detect" in printed
    status, printed = without("h11", code=RUN, given=("sim",))
    assert (status, len(printed.splitlines())) == (2, 1)
    assert "cannot be loaded: ModuleNotFoundError(\"No module named 'h11'\")" in printed
    status, printed = without("h11", code=RUN, given=("demo",))
    assert (status, printed) == (
        2,
        "tenuto: the demo needs the package h11; install it with: pip install 'tenuto[demo]'\n",
    )


def test_the_commands_of_members_are_their_entry_points() -> None:
    found = importlib.metadata.entry_points(group="tenuto.commands")
    assert {each.name for each in found} == {*OF_MEMBERS}
    for each in found:
        command = each.load()
        assert command.__name__ == each.name
        assert sys.modules[command.__module__].EXAMPLES


PLUGIN = """
import sys
def test_nothing_is_loaded(): assert "tenuto_sim" not in sys.modules
def test_the_simulator_runs(simulator): assert simulator.base_url.endswith("/v1")
def test_each_fault_has_a_model(model_faults):
    assert model_faults["length_once"] == "sim/length_once"
"""


def test_the_plugin_of_pytest_gives_its_fixtures_and_loads_nothing_before(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(PLUGIN, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=os.environ | {"PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "3 passed" in done.stdout, done.stdout + done.stderr
