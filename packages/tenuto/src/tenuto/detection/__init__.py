"""Why a recorded answer ended.

Read `telling.py`, which has `detect()`, and `reader.py`, which tells the form of what it is given:

- Bytes: `encodings.py` unpacks them, `source_bytes.py` tells a body from a stream, `documents.py`
  tells several documents apart, and `loose_json.py` reads those that broke off.
- Objects: `objects.py`, `replies.py`, `exceptions.py` and `foreign.py` make plain values of what
  SDKs, HTTP clients and frameworks give, and `envelopes.py` opens the lines of batches. `hosts.py`
  says which URLs are of models.

`open_answer.py` collects one answer, which `reading.py` holds. `wire_shown.py` says which wire an
object shows, `openings.py` where a stream begins another one, and `begun.py` whether what broke off
is an answer. `evidence.py` says whether an object is one, and `errors.py` whether it is an error,
whose kind `error_kinds.py` tells; `shown_error.py` says how sure that is of the whole answer.
`conversation.py` reads histories, and `roles.py` who wrote a message.
"""

from tenuto.detection.conversation import (
    AssistantTurn,
    DetectedConversation,
    WaitingCall,
    detect_conversation,
)
from tenuto.detection.telling import StreamDetector, detect, detect_each, read, readings, recognize

__all__ = [
    "AssistantTurn",
    "DetectedConversation",
    "StreamDetector",
    "WaitingCall",
    "detect",
    "detect_conversation",
    "detect_each",
    "read",
    "readings",
    "recognize",
]
