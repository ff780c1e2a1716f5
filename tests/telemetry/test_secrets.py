"""No secret leaves the process, wherever it stood in a request or an answer.

Each secret has a place of its own and a value of its own, so that a leak names its place. Errors that
an SDK makes of the provider's own bytes are not searched: the provider's answer passes unchanged (P8),
and so does what an SDK says of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk")

from support.asking.anthropic_messages import WrappedAnthropic
from support.asking.gemini_generate import WrappedGemini, user
from support.asking.wrapping import QUICK, Wrapped
from support.leaving import Leaving
from support.one_turn import drive
from support.pairing import WAYS, every_pair
from support.replay import anthropic_messages, gemini_generate, openai_chat
from support.replay.openai_chat import Answer, Replay

import tenuto
from tenuto.core.errors import TenutoError
from tenuto.core.events.turn import TurnStarted
from tenuto.telemetry.redaction import Redactor
from tenuto.turn.drivers.scripted import Script, Scripted, lost

pytestmark = pytest.mark.behaviour("N10")

MODES = ("body", "stream")

PLANTED = {
    "authorization": "b3arerPlanted0001x7Qz",
    "x-api-key": "ap1keyPlanted0002x7Qz",
    "x-team-gate": "cust0mPlanted0003x7Qz",
    "query": "qu3ryPlanted0004x7Qz",
    "userinfo": "us3rinfoPlanted0005x7Qz",
    "path": "pathPlanted0006x7Qz",
    "provider": "sk-pr0viderPlanted0007x7Qz",
    "prompt": "planted prompt 0008",
    "arguments": "planted arguments 0009",
    "answer": "planted answer 0010",
    "system": "planted system 0011",
}
"""Secrets and content by the place where they stand."""

CONTENT = ("prompt", "arguments", "answer", "system")
"""Places of content, which a capture holds by contract."""

ECHOED = tuple(place for place in PLANTED if place not in CONTENT)
"""What a provider says again in its error texts, its error codes and its stop values."""


@dataclass(frozen=True)
class Wire:
    """One wire: who asks, whose answers, and what its tests need to know.

    Attributes:
        replay: the module of its written-down answers.
        asker: the wrapped SDK.
        path: the path behind the base URL.
        call: an answer with a call whose arguments are cut.
        ask: members of the request.
    """

    replay: Any
    asker: type[Any]
    path: str
    call: Callable[[], Answer]
    ask: Callable[[], dict[str, Any]]


def _cut(module: Any) -> Callable[[], Answer]:
    call = (
        module.Call(arguments='{"path": "' + PLANTED["arguments"])
        if module is not gemini_generate
        else None
    )
    return lambda: module.R("", module.MAX, [call])


WIRES = {
    "openai-chat": Wire(
        openai_chat, Wrapped, "/v1/chat/completions", _cut(openai_chat),
        lambda: {"messages": [
            {"role": "system", "content": PLANTED["system"]},
            {"role": "user", "content": PLANTED["prompt"]},
        ], **openai_chat.FILES},
    ),
    "anthropic-messages": Wire(
        anthropic_messages, WrappedAnthropic, "/v1/messages", _cut(anthropic_messages),
        lambda: {"system": PLANTED["system"], "messages": [
            {"role": "user", "content": PLANTED["prompt"]},
        ], "max_tokens": 1_000, **anthropic_messages.FILES},
    ),
    "gemini-generate": Wire(
        gemini_generate, WrappedGemini, "/v1beta/models/sim:{}",
        lambda: gemini_generate.R([gemini_generate.call(path=PLANTED["arguments"])], "MAX_TOKENS"),
        lambda: {"contents": [user(PLANTED["prompt"])]},
    ),
}  # fmt: skip


def plays(wire: Wire, absent: Collection[str] = ()) -> dict[str, list[Answer]]:
    """Answers of turns that are healthy, recovered, failed and odd, by what happens. `absent`: what
    the request does not hold, so that nobody can say it again."""
    r, refused, end = wire.replay.R, wire.replay.Refused, wire.replay.MAX
    said = PLANTED["answer"]
    echo = {place: PLANTED[place] for place in ECHOED if place not in absent}
    return {
        "healthy": [r(said)],
        "recovered": [r(said + ". Then ", end), r("it ended.")],
        "retried": [r(said, end), refused(503, echo["provider"], echo["x-api-key"]), r("It.")],
        "stays cut": [r(f"{said}{n}. ", end) for n in range(9)],
        "empty": [r("")] * 9,
        "broken off": [r(f"{said} number {n}. ", dropped=True) for n in range(9)],
        "call cut": [wire.call()] * 9,
        **{
            f"refused with {place}": [refused(status, f"The key {secret} is none.", secret)]
            for (place, secret), status in zip(echo.items(), [400, 401, 403, 422, 429, 500, 503], strict=False)
        },
        **{f"unknown stop with {place}": [r("It.", secret)] for place, secret in echo.items()},
        "limit named": [r(said, end), *[refused(500, f"No {v}.", v) for v in echo.values()]],
    }  # fmt: skip


def leaks(texts: dict[str, str], places: tuple[str, ...] = tuple(PLANTED)) -> list[str]:
    """Which secrets stand where."""
    return [
        f"{place} in {way}: {text[max(0, text.find(PLANTED[place]) - 60) :][:150]}"
        for way, text in texts.items()
        for place in places
        if PLANTED[place] in text
    ]


def headers() -> dict[str, str]:
    given = {name: PLANTED[name] for name in ("x-api-key", "x-team-gate")}
    return {"authorization": f"Bearer {PLANTED['authorization']}", **given}


def base_url(host: str, scheme: str = "http") -> str:
    """A base URL with a user, and with a key in its path."""
    return f"{scheme}://me:{PLANTED['userinfo']}@{host}/{PLANTED['path']}"


# --- turns without an SDK, with their reports ----------------------------------------------------


def scripted(answer: Answer, mode: str) -> Scripted:
    """An answer as a script has it."""
    reply = answer.reply({"model": "sim", "stream": mode == "stream"})
    kind = (b"content-type", reply.content_type.encode())
    return Scripted(tenuto.sansio.Head(reply.status, (kind,)), (reply.body,))


OWN_ERROR = "Tenuto could not finish this turn"
"""What an error begins with that Tenuto wrote; all others have the provider's bytes (P8)."""


