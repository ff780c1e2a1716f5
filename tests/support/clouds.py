"""Amazon Bedrock and Google Vertex AI in front of a simulator: each looks at how a request is signed,
refuses one that is not as it must be, and lets the simulator answer the rest in the cloud's form."""

from __future__ import annotations

import http.client
import json
import threading
import urllib.parse
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

import anthropic

import tenuto
from support.asking.anthropic_messages import Said, WrappedAnthropic
from support.aws import KEYS, SECRET_KEY, failure, wrong_signature
from support.aws_messages import chunk
from support.far_sides import FarSide
from tenuto_sim import Simulator

ERRORS = {
    400: ("ValidationException", 400),
    401: ("UnrecognizedClientException", 403),
    403: ("AccessDeniedException", 403),
    429: ("ThrottlingException", 429),
    500: ("InternalServerException", 500),
    529: ("ServiceUnavailableException", 503),
}
"""What Bedrock makes of the model's own errors."""

EXCEPTIONS = {
    "overloaded_error": "serviceUnavailableException",
    "rate_limit_error": "throttlingException",
    "invalid_request_error": "validationException",
    "timeout_error": "modelTimeoutException",
    "api_error": "internalServerException",
}
"""The same in the middle of a stream."""


def wrongs(far: FarSide, service: str = "bedrock", secret: str = SECRET_KEY) -> list[str]:
    """What is wrong with the signature of each request that arrived."""
    found = []
    for head, body in far.requests:
        line, *rows = head.decode().strip().split("\r\n")
        headers = {key.lower(): value.strip() for key, _, value in (r.partition(":") for r in rows)}
        assert not any(name.startswith("x-tenuto") for name in headers)
        method, path, _ = line.split(" ")
        url = far.base_url.removesuffix("/v1") + path
        found.append(wrong_signature(method, url, headers, body, service, secret))
    return found


class Cloud:
    """What the clouds have in common: a server in front of a simulator.

    `refused` holds what was wrong with each request that was refused, `seen` path, headers and
    body of all that were not."""

    service = ""

    def __init__(self, sim: Simulator) -> None:
        self.sim = sim
        self.refused: list[str] = []
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> Any:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def wrong(self, path: str, headers: dict[str, str], body: bytes) -> str:
        """Return why a request is refused, "" where it is not."""
        raise NotImplementedError

    def asked(self, path: str) -> tuple[str, bool]:
        """Return the model that a path names, and whether a stream is asked for."""
        raise NotImplementedError

    def error(self, status: int, value: Any) -> tuple[int, dict[str, str], Any]:
        """Return status, headers and body of an error of the model's."""
        return status, {}, value

    def event(self, raw: bytes) -> bytes:
        """Return an event of the model as this cloud sends it."""
        return raw

    stream_type = "text/event-stream"


class Bedrock(Cloud):
    """Checks the signature (SigV4) of every request, and answers streams in binary messages."""

    service = "bedrock"
    stream_type = "application/vnd.amazon.eventstream"

    def __init__(self, sim: Simulator) -> None:
        super().__init__(sim)
        self.secret = SECRET_KEY
        self.bearer = ""

    def wrong(self, path: str, headers: dict[str, str], body: bytes) -> str:
        if self.bearer:
            return "" if headers.get("authorization") == f"Bearer {self.bearer}" else "bearer"
        url = self.url + path
        return wrong_signature("POST", url, headers, body, self.service, self.secret)

    def asked(self, path: str) -> tuple[str, bool]:
        _, _, model, action = path.split("/")
        return urllib.parse.unquote(model).removeprefix("us.anthropic."), action != "invoke"

    def error(self, status: int, value: Any) -> tuple[int, dict[str, str], Any]:
        kind, status = ERRORS.get(status, ("InternalServerException", 500))
        return status, {"x-amzn-errortype": kind + ":"}, {"message": value["error"]["message"]}

    def event(self, raw: bytes) -> bytes:
        data = b"".join(line[5:].strip() for line in raw.split(b"\n") if line.startswith(b"data:"))
        try:
            value = json.loads(data)
        except ValueError:
            return chunk(data) if data else b""
        if isinstance(value, dict) and value.get("type") == "error":
            kind = EXCEPTIONS.get(value["error"]["type"], "modelStreamErrorException")
            return failure(kind, value["error"]["message"])
        return chunk(data)


class Vertex(Cloud):
    """Checks the token of every request."""

    def __init__(self, sim: Simulator) -> None:
        super().__init__(sim)
        self.tokens = ["token"]

    def wrong(self, path: str, headers: dict[str, str], body: bytes) -> str:
        given = headers.get("authorization", "")
        return "" if given in [f"Bearer {token}" for token in self.tokens] else "token"

    def asked(self, path: str) -> tuple[str, bool]:
        model, _, action = path.rpartition("/")[2].partition(":")
        return urllib.parse.unquote(model), action == "streamRawPredict"


