"""An argument that nobody knows is refused with an error of ours, which names the nearest ones."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import httpx
import openai
import pytest

import tenuto
import tenuto.litellm
from tenuto_agent import Agent, AgentError, Limits, Model

pytestmark = pytest.mark.behaviour("P3a")

CLIENT = openai.OpenAI(api_key="none")
POLICY: Any = tenuto.Policy
ONE: Any = {"max_step": 1}
THREE: Any = {"max_tries": 3}
BASE = "http://127.0.0.1:9/v1"


CASES: tuple[tuple[Any, tuple[Any, ...], dict[str, Any], str], ...] = (
    (tenuto.Policy, (), {"max_tries": 3}, "max_tries is not a setting; the nearest are "),
    (
        replace,
        (tenuto.Policy(),),
        {"empty_retry": 3},
        "empty_retry is not a setting; the nearest are empty_retries, empty_recovery, ",
    ),
    (
        tenuto.Policy.for_agents,
        (),
        {"fault_retry": 1},
        "fault_retry is not a setting; the nearest are fault_retries, ",
    ),
    (
        tenuto.policy,
        (),
        {"fault_retry": 1},
        "policy(): fault_retry is not a setting; the nearest are fault_retries, ",
    ),
    (
        tenuto.wrap,
        (CLIENT,),
        {"on_incomplete": "error"},
        "on_incomplete is not an argument of wrap; the nearest are on_event, client, policy; it is",
    ),
    (
        tenuto.http_client,
        (),
        {"on_incomplete": "error"},
        "on_incomplete is not an argument of a httpx2.Client; the nearest are ",
    ),
    (
        tenuto.async_http_client,
        ("httpx",),
        {"time_out": 3},
        "time_out is not an argument of a httpx.AsyncClient; the nearest are timeout, ",
    ),
    (
        tenuto.HTTPTransport,
        (),
        {"polcy": tenuto.Policy()},
        "polcy is not an argument of HTTPTransport; the nearest are policy, ",
    ),
    (
        tenuto.AsyncHTTPTransport,
        (),
        {"event": print},
        "event is not an argument of AsyncHTTPTransport; the nearest are on_event, ",
    ),
    (
        tenuto.litellm.install,
        (),
        {"event": print},
        "event is not an argument of install; the nearest are on_event, policy",
    ),
    (
        tenuto.sansio.Turn,
        ("POST", BASE, [], b""),
        {"timeout": 3},
        "timeout is not an argument of Turn; the nearest are timeout_s, method, ",
    ),
    (
        tenuto.Provider,
        ("acme",),
        {"wires": "openai-chat"},
        "wires is not an argument of Provider; the nearest are wire, ",
    ),
    (
        Limits,
        (),
        {"max_step": 1},
        "max_step is not an argument of Limits; the nearest are max_steps, ",
    ),
    (
        Model,
        ("openai-chat:m",),
        {"url": BASE},
        "url is not an argument of Model; the nearest are base_url, ",
    ),
    (
        Agent,
        (Model("openai-chat:m", base_url=BASE),),
        {"max_steps": 3},
        "max_steps is not an argument of Agent; the nearest are ",
    ),
    (
        Agent,
        (Model("openai-chat:m", base_url=BASE),),
        {"empty_retries": 3},
        "empty_retries is not an argument of Agent; the nearest are ",
    ),
)


@pytest.mark.parametrize(("call", "arguments", "named", "said"), CASES)
def test_an_unknown_argument_is_refused_with_the_nearest(
    call: Any, arguments: tuple[Any, ...], named: dict[str, Any], said: str
) -> None:
    with pytest.raises(tenuto.TenutoError) as caught:
        call(*arguments, **named)
    assert str(caught.value).startswith(said)
    assert isinstance(caught.value, ValueError)


def test_limits_and_policies_name_three() -> None:
    with pytest.raises(AgentError) as limits:
        Limits(**ONE)
    assert str(limits.value) == (
        "max_step is not an argument of Limits; the nearest are max_steps, max_output_tokens, timeout_s"
    )
    with pytest.raises(tenuto.PolicyError) as policy:
        tenuto.Policy(**THREE)
    assert str(policy.value).count(", ") == 2


def test_a_client_that_a_tracer_replaced_takes_what_it_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = httpx.Client.__init__

    def traced(self: Any, *args: Any, **options: Any) -> None:
        assert options.pop("verify") is False
        made(self, *args, **options)

    monkeypatch.setattr(httpx.Client, "__init__", traced)
    with tenuto.http_client("httpx", verify=False) as client:
        assert isinstance(client, httpx.Client)


def test_what_reads_signatures_reads_them_as_before() -> None:
    assert list(inspect.signature(tenuto.wrap).parameters) == ["client", "policy", "on_event"]
    assert next(iter(inspect.signature(Limits).parameters)) == "max_steps"
    assert "empty_retries" in inspect.signature(tenuto.Policy).parameters
    with pytest.raises(TypeError, match="takes 1 positional argument"):
        POLICY(3)
