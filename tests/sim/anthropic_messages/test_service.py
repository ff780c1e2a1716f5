"""One port serves both wires, with the same pace, compression and count of who left."""

from __future__ import annotations

from typing import Any

import anthropic
import httpx
import openai
import pytest

from tenuto_sim import Simulator

ASK: dict[str, Any] = {"model": "sim", "messages": [{"role": "user", "content": "pace"}]}
HEADERS = {"x-api-key": "key", "anthropic-version": "2023-06-01"}


def test_one_port_answers_both_wires():
    with (
        Simulator() as sim,
        openai.OpenAI(base_url=sim.base_url, api_key="key") as one,
        anthropic.Anthropic(base_url=sim.root_url, api_key="key") as other,
    ):
        said = one.chat.completions.create(**ASK).choices[0].message.content
        (block,) = other.messages.create(max_tokens=4096, **ASK).content
        assert block.type == "text"
        assert block.text == said
        wires = [request.wire for request in sim.requests]
    assert wires == ["openai-chat", "anthropic-messages"]


@pytest.mark.parametrize("model", ["sim", "sim/double_done", "sim/tiny_writes", "sim/one_write"])
def test_an_answer_that_was_read_whole_is_no_disconnect(model):
    with (
        Simulator() as sim,
        anthropic.Anthropic(base_url=sim.root_url, api_key="key") as client,
    ):
        with client.messages.stream(max_tokens=4096, **ASK | {"model": model}) as stream:
            assert stream.get_final_text() == sim.answer("pace")
        assert (sim.open_streams, sim.disconnects) == (0, 0)


def test_answers_are_compressed_for_those_who_ask():
    with Simulator(gzip=True) as sim:
        client = anthropic.Anthropic(base_url=sim.root_url, api_key="key")
        with client, client.messages.stream(max_tokens=4096, **ASK) as stream:
            assert stream.get_final_text() == sim.answer("pace")
            assert stream.response.headers["content-encoding"] == "gzip"


def test_in_lockstep_each_event_waits_for_an_acknowledgement():
    with Simulator(lockstep=True, lockstep_timeout_s=5) as sim:
        body = ASK | {"max_tokens": 3, "stream": True}
        names = []
        with httpx.stream("POST", sim.base_url + "/messages", json=body, headers=HEADERS) as got:
            for line in got.iter_lines():
                if line.startswith("event: "):
                    names.append(line.removeprefix("event: "))
                    sim.acknowledge()
        assert not sim.stalled
    assert names == [
        "message_start", "content_block_start", "ping", *["content_block_delta"] * 3,
        "content_block_stop", "message_delta", "message_stop",
    ]  # fmt: skip
