"""Whatever answer a step befalls, the simulator can write it: also one that is a word, or one call.

Its own cases have long answers; those of a plan may be as short as a plan's author likes.
"""

from __future__ import annotations

from dataclasses import replace

from support.pairing import every_pair

from tenuto_sim import CASES_ON, saying
from tenuto_sim.asked import Asked, Row
from tenuto_sim.case import Ending, Odd
from tenuto_sim.envelope import Envelope
from tenuto_sim.reply import Settings, reply
from tenuto_sim.wires import WIRES

LOOK = ("look", {"at": "é"})
ANSWERS = {
    "nothing": saying(""),
    "letter": saying("x"),
    "word": saying("tide"),
    "sentence": saying("The tide is low, Résumé."),
    "call": saying("", LOOK),
    "calls": saying("", LOOK, LOOK, ("look", {})),
    "word_and_call": saying("tide", LOOK),
}
MOVES_EVENTS = frozenset({"openai-chat", "anthropic-messages", "cohere", "cohere-v1", "ollama"})
"""Wires on which no event says another thing where it stands elsewhere."""
STEPS = {
    wire: sorted({step for case in CASES_ON[wire].values() for step in case.plan}, key=str)
    for wire in WIRES
}
ASKED = Asked("sim", (Row("user", "Go."),), tools=(("look", {"type": "object"}),))


@every_pair(wire=WIRES, answer=ANSWERS, how=("plain", "thinking"))
def test_every_step_of_every_wire_can_be_written_of_every_answer(wire: str, answer: str, how: str):
    made = WIRES[wire]
    asked = replace(ASKED, thinking=how == "thinking")
    envelope = Envelope("id", "sim", include_usage=True)
    for step in STEPS[wire]:
        if step.error and (step.error not in made.errors or made.errors[step.error].status != 200):
            continue
        said = reply(asked, step, ANSWERS[answer], Settings())
        body = made.render_body(said, step, envelope)
        events = made.render_events(said, step, envelope)
        assert isinstance(body, dict | list), step
        assert made.frame(events, step.framing) or step.ending is not Ending.WHOLE, step
        if step.odd is Odd.CONTENT_AFTER_FINISH:
            plain = made.render_events(said, replace(step, odd=None), envelope)
            assert len(events) == len(plain)
            if wire in MOVES_EVENTS:
                assert sorted(events) == sorted(plain), "nothing is lost, and nothing said twice"
