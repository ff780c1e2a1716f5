"""Members of the wrong type in requests: what is not a list or an object is none."""

import json

import pytest

from tenuto.wires.chat_like.request import parse_request


@pytest.mark.behaviour("N6")
@pytest.mark.parametrize("tools", [5, "x", {}, [5, {}, {"function": 5}], None])
def test_tools_of_another_type_have_no_parameters(tools):
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    request = parse_request(json.dumps(body | {"tools": tools, "functions": tools}).encode())
    assert request is not None
    assert request.tool_parameters() == {}
