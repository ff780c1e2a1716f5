"""What a provider taught us is kept apart, for a while, and confirmed by a second look."""

from __future__ import annotations

import threading

import pytest

from tenuto.providers.learned import Learned

PREFILL = ("https://host", "model", "prefill")


@pytest.mark.behaviour("P8c")
@pytest.mark.parametrize(
    "other",
    [
        ("https://other", "model", "prefill"),
        ("https://host", "another", "prefill"),
        ("https://host", "model", "something else"),
    ],
)
def test_a_lesson_holds_for_one_base_url_model_and_capability(other):
    learned = Learned()
    learned.deny(*PREFILL, now_s=0.0)
    assert learned.denied(*PREFILL, now_s=1.0)
    base_url, model, capability = other
    assert not learned.denied(base_url, model, capability, 1.0)


@pytest.mark.behaviour("P8c")
def test_one_odd_rejection_holds_for_a_short_while_and_the_second_look_for_long():
    learned = Learned(first_s=10, keep_s=100)
    learned.deny(*PREFILL, now_s=0.0)
    assert [learned.denied(*PREFILL, now_s=now) for now in (9.9, 10.0)] == [True, False]
    learned.deny(*PREFILL, now_s=20.0)
    assert [learned.denied(*PREFILL, now_s=now) for now in (119.9, 120.0)] == [True, False]


@pytest.mark.behaviour("P8c")
def test_rejections_of_requests_that_were_on_their_way_together_are_one_look():
    learned = Learned(first_s=10, keep_s=100)
    for now_s in (0.0, 0.1, 0.2):
        learned.deny(*PREFILL, now_s=now_s)
    assert not learned.denied(*PREFILL, now_s=11.0)


@pytest.mark.behaviour("P8c")
def test_what_is_accepted_later_forgets_the_lesson():
    learned = Learned(first_s=10, keep_s=100)
    learned.deny(*PREFILL, now_s=0.0)
    learned.allow(*PREFILL)
    learned.deny(*PREFILL, now_s=20.0)
    assert not learned.denied(*PREFILL, now_s=31.0), "that was a first lesson again"


@pytest.mark.behaviour("P8c")
def test_many_threads_may_teach_and_ask_at_once():
    learned, failed = Learned(most=8), list[BaseException]()

    def work(number: int) -> None:
        try:
            for turn in range(300):
                key = ("https://host", f"model {(number * turn) % 20}", "prefill")
                learned.deny(*key, now_s=float(turn))
                learned.denied(*key, now_s=float(turn))
                learned.allow(*key)
        except BaseException as error:  # noqa: BLE001 - a thread's error would be lost
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


WINDOW = ("https://host", "model", "window_tokens")


@pytest.mark.behaviour("P8c")
def test_a_limit_is_kept_as_it_was_named_and_another_number_is_a_first_look():
    learned = Learned(first_s=10, keep_s=100)
    assert learned.tokens(*WINDOW, now_s=0.0) is None
    learned.limit(*WINDOW, 8_192, now_s=0.0)
    assert [learned.tokens(*WINDOW, now_s=now) for now in (9.9, 10.0)] == [8_192, None]
    learned.limit(*WINDOW, 8_192, now_s=20.0)
    assert learned.tokens(*WINDOW, now_s=119.9) == 8_192
    learned.limit(*WINDOW, 4_096, now_s=30.0)
    assert [learned.tokens(*WINDOW, now_s=now) for now in (39.9, 40.0)] == [4_096, None]
