"""File tools for an agent, confined to one folder."""

from tenuto_agent.files.problem import FileProblem
from tenuto_agent.files.tools import MAX_FILE_BYTES, MAX_RESULT_CHARS, file_tools
from tenuto_agent.files.words import guidance

__all__ = ["MAX_FILE_BYTES", "MAX_RESULT_CHARS", "FileProblem", "file_tools", "guidance"]
