"""How a turn ended, as values."""

import pytest
from agent.simulated import agent, model

from tenuto.core.actions import Status
from tenuto.sim import Simulator


@pytest.mark.behaviour("P1")
@pytest.mark.parametrize(
    ("case", "status"),
    [
        ("normal", Status.COMPLETE),
        ("content_filter", Status.PARTIAL),
        ("empty_always", Status.FAILED),
    ],
)
def test_a_status_is_one_of_three_and_a_plain_word_in_plain_values(
    case: str, status: Status
) -> None:
    with Simulator() as sim, agent(model(sim, "openai-chat", case)) as asked:
        result = asked.run("How are tides made?")
    assert type(result.status) is Status
    assert result.status == status.value
    plain = result.as_dict()["status"]
    assert (type(plain), plain) == (str, status.value)
