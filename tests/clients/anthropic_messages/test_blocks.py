"""Content is blocks: those of all attempts stand in one message, the same whole and streamed, and go
back as the provider wants them."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest
from support.asking.anthropic_messages import Said
from support.replay.anthropic_messages import (
    ASK,
    CITATION,
    END,
    FILES,
    MAX,
    PAUSE,
    REDACTED,
    TOOL,
    Call,
    R,
    Refused,
    assistant,
    found,
    said,
    searching,
    thought,
    user,
)

from tenuto.core import hints

both = pytest.mark.parametrize("mode", ["body", "stream"])
ENABLED: dict[str, Any] = {"thinking": {"type": "enabled", "budget_tokens": 4_096}}
CALL = Call().block() | {"input": {"path": "a.txt", "content": "x"}}
CITED = said("The tide turns twice a day.", CITATION)


def content(got: Said) -> list[Any]:
    assert got.error is None, got.error
    return list(got.message["content"])


def in_both_modes(play: Any, answers: list[Any], way: str, **more: Any) -> list[Any]:
    """The content, which must be the same whole and streamed."""
    contents = [content(play(*answers).tell(mode, way, **more)) for mode in ("body", "stream")]
    assert contents[0] == contents[1]
    return contents[0]


# --- first attempts and continuations -----------------------------------------------------------

FIRST = {
    "thinking": [thought("hm")],
    "redacted": [REDACTED],
    "both": [thought("hm"), REDACTED],
    "search": [said("Let me look. "), searching(), found()],
    "cited": [searching(), found(), CITED],
    "search_after_thinking": [thought("hm"), searching(), found()],
}
"""What stands before the text that is cut."""


@pytest.mark.behaviour("C20", "S2", "S4", "C28a")
@pytest.mark.parametrize("before", FIRST.values(), ids=FIRST)
def test_blocks_before_the_cut_stay_and_the_text_goes_on_in_its_block(play, before, way):
    answers = [R([*before, said("Half a ")], MAX), R("sentence.")]
    assert in_both_modes(play, answers, way) == [*before, said("Half a sentence.")]


@pytest.mark.behaviour("C24", "S2")
@pytest.mark.parametrize(
    "after",
    [
        [searching(), found(), CITED],
        [searching(), found(), said("and so on.")],
        [CALL],
        [searching(), found(), said("Now I write."), CALL],
    ],
    ids=["cited", "search", "call", "all"],
)
def test_blocks_of_a_continuation_follow_in_one_row(play, after, way):
    rest = [said("sentence. "), *after]
    stop = TOOL if CALL in after else END
    answers = [R([thought("hm"), said("Half a ")], MAX), R(rest, stop)]
    got = in_both_modes(play, answers, way, **FILES)
    assert got == [thought("hm"), said("Half a sentence. "), *after]


@pytest.mark.behaviour("S2", "C20")
def test_thinking_of_a_continuation_does_not_part_the_sentence(play, way):
    answers = [R("Half a ", MAX), R([thought("where was I?"), said("sentence.")])]
    assert in_both_modes(play, answers, way) == [said("Half a sentence.")]


@pytest.mark.behaviour("C14", "S2")
def test_an_overlap_is_removed_after_thinking_too(play, way):
    answers = [R("The result is wor", MAX), R([thought("where was I?"), said("world.")])]
    assert in_both_modes(play, answers, way) == [said("The result is world.")]


@pytest.mark.behaviour("C7", "S2")
def test_white_space_at_a_cut_is_kept_where_the_provider_goes_on_with_a_search(play, way):
    answers = [R("Let me look. \n", MAX), R([searching(), found(), said("Found.")])]
    texts = []
    for mode in ("body", "stream"):
        got = play(*answers).tell(mode, way)
        texts.append(got.text)
        kinds = [block["type"] for block in content(got)]
        assert kinds == ["text", "server_tool_use", "web_search_tool_result", "text"]
    assert texts[0] == texts[1]
    assert texts[0].split() == ["Let", "me", "look.", "Found."]


@pytest.mark.behaviour("S3")
def test_what_the_provider_ran_is_not_asked_for_twice_after_a_drop(play, way):
    turn = play(R([searching(), found()], dropped=True), R("never asked for"))
    got = turn.tell("stream", way)
    assert isinstance(got.error, anthropic.APIStatusError)
    assert (turn.sent, turn.ending["status"]) == (1, "failed")


@pytest.mark.behaviour("C28a")
def test_texts_are_not_merged_across_their_citations(play, way):
    answers = [R([CITED, said(" It is high ", CITATION)], MAX), R("at noon.")]
    for mode in ("body", "stream"):
        got = play(*answers).tell(mode, way)
        assert got.text == "The tide turns twice a day. It is high at noon."
        _, cited, rest = content(got)
        # The white space between them belongs to either.
        assert (cited["text"].strip(), rest["text"].strip()) == ("It is high", "at noon.")
        assert "citations" not in rest


@pytest.mark.behaviour("C28a")
def test_a_text_between_cited_ones_goes_on_where_it_was_cut(play, way):
    answers = [R([CITED, said(" And so ")], MAX), R([said("on. "), CITED])]
    assert in_both_modes(play, answers, way) == [CITED, said(" And so on. "), CITED]


@pytest.mark.behaviour("C2", "S2")
def test_a_text_that_is_cut_three_times_stays_one_block(play, way):
    answers = [
        R([thought("hm"), said("A")], MAX),
        R("B", MAX),
        R("C", MAX),
        R([said("D"), CALL], TOOL),
    ]
    assert in_both_modes(play, answers, way, **FILES) == [thought("hm"), said("ABCD"), CALL]


@pytest.mark.behaviour("S3", "S2")
@pytest.mark.parametrize("before", FIRST.values(), ids=FIRST)
def test_a_stream_that_breaks_off_goes_on_in_the_same_block(play, before, way):
    turn = play(R([*before, said("Half a ")], dropped=True), R("sentence."))
    assert content(turn.tell("stream", way)) == [*before, said("Half a sentence.")]


@pytest.mark.behaviour("C24", "T5")
@both
def test_text_before_a_broken_call_is_there_once_and_the_call_stands_behind_it(play, mode, way):
    cut = Call(arguments='{"path": "a.t')
    turn = play(R("I will write. ", MAX, [cut]), R("", TOOL, [Call()]))
    assert content(turn.tell(mode, way, **FILES)) == [said("I will write. "), CALL]


# --- what goes back -----------------------------------------------------------------------------


@pytest.mark.behaviour("C20", "C7")
@both
def test_what_a_search_found_goes_back_with_the_text_and_thinking_signed(play, mode, way):
    before = [thought("hm"), searching(), found()]
    turn = play(R([*before, said("Half a ")], MAX), R("sentence."))
    turn.tell(mode, way)
    assert turn.added(1) == [assistant(*before, "Half a"), user(hints.CONTINUE)]


@pytest.mark.behaviour("C20")
@both
@pytest.mark.parametrize("first", [[thought("hm", "")], [thought("hm", ""), REDACTED]])
def test_unsigned_thinking_never_goes_back(play, mode, way, first):
    cut = Call(arguments='{"path": "a.t')
    turn = play(*[R([*first, said("I write.")], MAX, [cut])] * 3, R("Never mind."))
    turn.tell(mode, way, **FILES, **ENABLED, max_tokens=6_000)
    signed = [block for block in first if block["type"] != "thinking"]
    row, _ = turn.added(2)
    assert row["content"][: len(signed)] == signed
    assert "thinking" not in [block["type"] for block in row["content"]]


@pytest.mark.behaviour("C20", "T5", "T8")
@both
def test_signed_thinking_goes_back_verbatim_before_failed_calls(play, mode, way):
    first = [thought("hm hm"), REDACTED]
    cut = Call(arguments='{"path": "a.t')
    turn = play(*[R([*first, said("I write.")], MAX, [cut])] * 2, R("Never mind."))
    turn.tell(mode, way, **FILES, **ENABLED, max_tokens=6_000)
    row, results = turn.added(2)
    call = Call().block() | {"input": {}}
    assert row == assistant(*first, "I write.", call)
    assert results["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "toolu_a",
            "is_error": True,
            "content": hints.CALL_CUT_RESULT,
        }
    ]


@pytest.mark.behaviour("C20", "S3", "S9")
@pytest.mark.parametrize("way_to_end", ["dropped", "cut"])
def test_a_cut_in_thinking_is_recovered_and_the_next_turn_is_accepted(play, way, way_to_end):
    """Unsigned thinking was delivered before it broke off: it is dropped when it comes back."""
    broken = [thought("half a thou", "")]
    first = R(broken, dropped=True) if way_to_end == "dropped" else R(broken, MAX)
    turn = play(first, R([thought("a whole one"), said("The answer.")]), R("Fine."))
    got = turn.tell("stream", way, **ENABLED, max_tokens=6_000)
    assert (got.text, got.stop) == ("The answer.", "end_turn")
    turn.ask([ASK, got.message, {"role": "user", "content": "Go on."}], "stream", way)
    row = turn.bodies[-1]["messages"][1]
    assert all(block.get("signature") for block in row["content"] if block["type"] == "thinking")
    assert row["content"][-1] == said("The answer.")


# --- a paused turn (C26) ------------------------------------------------------------------------

SEARCH = [thought("hm"), said("Let me look.\n"), searching()]
RESULT = [found(), said("Found it.", CITATION)]


@pytest.mark.behaviour("C26", "S2")
@both
def test_a_paused_turn_goes_back_verbatim_and_is_one_message_in_the_end(play, mode, way):
    turn = play(R(SEARCH, PAUSE, tokens=3), R(RESULT, END, tokens=4))
    got = turn.tell(mode, way, **FILES)
    assert content(got) == [*SEARCH, *RESULT]
    assert turn.added(1) == [assistant(*SEARCH)]
    assert turn.budgets == [4_096, 4_096]
    assert (got.stop, got.usage.output_tokens) == ("end_turn", 7)
    assert turn.ending["status"] == "complete"


@pytest.mark.behaviour("C26", "C17")
@both
def test_a_paused_turn_goes_back_with_the_limit_that_the_model_takes(play, mode, way):
    refusal = "max_tokens: 4096 > 1000, which is the maximum allowed number of output tokens for m"
    turn = play(Refused(400, refusal), R(SEARCH, PAUSE), R(RESULT))
    got = turn.tell(mode, way, **FILES)
    assert content(got) == [*SEARCH, *RESULT]
    assert turn.budgets == [4_096, 1_000, 1_000]


@pytest.mark.behaviour("C26")
@both
def test_all_that_came_goes_back_each_time_and_ten_times_at_most(play, mode, way):
    turn = play(*[R(f"{n}. ", PAUSE) for n in range(12)])
    got = turn.tell(mode, way)
    assert turn.sent == 11
    blocks = [said(f"{n}. ") for n in range(11)]
    assert turn.added(10) == [assistant(*blocks[:10])]
    assert (content(got), got.stop) == (blocks, "pause_turn")
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "paused")


@pytest.mark.behaviour("C26", "C1")
@both
def test_a_turn_that_is_cut_after_its_pause_goes_on(play, mode, way):
    turn = play(R(SEARCH, PAUSE), R([found(), said("Half a ")], MAX), R("sentence."))
    got = turn.tell(mode, way)
    assert content(got) == [*SEARCH, found(), said("Half a sentence.")]
    assert got.stop == "end_turn"
    assert turn.added(2) == [assistant(*SEARCH, found(), "Half a"), user(hints.CONTINUE)]


@pytest.mark.behaviour("C26", "C24")
@both
def test_a_paused_turn_may_end_in_calls(play, mode, way):
    turn = play(R(SEARCH, PAUSE), R([found(), said("I write."), CALL], TOOL))
    got = turn.tell(mode, way, **FILES)
    assert content(got) == [*SEARCH, found(), said("I write."), CALL]
    assert got.stop == "tool_use"


@pytest.mark.behaviour("C26", "C24", "N3", "H2")
@both
@pytest.mark.parametrize("first", [[], [R(SEARCH[:2], PAUSE)]], ids=["at_once", "after_a_pause"])
def test_a_call_beside_a_pause_is_handed_on_and_the_search_stays_open(play, mode, way, first):
    rest = [R([searching()], PAUSE, [Call()]), R(RESULT)]
    turn = play(*first, *rest)
    got = turn.tell(mode, way, **FILES)
    blocks = [*SEARCH, CALL] if first else [searching(), CALL]
    assert (content(got), turn.sent) == (blocks, len(first) + 1)
    assert (turn.ending["status"], turn.ending["reason"]) == ("complete", "completed")
    result = {"type": "tool_result", "tool_use_id": CALL["id"], "content": "written"}
    history = [ASK, assistant(*blocks), {"role": "user", "content": [result]}]
    assert content(turn.ask(history, mode, way, **FILES)) == RESULT
    assert turn.bodies[-1]["messages"] == history


@pytest.mark.behaviour("C26", "T1")
@both
def test_half_a_call_beside_a_pause_is_told(play, mode, way):
    turn = play(R(SEARCH, PAUSE, [Call(arguments='{"path": "a')]), R(RESULT))
    got = turn.tell(mode, way, **FILES)
    # The provider closes the arguments of a body, so that nothing shows that they are half (T12b).
    closed = [{**CALL, "input": {"path": "a"}}] if mode == "body" else []
    assert (content(got), got.stop, turn.sent) == ([*SEARCH, *closed], PAUSE, 1)
    end = ("complete", "completed") if closed else ("partial", "paused")
    assert (turn.ending["status"], turn.ending["reason"]) == end


@pytest.mark.behaviour("C26", "C5")
@both
@pytest.mark.parametrize("blocks", [SEARCH, SEARCH[2:]], ids=["text", "no_text"])
@pytest.mark.parametrize("failure", [Refused(403), Refused(500), R(dropped=True)])
def test_a_failure_after_a_pause_leaves_the_turn_paused_with_all_its_blocks(
    play, mode, way, blocks, failure
):
    turn = play(R(blocks, PAUSE), *[failure] * 3)
    got = turn.tell(mode, way)
    assert (content(got), got.stop) == (blocks, "pause_turn")
    assert (turn.ending["status"], turn.ending["reason"]) == ("partial", "provider_error")


@pytest.mark.behaviour("C26", "P5")
@both
def test_after_a_fault_a_paused_turn_is_sent_back_again(play, mode, way):
    turn = play(R(SEARCH, PAUSE), Refused(529, code="overloaded_error"), R(RESULT))
    got = turn.tell(mode, way)
    assert (content(got), got.stop) == ([*SEARCH, *RESULT], "end_turn")
    assert turn.added(1) == turn.added(2) == [assistant(*SEARCH)]


# --- a search that never had a result -----------------------------------------------------------


@pytest.mark.behaviour("H2", "H9", "C7")
@both
def test_a_search_that_was_cut_does_not_go_out_again(play, mode, way):
    turn = play(R([said("I look."), searching()], MAX), R("It turns."), R("Twice."))
    got = turn.tell(mode, way)
    assert [block["type"] for block in content(got)] == ["text", "server_tool_use", "text"]
    assert turn.added(1) == [assistant("I look."), user(hints.CONTINUE)]
    history = [ASK, assistant(*content(got)), ASK]
    assert turn.ask(history, mode, way).text == "Twice."
    assert turn.bodies[2]["messages"] == [ASK, assistant("I look.", "It turns."), ASK]


@pytest.mark.behaviour("H2", "H9", "S3")
@pytest.mark.parametrize("asks", ['{"que', '{"query": "tides"}'], ids=["half", "whole"])
def test_a_search_that_broke_off_does_not_go_out_again(play, way, asks):
    broken = R([said("I look."), searching() | {"input": asks}], dropped=True)
    turn = play(broken, R("It turns."), R("Twice."))
    got = turn.tell("stream", way)
    turn.ask([ASK, assistant(*content(got)), ASK], "stream", way)
    assert turn.bodies[2]["messages"] == [ASK, assistant("I look.", "It turns."), ASK]


@pytest.mark.behaviour("H2", "H9", "C10")
@both
def test_a_search_that_the_caller_sent_back_in_vain_does_not_go_out_again(play, mode, way):
    turn = play(R("It tur", MAX), R("ns."))
    got = turn.ask([ASK, assistant("I look.", searching())], mode, way)
    assert got.text == "It turns."
    assert turn.bodies[0]["messages"] == [ASK, assistant("I look.", searching())]
    rows = [ASK, assistant("I look."), assistant("It tur"), user(hints.CONTINUE)]
    assert turn.bodies[1]["messages"] == rows


# --- keys beside the blocks ---------------------------------------------------------------------


@pytest.mark.behaviour("C24", "T13", "C25")
@both
def test_further_keys_of_a_call_survive_a_continuation(play, mode, way):
    caller = {"caller": {"type": "direct"}}
    turn = play(R("I will ", MAX), R("write.", TOOL, [Call(extra=caller)]))
    assert content(turn.tell(mode, way, **FILES))[-1] == CALL | caller


@pytest.mark.behaviour("N4", "C1")
@both
def test_what_stands_beside_the_last_stop_is_handed_on(play, mode, way):
    ending = {
        "stop_sequence": "###",
        "container": {"id": "c_1", "expires_at": "2026-11-22T00:00:00Z"},
    }
    turn = play(R("Half a ", MAX), R("sentence.", "stop_sequence", beside=ending))
    told: list[Any] = []
    given: Any = {"model": "m", "max_tokens": 999, "messages": [ASK]}
    if mode == "body":
        made = turn.client.messages.create(**given)
    else:
        with turn.client.messages.stream(**given) as stream:
            told.extend(stream)
            made = stream.get_final_message()
    assert (made.stop_reason, made.stop_sequence) == ("stop_sequence", "###")
    assert made.container.id == "c_1"


# --- text around a call that is left out ---------------------------------------------------------

AROUND = {
    "behind a call": [Call().block()],
    "behind thinking and a call": [thought("hm"), Call().block()],
    "around a call": [said("Before. "), Call().block()],
    "behind two calls": [Call().block(), Call(id="toolu_b").block()],
    "around two calls": [Call().block(), said("Between. "), Call(id="toolu_b").block()],
}
REST = {
    "text": (R("tten now."),),
    "a call": (R("", TOOL, [Call(id="toolu_c")]),),
    "both": (R("tten now.", TOOL, [Call(id="toolu_c")]),),
}


@pytest.mark.behaviour("S2", "T3", "C24")
@pytest.mark.parametrize("rest", REST.values(), ids=REST)
@pytest.mark.parametrize("before", AROUND.values(), ids=AROUND)
def test_text_that_is_cut_behind_a_call_is_the_same_whole_and_streamed(play, way, before, rest):
    asked_again = R("", TOOL, [Call(id="toolu_d")])
    answers = [R([*before, said("The file is being wri")], MAX, tokens=500), *rest, asked_again]
    got = in_both_modes(play, answers, way, max_tokens=500, **FILES)
    texts = [block["text"] for block in got if block["type"] == "text"]
    written = "The file is being wri" + ("tten now." if rest[0].says else "")
    assert texts == [b["text"] for b in before if b["type"] == "text"] + [written]
    # Each is certain to be whole, since text is behind it; that they are the same makes them no one.
    called = [block for block in got if block["type"] == "tool_use"]
    assert len(called) == [block["type"] for block in before].count("tool_use")
    assert len({block["id"] for block in called}) == len(called)


# --- the container that the provider runs code in ------------------------------------------------

CONTAINER = {"container": {"id": "container_1"}}
NAMED = {
    "none": ({}, "container_1"),
    "null": ({"container": None}, "container_1"),
    "skills": ({"container": {"skills": [1]}}, {"skills": [1], "id": "container_1"}),
    "another": ({"container": "container_0"}, "container_0"),
}


@pytest.mark.behaviour("C26", "C7")
@both
@pytest.mark.parametrize("stop", [PAUSE, MAX])
@pytest.mark.parametrize(("asked", "sent"), NAMED.values(), ids=NAMED)
def test_a_further_request_names_the_container_of_the_answer(play, mode, way, stop, asked, sent):
    ran = [said("I run it. "), searching(), found(), said("So ")]
    turn = play(R(ran, stop, beside=CONTAINER), R("it is.", beside=CONTAINER))
    got = turn.tell(mode, way, extra_body=asked)
    assert (got.error, got.text) == (None, "I run it. So it is.")
    assert turn.bodies[1]["container"] == sent
    assert "container" not in str(turn.added(1))
