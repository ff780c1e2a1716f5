"""A framework that takes two HTTP clients, in a process of its own: what a user reads of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from support.pairing import matrix, param
from support.replay.openai_chat import R, Replay

PROGRAM = """
import asyncio, json, sys, types
import tenuto

plan = json.loads(sys.argv[1])
if plan["loaded"]:
    sys.modules[plan["loaded"]] = types.ModuleType("stub")
made = {name: getattr(tenuto, name)("httpx") for name in plan["made"]}
asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}

async def ask():
    for _ in range(plan["times"]):
        for name, client in made.items():
            response = client.post(plan["url"] + "/chat/completions", json=asked)
            response = await response if name == "async_http_client" else response
            print(response.json()["choices"][0]["message"]["content"], file=sys.stderr)

asyncio.run(ask())
"""

SYNC, ASYNC = "http_client", "async_http_client"


@pytest.fixture
def replay() -> Iterator[Replay]:
    with Replay() as running:
        yield running


def written(replay: Replay, made: list[str], times: int = 1, **plan: Any) -> list[str]:
    """What a program writes to its standard error that asks through each client so many times."""
    replay.say(*[R("Hello")] * len(made) * times)
    plan = {"loaded": "langchain_openai", "url": replay.base_url} | plan
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(plan | {"made": made, "times": times})],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stderr.splitlines()


@matrix(
    ("made", "missing"),
    [
        param(
            SYNC,
            "its model http_async_client=tenuto.async_http_client('httpx')",
            heavy=False,
            id=SYNC,
        ),
        param(ASYNC, "its model http_client=tenuto.http_client('httpx')", heavy=True, id=ASYNC),
    ],
)
def test_one_client_for_langchain_is_warned_of_at_its_first_request(replay, made, missing):
    warning, *answers = written(replay, [made], times=2)
    assert warning.startswith("langchain_openai takes one HTTP client for sync and one for async")
    assert warning.endswith(missing)
    assert answers == ["Hello", "Hello"]  # it is said once


@matrix("made", [param(each, heavy=each == SYNC, id=each) for each in (SYNC, ASYNC)])
def test_a_client_that_was_never_asked_is_warned_of_when_the_process_ends(replay, made):
    (warning,) = written(replay, [made], times=0)
    assert f"only tenuto.{made}('httpx') was created" in warning


def test_other_frameworks_that_take_two_clients_are_warned_of_in_their_own_words(replay):
    (warning,) = written(replay, [SYNC], times=0, loaded="llama_index.llms.openai")
    assert "pass its model async_http_client=tenuto.async_http_client('httpx')" in warning


@matrix(
    ("made", "loaded"),
    [
        param([SYNC, ASYNC], "langchain_openai", heavy=False, id="both"),
        param([SYNC], "", heavy=True, id="no framework"),
        param([SYNC], "langchain_anthropic", heavy=False, id="one client"),
    ],
)
def test_nothing_is_said_where_both_were_made_or_no_framework_takes_two(replay, made, loaded):
    assert written(replay, made, loaded=loaded) == ["Hello"] * len(made)
