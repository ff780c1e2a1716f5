"""The logger for lines about turns, which `listeners` looks at before it loads what writes them."""

from __future__ import annotations

import logging

lines_log: logging.Logger = logging.getLogger("tenuto.turns")
"""The logger for lines about turns. A program without a logging configuration doesn't show them,
but it shows the warnings of the logger `tenuto` about its settings."""

lines_log.addHandler(logging.NullHandler())
