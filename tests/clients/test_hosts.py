"""Hosts that end whole answers without a stop, without an end mark, or without either (S3a): nothing
whole becomes partial there. Prose without any mark is asked for each time, since a proxy that cuts
each stream looks the same (S3c)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import pytest
from support.asking.ollama import WrappedOllama
from support.asking.wrapping import QUICK, Wrapped
from support.pairing import WAYS, every_pair

import tenuto
from tenuto_sim import CASES_ON, Simulator

ROWS = (
    "host_marks_nothing",
    "host_has_no_mark",
    "host_has_no_stop",
    "host_counts_alone",
    "host_closes",
)
TURNS = 12


class WrappedGemini(Wrapped):
    """Gemini's form of Chat Completions."""

    def clients(self, **given: Any) -> tuple[Any, Any]:
        given["base_url"] = f"{self.sim.root_url}/v1beta/openai"
        return openai.OpenAI(**given), openai.AsyncOpenAI(**given)


FORMS: dict[str, tuple[Any, str, str]] = {
    "chat": (Wrapped, "openai-chat", ""),
    "gemini": (WrappedGemini, "openai-chat", "gemini"),
    "ollama": (WrappedOllama, "ollama", ""),
}
HOSTS = [
    (form, row) for form, (_, wire, _) in FORMS.items() for row in ROWS if row in CASES_ON[wire]
]


@pytest.fixture(params=HOSTS, ids="-".join)
def host(request: pytest.FixtureRequest) -> Iterator[tuple[Any, Any]]:
    form, row = request.param
    maker, wire, dialect = FORMS[form]
    with Simulator(dialect=dialect, token_chars=40) as sim:
        asker = maker(sim, tenuto.Policy(**QUICK))
        yield asker, CASES_ON[wire][row]
        asker.close()


@pytest.mark.behaviour("S3a", "N1a", "C25")
@every_pair(indirect=["host"], host=HOSTS, way=WAYS, on_incomplete=["stop", "error"])
def test_no_whole_answer_ends_partial_and_no_host_is_asked_twice_for_one(
    host: tuple[Any, Any], way: str, on_incomplete: Any
) -> None:
    asker, case = host
    asker.wrap(tenuto.Policy(**QUICK, on_incomplete=on_incomplete))
    partial, learned, before = 0, 0, len(asker.sim.requests)
    for _ in range(TURNS):
        said = asker.ask_case(case, "stream", way)
        whole = said.error is None and said.text == asker.sim.answer(said.prompt)
        partial += not (whole and asker.ending["status"] == "complete")
        learned += len(asker.of("no_end_mark_learned"))
    assert partial <= TURNS / 100
    further = len(asker.sim.requests) - before - TURNS
    marks_nothing = case.name in ("host_marks_nothing", "host_closes")
    assert further in (0, TURNS)
    assert learned == 0, "nothing says that the prose is whole"
    assert further or not marks_nothing


@pytest.mark.behaviour("S3a")
def test_no_stop_is_invented_where_none_ever_comes(host: tuple[Any, Any], way: str) -> None:
    asker, case = host
    asker.wrap(tenuto.Policy(**QUICK))
    stops = [asker.ask_case(case, "stream", way) for _ in range(5)]
    wanted = "stop" if case.name == "host_has_no_mark" else None
    assert [getattr(said, "finish", getattr(said, "stop", None)) for said in stops] == [wanted] * 5
