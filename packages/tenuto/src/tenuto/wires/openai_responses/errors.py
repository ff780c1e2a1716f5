"""The errors of OpenAI Responses, and of every API in this format, as a table.

https://platform.openai.com/docs/guides/error-codes and the codes of a failed response
(`openai/types/responses/response_error.py` of openai-python 3.54), read 2026-11-22. The same
providers write all other errors as on Chat Completions.
"""

from __future__ import annotations

from tenuto.core.answer.fault import FaultKind
from tenuto.wires.chat_like.errors import ERRORS as CHAT_ERRORS
from tenuto.wires.errors import ErrorRow, ReadFault, fault_reader, row

_K = FaultKind

ERRORS: tuple[ErrorRow, ...] = (
    row(
        _K.OUTPUT_BUDGET_TOO_LARGE,
        words=r"max_output_tokens\W* is too large.*?at most (?P<allowed>\d{1,9}(?!\d))"
        r"|'max_output_tokens'.*?expected a value <= (?P<maximum>\d{1,9}(?!\d))",
    ),
    row(_K.CONTEXT_OVERFLOW, words=r"exceeds the context window of this model"),
    row(_K.TIMEOUT, "vector_store_timeout"),
    # The caller's input can't be used, however often it is sent.
    row(
        _K.INVALID_REQUEST,
        "data_residency_mismatch previous_response_not_found",
        "invalid_image invalid_image_format invalid_base64_image invalid_image_url",
        "image_too_large image_too_small image_parse_error invalid_image_mode",
        "image_file_too_large unsupported_image_media_type empty_image_file",
        "failed_to_download_image image_file_not_found",
    ),
    *CHAT_ERRORS,
)
"""Rows by code or type, words, or HTTP status. The first match counts; the last row matches all."""

read_fault: ReadFault = fault_reader(ERRORS)
