"""Loads the hooks of the build from `tools` of the repository, of which an sdist has a copy."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE / "tools"), str(HERE.parents[1] / "tools")]

from member_metadata import MemberMetadata  # noqa: E402, F401
from sbom import SbomHook  # noqa: E402, F401
