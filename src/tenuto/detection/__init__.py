"""Why a recorded answer ended. Read `telling.py`, then `reader.py`; `objects.py`, `replies.py` and
`foreign.py` make plain values of what SDKs, HTTP clients and frameworks give."""

from tenuto.detection.telling import StreamDetector, detect, detect_each, read, readings, recognize

__all__ = ["StreamDetector", "detect", "detect_each", "read", "readings", "recognize"]
