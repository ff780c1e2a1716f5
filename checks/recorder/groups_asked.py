"""Requests that ask for more: what a continuation, a repair or a retry has to edit in them.
Policies that go other ways. Turns of which one teaches the next something."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import tenuto
from checks.recorder import playing
from checks.recorder.cases import Group, Recorded
from checks.recorder.groups_sim import AT_ONCE, ELSEWHERE, Place, far
from checks.recorder.inside import CASES_ON
from checks.recorder.questions import WIRES, of_case
from checks.recorder.showing import Shown, shown

Members = Mapping[str, Any]
_CHOICES: Members = {"tool_choice": "required"}
_SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
_JSON_SCHEMA = {"type": "json_schema", "json_schema": {"name": "a", "schema": _SCHEMA}}

ASKED: Mapping[str, Mapping[str, Members]] = {
    "openai-chat": {
        "forced": _CHOICES,
        "named": {"tool_choice": {"type": "function", "function": {"name": "write_file"}}},
        "several": {"n": 2},
        "usage": {"stream_options": {"include_usage": True}},
        "stops": {"stop": ["Point 2", "###"]},
        "limit": {"max_tokens": 90},
        "new-limit": {"max_completion_tokens": 90},
        "probe": {"max_tokens": 1},
        "reasoning": {"reasoning_effort": "high"},
        "schema": {"response_format": _JSON_SCHEMA},
        "logprobs": {"logprobs": True},
        "one-by-one": {"parallel_tool_calls": False},
    },
    "anthropic-messages": {
        "forced": {"tool_choice": {"type": "any"}},
        "named": {"tool_choice": {"type": "tool", "name": "write_file"}},
        "stops": {"stop_sequences": ["Point 2", "###"]},
        "limit": {"max_tokens": 90},
        "probe": {"max_tokens": 1},
        "thinks": {"thinking": {"type": "enabled", "budget_tokens": 2048}},
        "adapts": {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
        "system": {"system": [{"type": "text", "text": "Be brief."}], "metadata": {"a": 1.0}},
    },
    "openai-responses": {
        "forced": _CHOICES,
        "named": {"tool_choice": {"type": "function", "name": "write_file"}},
        "limit": {"max_output_tokens": 90},
        "probe": {"max_output_tokens": 1},
        "kept": {"store": True},
        "not-kept": {"store": False, "include": ["reasoning.encrypted_content"]},
        "follows": {"previous_response_id": "resp_x"},
        "reasoning": {"reasoning": {"effort": "high", "summary": "auto"}},
        "schema": {
            "text": {"format": {"type": "json_schema", "name": "a", "schema": _SCHEMA}},
        },
        "text": {"input": "Tell me about it."},
        "background": {"background": True},
    },
    "gemini-generate": {
        "forced": {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
        "several": {"generationConfig": {"candidateCount": 2}},
        "stops": {"generationConfig": {"stopSequences": ["Point 2", "###"]}},
        "limit": {"generationConfig": {"maxOutputTokens": 90}},
        "no-limit": {"generationConfig": {}},
        "probe": {"generationConfig": {"maxOutputTokens": 1}},
        "thinks": {"generationConfig": {"thinkingConfig": {"thinkingBudget": 2048}}},
        "level": {"generationConfig": {"thinkingConfig": {"thinkingLevel": "high"}}},
        "system": {"systemInstruction": {"parts": [{"text": "Be brief."}]}},
    },
    "gemini-interactions": {
        "forced": {"generation_config": {"tool_choice": "any"}},
        "limit": {"generation_config": {"max_output_tokens": 90}},
        "kept": {"store": True},
        "thinks": {"generation_config": {"thinking_level": "high"}},
    },
    "bedrock-converse": {
        "limit": {"inferenceConfig": {"maxTokens": 90}},
        "stops": {"inferenceConfig": {"stopSequences": ["Point 2"]}},
        "thinks": {"additionalModelRequestFields": {"thinking": {"type": "enabled"}}},
    },
    "bedrock-invoke": {"forced": _CHOICES, "limit": {"max_tokens": 90}},
    "cohere": {
        "forced": {"tool_choice": "REQUIRED"},
        "limit": {"max_tokens": 90},
        "thinks": {"thinking": {"type": "enabled", "token_budget": 2048}},
    },
    "mistral": {
        "forced": {"tool_choice": "any"},
        "limit": {"max_tokens": 90},
        "schema": {"response_format": _JSON_SCHEMA},
    },
    "cohere-v1": {"limit": {"max_tokens": 90}},
    "ollama": {"limit": {"options": {"num_predict": 90}}, "thinks": {"think": True}},
    "openai-completions": {
        "echo": {"echo": True},
        "several": {"n": 2},
        "suffix": {"suffix": "The end."},
        "limit": {"max_tokens": 90},
    },
    "dashscope": {
        "limit": {"parameters": {"max_tokens": 90, "result_format": "message"}},
        "repeats": {"parameters": {"result_format": "message"}},
        "text": {"parameters": {"result_format": "text", "incremental_output": True}},
    },
}
"""By wire and name, what stands in the place of members of the request."""

CASES = (
    *("normal", "tool", "length_once", "length_twice", "call_cut_length", "call_malformed"),
    *(
        "empty_once",
        "reasoning_only_length",
        "reasoning_only_stop",
        "drop_mid_text",
        "call_missing",
    ),
    *("http_400_max_tokens_too_large", "drop_mid_call", "stop_sequence", "length_json"),
)

POLICIES: Mapping[str, Members] = {
    "execute": {"truncated_calls": "execute_complete"},
    "nothing": {
        "continuation_max_attempts": 0,
        "continuation_tool_repair_attempts": 0,
        "tool_answer_attempts": 0,
        "tool_shrink_attempts": 0,
        "empty_recovery": False,
        "missing_call_retries": 0,
        "fault_retries": 0,
        "parameter_fixes": 0,
        "pause_resumes": 0,
    },
    "short": {"continuation_max_attempts": 1, "hard_max_tokens": 300, "boost_max_tokens": 200},
    "small": {"hold_max_bytes": 300, "event_max_bytes": 600, "body_max_bytes": 900},
    "never": {"prefill": "never"},
    "always": {"prefill": "always"},
}
"""By name, settings that go another way."""


def groups() -> Iterator[Group]:
    """Return the groups of every wire."""
    for wire in WIRES:
        yield Group(f"asked/{wire}", partial(_asked, wire))
        yield Group(f"policy/{wire}", partial(_policies, wire))
        yield Group(f"series/{wire}", partial(_series, wire))


def _modes(wire: str, names: Any) -> Iterator[tuple[str, str]]:
    for name in names:
        if name in CASES_ON[wire]:
            for mode in sorted(CASES_ON[wire][name].modes):
                yield name, mode


def _asked(wire: str) -> Iterator[Recorded]:
    for title, members in ASKED.get(wire, {}).items():
        for name, mode in _modes(wire, CASES):
            key = f"asked/{wire}/{title}/{name}/{mode}"
            yield key, partial(_play, wire, name, mode, members)


def _policies(wire: str) -> Iterator[Recorded]:
    for name, mode in _modes(wire, CASES_ON[wire]):
        yield f"policy/{wire}/{name}/{mode}", partial(_by_each_policy, wire, name, mode)


def _by_each_policy(wire: str, name: str, mode: str) -> Shown:
    made = {}
    for title, settings in POLICIES.items():
        columns = _play(wire, name, mode, {}, settings)
        made[title] = b"\n".join(columns.values())
    return made


def _play(
    wire: str, name: str, mode: str, members: Members, settings: Members | None = None
) -> Shown:
    asked = of_case(wire, CASES_ON[wire][name], stream=mode == "stream")
    if members:
        body = json.loads(asked.body) | members
        asked = asked._replace(body=json.dumps(body, ensure_ascii=False).encode())
    played = playing.by_turn(far(Place(wire)), asked, tenuto.Policy(**(settings or {})))
    return shown(played, "sent", "received", "reported")


TEACHING = (
    *("host_has_no_mark", "host_has_no_stop", "host_marks_nothing", "host_counts_alone"),
    *("http_400_max_tokens_too_large", "http_400_unknown_key", "length_once", "length_context"),
)
TURNS = 5


def _series(wire: str) -> Iterator[Recorded]:
    places = {"": Place(wire, "https://host.example")}
    if wire in ELSEWHERE["prefill-refused"]:
        places["-refused"] = ELSEWHERE["prefill-refused"][wire]
    for kind, place in places.items():
        for name, mode in _modes(wire, TEACHING):
            yield f"series/{wire}/{name}{kind}/{mode}", partial(_taught, place, name, mode)
    if wire == "openai-responses":
        for mode in ("body", "stream"):
            yield f"series/{wire}/follows/{mode}", partial(_followed, mode)


def _taught(place: Place, name: str, mode: str) -> Shown:
    case = CASES_ON[place.wire][name]
    stream = mode == "stream"
    asked = of_case(place.wire, case, stream=stream, host=place.host, real=place.real)
    with playing.Series(tenuto.Policy(**AT_ONCE), watched=True) as series:
        turns = [series.play(far(place), asked) for _ in range(TURNS)]
    return _joined(turns)


def _joined(turns: list[playing.Played]) -> Shown:
    made = [shown(played, "sent", "received", "reported") for played in turns]
    return {column: b"\n".join(each[column] for each in made) for column in made[0]}


def _followed(mode: str) -> Shown:
    """Responses that follow by id on one that was continued, of which the provider knows two."""
    wire = "openai-responses"
    place, case = Place(wire), CASES_ON[wire]["length_once"]
    asked = of_case(wire, case, stream=mode == "stream")
    body = json.loads(asked.body)
    kept = far(place)
    with playing.Series(tenuto.Policy(**AT_ONCE), watched=True) as series:
        turns = [series.play(kept, asked)]
        for number in range(2):
            before = _ID.findall(turns[-1].received)[:1]
            more = {"previous_response_id": before[0].decode(), "input": f"And {number}?"}
            data = json.dumps(body | more).encode()
            turns.append(series.play(kept, asked._replace(body=data)))
    return _joined(turns)


_ID = re.compile(rb'"(resp_[^"]+)"')