def run(turn: tenuto.sansio.Turn, script: Script) -> str:
    """Drive a turn to its end, and return what Tenuto wrote of its own: errors, "" where none."""
    got = drive(turn, script)
    shown = repr(got.head and got.head.headers) + got.body.decode()
    return shown if OWN_ERROR in shown else ""


def begun(wire: Wire, mode: str, policy: tenuto.Policy, hear: Any) -> tenuto.sansio.Turn:
    """A turn with a secret in each place of its request."""
    method = "streamGenerateContent" if mode == "stream" else "generateContent"
    url = base_url("api.example.com", "https") + wire.path.format(method)
    url += f"?key={PLANTED['query']}" + ("&alt=sse" if "gemini" in wire.path else "")
    body = {"model": "sim", "stream": mode == "stream", **wire.ask()}
    given = [*headers().items(), ("content-type", "application/json")]
    return tenuto.sansio.Turn(
        "POST", url, given, json.dumps(body).encode(), policy=policy, on_event=hear
    )


@every_pair(name=WIRES, mode=MODES, on_incomplete=["stop", "error"])
def test_no_secret_leaves_a_turn(name: str, mode: str, on_incomplete: Any, tmp_path: Path) -> None:
    wire, out = WIRES[name], Leaving(tmp_path, lines=10_000)
    policy = tenuto.Policy(backoff_s=0.0, retry_after_max_s=0.0, on_incomplete=on_incomplete)
    found: list[str] = []
    own_errors = 0
    with out.heard():
        for what, answers in plays(wire).items():
            turn = begun(wire, mode, policy, out)
            own = run(turn, Script(*(scripted(answer, mode) for answer in answers)))
            found += leaks({f"error of {what}": own}, ECHOED)
            own_errors += bool(own)
            if (report := turn.report) is not None:
                told = {"report": str(report), "report's values": json.dumps(report.as_dict())}
                told["report's repr"] = repr(report)
                found += [f"{what}: {leak}" for leak in leaks(told)]
        run(begun(wire, mode, policy, out), Script(lost()))
    out.close()
    assert out.records.kept
    assert own_errors or on_incomplete == "stop"
    assert len(out.spans) > len(plays(wire))
    assert found + leaks(out.texts()) == []


# --- turns of the SDKs ---------------------------------------------------------------------------


NOT_SENT = {"headers": {"userinfo", "path"}, "url": {"authorization"}}
"""What a request lacks by where its secrets stand: a user of the URL takes the header's place."""


class Address:
    """Where an asker finds the far side."""

    def __init__(self, root_url: str) -> None:
        self.root_url, self.base_url = root_url, root_url + "/v1"


def asking(wire: Wire) -> dict[str, Any]:
    """The members of a request beside its messages, as the SDK takes them."""
    if wire.replay is gemini_generate:
        return {"http_options": {"headers": headers()}, **gemini_generate.FILES}
    given = {key: value for key, value in wire.ask().items() if key != "messages"}
    return {**given, "extra_headers": headers(), "extra_query": {"key": PLANTED["query"]}}


