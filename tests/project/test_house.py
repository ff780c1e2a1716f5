"""The rules of the house that a machine can hold: what is public, who imports whom, what ships."""

import ast
import importlib
import importlib.metadata
import os
import pkgutil
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import grimp
import pytest
from importlinter.cli import lint_imports
from members import TENUTO
from packaging.requirements import Requirement

import tenuto

ROOT = Path(__file__).resolve().parents[2]


def test_all_names_exactly_what_is_public() -> None:
    listed = getattr(tenuto, "__all__", ())
    assert len(listed) == len(set(listed))
    assert [name for name in listed if not hasattr(tenuto, name)] == []
    found = {name for name, value in vars(tenuto).items() if not is_private_or_room(name, value)}
    assert found <= set(listed), "public, but not in __all__"


def is_private_or_room(name: str, value: object) -> bool:
    return name.startswith("_") or (
        isinstance(value, ModuleType) and value.__name__ == f"tenuto.{name}"
    )


def test_no_name_that_a_room_gives_out_hides_a_module_of_its_own() -> None:
    below = pkgutil.walk_packages(tenuto.__path__, "tenuto.")
    rooms = [tenuto, *(importlib.import_module(name) for _, name, is_room in below if is_room)]
    hidden = [
        f"{room.__name__}.{name}"
        for room in rooms
        for _, name, _ in pkgutil.iter_modules(room.__path__)
        if name in vars(room) and not isinstance(vars(room)[name], ModuleType)
    ]
    assert hidden == []


def test_each_file_that_a_guide_to_a_room_names_is_there_and_each_file_is_named() -> None:
    wrong = []
    for folder, text in guides():
        named = set(re.findall(r"`([\w/]+\.py)`", text))
        # A guide may name a file that each folder below it has.
        there = {path.name for path in folder.rglob("*.py")}
        own = {path.name for path in folder.glob("*.py")} - {"__init__.py"}
        wrong += [f"{folder.name}: {name} is gone" for name in sorted(named - there)]
        wrong += [f"{folder.name}: {name} is not named" for name in sorted(own - named)]
    assert wrong == []


def guides() -> Iterator[tuple[Path, str]]:
    """The folders whose README, or whose docstring, says in which order to read their files."""
    for path in (ROOT / "packages").glob("*/src/**/README.md"):
        yield path.parent, path.read_text(encoding="utf-8")
    for path in (ROOT / "packages").glob("*/src/**/__init__.py"):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if re.search(r"\bRead `", text):
            yield path.parent, text


def test_rooms_import_downward_only() -> None:
    assert (
        lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True) == 0
    )


def test_the_contract_about_wires_names_each_wire() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = config["tool"]["importlinter"]["contracts"]
    (named,) = (c["modules"] for c in contracts if c["name"] == "no wire imports another")
    folders = Path(tenuto.__path__[0], "wires").glob("*/wire.py")
    assert sorted(named) == sorted(f"tenuto.wires.{file.parent.name}" for file in folders)


