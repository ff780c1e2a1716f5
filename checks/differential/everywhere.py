"""The issue's cases that every wire can have, said in the simulator's words.

A key is the letter of the public reports or the number in the issue's third section, and a name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from checks.differential.far import Answer, Noted, Simulated, Written
from checks.differential.sdks import SDKS
from checks.differential.spoken import Said, Speaker, answer, each_turn, rest_of, says, spoken
from checks.differential.truth import State, Truth
from checks.differential.written import BODY, CHAT, EVERY, STREAM, Script
from tenuto_sim import Case, Step
from tenuto_sim.case import Arguments, Continuation, Cut, Ending, Kind, Say
from tenuto_sim.plan import saying

NAME: Final = "write_file"
WHOLE: Final = {"path": "a.txt", "content": "hi"}
RAW: Final = json.dumps(WHOLE)
OTHER: Final = json.dumps({"path": "b.txt", "content": "ho"})
LACKING: Final = {"content": "hi"}
MOON: Final = "The moon pulls the sea, and the far side is left behind."
HALF: Final = MOON[:21]
REST: Final = MOON[21:]
FAULTS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(CHAT, ("error", "insufficient_system_resource", "network_error")),
    "openai-responses": ("failed",),
    "anthropic": ("error",),
    "gemini": ("MALFORMED_RESPONSE", "OTHER", "TOO_MANY_TOOL_CALLS"),
    "bedrock": ("malformed_model_output",),
    "mistral": ("error",),
    "cohere": ("ERROR", "TIMEOUT"),
    "ollama": ("error",),
}
"""Stops with which a wire says that something went wrong."""
ENDINGS: Final = (Ending.DROP, Ending.EOF, Ending.CUT_OFF, Ending.RESET)


def _says(*said: Said | Speaker) -> Any:
    return lambda sdk, stream: spoken(sdk, said, stream=stream)


def _turns(*said: Said) -> Any:
    return lambda sdk, stream: each_turn(sdk, said, stream=stream)


def _scripted(steps: Sequence[Step], sdk: str, stream: bool) -> Simulated:
    del stream
    spoken_there = SDKS[sdk]
    case = Case("m", tuple(steps), "", wants_tools=any(s.kind for s in steps))
    return Simulated(case, dialect=spoken_there.dialect, prefill=spoken_there.prefill, script=steps)


def _planned(answers: Any, sdk: str, stream: bool) -> Simulated:
    del stream
    spoken_there = SDKS[sdk]
    case = Case("m", (), "", wants_tools=True)
    dialect, prefill = spoken_there.dialect, spoken_there.prefill
    return Simulated(case, dialect=dialect, prefill=prefill, answers=answers)


def _limited(text: str) -> Said:
    return says(text, finish="length")


def _dropped(text: str) -> Said:
    return says(text, ending=Ending.DROP)


class Redirecting(Written):
    """Sends every further request to another host, which says something else."""

    def __init__(self, sdk: str, stream: bool) -> None:
        self.noted = Noted()
        self._says = [
            answer(sdk, said, stream=stream, number=n)
            for n, said in enumerate((says(HALF, finish="length"), says(" nothing of the kind.")))
        ]

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Answer the first request, redirect further ones, and answer those as the other host."""
        del method
        host, _, port = headers["host"].partition(":")
        if host == "localhost" or not self.noted.answers:
            return self.noted.note(path, body, self._says[host == "localhost"])
        there = {"location": f"http://localhost:{port}{path}"}
        return self.noted.note(path, body, Answer(307, there))


def _call(given: Any, name: str = NAME) -> tuple[str, Any]:
    return (name, given)


_CUT: Final = Truth(State.CUT, MOON)
_OWED: Final = Truth(State.CUT, calls=(_call(WHOLE),))
_BROKEN_TEXT: Final = Step(keep=0.4, cut=Cut.MID_WORD, ending=Ending.DROP)