@every_pair(name=WIRES, mode=MODES, way=WAYS, place=["headers", "url"])
def test_no_secret_leaves_a_wrapped_client(
    name: str, mode: str, way: str, place: str, tmp_path: Path
) -> None:
    wire, out = WIRES[name], Leaving(tmp_path, lines=10_000)
    folder = tmp_path / "captures"
    folder.mkdir()
    policy = tenuto.Policy(**QUICK, capture=str(folder))
    errors: list[str] = []
    with Replay() as replay, out.heard():
        host = replay.root_url.removeprefix("http://")
        at = Address(base_url(host) if place == "url" else replay.root_url)
        asker = wire.asker(at, policy)
        for listened in ("client", "async_client"):
            if (bare := getattr(asker, listened, None)) is not None:
                setattr(asker, listened, tenuto.wrap(bare, policy=policy, on_event=out))
        messages = wire.ask().get("messages") or wire.ask()["contents"]
        absent = NOT_SENT[place] | ({"query"} if wire.replay is gemini_generate else set())
        for answers in plays(wire, absent).values():
            replay.say(*answers)
            got = asker.ask(messages, mode, way, **asking(wire))
            if isinstance(got.error, TenutoError) or OWN_ERROR in str(got.error):
                errors += [str(got.error), repr(got.error), repr(got.error.args)]
        asker.close()
        (sent, *_) = replay.requests
    out.close()
    came = repr((sent.path, sent.headers, sent.json))
    assert [
        p for p in ECHOED if p not in absent | {"provider", "userinfo"} and PLANTED[p] not in came
    ] == []
    assert len(out.exporter.get_finished_spans()) > 20
    assert errors
    found = leaks(out.texts()) + leaks({"errors": "".join(errors)}, ECHOED)
    captured = {path.name: path.read_text() for path in folder.iterdir()}
    assert captured
    assert found + leaks(captured, ECHOED) == []


# --- texts ---------------------------------------------------------------------------------------

UUID = "550e8400-e29b-41d4-a716-446655440000"


@pytest.mark.parametrize(
    ("url", "secret"),
    [
        ("https://me:hunter2hunter2@host/v1/messages", "hunter2hunter2"),
        ("https://me:hunter2%2Fhunter2@host/v1/messages", "hunter2/hunter2"),
        ("https://0123456789abcdef@host/v1/messages", "0123456789abcdef"),
        ("https://host/0123456789abcdef/v1/messages", "0123456789abcdef"),
        (f"https://host/{UUID}/v1/messages", UUID),
    ],
)
def test_a_key_of_the_url_is_removed_where_a_provider_says_it_again(url: str, secret: str) -> None:
    redactor = Redactor(url, ())
    assert redactor.brief(f"no such key: {secret}!") == "no such key: [removed]!"
    assert secret not in redactor.url(url)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cookie", "theme=dark; gate=hunter2hunter2; lang=en"),
        ("authorization", 'Gate id=me, key="hunter2hunter2", mode=short'),
    ],
)
def test_a_key_within_a_header_is_removed_where_a_provider_says_it_again(
    name: str, value: str
) -> None:
    redactor = Redactor("https://host/v1/messages", [(name, value)])
    assert redactor.brief("no hunter2hunter2 in dark mode!") == "no [removed] in dark mode!"


@pytest.mark.parametrize("given", ["{}", "Bearer {}"])
def test_a_key_of_a_header_is_removed_from_the_url_that_is_told(given: str) -> None:
    key = "my-gateway-key"  # looks like any segment of a path
    redactor = Redactor(f"https://host/{key}/v1/messages", [("x-api-key", given.format(key))])
    assert redactor.own_url() == "https://host/[removed]/v1/messages"


@pytest.mark.parametrize(
    ("url", "port"),
    [
        ("https://h/v1", 443),
        ("http://h/v1", 80),
        ("http://h:81/v1", 81),
    ],
)
def test_the_first_event_says_where_the_turn_goes(url: str, port: int | None) -> None:
    told: list[tenuto.Event] = []
    body = json.dumps({"model": "sim", **WIRES["openai-chat"].ask()}).encode()
    turn = tenuto.sansio.Turn("POST", f"{url}/chat/completions", [], body, on_event=told.append)
    run(turn, Script(lost()))
    assert isinstance(told[0], TurnStarted)
    assert (told[0].host, told[0].port, told[0].url) == ("h", port, f"{url}/chat/completions")


@pytest.mark.parametrize(
    "said",
    ["developer", "host.example.com", "claude-sonnet-4-5-20250929", "gemini-2.5-flash-preview-tts"],
)
def test_a_user_and_a_model_of_the_url_stay(said: str) -> None:
    models = "claude-sonnet-4-5-20250929/gemini-2.5-flash-preview-tts:generateContent"
    url = f"https://developer:hunter2hunter2@host.example.com/v1/models/{models}"
    assert Redactor(url, ()).brief(f"It was {said}.") == f"It was {said}."


@pytest.mark.parametrize("body", [b"", b'{"model": "sim"}'])
@pytest.mark.parametrize("host", ["api.example.com", "[api.example.com"])
def test_an_error_of_a_turn_that_cannot_begin_holds_no_secret(host: str, body: bytes) -> None:
    url = base_url(host, "https") + f"/v1/elsewhere?key={PLANTED['query']}"
    with pytest.raises(TenutoError) as raised:
        tenuto.sansio.Turn("POST", url, list(headers().items()), body)
    error = raised.value
    assert leaks({"str": str(error), "repr": repr(error), "args": repr(error.args)}) == []


def test_a_report_has_a_stop_value_of_a_table_as_it_came() -> None:
    wire = WIRES["openai-chat"]
    turn = begun(wire, "body", tenuto.Policy(), None)
    run(turn, Script(scripted(wire.replay.R("It."), "body")))
    assert turn.report is not None
    assert turn.report.stop is not None
    assert turn.report.stop.raw == "stop"
