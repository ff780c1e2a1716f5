"""How a whole request of Nova's messages with Bedrock's InvokeModel is written.

https://docs.aws.amazon.com/nova/latest/userguide/complete-request-schema.html (2026-11-22)
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

from tenuto.wire import bedrock_converse_form
from tenuto.wire.base import Dialect, JsonObject
from tenuto.wire.form import Opening


def members(opening: Opening, dialect: Dialect) -> JsonObject:
    """All members but the messages."""
    return {"schemaVersion": "messages-v1", **bedrock_converse_form.members(opening, dialect)}


def path(model: str, stream: bool) -> str:
    """Where it is sent to, below the base URL.

    >>> path("amazon.nova-lite-v1:0", True)
    '/model/amazon.nova-lite-v1%3A0/invoke-with-response-stream'
    """
    asked = "invoke-with-response-stream" if stream else "invoke"
    return f"/model/{quote(model, safe='')}/{asked}"


FORM = replace(bedrock_converse_form.FORM, members=members, path=path)
