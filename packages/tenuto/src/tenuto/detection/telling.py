"""`detect()`, `detect_each()` and `StreamDetector`: why answers ended.

Nothing in here raises, whatever it is given (N6).
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import lru_cache

from tenuto.core.answer.builder import RUNNING
from tenuto.core.answer.response import Response
from tenuto.core.answer.stop import NO_ANSWER, SEVERAL_ANSWERS, Confidence, Stop, printable
from tenuto.detection.encodings import as_utf8, without_marks
from tenuto.detection.reader import Reader
from tenuto.detection.reading import Reading
from tenuto.providers.registry import named
from tenuto.wires.base import Wire
from tenuto.wires.json import decode_strictly

log: logging.Logger = logging.getLogger("tenuto")


def detect(source: object, *, wire: str | None = None) -> Stop:
    """Why a response ended. Never raises.

    Args:
        source: an object of an official SDK, a dict, the bytes or text of a body or of a recorded
            stream, or a list of a stream's events in any of these forms. Also an exception of an
            SDK, a response of `httpx`, `requests` or `aiohttp` whose body was read, a message or a
            `response_metadata` of LangChain, and the answers of pydantic-ai, Haystack, LlamaIndex
            and vLLM. Bytes may be packed by gzip or zlib (at most 64 MiB unpacked), and in UTF-16
            or UTF-32 with a byte order mark. Commas, comments or prose around an answer don't
            matter, if it begins within the first 2,000 bytes of the text; nor does it that somebody
            left something out (`...`), or that it is a dict as Python prints it, or several such
            dicts on lines.
        wire: the name of a wire (`openai-chat`) or of a provider (`deepseek`), with a version if
            there are several (`acme@2`). None: Tenuto detects the wire. It does so for an unknown
            name too, and logs a warning once, and for an object that has the shape of another wire.

    Returns:
        the stop. For what is not one answer, it has low confidence, and `detail` says what it is:
        `no_answer`: no known API has this format (reason UNKNOWN), or it is a message alone, such
        as a bare `ChatCompletionMessage` of OpenAI's. `several_answers`: it holds several;
        `metadata["answers"]` counts them, unless their chunks alternate, without what is none and
        what broke off before it showed whether it is one; `detect_each` tells each (UNKNOWN). Of
        several errors without high confidence and nothing else, the surest is told.
        `needs_wire`: it is of an API whose wire is in another package, which is not installed;
        `metadata["wire"]` names the wire (UNKNOWN).
        `unread`: a stream, an iterator, a file, or a response whose body was not read; `detect`
        reads from none of them; or packed bytes that hold too many (UNKNOWN). `nothing_came`: it
        is empty (DROPPED).
        `broke_off_unread`: it broke off before it showed whether it is an answer (DROPPED). An
        answer that breaks off is DROPPED without a detail. An error behind a stream's end mark
        leaves its answer whole, with the anomaly `error_after_end`. Of several choices in an
        answer, the gravest end counts; it breaks off where one of them does. An error has high
        confidence if it has a known code in a form that only APIs of models have, or if its known
        code or words speak of models. Otherwise one with a code has medium confidence, and one with
        words alone, such as `{"error": "not found"}`, low, as has one of a URL or an HTTP client
        that is not known to be of an API of models: a cloud's host serves much else. With medium
        confidence, `detail` says the kind of an error only if a code does that means the same to
        all, such as an HTTP status: one provider's number does not, unless the form or the words
        show whose it is. An exception that any program may raise (`TimeoutError`, an error of S3 or
        about a file of Hugging Face), or by which nothing was sent (`PoolTimeout`), is no answer.
        What begins as an answer and cannot be read is an ERROR, `garbage`. What the provider's
        values mean: https://platform.openai.com/docs/api-reference/chat/object

    >>> detect({"object": "chat.completion", "choices": [
    ...     {"index": 0, "message": {"content": "Hi"}, "finish_reason": "length"}]}).reason.value
    'max_tokens'
    >>> detect(b'{"choices": [{"mess').reason.value
    'dropped'
    >>> detect("Good morning.").message
    'This is not an answer in the format of a known API.'
    """
    return _one(_safely(source, wire))


def detect_each(source: object, *, wire: str | None = None) -> list[Stop]:
    """Why each of several responses ended, in their order. Never raises.

    Args:
        source: as for `detect`; several answers stand in a list, in a JSON array, or one on each
            line, or are streams behind one another, or lists of their events. A line of a batch
            API is the answer that it holds. Between answers, what is no answer, None included, has
            a stop with the detail `no_answer`, and a line that was cut is DROPPED. Lines below a
            comment or the head of an HTTP response are read, and so are the objects below or amid
            prose, whose own lines have no stop.
            Not told apart: streams of Gemini without ids, a stream of Ollama that broke off and the
            next one, the same of other streams that broke off in their first chunk, and the answers
            of a JSON array that broke off within one. Chunks of several streams that alternate are
            one stop, with the detail `several_answers` and no count.
        wire: as for `detect`.

    Returns:
        the stops. If there is one answer or none, it is a list with the stop that `detect` returns,
        and those of what broke off beside it.

    >>> cut = {"choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "length"}]}
    >>> whole = {"choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}]}
    >>> [stop.reason.value for stop in detect_each([cut, whole])]
    ['max_tokens', 'end_turn']
    >>> detect([cut, whole]).detail
    'several_answers'
    """
    return [reading.response.stop for reading in _safely(source, wire)]


def _safely(source: object, wire: str | None) -> list[Reading]:
    try:
        return readings(source, wire=wire)
    except Exception as error:  # noqa: BLE001 - somebody else's object: whatever it raises
        _tell_raised(source, error)
        return [Reading(Response("", "", "", (), None, NO_ANSWER), None)]


def readings(source: object, *, wire: str | None = None) -> list[Reading]:
    """Return what was read of each answer, at least one; the arguments are those of `detect`."""
    reader = _reader(wire)
    reader.feed(_whole(source))
    return reader.finish()


def read(source: object, *, wire: str | None = None) -> Response:
    """Return the first answer that a source holds; the arguments are those of `detect`."""
    return recognize(source, wire=wire)[0]


def recognize(source: object, *, wire: str | None = None) -> tuple[Response, Wire | None]:
    """Return the same, and the wire by which it was read; None where no wire knows anything of it.

    >>> recognize("Good morning.")[1] is None
    True
    """
    first = readings(source, wire=wire)[0]
    return first.response, first.wire


class StreamDetector:
    """Detects why a response ends while it is still arriving.

    Feed it what arrives, in pieces of any size. It never raises, and takes a few microseconds for a
    piece. Unpack packed bytes first, and decode those in UTF-16 or UTF-32.

    Args:
        wire: the name of a wire (`openai-chat`) or of a provider (`deepseek`), with a version if
            there are several (`acme@2`). None: Tenuto detects the wire from the first object that
            it recognizes. It does so for an unknown name too, and logs a warning once.

    >>> detector = StreamDetector("openai-chat")
    >>> stop = detector.feed(b'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":null}]}')
    >>> stop.terminal, stop.confidence.value
    (False, 'low')
    >>> end = b'data: {"choices":[{"delta":{},"finish_reason":"length"}]}'
    >>> stop = detector.feed(b"\\n\\n" + end + b"\\n\\n")
    >>> stop.terminal, stop.reason.value, stop.confidence.value
    (True, 'max_tokens', 'high')
    >>> detector.text
    'Hi'
    >>> detector.finalize().reason.value
    'max_tokens'

    A stream that breaks off:

    >>> detector.reset()
    >>> detector.feed({"choices": [{"delta": {"content": "Hi"}}]}).terminal
    False
    >>> detector.finalize().reason.value
    'dropped'
    """

    def __init__(self, wire: str | None = None) -> None:
        self._name = wire
        self.reset()

    def reset(self) -> None:
        """Forget everything, to begin with another response."""
        self._reader = _reader(self._name)

    @property
    def text(self) -> str:
        """The text of the answer as far as it was read: without reasoning, refusals and tool calls.
        "" before there is any. A whole body is read when `finalize` is called."""
        return self._reader.text

    def feed(self, piece: object) -> Stop:
        """Feed a piece: bytes or text cut anywhere, or one event as a dict or an SDK's object.

        Returns:
            the stop so far. It has low confidence and is not terminal until the response names a
            stop, reports an error, or ends in order. Only `finalize` judges tool calls and empty
            answers.
        """
        try:
            self._reader.feed(piece)
            return self._reader.progress
        except Exception as error:  # noqa: BLE001 - somebody else's object, as in `detect`
            _tell_raised(piece, error)
            return RUNNING

    def finalize(self) -> Stop:
        """Return the final stop, when nothing more arrives. It is always terminal, and the same as
        `detect` returns for the whole response. You can call this again."""
        try:
            return _one(self._reader.finish())
        except Exception as error:  # noqa: BLE001 - somebody else's object, as in `detect`
            _tell_raised(self, error)
            return NO_ANSWER


_SURE = (Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH)


def _one(found: list[Reading]) -> Stop:
    if len(found) == 1:
        return found[0].response.stop
    answers = [reading for reading in found if reading.is_counted]
    if SEVERAL_ANSWERS in [one.response.stop for one in found]:
        return SEVERAL_ANSWERS
    if answers and all(each.is_guess for each in answers):  # errors that may be any program's
        return max(
            answers, key=lambda each: _SURE.index(each.response.stop.confidence)
        ).response.stop
    if len(answers) > 1:
        return replace(SEVERAL_ANSWERS, metadata={"answers": str(len(answers))})
    return (answers or found)[0].response.stop


def _reader(wire: str | None) -> Reader:
    if wire and isinstance(wire, str) and named(wire)[:2] == (None, None):
        _tell_unknown(wire)
    return Reader(wire)


@lru_cache(maxsize=256)  # once for each name
def _tell_unknown(name: str) -> None:
    log.warning("no wire or provider is named %s: found from the shape", printable(name))


def _tell_raised(source: object, error: Exception) -> None:
    names = printable(type(source).__qualname__), printable(type(error).__qualname__)
    log.warning("detect could not read an object of the class %s: it raised %s", *names)


def _whole(source: object) -> object:
    """Return a body as the object that it holds, and packed bytes unpacked; anything else as it
    is."""
    if isinstance(source, bytes | bytearray | memoryview):
        source = bytes(source)
        if not source.startswith(b"{"):
            source = as_utf8(source)
    elif isinstance(source, str):
        source = without_marks(source.encode("utf-8", "surrogatepass"))
    if type(source) is bytes and source.startswith(b"{"):
        document = decode_strictly(source)
        return document if isinstance(document, dict) else source
    return source
