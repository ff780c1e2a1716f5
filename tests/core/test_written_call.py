"""Calls that come as text, in the notations of many models (Q28)."""

from __future__ import annotations

import time

import pytest

from tenuto.core.answer.written_call import is_written_call

BAR, LOW = "\uff5c", "\u2581"
WRITTEN = {
    "hermes": '<tool_call>\n{"name": "write_file", "arguments": {"path": "a"}}\n</tool_call>',
    "glm": "<tool_call>write_file\n<arg_key>path</arg_key>\n<arg_value>a</arg_value></tool_call>",
    "llama": '<function=write_file>{"path": "a"}</function>',
    "llama python": '<|python_tag|>{"name": "write_file", "parameters": {"path": "a"}}',
    "llama json": '{"type": "function", "name": "write_file", "parameters": {"path": "a"}}',
    "json list": '[{"name": "write_file", "arguments": {"path": "a"}}]',
    "json in a fence": '```json\n{"name": "write_file", "arguments": {"path": "a"}}\n```',
    "qwen coder": "<function=write_file>\n<parameter=path>\na\n</parameter>\n</function>",
    "mistral": '[TOOL_CALLS]write_file[ARGS]{"path": "a"}',
    "mistral list": '[TOOL_CALLS] [{"name": "write_file", "arguments": {}}]',
    "deepseek": f"<{BAR}tool{LOW}calls{LOW}begin{BAR}><{BAR}tool{LOW}call{LOW}begin{BAR}>write_file",
    "deepseek dsml": f'<{BAR}DSML{BAR}function_calls>\n<{BAR}DSML{BAR}invoke name="write_file">',
    "dsml in ascii": '<|DSML|invoke name="write_file">',
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.write_file:0",
    "minimax": '<minimax:tool_call>\n<invoke name="write_file">',
    "claude": '<function_calls>\n<invoke name="write_file">',
    "harmony": '<|channel|>commentary to=functions.write_file <|constrain|>json<|message|>{"path":',
    "harmony, half": 'commentary to=functions.write_file code{"path": "a"}',
    "phi": '<|tool_call|>[{"type": "function", "function": {"name": "write_file"}}]<|/tool_call|>',
    "phi mini": 'functools[{"name": "write_file", "arguments": {"path": "a"}}]',
    "command": '<|START_ACTION|>[{"tool_name": "write_file", "parameters": {}}]<|END_ACTION|>',
    "nemotron": '<TOOLCALL>[{"name": "write_file", "arguments": {}}]</TOOLCALL>',
    "seed": "<seed:tool_call>\n<function=write_file>",
    "lfm": '<|tool_call_start|>[write_file(path="a")]<|tool_call_end|>',
    "pythonic": '[write_file(path="a.txt", content="x")]',
    "gemini": '```tool_code\nprint(default_api.write_file(path="a"))\n```',
    "function gemma": "<start_function_call>call:write_file{path:a}<end_function_call>",
    "react": 'Thought: I write.\nAction: write_file\nAction Input: {"path": "a"}',
    "behind words": 'I write it now.\n<tool_call>{"name": "write_file", "arguments": {}}',
    "behind thinking": '<think>Hm.</think>{"name": "write_file", "arguments": {"path": "a"}}',
}
PLAIN = {
    "words": "I called write_file(path) yesterday, and it worked.",
    "other json": '{"name": "Ada", "arguments": ["one"]}',
    "a document": '{"tool": "hammer", "input": 3}',
    "code": "Use it like this:\n\n```python\nwrite_file(path='a')\n```\n",
    "comparison": "if (a <function) return [b];",
    "a list": "[1, 2, 3]",
    "nothing": "",
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_a_call_in_a_models_own_notation_is_found(text: str) -> None:
    assert is_written_call(text, ["read_file", "write_file"])
    assert not is_written_call(text, []), "without tools there is nothing to call"


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_other_texts_are_none(text: str) -> None:
    assert not is_written_call(text, ["read_file", "write_file"])


@pytest.mark.parametrize(
    "text", ['{"name":' * 20_000, "write_file(" * 20_000, "Action:\n" * 20_000]
)
def test_texts_from_anybody_are_looked_through_quickly(text: str) -> None:
    began = time.process_time()
    is_written_call(text, [f"tool_{number}" for number in range(300)])
    assert time.process_time() - began < 2
