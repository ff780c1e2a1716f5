"""The same model through the official SDK of Anthropic, whose wire its server speaks too.

The server is one that no row of ours knows as taking a prefill on this wire, so the policy says it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from support.pairing import matrix, param

import tenuto
from tenuto.cli.model_server import ModelServer

pytestmark = [pytest.mark.real_model, pytest.mark.slow, pytest.mark.timeout(300)]

UNCUT_TOKENS = 400
CUT = (("What is the moon?", 24), ("What is photosynthesis?", 24))


@pytest.fixture(scope="module")
def claude(with_prefill: ModelServer) -> Iterator[anthropic.Anthropic]:
    root = with_prefill.base_url.removesuffix("/v1")
    with anthropic.Anthropic(base_url=root, api_key="none", max_retries=0) as made:
        yield made


def ask(client: anthropic.Anthropic, mode: str, prompt: str, limit_tokens: int) -> Any:
    asked: Any = {
        "model": "small",
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": limit_tokens,
        "extra_body": {"temperature": 0},
    }
    if mode == "body":
        return client.messages.create(**asked)
    with client.messages.stream(**asked) as stream:
        return stream.get_final_message()


@functools.cache
def uncut(client: anthropic.Anthropic, prompt: str) -> Any:
    return ask(client, "body", prompt, UNCUT_TOKENS)


@pytest.mark.behaviour("C1", "C8")
@matrix(
    ("prompt", "limit_tokens", "mode"),
    [
        param(*case, mode, heavy=(case, mode) != (CUT[0], "stream"), id=f"{case[0]}-{mode}")
        for case in CUT
        for mode in ("body", "stream")
    ],
)
def test_an_answer_that_is_cut_equals_the_uncut_one(
    claude: anthropic.Anthropic, prompt: str, limit_tokens: int, mode: str
) -> None:
    cut = ask(claude, "body", prompt, limit_tokens)
    assert cut.stop_reason == "max_tokens"
    events: list[tenuto.Event] = []
    policy = tenuto.Policy(prefill="always")
    said = ask(
        tenuto.wrap(claude, policy=policy, on_event=events.append), mode, prompt, limit_tokens
    )
    [block] = said.content
    assert (block.text, said.stop_reason) == (uncut(claude, prompt).content[0].text, "end_turn")
    assert [e.data["prefill"] for e in events if e.name == "continuation_attempt"]
