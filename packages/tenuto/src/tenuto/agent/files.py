"""Tools that read, write and search the files of one folder: the names of `tenuto_agent.files`."""

from tenuto.members import why_missing

try:
    from tenuto_agent.files import (
        MAX_FILE_BYTES,
        MAX_RESULT_CHARS,
        FileProblem,
        file_tools,
        guidance,
    )
except ModuleNotFoundError as _error:
    raise why_missing("agent", _error) from None

__all__ = [
    "MAX_FILE_BYTES",
    "MAX_RESULT_CHARS",
    "FileProblem",
    "file_tools",
    "guidance",
]
