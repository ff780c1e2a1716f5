"""Whole requests of Nova's messages on Bedrock's InvokeModel.

https://docs.aws.amazon.com/nova/latest/userguide/complete-request-schema.html (2026-11-22)
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import cast
from urllib.parse import quote

from tenuto.wires.bedrock_converse import wire as bedrock_converse
from tenuto.wires.form import Form, Opening
from tenuto.wires.json import JsonObject

NOVA = re.compile(r"(?:\A|[./])amazon\.nova|nova-")
"""Matches Nova by its name. The name of a profile or a custom model doesn't reveal its maker."""

_CONVERSE = cast("Form", bedrock_converse.WIRE.form)


def members(opening: Opening) -> JsonObject:
    """Return all members except the messages."""
    return {"schemaVersion": "messages-v1", **_CONVERSE.members(opening)}


def path(model: str, stream: bool) -> str:
    """Return the path below the base URL.

    >>> path("amazon.nova-lite-v1:0", True)
    '/model/amazon.nova-lite-v1%3A0/invoke-with-response-stream'
    """
    asked = "invoke-with-response-stream" if stream else "invoke"
    return f"/model/{quote(model, safe='')}/{asked}"


def instead(model: str) -> str:
    """Return Converse for all models but Nova: this form writes only Nova's requests.

    >>> instead("us.amazon.nova-lite-v1:0"), instead("openai.gpt-oss-120b-1:0")
    ('', 'bedrock-converse')
    """
    return "" if NOVA.search(model) else "bedrock-converse"


FORM = replace(_CONVERSE, members=members, path=path, instead=instead)
