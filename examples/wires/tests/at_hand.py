"""The wires of this package and its simulated wires, for a run of tests, a recording or a fuzzer."""

from __future__ import annotations

from pathlib import Path

from tenuto.wires.base import Wire
from tenuto.wires.registry import OUTSIDE, wires

PROJECT = Path(__file__).resolve().parents[1]


def install() -> None:
    """Let simulators serve the wires. `make setup` installs the package, so Tenuto finds them."""
    # Only here: the recorder asks for fixtures with the simulator of an older commit.
    from examples.wires.tests import simulated

    simulated.serve()


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
