"""Asking Bedrock's InvokeModel through a wrapped client of boto3, in front of a far side that says what
a test wrote down."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import boto3
from asking_bedrock import given_to_a_client
from replay import Reply
from wrapping import QUICK

import tenuto

STREAM = "application/vnd.amazon.eventstream"


@dataclass(frozen=True)
class Raw:
    """A response as its bytes."""

    body: bytes
    kind: str = "application/json"
    wait_s: float = 0.0

    def reply(self, asked: Any) -> Reply:
        return Reply(200, self.kind, self.body, {})


def client_at(url: str, events: list[tenuto.Event] | None = None, **settings: Any) -> Any:
    bare = boto3.client("bedrock-runtime", **given_to_a_client(url, 0))
    policy = tenuto.Policy(**(QUICK | settings))
    return tenuto.wrap(bare, policy=policy, on_event=None if events is None else events.append)


def events_in(response: Any) -> Iterator[Any]:
    for event in response["body"]:
        yield json.loads(event["chunk"]["bytes"])
