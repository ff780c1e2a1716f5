"""Who wrote a message, by the words that APIs, frameworks and data sets have for it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from tenuto.wires.json import JsonObject

_WORDS = {
    "assistant": "assistant gpt model chatgpt bing bard ai aimessagechunk chatbot",
    "agent": "agent bot",
    "user": "user human input",
    "tool": "tool function observation ipython function_response environment",
    "system": "system developer",
    "call": "function_call",
}
_ROLES = {word: role for role, words in _WORDS.items() for word in words.split()}

OF_DATA_SETS = ("role", "from")
"""Where the messages of APIs and of data sets name their role."""


def role_of(message: JsonObject, places: Sequence[str] = OF_DATA_SETS) -> str:
    """Return who wrote a message: "assistant", "user", "tool" or "system"; "agent": a model, or one
    of the people who answer customers; "call": a call of the model that stands alone; "": it does
    not say, or by a word that is not known. The first of the places that the message has counts.

    >>> role_of({"role": "Assistant"}), role_of({"from": "gpt"}), role_of({"role": "buyer"})
    ('assistant', 'assistant', '')
    """
    told = next((message[place] for place in places if message.get(place)), "")
    word = told.value if isinstance(told, Enum) else told
    return _ROLES.get(word.lower(), "") if isinstance(word, str) else ""
