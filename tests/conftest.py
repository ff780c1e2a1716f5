"""Fixtures for every test. Fixtures for one folder are in that folder's conftest."""

import gc
import logging
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from support.pairing import WAYS, Made, in_one_way

from examples.wires.tests import at_hand

at_hand.install()

# On shared cores, a wall-clock deadline measures other processes too. pytest's timeout still applies.
settings.register_profile("house", settings.default, deadline=None)
settings.load_profile("house")


# Each new client reads every certificate authority that the system trusts, which takes 75 ms. Tests use
# plain HTTP on loopback, so one authority, which has signed nothing, is enough.
os.environ["SSL_CERT_FILE"] = str(Path(__file__).parent / "support" / "nobody.pem")

# Tests start the MCP servers as programs, and collecting examples from their docstrings would import
# mcp in each worker.
collect_ignore_glob = ["agent/*mcp_server.py"]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests on asyncio only, because the SDKs that Tenuto wraps support no other loop."""
    return "asyncio"


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Let Ctrl-C work as on a terminal, for pytest and the processes that a test starts. If the tests
    run in the background (`nohup make test &`), they would ignore it, and so would their children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def loggers_that_speak() -> None:
    """Enable the loggers again, because import-linter, which a test runs, disables all of them."""
    for name in ("tenuto", "tenuto.turns"):
        logging.getLogger(name).disabled = False


@pytest.fixture(scope="module", autouse=True)
def a_heap_of_its_own() -> Iterator[None]:
    """Exclude what was loaded before a module (the SDKs, 16,000 items) from garbage collection. The
    module's tests didn't create it, and one pass over it takes 250 ms. What they leave behind is
    collected at the module's end."""
    gc.freeze()
    yield
    gc.collect()


def pytest_configure(config: pytest.Config) -> None:
    """`make test` does not even make what it would leave out."""
    Made.heavy = config.getoption("markexpr") != "not heavy"


def pytest_pycollect_makeitem(obj: object) -> list[pytest.Item] | None:
    """The same for tests that are heavy as a whole."""
    is_heavy = any(mark.name == "heavy" for mark in getattr(obj, "pytestmark", ()))
    return [] if is_heavy and not Made.heavy else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Almost all that collecting makes, which is SDKs and items, stays to the end: the collector's walks
    over it would take a worker 3 s. One walk follows, so that the first module keeps no garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        # Each answer that an SDK reads is some thousand objects, and none of them is garbage yet.
        gc.set_threshold(5_000)
        gc.enable()


def pytest_collection_finish() -> None:
    """Nothing that is garbage already is to be kept by the first module."""
    gc.collect()


def pytest_unconfigure() -> None:
    """pytest looks for lost exceptions in all of the heap at the end, five times, which takes each
    worker seconds. Every module has collected its own garbage (`a_heap_of_its_own`)."""
    gc.freeze()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each test that asks for `way` both kinds of client, unless its own matrix does."""
    if "way" in metafunc.fixturenames and not _has_ways(metafunc.definition):
        metafunc.parametrize("way", WAYS)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of what was given both kinds of client, `make test` runs each combination with one of them."""
    given: dict[str, list[pytest.Item]] = {}
    for item in items:
        if "way" in getattr(item, "fixturenames", ()) and not _has_ways(item):
            given.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for of_a_test in given.values():
        in_one_way(of_a_test, "way")


def _has_ways(node: pytest.Item) -> bool:
    """Whether the matrix of a test has `way` among its dimensions."""
    names = (mark.args[0] for mark in node.iter_markers("parametrize"))
    return any("way" in each for each in names if isinstance(each, tuple))
