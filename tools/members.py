"""The members of this repository: the distributions that are in it, and where their sources are."""

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Member(NamedTuple):
    """A distribution of this repository.

    Attributes:
        name: its name on an index.
        folder: its folder, which has a pyproject.toml.
        published: whether a release has it.
    """

    name: str
    folder: Path
    published: bool = True

    @property
    def package(self) -> str:
        """The name under which it is imported."""
        return self.name.replace("-", "_")

    @property
    def source(self) -> Path:
        """The folder from which it is imported."""
        return self.folder / "src"


TENUTO = Member("tenuto", ROOT / "packages" / "tenuto")
SIM = Member("tenuto-sim", ROOT / "packages" / "tenuto-sim")
AGENT = Member("tenuto-agent", ROOT / "packages" / "tenuto-agent")
WIRES = Member("tenuto-wires", ROOT / "examples" / "wires", published=False)

MEMBERS = (TENUTO, SIM, AGENT, WIRES)
"""In the order in which pip 23 can install them together."""

PUBLISHED = (SIM, AGENT, TENUTO)
"""In the order in which they are published. The extras of `tenuto` require the other two, so it
comes last."""

SOURCES = tuple(str(member.source) for member in MEMBERS)
"""What PYTHONPATH needs for a process without an installation."""
