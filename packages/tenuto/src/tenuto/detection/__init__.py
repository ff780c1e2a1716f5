"""Why a recorded answer ended.

Read `telling.py`, then `reader.py`, which tells the form of bytes with `source_bytes.py` and
collects one answer in `open_answer.py`, if `evidence.py` says that it is one; `conversation.py`
reads histories. `objects.py`, `replies.py`, `exceptions.py` and `foreign.py` make plain values of
what SDKs, HTTP clients and frameworks give.
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
