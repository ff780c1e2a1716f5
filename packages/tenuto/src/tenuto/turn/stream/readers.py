"""What the SDKs that read a stream fail on, by how they name themselves.

Measured on 2026-11-28 through a server that puts such events between those of a good answer.
`JSONDecodeError`, or its like, is what the program gets in the middle of its stream:

    event                                 openai  groq, cerebras  together  mistralai 1  mistralai 3
    `data:` without anything, in any
      number of lines                     fails   fails           fails     fails        fails
    `retry:` or `id:` alone               fails   fails           fails     fails        -
    `event:` alone                        fails   fails           -         fails        -
    a comment or a blank line, once an
      event had an `id:`                  fails   fails           fails     -            -

(openai 1.66 and 3.54, groq 0.13 and 1.7, cerebras-cloud-sdk 1.91, together 2.36, mistralai 1.10 and
3.7.) The newest SDKs of Anthropic and Cohere take all of them. Those of Gemini and Ollama read
lines, and fail on nearly all; `DataLineCodec` and `LineCodec` leave them out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tenuto.frames.sse_codec import Mute

_ALL = frozenset(Mute)

_FAILS: Sequence[tuple[re.Pattern[bytes], frozenset[Mute]]] = (
    (re.compile(rb"(?:Async)?(?:(?:Azure|Bedrock)?OpenAI|Groq|Cerebras)/Python "), _ALL),
    (re.compile(rb"(?:Async)?Together/Python "), _ALL - {Mute.NAMED}),
    (re.compile(rb"mistral-client-python/1\."), _ALL - {Mute.BEHIND_ID}),
    (re.compile(rb"mistral-client-python/"), frozenset({Mute.EMPTY})),
)
"""User agents, and the events without content that their SDK fails on. The first that matches
counts."""

_PATHS = ("/chat/completions", "/responses", "/completions")
"""Where a Python SDK made by Stainless, whatever it is called, reads as OpenAI's does."""


def fails_on(headers: Sequence[tuple[bytes, bytes]], path: str) -> frozenset[Mute]:
    """Return the kinds of events without content that the caller's SDK fails on.

    >>> [*map(str, fails_on([(b"User-Agent", b"mistral-client-python/3.7.0")], "/v1/chat"))]
    ['empty']
    >>> fails_on([(b"User-Agent", b"Anthropic/Python 2.12.0")], "/v1/messages")
    frozenset()
    """
    told = {key.lower(): value for key, value in headers}
    agent = told.get(b"user-agent", b"")
    for who, kinds in _FAILS:
        if who.match(agent):
            return kinds
    is_stainless = told.get(b"x-stainless-lang") == b"python"
    return _ALL if is_stainless and path.endswith(_PATHS) else frozenset()
