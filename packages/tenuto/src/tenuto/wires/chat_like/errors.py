"""The errors of OpenAI Chat, and of every API in this format, as a table.

https://platform.openai.com/docs/guides/error-codes and the dialects' own pages (read 2026-11-21).
"""

from __future__ import annotations

from tenuto.core.answer.fault import FaultKind
from tenuto.wires.errors import (
    CONTEXT_WORDS,
    GAVE_UP,
    HISTORY_REJECTED,
    PREFILL_REJECTED,
    TOKEN_RATE,
    UNREADABLE_CALL,
    ErrorRow,
    ReadFault,
    by_status,
    fault_reader,
    row,
)
from tenuto.wires.filters import BLOCKED

_K = FaultKind

ERRORS: tuple[ErrorRow, ...] = (
    GAVE_UP,
    UNREADABLE_CALL,
    row(_K.OUTPUT_LIMIT, words=r"max_tokens or model output limit was reached"),
    row(
        _K.OUTPUT_BUDGET_TOO_LARGE,
        words=r"max_(?:completion_)?tokens\W* (?:is too large.*?at most"
        r"|must be less than or equal to|\(\d+\) exceeds model's maximum output tokens)"
        r" [`(]?(?P<allowed>\d{1,9}(?!\d))"
        r"|max_tokens: \d+ > (?P<maximum>\d{1,9}(?!\d))"
        # DeepSeek, Qwen and Z.ai name the range.
        r"|max_tokens.{0,40}\[\d+, ?(?P<most>\d{1,9}(?!\d))\]"
        # Prompt and output share the window. If the prompt is said to be "at least" that long, it
        # was not counted.
        r"|maximum context length is (?P<window>\d{1,9}) tokens"
        r"(?: and your request has|\. however, you requested \d+ tokens \("
        r"|\. however, you requested \d+ output tokens and your prompt contains)"
        r" ?(?P<prompt>\d{1,9}) (?:input tokens|in the (?:messages|prompt))",
    ),
    PREFILL_REJECTED,
    HISTORY_REJECTED,
    row(
        _K.UNKNOWN_KEY,
        words=r"unrecognized request arguments? supplied: (?P<list>[\w, .\[\]]+)"
        r"|unknown (?:parameter|field)s?: '(?P<unknown>[^']+)'"
        r"|unsupported parameter: '(?P<unsupported>[^']+)'"
        r"|property '(?P<property>[^']+)' is unsupported"
        r"|extra inputs are not permitted, field: '(?P<extra>[^']+)'"
        r"|(?P<pydantic>[\w.\[\]]+): extra inputs are not permitted",
    ),
    TOKEN_RATE,
    row(
        _K.CONTEXT_OVERFLOW,
        "context_length_exceeded exceed_context_size_error max_tokens_exceeded",
        "token_limit_exceeded 1261",  # the last one is Zhipu's
        # GitHub Models: https://github.com/eslint/tsc-meetings/pull/593. GitHub Copilot:
        # https://github.com/ericc-ch/copilot-api/issues/65 (read 2026-11-29).
        "tokens_limit_reached model_max_prompt_tokens_exceeded",
        words=CONTEXT_WORDS,
    ),
    *BLOCKED,
    row(_K.REFUSED, "refusal"),
    row(
        _K.AUTHENTICATION,
        "1003 1110 1111 1112 1121 1220 1311",
        # xAI's, with status 400; Zhipu's, whose 1001 and 1002 are others with MiniMax.
        words=r"^incorrect api key provided|^invalid authentication token"
        r"|^authentication (?:parameter not received|token (?:has )?expired|token 已过期)"
        r"|^authentication (?:token 非法|failed\W*$)|^header ?中未收到 ?authentication"
        r"|^通过 ?authentication token|^身份验证失败",
        statuses=range(401, 402),  # whatever number stands beside it
    ),
    # Zhipu: https://docs.z.ai/api-reference/api-code (read 2026-11-30). Most of its limits of a day
    # or a week come with the time at which they end.
    row(
        _K.RATE_LIMITED,
        "1302 1303 1304 1305 1308 1310 1312 1313",
        words=r"(?:并发数|频率|访问量)(?:过高|过大)|请求过多|high (?:concurrency|frequency) usage",
    ),
    row(
        _K.OVERLOADED,
        "overloaded_error provider_overloaded provider_unavailable engine_overloaded",
        "engine_overloaded_error slow_down",  # Moonshot's, and OpenAI's for a sudden rise
        # Mistral and OpenAI, to all callers, also with status 429.
        words=r"service tier capacity exceeded|is currently overloaded",
        statuses=range(529, 530),
    ),
    *by_status(
        {
            # The numbers are MiniMax's: requests, tokens, connections, growth, and a plan's use.
            # https://platform.minimax.io/docs/api-reference/errorcode (read 2026-11-30)
            _K.RATE_LIMITED: "rate_limit_exceeded rate_limit_error rate_limited"
            " 1002 1039 1041 2045 2056",
            _K.TIMEOUT: "timeout timeout_error 1001",
            # The third of the second line is OpenAI's, the fourth Azure's:
            # https://github.com/Azure-Samples/azure-search-openai-demo/issues/1870
            _K.AUTHENTICATION: "invalid_api_key authentication_error permission_error 1004 2049"
            " account_deactivated wrong_api_key unsupported_country_region_territory"
            " permissiondenied",
            # OpenAI's, Azure's, those of GitHub Models, MiniMax's and Zhipu's.
            _K.INVALID_REQUEST: "invalid_request_error model_not_found unknown_parameter"
            " unsupported_parameter unsupported_value invalid_value invalid_type"
            " missing_required_parameter invalid_function_parameters string_above_max_length"
            " string_below_min_length array_above_max_length array_below_min_length"
            " integer_above_max_value integer_below_min_value decimal_above_max_value"
            " decimal_below_min_value deploymentnotfound unknown_model unavailable_model"
            " 2013 1210 1211 1212 1213 1214 1215 1221 1222",
        }
    ),
)
"""Rows by code or type, words, or HTTP status. The first match counts; the last row matches all."""

read_fault: ReadFault = fault_reader(ERRORS)
