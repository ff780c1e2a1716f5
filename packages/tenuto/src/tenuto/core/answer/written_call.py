"""Find out whether a text is a tool call in a model's own notation (Q28).

A server whose parser does not fit its model's chat template sends a call as text, under the stop of
a whole answer. The text stays as it came: this only says that it is there. Each notation is that of
a chat template or of the parsers of vLLM and SGLang (docs.vllm.ai, "Tool Calling").
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from tenuto.core.answer.response import visible

_MARKS: Final = (
    "<tool_call>",  # Hermes, Qwen, GLM, Granite, Hunyuan
    "<tool_calls>",  # MiniMax M1, Jamba, InternLM
    "<function_calls>",  # Claude's own notation
    "<function=",  # Llama 3.1, Qwen3-Coder
    "<invoke name=",
    "<minimax:tool_call>",
    "<seed:tool_call>",
    "<steptml:invoke",
    "<start_function_call>",  # FunctionGemma
    "<TOOLCALL>",  # Nemotron
    "<|tool_call|>",  # Phi-4, Granite
    "<|tool_call>",  # Gemma 4
    "<|tool_call_start|>",  # LFM2
    "<|tool_calls_section_begin|>",  # Kimi
    "<|tool_call_begin|>",
    "<|tools_prefix|>",  # Apertus
    "<|python_tag|>",  # Llama 3
    "<|START_ACTION|>",  # Command
    "<|action_start|>",  # InternLM2
    "<|DSML|",  # DeepSeek
    "<\uff5cDSML\uff5c",
    "<\uff5ctool\u2581call",
    "<\uff5ctool_call",  # Step3
    "[TOOL_CALLS]",  # Mistral
    "functools[",  # Phi-4-mini, Firefunction
    "to=functions.",  # harmony
)
"""What begins a call and is in hardly any other text."""

_NAMED: Final = (
    r'\A(?:```\w*\s*)?[\[{{].{{0,99}}"(?:name|function|tool)"\s*:\s*"{name}".{{0,99}}"(?:ar|param|in)',
    r"\A(?:```\w*\s*)?\[?(?:print\()?(?:default_api\.)?{name}\([^)]*\)+\]?(?:\s*```)?\Z",
    r"^Action:\s*{name}\s*^Action Input:",
    r"<\|channel\|>\w+ to={name}\b",
)
"""Notations that only a declared tool's name tells from other text."""

_MOST_NAMES: Final = 256


def is_written_call(text: str, tools: Collection[str]) -> bool:
    """Return whether a text holds a tool call in a model's own notation.

    Args:
        text: the text of an answer.
        tools: the names of the declared tools; none: there is nothing to call.

    >>> is_written_call('<tool_call>{"name": "add", "arguments": {}}</tool_call>', ["add"])
    True
    >>> is_written_call('{"name": "add", "arguments": {}}', ["add"])
    True
    >>> is_written_call('{"name": "Ada", "arguments": {}}', ["add"])
    False
    """
    if not tools:
        return False
    text = visible(text)
    if any(mark in text for mark in _MARKS):
        return True
    names = "|".join(map(re.escape, list(tools)[:_MOST_NAMES]))
    return any(
        re.search(form.format(name=f"(?:{names})"), text, re.DOTALL | re.MULTILINE)
        for form in _NAMED
    )
