"""The file tools on a folder of the test's own."""

from pathlib import Path

import pytest

from tenuto_agent.files.folder import BY_DESCRIPTOR
from tenuto_agent.files.tools import Files

WAYS = [
    pytest.param(
        False, id="descriptors", marks=pytest.mark.skipif(not BY_DESCRIPTOR, reason="none here")
    ),
    pytest.param(True, id="paths"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The root of the tools; beside it there is room for what they must not touch."""
    root = tmp_path / "root"
    root.mkdir()
    return root


@pytest.fixture(params=WAYS)
def files(request: pytest.FixtureRequest, folder: Path) -> Files:
    """The tools as functions, in both ways of opening folders."""
    return Files(folder, 20_000, 2_000, by_path=request.param)
