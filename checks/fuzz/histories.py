"""What the targets begin with that is data alone: rows of histories that need repair, cut texts
with their continuations, and arguments. Nothing of Tenuto is imported, so that the recorder can use them too."""

from __future__ import annotations

HISTORY = rb"""
{"role":"system","content":"Be brief.","_mine":1}
{"role":"assistant","content":"","tool_calls":[]}
{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"a"}},{"id":"b","type":"function","function":{"name":"f","arguments":{"x":1.0}}}]}
{"role":"tool","tool_call_id":"b","content":"1"}
{"role":"tool","tool_call_id":"z","content":[{"type":"text","text":"2"}]}
{"role":"assistant","content":[{"type":"text","text":" "}],"function_call":{"name":"f","arguments":"\"{}\""}}
{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"t","name":"f","input":{}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"1"},{"type":"tool_result","tool_use_id":"y","content":"1"}]}
{"type":"reasoning","id":"rs_1","summary":[]}
{"type":"function_call","call_id":"c","name":"f","arguments":"{\"a"}
{"type":"custom_tool_call","call_id":"d","name":"g","input":"x","_own":1}
{"type":"function_call_output","call_id":"e","output":"1"}
{"role":"model","parts":[{"functionCall":{"name":"f","args":"{\"a"}},{"text":" ","_x":1}]}
{"role":"user","parts":[{"functionResponse":{"name":"g","response":{}}},{"text":"x"}]}
{"role":"assistant","content":[{"toolUse":{"toolUseId":"u","name":"f","input":"{"}},{"text":" "}]}
{"role":"user","content":[{"toolResult":{"toolUseId":"v","content":[{"text":"1"}],"_x":1}}]}
{"type":"user_input","content":[{"type":"text","text":" "}]}
{"type":"function_call","id":"w","name":"f","arguments":"{\"a"}
{"type":"function_result","call_id":"v","name":"f","result":"1"}
{"type":"model_output","content":[{"type":"text","text":""}],"_own":1}
{"role":"user","content":"Go on.","weight":1.0}
"The tide"
{"role":"user","content":"A \ud83d half"}
{"role":"user","content":"1e400","odd":1e400}
""".strip().splitlines()
"""One row a line, of all wires."""

SEAMS = (
    ("The result is wor", "world."),
    ("book", "keeper"),
    ("1. Boil the water.\n2. Warm", "Sure, here it goes on:\n\n2. Warm the pot.\n"),
    ("```python\nif x:\n    return", "```python\n    return x\n```"),
    ("A long beginning that comes again. And", "A long beginning that comes again. And more."),
    ("caf\ufffd", "\u00e9 au lait"),
    ("ha ha ha ha ha ha", " ha ha ha ha"),
)
"""A text that was cut, and what came when it was asked to go on."""

ARGUMENTS = (
    r'{"path": "a.txt", "n": [1, -2.5e+3, 0, true, false, null], "e": "\u00e9\ud83d\ude00\n"}',
    r'"{\"a\": \"{\\\"b\\\": 1}\"}"',
    '{"a": ',
    "{'a': 1}",
    " [NaN, Infinity, -Infinity, 01, 1., .5, 1e, +1] ",
    "null",
    '{"a":"' + "x" * 600 + '"}',
    "[" * 40 + "]" * 39,
)
"""Arguments of calls as they may come."""
