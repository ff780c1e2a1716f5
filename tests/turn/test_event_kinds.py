"""The names of recoveries are the same in every event."""

from __future__ import annotations

import pytest

from tenuto.core.events.recovery import RecoveryEnded, RecoveryStarted
from tenuto.turn.record.event_sender import RECOVERIES


@pytest.mark.behaviour("P6")
def test_the_events_of_a_recovery_name_its_kind() -> None:
    for kind, (begins, ends) in RECOVERIES.items():
        assert issubclass(begins, RecoveryStarted)
        assert issubclass(ends, RecoveryEnded)
        assert begins.KIND == ends.KIND == kind.value
