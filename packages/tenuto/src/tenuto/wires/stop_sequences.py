"""The stop sequences of a request on any wire, and the stop that reports one."""

from __future__ import annotations

from tenuto.core.answer.stop import Stop, StopReason
from tenuto.wires.base import Wire
from tenuto.wires.json import decode_object
from tenuto.wires.members import value_at

PLACES = (
    ("stop",),  # OpenAI's chat and completions, Mistral
    ("stop_sequences",),  # Anthropic, Cohere
    ("generationConfig", "stopSequences"),  # Gemini
    ("generation_config", "stop_sequences"),  # Gemini's Interactions
    ("inferenceConfig", "stopSequences"),  # Bedrock's Converse, Nova
    ("options", "stop"),  # Ollama
)


def stop_sequences(body: bytes) -> tuple[str, ...]:
    """Return the stop sequences that a request asks for, often none.

    >>> stop_sequences(b'{"stop": "END"}'), stop_sequences(b'{"options": {"stop": ["a", "", 3]}}')
    (('END',), ('a',))
    """
    request = decode_object(body)
    found: list[object] = []
    for place in PLACES:
        value = value_at(request, place)
        found += value if isinstance(value, list) else [value]
    return tuple(item for item in found if isinstance(item, str) and item)


def stop_of(wire: Wire) -> Stop:
    """Return the stop by which this wire reports that a stop sequence ended the answer. Hardly any
    wire distinguishes it from a clean end. The tables hold native values in lower case, whatever
    the wire writes.

    >>> from tenuto.wires.registry import wires
    >>> [stop_of(wires()[name]).raw for name in ("cohere", "anthropic-messages", "openai-chat")]
    ['STOP_SEQUENCE', 'stop_sequence', 'stop']
    """
    clean = wire.clean_stop(())
    words = (word for word, (why, _) in wire.stops.items() if why is StopReason.STOP_SEQUENCE)
    word = next(words, clean)
    return Stop(StopReason.STOP_SEQUENCE, word.upper() if clean.isupper() else word, "stop")
