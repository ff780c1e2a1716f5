"""What brings nothing behind a break, and what does."""

from __future__ import annotations

import pytest

from tenuto.core.no_news import NoNews, says_nothing
from tenuto.core.seam import Seam

NO_NEWS = (
    "Hello! How can I help you today?",
    "Hi there!",
    "How can I assist you?",
    "Is there anything else you'd like to know?",
    "Let me know if you need anything else!",
    "I'm here to help. What would you like to do next?",
    "My previous message was already complete.",
    "[The message above is complete; nothing is missing.]",
    "It looks like my previous response was complete. Is there anything else I can help with?",
    "The answer was complete.",
    "Nothing is missing.",
    "There is nothing to add.",
    "Hallo! Wie kann ich dir helfen?",
    "Meine vorherige Antwort war bereits vollständig.",
    "Bonjour ! Comment puis-je vous aider ?",
    "¡Hola! ¿En qué puedo ayudarte?",
    "你好！有什么可以帮您的吗？",
    "上面的回答已经完整。",
)
NEWS = (
    "ter of the town.",
    " and so on.",
    "Hello, world, is what the program prints.",
    "The answer is 42.",
    "The list of the rivers is long: the Rhine, the Elbe.",
    "It was a long day. My message was that the end is near, he said, and left.\n\nThen it rained.",
    "2. The second step.",
    "How can we measure this? With a clock.",
    "- Let the dough rest.",
    "Good results need time.",
)


@pytest.mark.behaviour("S3a")
@pytest.mark.parametrize("text", NO_NEWS)
@pytest.mark.parametrize("piece_chars", [1, 7, 1_000])
def test_an_answer_that_greets_offers_help_or_speaks_of_itself_brings_nothing(
    text: str, piece_chars: int
) -> None:
    assert says_nothing(text)
    joint = NoNews(Seam("It ends in the cen"))
    given = [joint.feed(text[at : at + piece_chars]) for at in range(0, len(text), piece_chars)]
    assert ("".join(given) + joint.finish(), joint.new_chars) == ("", 0)


@pytest.mark.behaviour("S3a", "C14b")
@pytest.mark.parametrize("text", NEWS)
@pytest.mark.parametrize("piece_chars", [1, 7, 1_000])
def test_what_goes_on_is_given_out(text: str, piece_chars: int) -> None:
    alone, joint = Seam("It ends. "), NoNews(Seam("It ends. "))
    given = [joint.feed(text[at : at + piece_chars]) for at in range(0, len(text), piece_chars)]
    assert "".join(given) + joint.finish() == alone.feed(text) + alone.finish()