_D2: Final = (
    Script("D2/lacks_a_member", partial(_planned, [saying("", (NAME, LACKING))]), None, tools=True),
    Script("D2/after_a_text", partial(_planned, [saying("I write.", (NAME, LACKING))]), None,
           tools=True),
    Script("D2/two_calls", partial(_planned, [saying("", (NAME, WHOLE), (NAME, LACKING))]), None,
           tools=True),
    Script("D2/below_the_limit", _says(says("", (NAME, json.dumps(LACKING)))),
           Truth(State.WHOLE, calls=(_call(LACKING),)), tools=True, limit=900),
    Script("D2/without_usage", _says(says("", (NAME, json.dumps(LACKING)), usage=False)),
           Truth(State.WHOLE, calls=(_call(LACKING),)), tools=True),
)  # fmt: skip
_D: Final = tuple(
    Script(f"D/{name}", _says(says("", (NAME, raw), tokens=32, finish=finish), says("", (NAME, RAW))),
           _OWED, tools=True, limit=32)
    for finish in ("stop", "length")
    for name, raw in (
        (f"closed_empty_{finish}", "{}"),
        (f"closed_half_{finish}", json.dumps({"content": "h"})),
    )
)  # fmt: skip
_S: Final = tuple(
    Script(f"S/{fault}_then_{name}", _says(says(HALF, finish=fault), then), _CUT, sdks=(sdk,))
    for sdk, faults in FAULTS.items()
    for fault in faults
    for name, then in (
        ("nothing", says("")),
        ("white_space", says("\n\n")),
        ("the_rest", rest_of(MOON)),
        ("an_error", says(error="server")),
    )
)
_ENDS: Final = tuple(
    script
    for ending in ENDINGS
    for script in (
        Script(f"3.1/outage_{ending}", _turns(says(HALF, ending=ending), says("", ending=ending)),
               _CUT, modes=STREAM, turns=5),
        Script(f"3.2/{ending}_then_nothing", _says(says(HALF, ending=ending), says("")), _CUT,
               modes=STREAM),
        Script(f"3.2/{ending}_then_the_same", _says(says(HALF, ending=ending)), _CUT, modes=STREAM),
        Script(f"3.2/{ending}_then_the_rest", _says(says(HALF, ending=ending), rest_of(MOON)), _CUT,
               modes=STREAM),
        Script(f"3.12/{ending}_before_the_mark", _says(says(MOON, ending=ending), says("")),
               Truth(State.UNMARKED, MOON), modes=STREAM),
    )
)  # fmt: skip
_SEAMS: Final = tuple(
    # Behind a prefill the seam is exact (C14a): a preamble would be text.
    Script(f"{key}_{name}", _says(first, *then), Truth(State.CUT, whole), modes=modes,
           sdks=tuple(s for s in EVERY if "preamble" not in key or SDKS[s].prefill == "restart"))
    for name, first_of, modes in (
        ("limit", _limited, (False, True)),
        ("drop", _dropped, STREAM),
    )
    for key, first, then, whole in (
        ("3.10/one_character", first_of("船が来た。強い風"), [rest_of("船が来た。強い風風船も来た。")],
         "船が来た。強い風風船も来た。"),
        ("3.10/one_letter", first_of("It ends in the letter s"), [rest_of("It ends in the letter ssss, as you see.")],
         "It ends in the letter ssss, as you see."),
        ("3.12/preamble_without_echo", first_of(HALF),
         [rest_of(MOON, before="Sure, here is the rest:\n\n")], MOON),
        ("3.12/preamble_inside_a_line", first_of(HALF),
         [rest_of(MOON, before="Continuing: " + HALF)], MOON),
        ("3.5/cut_at_once", first_of(HALF),
         [rest_of(MOON, 7, finish="length"), rest_of(MOON)], MOON),
        ("3.12/few_tokens", first_of(MOON[:12]), [rest_of(MOON)], MOON),
    )
)  # fmt: skip
_STEPS: Final = tuple(
    Script(key, partial(_scripted, steps), None, tools=tools, modes=modes)
    for key, steps, tools, modes in (
        ("3.4/call_owed_text_breaks",
         [Step(kind=Kind.PREFACE_CALL, arguments=Arguments.CUT, finish="length"), _BROKEN_TEXT],
         True, STREAM),
        ("3.4/text_and_call_cut", [Step(kind=Kind.TEXT_CALL, keep=0.5, finish="length"),
                                   Step(keep=0.5, finish="length")], True, (False, True)),
        ("3.4/text_breaks_before_call",
         [Step(kind=Kind.TEXT_CALL, keep=0.5, cut=Cut.MID_WORD, ending=Ending.DROP), _BROKEN_TEXT],
         True, STREAM),
        ("3.10/repeats_then_breaks",
         [Step(keep=0.45, finish="length"),
          *[Step(continuation=Continuation.RESTART, keep=0.3, ending=Ending.DROP)] * 8],
         False, STREAM),
        ("3.10/overlaps_then_breaks",
         [Step(keep=0.45, finish="length"),
          *[Step(continuation=Continuation.OVERLAP, keep=0.1, ending=Ending.DROP)] * 8],
         False, STREAM),
        ("3.5/cut_again_and_again",
         [Step(keep=0.45, cut=Cut.MID_WORD, finish="length"),
          Step(keep=0.02, cut=Cut.MID_WORD, ending=Ending.DROP)], False, STREAM),
        ("3.5/empty_then_cut",
         [Step(keep=0.45, ending=Ending.DROP), Step(say=Say.NOTHING), Step(keep=0.3, finish="length")],
         False, STREAM),
    )
)  # fmt: skip
_CALLS: Final = (
    Script("3.7/one_of_two_again",
           _says(says("", (NAME, RAW[:12]), (NAME, RAW[:9]), finish="length"),
                 says("", (NAME, RAW)),
                 says("", (NAME, json.dumps({"path": "b.txt", "content": "ho"})))),
           Truth(State.CUT, calls=(_call(WHOLE), _call({"path": "b.txt", "content": "ho"}))),
           tools=True),
    Script("3.11/text_before_a_call_that_fails",
           _says(says("I write it now. ", (NAME, RAW[:12]), finish="length"), says(error="server")),
           Truth(State.CUT, "I write it now. ", (_call(WHOLE),)), tools=True),
    Script("D2/whole_beside_a_cut_one",
           _says(says("", (NAME, OTHER), (NAME, RAW[:12]), finish="length"),
                 says(error="server")),
           Truth(State.CUT, calls=(_call(json.loads(OTHER)), _call(WHOLE))), tools=True),
    Script("A/honest_repetition",
           _says(says("", (NAME, json.dumps({"path": "aaaaaa", "content": "{}{}{}((()))"})),
                      event_chars=1)),
           Truth(State.WHOLE, calls=(_call({"path": "aaaaaa", "content": "{}{}{}((()))"}),)),
           tools=True),
    Script("D2/empty_arguments_of_a_tool_with_required_ones",
           _says(says("", (NAME, "")), says("", (NAME, RAW))), _OWED, tools=True,
           sdks=(*CHAT, "openai-responses", "mistral", "cohere")),
)  # fmt: skip
_ENOUGH: Final = json.dumps({"path": "big.txt", "content": "0123456789abcdef" * 500})
_LARGE: Final = (
    Script("3.3/a_call_larger_on_the_wire_than_held", _says(says("", (NAME, _ENOUGH), event_chars=4)),
           Truth(State.WHOLE, calls=(_call(json.loads(_ENOUGH)),)), modes=STREAM, tools=True,
           limit=60_000, policy={"hold_max_bytes": 60_000}),
)  # fmt: skip
_PLAIN: Final = (
    Script("3.9/redirected_to_another_host", Redirecting, _CUT),
    Script("guard/whole_text", _says(says(MOON)), Truth(State.WHOLE, MOON)),
    Script("guard/whole_call", _says(says("", (NAME, RAW))), Truth(State.WHOLE, calls=(_call(WHOLE),)),
           tools=True),
    Script("guard/no_full_stop", _says(says("Because")), Truth(State.WHOLE, "Because")),
    Script("guard/body_without_usage", _says(says(MOON, usage=False)), Truth(State.WHOLE, MOON),
           modes=BODY),
    Script("F/filter_then_rest", _says(says(HALF, finish="content_filter"), says(REST)),
           Truth(State.BLOCKED, HALF), sdks=tuple(s for s in EVERY if s != "ollama")),
)  # fmt: skip

SCRIPTS: Final[tuple[Script, ...]] = (
    *(*_D2, *_D, *_S, *_ENDS, *_SEAMS, *_STEPS, *_CALLS, *_LARGE, *_PLAIN),
)
