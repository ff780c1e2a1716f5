"""Amazon's side of Bedrock, written without Tenuto: signatures as botocore makes them, and event
streams as botocore reads them."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.eventstream import EventStreamBuffer

from support.aws_messages import message

ACCESS_KEY, SECRET_KEY, SESSION_TOKEN, REGION = (
    "AKIATEST",
    "s3cr3t/key",
    "session+token",
    "us-east-2",
)
KEYS: dict[str, Any] = {
    "aws_access_key": ACCESS_KEY,
    "aws_secret_key": SECRET_KEY,
    "aws_session_token": SESSION_TOKEN,
    "aws_region": REGION,
}


def wrong_signature(
    method: str, url: str, headers: Mapping[str, str], body: bytes, service: str, secret: str
) -> str:
    """Return what is wrong with the signature of a request as it arrived, "" where nothing is.

    Names of headers are in small letters."""
    words, _, rest = headers.get("authorization", "").partition(" ")
    if words != "AWS4-HMAC-SHA256":
        return "unsigned"
    parts = dict(part.strip().split("=", 1) for part in rest.split(","))
    signed = parts["SignedHeaders"].split(";")
    if missing := [name for name in signed if name not in headers]:
        return f"signed but not sent: {missing}"
    if unsigned := [n for n in headers if n.startswith("x-amz-") and n not in signed]:
        return f"sent but not signed: {unsigned}"
    held = hashlib.sha256(body).hexdigest()
    if headers.get("x-amz-content-sha256", held) != held:
        return "body"
    if "host" not in signed or headers.get("x-amz-security-token") != SESSION_TOKEN:
        return "host or session token"
    key, _, _, scope_service, _ = parts["Credential"].split("/")
    if (key, scope_service) != (ACCESS_KEY, service):
        return f"scope {parts['Credential']}"
    signer = SigV4Auth(Credentials(ACCESS_KEY, secret, SESSION_TOKEN), service, REGION)
    request = AWSRequest(method, url, {name: headers[name] for name in signed}, body)
    request.context["timestamp"] = headers["x-amz-date"]
    to_sign = signer.string_to_sign(request, signer.canonical_request(request))
    return "" if signer.signature(to_sign, request) == parts["Signature"] else "signature"


def failure(kind: str, words: str = "No.", **more: Any) -> bytes:
    """An exception in the middle of a stream."""
    payload = json.dumps({"message": words, **more}).encode()
    headers = {"exception_type": kind, "content_type": "application/json"}
    return message(payload, **headers, message_type="exception")


def as_botocore_reads(data: bytes) -> list[tuple[dict[str, Any], bytes]]:
    """Headers and payload of each message; botocore raises where a checksum is wrong."""
    buffer: Any = EventStreamBuffer()
    buffer.add_data(data)
    return [(event.headers, event.payload) for event in buffer]


def events_of(data: bytes) -> list[Any]:
    """The model's events in a stream of messages, decoded by botocore."""
    payloads = (json.loads(payload) for _, payload in as_botocore_reads(data))
    return [json.loads(base64.b64decode(payload["bytes"])) for payload in payloads]
