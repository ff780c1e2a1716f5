"""HTTP clients and transports, of both libraries."""
# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from typing import assert_type

import httpx
import httpx2
import openai

import tenuto


def clients_are_those_of_the_library_that_is_named() -> None:
    assert_type(tenuto.http_client(), httpx2.Client)
    assert_type(tenuto.http_client("httpx2", timeout=5), httpx2.Client)
    assert_type(tenuto.http_client("httpx", policy=tenuto.Policy()), httpx.Client)
    assert_type(tenuto.async_http_client(), httpx2.AsyncClient)
    assert_type(tenuto.async_http_client("httpx"), httpx.AsyncClient)
    openai.OpenAI(http_client=tenuto.http_client())
    tenuto.http_client("requests")  # type: ignore[call-overload]


def transports_go_where_a_transport_is_taken() -> None:
    assert_type(tenuto.HTTPTransport(), tenuto.HTTPTransport)
    tenuto.HTTPTransport(httpx.HTTPTransport(retries=1), on_event=print)
    tenuto.HTTPTransport(httpx2.HTTPTransport())
    tenuto.AsyncHTTPTransport(httpx.AsyncHTTPTransport(), policy=tenuto.Policy())
    tenuto.HTTPTransport(httpx.AsyncHTTPTransport())  # type: ignore[arg-type]
    tenuto.HTTPTransport("https://api.openai.com")  # type: ignore[arg-type]
    httpx.Client(transport=tenuto.HTTPTransport())
    httpx2.Client(transport=tenuto.HTTPTransport())
    httpx.AsyncClient(transport=tenuto.AsyncHTTPTransport())
