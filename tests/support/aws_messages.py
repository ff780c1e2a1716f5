"""Messages of Amazon's event streams, put together from the words of the specification."""

from __future__ import annotations

import base64
import json
import struct
from binascii import crc32


def message(payload: bytes, **headers: str) -> bytes:
    """One message; `message_type` stands for `:message-type`."""
    head = b""
    for key, value in headers.items():
        name = b":" + key.replace("_", "-").encode()
        head += bytes([len(name)]) + name + b"\x07" + struct.pack(">H", len(value)) + value.encode()
    made = struct.pack(">II", 16 + len(head) + len(payload), len(head))
    made += struct.pack(">I", crc32(made)) + head + payload
    return made + struct.pack(">I", crc32(made))


def chunk(data: bytes, padding: str = "abcdefgh") -> bytes:
    """One event of the model, as Bedrock sends it: with padding, and its headers in this order."""
    payload = json.dumps({"bytes": base64.b64encode(data).decode(), "p": padding}).encode()
    kind = {"event_type": "chunk", "content_type": "application/json", "message_type": "event"}
    return message(payload, **kind)
