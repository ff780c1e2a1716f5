"""The bytes of a file as text, and back: what the model did not change keeps its bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tenuto_agent.files.problem import FileProblem

_BOM: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class FileText:
    """A file of text.

    Attributes:
        bom: the mark that some editors put first, or "".
        body: all the rest, line endings as they are.
    """

    bom: str
    body: str

    @property
    def lines(self) -> list[str]:
        """The lines without their endings; what follows the last ending counts if it is not empty.

        >>> FileText("", "a\\r\\nb\\n").lines, FileText("", "").lines
        (['a', 'b'], [])
        """
        lines = lf(self.body).split("\n")
        return lines if lines[-1] else lines[:-1]

    @property
    def remarks(self) -> str:
        """What the lines alone do not show, in brackets.

        >>> FileText("", "a\\r\\nb").remarks
        ' (CRLF line endings, no line ending at the end)'
        """
        crlf, all_endings = self.body.count("\r\n"), self.body.count("\n")
        remarks = [
            "starts with a byte order mark" if self.bom else "",
            ("CRLF line endings" if crlf == all_endings else "mixed line endings") if crlf else "",
            "no line ending at the end" if self.body and not self.body.endswith("\n") else "",
        ]
        said = ", ".join(filter(None, remarks))
        return f" ({said})" if said else ""

    def encoded(self) -> bytes:
        return (self.bom + self.body).encode()


def decoded(raw: bytes, path: str) -> FileText:
    """The text of a file; whatever is not UTF-8 text is refused."""
    if b"\0" in raw:
        raise FileProblem(f"{path} is a binary file of {len(raw):,} bytes; only text can be used")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise FileProblem(
            f"{path} is not UTF-8 text (byte {error.start:,} of {len(raw):,}); it cannot be used"
        ) from None
    bom = _BOM if text.startswith(_BOM) else ""
    return FileText(bom, text[len(bom) :])


def refuse_unless_text(**given: str) -> None:
    """Refuse what could not be read again."""
    for name, text in given.items():
        if "\0" in text:
            raise FileProblem(f"{name} holds a NUL character; only text can be written")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise FileProblem(
                f"{name} holds half a surrogate pair at character {error.start}; "
                "only whole characters can be written"
            ) from None


def lf(text: str) -> str:
    """With \\n for \\r\\n; a \\r alone is a character like others."""
    return text.replace("\r\n", "\n")


def ending_near(body: str, start: int) -> str:
    """The line ending that new lines at `start` get: of the line before, else of the line after.

    >>> ending_near("a\\r\\nb", 4), ending_near("a", 1)
    ('\\r\\n', '\\n')
    """
    at = body.rfind("\n", 0, start)
    if at < 0:
        at = body.find("\n", start)
    return "\r\n" if at > 0 and body[at - 1] == "\r" else "\n"


def counted(number: int, word: str) -> str:
    """
    >>> counted(1, "line"), counted(2000, "line")
    ('1 line', '2,000 lines')
    """
    return f"{number:,} {word}{'' if number == 1 else 's'}"
