"""Records what Tenuto sends and hands on, so that two trees can be compared. See README.md."""

import importlib.util
import os
import sys

INSIDE = "RECORDER_INSIDE"
"""The variable that names the file `inside.py` of the tree whose source is played."""


def _take_the_inside_of(file: str) -> None:
    """Let another tree's file stand for our own: two trees are compared whose insides differ."""
    spec = importlib.util.spec_from_file_location("checks.recorder.inside", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)


if os.environ.get(INSIDE):
    _take_the_inside_of(os.environ[INSIDE])
