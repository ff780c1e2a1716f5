"""The package and its simulated wires, put in place for a run of tests, a recording or a fuzzer."""

from __future__ import annotations

import atexit
import importlib.metadata
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

from tenuto.wires.base import Wire
from tenuto.wires.registry import OUTSIDE, wires

PROJECT = Path(__file__).resolve().parents[1]


def install() -> None:
    """Let Tenuto find the wires, and simulators serve them. An installed package stays."""
    try:
        importlib.metadata.distribution("tenuto-wires")
    except importlib.metadata.PackageNotFoundError:
        _put_in_place()
    # Only here: the recorder asks for fixtures with the simulator of an older commit.
    from examples.wires.tests import simulated

    simulated.serve()


def _put_in_place() -> None:
    """Do what an installer does: name the entry points in a folder beside the modules."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    place = Path(tempfile.mkdtemp(prefix="tenuto-wires-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    about = place / "tenuto_wires-0.1.0.dist-info"
    about.mkdir()
    named = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (about / "METADATA").write_text(named, "utf-8")
    points = project["entry-points"]["tenuto.wires"].items()
    lines = ["[tenuto.wires]", *(f"{name} = {value}" for name, value in points)]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")
    sys.path += [str(place), str(PROJECT / "src")]
    importlib.invalidate_caches()


def every_wire() -> dict[str, Wire]:
    """Return Tenuto's wires and those of this package, by name."""
    return {**wires(), **OUTSIDE.all()}


def fixtures(wire: str) -> Path:
    """Return the folder with the fixtures of a wire, of Tenuto's or of this package."""
    own = PROJECT / "tests" / "fixtures" / wire
    return own if own.is_dir() else PROJECT.parents[1] / "tests" / "fixtures" / wire


def fixture_folders() -> list[Path]:
    """Return the folders of all wires, by their names."""
    places = (PROJECT / "tests" / "fixtures", PROJECT.parents[1] / "tests" / "fixtures")
    return sorted((each for place in places for each in place.iterdir()), key=lambda at: at.name)