def test_the_core_imports_only_itself_and_the_standard_library() -> None:
    # The contract in pyproject.toml can only list what is forbidden; this says what is allowed.
    graph = grimp.build_graph("tenuto", include_external_packages=True, cache_dir=None)
    core = graph.find_descendants("tenuto.core") | {"tenuto.core"}
    imported = {i for module in core for i in graph.find_modules_directly_imported_by(module)}
    assert {i for i in imported - core if i.split(".")[0] not in sys.stdlib_module_names} == set()


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_the_wheel_imports_with_the_source_away_and_only_base_dependencies(tmp_path: Path) -> None:
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path))
    run(*build, cwd=TENUTO.folder)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"tenuto/py.typed", "tenuto/watch/static/index.html"} <= {*names}
    assert [
        n
        for n in names
        if not re.match(r"tenuto/|tenuto_command\.py$|tenuto-[\w.]+\.dist-info/", n)
    ] == []

    venv.create(tmp_path / "venv", symlinks=os.name != "nt")
    python, site_packages = inside(tmp_path / "venv")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    run(*pip, "--no-index", "--no-deps", "--no-compile", str(wheel), cwd=tmp_path)
    (installed,) = importlib.metadata.distributions(name="tenuto", path=[str(site_packages)])
    base = [r for r in installed.requires or [] if "extra ==" not in r]
    for requirement in base:
        lend(re.split(r"[^\w.-]", requirement)[0], site_packages)
    (wrapping,), (below,), (detecting,) = (
        [example for example in readme_examples() if call in example]
        for call in ("tenuto.wrap(anthropic", "tenuto.HTTPTransport(", "tenuto.detect(")
    )
    run(str(python), "-I", "-W", "error", "-c", detecting, cwd=tmp_path)
    for requirement in with_all_that_they_need("openai", "anthropic", "google-genai", "httpx2"):
        lend(requirement, site_packages)
    given = (
        "import os\n"
        "os.environ.update(OPENAI_API_KEY='none', ANTHROPIC_API_KEY='none', GOOGLE_API_KEY='none')\n"
    )
    wrapping += "tenuto.wrap(openai.OpenAI())\n"
    run(str(python), "-I", "-W", "error", "-c", given + below + wrapping, cwd=tmp_path)


def test_the_extra_of_each_sdk_brings_the_validator_where_that_needs_no_compiler() -> None:
    # docs/decisions/2026-11-28-which-packages-validate-documents.md
    text = (TENUTO.folder / "pyproject.toml").read_text(encoding="utf-8")
    hook = tomllib.loads(text)["tool"]["hatch"]["metadata"]["hooks"]["custom"]
    extras: dict[str, list[str]] = hook["optional-dependencies"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    sdks = re.search(r"^LOWEST := (.*)$", makefile, re.MULTILINE)
    assert sdks is not None
    assert [sdk for sdk in sdks[1].split() if "tenuto[documents]" not in extras[sdk]] == []
    (brought,) = map(Requirement, extras["documents"])
    assert brought.extras == {"schema"}
    assert brought.marker is not None
    wanted = [Requirement(each).name for each in extras["schema"]]
    assert wanted == ["jsonschema", "jsonschema-rs"]
    built = {
        machine: brought.marker.evaluate({"platform_machine": machine}) for machine in MACHINES
    }
    assert built == MACHINES


MACHINES = {
    "x86_64": True,
    "aarch64": True,
    "i686": True,
    "arm64": True,
    "AMD64": True,
    "ARM64": True,
    "x86": True,
    "armv7l": False,
    "ppc64le": False,
    "riscv64": False,
    "s390x": False,
    "wasm32": False,
}
"""Whether jsonschema-rs has a wheel for a machine (read 2026-11-28)."""


def readme_examples() -> list[str]:
    """The Python examples of the README, in their order."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)


def with_all_that_they_need(*names: str) -> set[str]:
    """Distributions and everything that they require in this environment, base ones left out."""
    found: set[str] = set()
    asked = list(names)
    while asked:
        name = asked.pop().lower().replace("_", "-")
        if name in found or name == "msgspec":
            continue
        try:
            requires = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:  # wanted on another platform or version
            continue
        found.add(name)
        asked += [re.split(r"[^\w.-]", r)[0] for r in requires if "extra ==" not in r]
    return found


def run(*command: str, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def inside(environment: Path) -> tuple[Path, Path]:
    """The interpreter and the site-packages of a virtual environment."""
    paths = sysconfig.get_paths(
        "venv", vars={"base": str(environment), "platbase": str(environment)}
    )
    name = Path(sys.executable).name
    return Path(paths["scripts"]) / name, Path(paths["purelib"])


def lend(name: str, site_packages: Path) -> None:
    """Link a distribution of the running environment into another, so that no network is asked."""
    distribution = importlib.metadata.distribution(name)
    for top in {file.parts[0] for file in distribution.files or () if file.parts[0] != ".."}:
        target = Path(str(distribution.locate_file(top)))
        if not (site_packages / top).exists():  # a folder that several distributions share
            (site_packages / top).symlink_to(target, target_is_directory=target.is_dir())
