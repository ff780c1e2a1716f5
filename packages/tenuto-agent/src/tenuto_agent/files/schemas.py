"""The JSON Schemas of the file tools' arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenuto_agent.files.matcher import MAX_LINE_CHARS

Schema = Mapping[str, Any]


def _object(required: tuple[str, ...], **properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _text(description: str, **more: object) -> Schema:
    return {"type": "string", "description": description, **more}


def _line(description: str, **more: object) -> Schema:
    return {"type": "integer", "description": description, "minimum": 1, **more}


def _switch(description: str) -> Schema:
    return {"type": "boolean", "description": description, "default": False}


_PATH: Final = _text("the file, relative to the folder, with / between names")

READ: Final = _object(
    ("path",),
    path=_PATH,
    start_line=_line("the first line to show, counted from 1", default=1),
    end_line=_line("the last line to show; left out: to the end"),
)
CREATE: Final = _object(
    ("path", "content"),
    path=_PATH,
    content=_text("all of the file, or its beginning"),
    overwrite=_switch("replace the file where it exists"),
)
EDIT: Final = _object(
    ("path", "old_text", "new_text"),
    path=_PATH,
    old_text=_text("the passage to replace, exactly as it stands in the file", minLength=1),
    new_text=_text("what stands there afterwards"),
)
APPEND: Final = _object(
    ("path", "content"),
    path=_PATH,
    content=_text("what is added at the very end", minLength=1),
)
LIST: Final = _object(
    (),
    pattern=_text("which paths, below `path`", default="*"),
    path=_text("the folder to begin in", default="."),
)
SEARCH: Final = _object(
    ("pattern",),
    pattern=_text("what to look for, within one line", minLength=1),
    path=_text("the file, or the folder to begin in", default="."),
    glob=_text("which files below `path`, such as '**/*.py'", default="**"),
    regex=_switch(
        "read the pattern as a regular expression, which sees the first "
        f"{MAX_LINE_CHARS:,} characters of a line"
    ),
    ignore_case=_switch("take upper and lower case for the same"),
)
