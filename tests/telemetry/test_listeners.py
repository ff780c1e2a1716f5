"""Listeners of the process hear every turn, and disturb none."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from support.telemetry import answer, chat

import tenuto
from tenuto.telemetry import listeners
from tenuto.telemetry.listeners import add_listener, listener_for, remove_listener


@pytest.fixture(autouse=True)
def no_listeners() -> Iterator[None]:
    yield
    assert not listeners.current, "a test removes what it adds"


@pytest.mark.behaviour("P6")
def test_a_listener_hears_turns_of_clients_that_have_none_of_their_own() -> None:
    heard: list[tenuto.Event] = []
    add_listener(heard.append)
    add_listener(heard.append)
    try:
        assert chat(answer("It."), on_event=None) == "It."
    finally:
        remove_listener(heard.append)
    names = [event.name for event in heard]
    assert (names[0], names[-1]) == ("turn_started", "turn_ended")
    assert names.count("turn_ended") == 1, "added twice, it is called once"
    chat(answer("It."), on_event=None)
    assert len(names) == len(heard), "removed, it hears nothing more"


@pytest.mark.behaviour("P6")
def test_a_client_s_own_listener_and_those_of_the_process_hear_the_same() -> None:
    own: list[tenuto.Event] = []
    heard: list[tenuto.Event] = []
    add_listener(heard.append)
    try:
        chat(answer("It."), on_event=own.append)
    finally:
        remove_listener(heard.append)
    assert own == heard
    assert own


def test_a_listener_that_raises_stops_neither_the_turn_nor_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard: list[tenuto.Event] = []

    def broken(event: tenuto.Event) -> None:
        raise RuntimeError("no")

    add_listener(broken)
    add_listener(heard.append)
    try:
        with caplog.at_level(logging.ERROR, "tenuto"):
            assert chat(answer("It."), on_event=broken) == "It."
    finally:
        remove_listener(broken)
        remove_listener(heard.append)
    assert heard[-1].name == "turn_ended"
    assert len(caplog.records) == 2 * len(heard)


def test_without_listeners_nothing_is_put_in_between(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[tenuto.Event] = []
    hear = heard.append
    assert listener_for(None) is None
    with caplog.at_level(logging.CRITICAL, "tenuto"):
        assert listener_for(hear) is hear


def test_a_listener_that_is_removed_within_a_turn_hears_its_end() -> None:
    heard: list[str] = []

    def once(event: tenuto.Event) -> None:
        heard.append(event.name)
        remove_listener(once)

    add_listener(once)
    chat(answer("It."))
    assert (heard[0], heard[-1]) == ("turn_started", "turn_ended")


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot be called"):
        add_listener("print")  # type: ignore[arg-type]