def _handler(cloud: Cloud) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {key.lower(): value for key, value in self.headers.items()}
            wrong = cloud.wrong(self.path, headers, body)
            if any(name.startswith("x-tenuto") for name in headers):
                wrong = "a header of Tenuto's"
            if wrong:
                cloud.refused.append(wrong)
                refusal = {"message": f"The request signature does not match: {wrong}."}
                self._whole(403, {"x-amzn-errortype": "AccessDeniedException"}, refusal)
                return
            cloud.seen.append((self.path, headers, body))
            try:
                self._pass_on(body, headers)
            except (OSError, http.client.HTTPException):
                self.close_connection = True  # the simulator broke off, or the client left

        def _pass_on(self, body: bytes, headers: dict[str, str]) -> None:
            name, stream = cloud.asked(self.path)
            asked = json.loads(body)
            asked |= {"model": name.removeprefix("claude-").replace(".", "/", 1), "stream": stream}
            assert asked.pop("anthropic_version")
            betas = asked.pop("anthropic_beta", headers.get("anthropic-beta", "").split(","))
            far = http.client.HTTPConnection(cloud.sim.root_url.removeprefix("http://"), timeout=30)
            told = {
                "content-type": "application/json",
                "x-api-key": "key",
                "anthropic-version": "2023-06-01",
                "anthropic-beta": ",".join(betas),
            }
            far.request("POST", "/v1/messages", json.dumps(asked), told)
            try:
                self._answer(far.getresponse())
            finally:
                far.close()

        def _answer(self, response: Any) -> None:
            kind = response.headers["content-type"]
            retry = {k: v for k, v in response.headers.items() if k.lower().startswith("retry")}
            if "event-stream" in kind:
                self.send_response(200)
                self.send_header("content-type", cloud.stream_type)
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                for event in _events(response):
                    made = cloud.event(event)
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(made), made) if made else b"")
                self.wfile.write(b"0\r\n\r\n")
            elif response.status >= 400 and "json" in kind:
                status, more, value = cloud.error(response.status, json.loads(response.read()))
                self._whole(status, more | retry, value)
            else:
                self._whole(response.status, retry | {"content-type": kind}, response.read())

        def _whole(self, status: int, headers: dict[str, str], value: Any) -> None:
            body = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            for name, text in ({"content-type": "application/json"} | headers).items():
                self.send_header(name, text)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nobody reads it."""

    return Handler


def _events(response: Any) -> Iterator[bytes]:
    """The events of a stream, each as soon as it is there; what the end leaves over is dropped."""
    event = b""
    while line := response.readline():
        event += line
        if line == b"\n":
            yield event
            event = b""


class CloudAsker(WrappedAnthropic):
    """Asks a cloud through the SDK's own client for it, wrapped; its models are Claude's."""

    prefix = "claude-"

    def __init__(
        self,
        cloud: Cloud,
        kinds: tuple[Any, Any],
        policy: tenuto.Policy | None,
        *,
        watched: bool = True,
        **given: Any,
    ) -> None:
        super().__init__(cloud.sim, policy or tenuto.Policy())
        self.cloud = cloud
        self.client.close()
        self.loop.run_until_complete(self.async_client.close())
        given = {"base_url": cloud.url, "max_retries": 2} | given
        self.client, self.async_client = (kind(**given) for kind in kinds)
        if policy is not None:
            self.wrap(policy, watched=watched)

    def ask(self, messages: list[Any], mode: str = "body", way: str = "sync", **more: Any) -> Said:
        model = self.prefix + str(more.pop("model", "sim")).replace("/", ".", 1)
        return super().ask(messages, mode, way, model=model, **more)


BEDROCK = (anthropic.AnthropicBedrock, anthropic.AsyncAnthropicBedrock)
VERTEX = (anthropic.AnthropicVertex, anthropic.AsyncAnthropicVertex)


class BedrockAsker(CloudAsker):
    """Asks Bedrock; no policy: the SDK's client as it is."""

    prefix = "us.anthropic.claude-"

    def __init__(
        self, cloud: Bedrock, policy: tenuto.Policy | None, *, watched: bool = True, **given: Any
    ) -> None:
        super().__init__(cloud, BEDROCK, policy, watched=watched, **(given or KEYS))


class VertexAsker(CloudAsker):
    """Asks Vertex AI."""

    def __init__(self, cloud: Vertex, policy: tenuto.Policy | None, **given: Any) -> None:
        own = {"region": "us-east5", "project_id": "p", "base_url": cloud.url + "/v1"}
        super().__init__(cloud, VERTEX, policy, **(own | (given or {"access_token": "token"})))
