"""Providers and wires that are registered at run time, as those who detect and those who ask meet them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Any

import pytest

import tenuto
from tenuto import (
    Provider,
    RegistrationError,
    StreamDetector,
    detect,
    register_provider,
    register_wire,
)
from tenuto.core.answer.stop import StopReason
from tenuto.core.events.event import Event
from tenuto.core.settings.policy import Policy
from tenuto.providers import registry
from tenuto.providers.table import PROVIDERS, ROWS
from tenuto.turn.drivers.commands import Head, Request
from tenuto.turn.drivers.drive import Drive
from tenuto.turn.drivers.scripted import Script, Scripted
from tenuto.turn.pipeline.engine import Engine
from tenuto.wires.base import no_request, unasked
from tenuto.wires.chat_like import chat as chat_like
from tenuto.wires.dialect import Dialect
from tenuto.wires.enveloped import enveloped
from tenuto.wires.openai_chat import wire as openai_chat
from tenuto.wires.registry import WIRES, wires

LOCAL = "http://gpu.lab:8000/v1/chat/completions"


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """What a test registers is gone after it."""
    before = [(names, names.all()) for names in (ROWS, WIRES)]
    yield
    for names, known in before:
        names._all = known
        names.changes += 1


def body(text: str = "Hello", finish: str | None = "stop") -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    return json.dumps({"choices": [choice | {"finish_reason": finish}]}).encode()


def stream(text: str, finish: str) -> bytes:
    deltas: list[dict[str, Any]] = [{"delta": {"content": text}, "finish_reason": None}]
    deltas.append({"delta": {}, "finish_reason": finish})
    events = (json.dumps({"id": "c", "choices": [{"index": 0, **delta}]}) for delta in deltas)
    return b"".join(b"data: %s\n\n" % event.encode() for event in events) + b"data: [DONE]\n\n"


VENDOR = enveloped(
    openai_chat.WIRE, "vendor", member="answer", is_request=lambda path: path.endswith("/vendor")
)
"""A wire of its own: the one that ships, in an envelope `{"answer": …}`."""


def ask(engine: Engine, url: str, script: Script, *, streams: bool = False) -> bytes:
    row = {"role": "user", "content": "Hi"}
    asked = json.dumps({"model": "m", "messages": [row], "stream": streams}).encode()
    run = engine.begin(Request("POST", url, (), asked))
    assert run is not None
    head, *pieces = Drive(run, script.connect).pieces()
    assert isinstance(head, Head)
    return b"".join(piece for piece in pieces if isinstance(piece, bytes))


# --- by name and version ------------------------------------------------------------------------


@pytest.mark.behaviour("N8")
@pytest.mark.parametrize(
    "name", ["openai-chat", "deepseek", "openai", "deepseek@7", None, "nobody"]
)
def test_a_wire_a_provider_a_version_and_nobody_at_all_give_the_same_stop(name) -> None:
    assert detect(body(finish="length"), wire=name).reason is StopReason.MAX_TOKENS
    detector = StreamDetector(name)
    detector.feed(stream("Hi", "length"))
    assert detector.finalize() == detect(stream("Hi", "length"))


@pytest.mark.behaviour("N8")
def test_a_name_that_nobody_has_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    for name in ("opnai-chat\n", "opnai-chat\n", "openai-chat", "deepseek", "deepseek@7", "", None):
        detect(body(), wire=name)
        StreamDetector(name)
    assert [record.getMessage() for record in caplog.records] == [
        r"no wire or provider is named opnai-chat\n: found from the shape"
    ]


@pytest.mark.behaviour("N8")
@pytest.mark.parametrize("name", [7, b"openai", ["openai"], "", "@", "@2", "\x00"])
def test_what_is_no_name_is_found_from_the_shape_and_does_not_raise(name) -> None:
    assert detect(body(finish="length"), wire=name).reason is StopReason.MAX_TOKENS
    assert StreamDetector(name).feed(body()).terminal is False


@pytest.mark.behaviour("N8")
def test_each_version_has_its_own_row_and_another_version_the_newest() -> None:
    register_provider(
        Provider("acme", wire="openai-chat", version="1", overrides={"cut": "max_tokens"})
    )
    register_provider(
        Provider("acme", wire="openai-chat", version="2", overrides={"cut": "refusal"})
    )
    told = {
        name: detect(body(finish="cut"), wire=name).reason
        for name in ("acme@1", "acme@2", "acme", "acme@3", "acmé")
    }
    assert told == {
        "acme@1": StopReason.MAX_TOKENS,
        "acme@2": StopReason.REFUSAL,
        "acme": StopReason.REFUSAL,
        "acme@3": StopReason.REFUSAL,
        "acmé": StopReason.UNKNOWN,
    }
    register_provider(Provider("acme", wire="openai-chat"))
    assert detect(body(finish="cut"), wire="acme@3").reason is StopReason.UNKNOWN
    assert detect(body(finish="cut"), wire="acme@1").reason is StopReason.MAX_TOKENS


@pytest.mark.behaviour("N8")
def test_a_wire_object_is_found_by_name_by_shape_and_by_path() -> None:
    given = {"answer": json.loads(body(finish="length"))}
    assert detect(given).reason is StopReason.UNKNOWN
    register_wire(VENDOR)
    assert detect(given).reason is StopReason.MAX_TOKENS
    assert detect(given, wire="vendor").reason is StopReason.MAX_TOKENS
    events = (
        stream("Hi", "length").replace(b"data: {", b'data: {"answer": {').replace(b"}\n", b"}}\n")
    )
    assert detect(events, wire="vendor").reason is StopReason.MAX_TOKENS
    assert detect(body(finish="length")).reason is StopReason.MAX_TOKENS
    assert registry.route("https://x.example/vendor")[0] is WIRES.find("vendor")


@pytest.mark.behaviour("N8")
def test_a_name_that_is_taken_is_replaced_and_that_of_a_provider_does_not_narrow_its_wires() -> (
    None
):
    later = replace(VENDOR)
    register_wire(VENDOR)
    register_wire(later)
    register_provider(Provider("acme", wire="vendor", hosts=["acme.example"]))
    assert wires()["vendor"] is later
    assert list(wires()).count("vendor") == 1
    # This provider may well speak another wire that is known.
    assert detect(body(finish="length"), wire="acme").reason is StopReason.MAX_TOKENS
    assert detect({"answer": json.loads(body())}, wire="acme").reason is StopReason.END_TURN
    register_provider(Provider("openai", wire="openai-chat", hosts=["proxy.example"]))
    assert registry.route("https://api.openai.com/v1/chat/completions")[1].dialect.name == "unknown"
    assert registry.route("https://proxy.example/v1/chat/completions")[1].dialect.name == "openai"


def providers_at(urls: Iterable[str]) -> dict[str, str]:
    """The name of the provider that a chat request goes to, by base URL."""
    return {url: registry.route(url + "/chat/completions")[1].dialect.name for url in urls}


@pytest.mark.behaviour("N8")
def test_a_provider_is_recognized_by_host_port_sub_domain_path_and_server() -> None:
    register_provider(Provider("one", wire="openai-chat", hosts=["Acme.example", ".acme.example"]))
    register_provider(Provider("two", wire="openai-chat", hosts=["localhost:8000"]))
    register_provider(Provider("three", wire="openai-chat", server="Three/", prefill=True))
    register_provider(Provider("four", wire="openai-chat", hosts=["gateway.example/Models/four"]))
    urls = {
        "https://gateway.example/models/four/v1": "four",
        "https://gateway.example/models/fourth/v1": "unknown",
        "https://gateway.example/v1": "unknown",
        "https://acme.example/v1": "one",
        "https://eu.ACME.example:443/v1": "one",
        "https://notacme.example/v1": "unknown",
        "http://user:key@localhost:8000/v1": "two",
        "http://localhost:8001/v1": "unknown",
        "https://api.deepseek.com/v1": "deepseek",
    }
    assert providers_at(urls) == urls
    assert tenuto.providers.table.by_server("three/1.2").dialect.prefill is True


@pytest.mark.behaviour("N8")
def test_a_wire_is_tried_before_the_built_in_ones_but_at_hosts_with_a_wire_of_their_own() -> None:
    path = "/v1/chat/completions"
    register_wire(replace(VENDOR, is_request=path.__eq__))
    register_provider(Provider("gpu", wire="openai-chat", hosts=["gpu.lab:8000"]))
    told = {
        host: (wire and wire.name, row.dialect.name, row.wire)
        for host in ("x.example", "gpu.lab:8000", "api.openai.com", "api.mistral.ai")
        for wire, row, _ in [registry.route(f"https://{host}{path}")]
    }
    assert told == {
        "x.example": ("vendor", "unknown", "vendor"),
        "gpu.lab:8000": ("openai-chat", "gpu", "openai-chat"),
        "api.openai.com": ("openai-chat", "openai", "openai-chat"),
        "api.mistral.ai": ("mistral", "mistral", "mistral"),
    }
    wire = registry.route(f"https://x.example{path}", "mistral")[0]  # its SDK says so
    assert wire is WIRES.find("mistral")
    register_provider(Provider("vendor-ai", wire="vendor", hosts=["gpu.lab:8000/v1"]))
    wire, row, _ = registry.route(LOCAL)
    assert (wire, row.dialect.name) == (WIRES.find("vendor"), "vendor-ai")


@pytest.mark.behaviour("N8")
def test_a_version_of_a_wire_is_only_for_the_provider_that_names_it() -> None:
    register_wire(replace(openai_chat.WIRE), version="2")
    register_provider(Provider("gpu", wire="openai-chat@2", hosts=["gpu.lab:8000"]))
    assert registry.route(LOCAL)[0] is WIRES.find("openai-chat@2")
    for host in ("api.openai.com", "x.example"):
        wire, _, _ = registry.route(f"https://{host}/v1/chat/completions")
        assert wire is WIRES.all()["openai-chat"]
    assert tenuto.capabilities("gpu").wire == "openai-chat@2"


# --- at run time --------------------------------------------------------------------------------


@pytest.mark.behaviour("N8", "N11")
@pytest.mark.parametrize("streams", [False, True])
def test_a_client_that_asks_already_sees_a_registration_with_its_next_request(streams) -> None:
    events: list[Event] = []
    engine = Engine(Policy(), events.append)

    def once() -> tuple[int, bytes]:
        make = stream if streams else body
        answers = (make("Half of", "stop"), make(" it.", "length"), make(" All.", "eos"))
        form = Scripted.stream if streams else Scripted.body
        script = Script(*map(form, answers))
        return len(
            (answer := ask(engine, LOCAL, script, streams=streams)) and script.transmitted
        ), answer

    assert once()[0] == 1
    register_provider(
        Provider(
            "lab", wire="openai-chat", hosts=["gpu.lab:8000"], overrides={" Stop ": "max_tokens"}
        )
    )
    attempts, answer = once()
    assert attempts == 3
    assert detect(answer).reason is StopReason.END_TURN
    assert {e.provider for e in events} == {"unknown", "lab"}
    seen = [e.data for e in events if e.name == "stop_reason_observed"]
    assert [(d["reason"], d["raw"], d["anomalies"]) for d in seen] == [
        ("end_turn", "stop", []),
        ("max_tokens", "stop", ["stop_overridden"]),
        ("max_tokens", "length", []),
        ("end_turn", "eos", []),
    ]


@pytest.mark.behaviour("N11")
def test_a_turn_that_an_override_leaves_unfinished_shows_what_was_meant() -> None:
    register_provider(
        Provider(
            "lab", wire="openai-chat", hosts=["gpu.lab:8000"], overrides={"stop": "max_tokens"}
        )
    )
    policy = Policy(continuation_max_attempts=0)
    answer = ask(Engine(policy), LOCAL, Script(Scripted.body(body("Half", "stop"))))
    assert json.loads(answer)["choices"][0]["finish_reason"] == "length"


@pytest.mark.behaviour("N11")
def test_no_row_that_ships_has_an_override_and_other_hosts_are_not_touched() -> None:
    assert not any(row.overrides for row in PROVIDERS)
    register_provider(
        Provider("lab", wire="openai-chat", hosts=["gpu.lab"], overrides={"stop": "max_tokens"})
    )
    for name in (None, "openai", "openai-chat", "nobody"):
        assert detect(body(), wire=name).reason is StopReason.END_TURN
    untouched = body("Whole.")
    assert ask(Engine(Policy()), LOCAL.replace("lab", "zoo"), Script(Scripted.body(untouched))) == (
        untouched
    )


@pytest.mark.behaviour("N8")
def test_many_threads_may_register_and_look_up_at_once() -> None:
    errors: list[BaseException] = []
    barrier = threading.Barrier(8)

    def work(number: int) -> None:
        try:
            barrier.wait()
            for n in range(50):
                host = f"h{number}-{n}.example"
                register_provider(Provider(f"p{number}-{n}", wire="openai-chat", hosts=[host]))
                found = registry.route(f"https://{host}/v1/chat/completions")
                assert found[1].dialect.name == f"p{number}-{n}"
                assert detect(body(), wire=f"p{number}-{n}").reason is StopReason.END_TURN
        except BaseException as error:  # noqa: BLE001 - told by the main thread
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(ROWS.all()) >= 400 + len(PROVIDERS)


# --- what is not allowed ------------------------------------------------------------------------


@pytest.mark.behaviour("N8")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"name": "", "wire": "openai-chat"}, "name is ''"),
        ({"name": "a@b", "wire": "openai-chat"}, "name is 'a@b'"),
        ({"name": "a\nb", "wire": "openai-chat"}, r"name is 'a\nb'"),
        ({"name": "unknown", "wire": "openai-chat"}, "name is 'unknown'"),
        ({"name": 3, "wire": "openai-chat"}, "name is 3"),
        ({"name": "a", "wire": "openai-chat", "version": "1@2"}, "version is '1@2'"),
        (
            {"name": "a", "wire": "morse"},
            "wire is 'morse', known are anthropic-messages, ",
        ),
        (
            {"name": "a", "wire": VENDOR},
            "wire is Wire(name='vendor'",
        ),
        ({"name": "a", "wire": None}, "wire is None, known are"),
        (
            {"name": "a", "wire": "openai-chat", "hosts": "a.b"},
            "hosts is 'a.b', but it must be a list",
        ),
        (
            {"name": "a", "wire": "openai-chat", "hosts": ["http://a.b"]},
            "'http://a.b' is not a host",
        ),
        (
            {"name": "a", "wire": "openai-chat", "hosts": ["a.b//v1"]},
            "'a.b//v1' is not a host name",
        ),
        (
            {"name": "a", "wire": "openai-chat", "hosts": ["a.b/v1?x=1"]},
            "'a.b/v1?x=1' is not a host",
        ),
        ({"name": "a", "wire": "openai-chat", "like": "nobody"}, "like is 'nobody', but on op"),
        ({"name": "a", "wire": "openai-chat", "like": "anthropic"}, "like is 'anthropic'"),
        (
            {"name": "a", "wire": "openai-chat", "like": 3},
            "like is 3, but on openai-chat it must be",
        ),
        ({"name": "a", "wire": "openai-chat", "prefill_models": "x"}, "prefill_models is 'x'"),
        ({"name": "a", "wire": "openai-chat", "hosts": [None]}, "None is not a host name"),
        ({"name": "a", "wire": "openai-chat", "server": 1}, "server is 1"),
        ({"name": "a", "wire": "openai-chat", "overrides": ["stop"]}, "overrides is ['stop']"),
        ({"name": "a", "wire": "openai-chat", "overrides": {"": "error"}}, "'' in overrides"),
        (
            {"name": "a", "wire": "openai-chat", "overrides": {"stop": "length"}},
            "'stop' stands for 'length', but it must stand for one of end_turn, ",
        ),
        (
            {"name": "a", "wire": "openai-chat", "prefill": "yes"},
            "prefill is 'yes', but it must be True, False or None",
        ),
        ({"name": "a", "wire": "openai-chat", "output_tokens": -1}, "output_tokens is -1"),
        ({"name": "a", "wire": "openai-chat", "output_tokens": True}, "output_tokens is True"),
        ({"name": "a", "wire": "openai-chat", "prefill_row": ["prefix"]}, "prefill_row is ['pre"),
    ],
)
def test_what_is_not_allowed_is_named_and_nothing_is_registered(arguments, said) -> None:
    before = (ROWS.all(), WIRES.all())
    with pytest.raises(RegistrationError) as caught:
        register_provider(Provider(**arguments))
    assert said in str(caught.value)
    assert isinstance(caught.value, tenuto.TenutoError)
    assert (ROWS.all(), WIRES.all()) == before


@pytest.mark.behaviour("N8")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("acme", "register_provider() was given an object of type str"),
        (None, "register_provider() was given an object of type NoneType"),
        (ROWS.all()["openai"], "register_provider() was given an object of type Row"),
    ],
)
def test_who_registers_no_provider_is_told_how_one_is_made(given, said) -> None:
    with pytest.raises(RegistrationError, match=r"tenuto\.Provider\('lab'") as caught:
        register_provider(given)
    assert said in str(caught.value)


@pytest.mark.behaviour("N8")
def test_a_provider_describes_all_that_a_dialect_allows() -> None:
    described = {item.name for item in fields(Provider)}
    assert {item.name for item in fields(Dialect)} <= described
    given = Provider("lab", "openai-chat", prefill_row={"prefix": True}, less_reasoning={"a": 1})
    assert given.row().dialect.prefill_row == (("prefix", True),)
    assert given.row().dialect.less_reasoning == (("a", 1),)


@pytest.mark.behaviour("N8")
def test_what_is_no_wire_is_refused() -> None:
    with pytest.raises(RegistrationError, match="wire is of type str, but it must be a"):
        register_wire("openai-chat")  # type: ignore[arg-type]
    with pytest.raises(RegistrationError, match="version is '1@2'"):
        register_wire(VENDOR, version="1@2")


@pytest.mark.behaviour("N8")
def test_a_wire_must_say_how_every_outcome_shows() -> None:
    with pytest.raises(RegistrationError, match="`shown` lacks done, text_cut"):
        register_wire(replace(VENDOR, shown={}))


@pytest.mark.behaviour("N8")
def test_a_wire_that_writes_another_shape_than_it_reads_is_refused() -> None:
    def read(value: Any, *, event: bool) -> Any:
        return chat_like.read(value.get("answer"), event=event)

    with pytest.raises(RegistrationError, match=r"what its `render_error` writes.*enveloped"):
        register_wire(replace(openai_chat.WIRE, name="half", read=read))
    layout = openai_chat.WIRE.layout
    with pytest.raises(RegistrationError, match="what its `layout` writes"):
        register_wire(replace(VENDOR, layout=layout))
    only_read = replace(openai_chat.WIRE, is_request=unasked, request=no_request)
    register_wire(replace(only_read, name="read", read=read))
    register_provider(Provider("reads", "read"))
    assert not tenuto.capabilities("reads").finishes


@pytest.mark.behaviour("N8")
@pytest.mark.parametrize("name", [name for name, wire in wires().items() if not wire.only_read])
def test_every_wire_can_stand_in_an_envelope(name: str) -> None:
    wire = WIRES.all()[name]
    register_wire(replace(wire))
    register_wire(enveloped(wire, "own", member="answer", is_request="/own".__eq__))


@pytest.mark.behaviour("N8")
@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("", "it is empty"),
        ("http://acme", "leave out the scheme"),
        ("a b", "it contains white space"),
        ("*.acme", "a leading dot, as in '.acme.example', stands for any subdomain"),
        ("me@acme", "leave out the user"),
        ("acme/v1?a=b", "leave out the query"),
        ("acme//v1", "its path has an empty part"),
        ("x/", "leave out the slash at the end"),
        ("[::1", "it must be like 'acme.example', with a port or a path"),
        ("acme:port", "it must be like 'acme.example', with a port or a path"),
    ],
)
def test_an_error_about_a_host_names_what_is_wrong_with_it(host: str, why: str) -> None:
    with pytest.raises(RegistrationError) as caught:
        Provider("a", "openai-chat", hosts=[host])
    assert why in str(caught.value)


@pytest.mark.behaviour("N8")
def test_an_ipv6_host_is_recognized_with_and_without_a_port() -> None:
    register_provider(Provider("port", "openai-chat", hosts=["[FD00::2]:8080"]))
    register_provider(Provider("path", "openai-chat", hosts=["[fd00::3]:8080/v2", "[fd00::4]/v2"]))
    register_provider(Provider("any", "openai-chat", hosts=["[fd00::5]", "fd00::6"]))
    urls = {
        "http://[fd00::2]:8080/v1": "port",
        "http://[fd00::2]:8081/v1": "unknown",
        "http://[fd00::3]:8080/v2": "path",
        "http://[fd00::4]:9/v2": "path",
        "http://[fd00::4]:9/v1": "unknown",
        "http://[fd00::5]:9/v1": "any",
        "http://[fd00::6]/v1": "any",
    }
    assert providers_at(urls) == urls
