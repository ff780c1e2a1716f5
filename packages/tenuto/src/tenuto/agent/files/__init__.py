"""File tools for an agent, confined to one folder."""

from tenuto.agent.files.problem import FileProblem
from tenuto.agent.files.tools import MAX_FILE_BYTES, MAX_RESULT_CHARS, file_tools
from tenuto.agent.files.words import guidance

__all__ = ["MAX_FILE_BYTES", "MAX_RESULT_CHARS", "FileProblem", "file_tools", "guidance"]
