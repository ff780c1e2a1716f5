"""The small real model, started once for each way of treating a prefill."""

from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest

from tenuto.cli.model_server import ModelServer, missing_wheels


@pytest.fixture(scope="session")
def with_prefill() -> Iterator[ModelServer]:
    yield from served(prefill=True)


@pytest.fixture(scope="session")
def without_prefill() -> Iterator[ModelServer]:
    yield from served(prefill=False)


def served(*, prefill: bool) -> Iterator[ModelServer]:
    if missing := missing_wheels():
        pytest.skip(f"the small model is not installed ({', '.join(missing)}); try: make model")
    with ModelServer(prefill=prefill) as server:
        yield server


@pytest.fixture(scope="session")
def client(with_prefill: ModelServer) -> Iterator[openai.OpenAI]:
    """The bare SDK before the server that continues a prefill."""
    with openai.OpenAI(base_url=with_prefill.base_url, api_key="none", max_retries=0) as made:
        yield made


@pytest.fixture(scope="session")
def plain_client(without_prefill: ModelServer) -> Iterator[openai.OpenAI]:
    """The bare SDK before the server that answers a prefill like any other history."""
    with openai.OpenAI(base_url=without_prefill.base_url, api_key="none", max_retries=0) as made:
        yield made
