"""Each private name of another package that is used is there, in the versions that are installed."""

from __future__ import annotations

import importlib
import re
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tenuto
from tenuto.clients.private_seams import PRIVATE_SEAMS

GIVEN: dict[str, dict[str, Any]] = {
    "ollama.Client": {},
    "google.genai.Client": {"api_key": "key"},
    "aiohttp.ClientSession": {},
    "boto3.client": {"region_name": "us-east-1"},
    "aiobotocore.client": {"region_name": "us-east-1"},
    **{f"{name}.Client": {} for name in ("httpx", "httpx2")},
    **{f"{name}.HTTPTransport": {} for name in ("httpx", "httpx2")},
    **{f"{name}.Response": {"status_code": 200} for name in ("httpx", "httpx2")},
}
"""What an owner is made with, where that is not an API key."""

AWS = {"aws_access_key_id": "key", "aws_secret_access_key": "secret"}
SOURCE = Path(tenuto.__file__).parent


async def owner(name: str, stack: AsyncExitStack) -> Any:
    """Return the module, or an object that its class or function makes."""
    package, _, made = name.rpartition(".")
    if name == "aiobotocore.client":
        session = importlib.import_module("aiobotocore.session").get_session()
        client = session.create_client("bedrock-runtime", **AWS, **GIVEN[name])
        return await stack.enter_async_context(client)
    if name == "boto3.client":
        return importlib.import_module("boto3").client("bedrock-runtime", **AWS, **GIVEN[name])
    if name == "socket.SocketIO":
        module = importlib.import_module("socket")
        ours, theirs = module.socketpair()
        stack.callback(theirs.close)
        stack.callback(ours.close)
        return module.SocketIO(ours, "r")
    if package.startswith("httpcore"):
        module = importlib.import_module(package)
        origin = module.Origin(b"http", b"localhost", 80)
        given = {"stream": module.MockStream([])} if made.startswith("HTTP11") else {}
        return getattr(module, made)(origin=origin, **given)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        maker = getattr(importlib.import_module(package), made)
    thing = maker(**GIVEN.get(name, {"api_key": "key"}))
    if name == "aiohttp.ClientSession":
        stack.push_async_callback(thing.close)
    return thing


@pytest.mark.parametrize(
    ("of", "path"),
    [
        pytest.param(of, path, id=f"{of}: {path}")
        for seam in PRIVATE_SEAMS
        for of in seam.owners
        for path in seam.names
    ],
)
async def test_a_private_name_that_is_used_is_there(of: str, path: str) -> None:
    async with AsyncExitStack() as stack:
        thing = await owner(of, stack)
        for name in path.split("."):
            if isinstance(thing, ModuleType):  # a module of its own may not be loaded yet
                with suppress(ModuleNotFoundError):
                    importlib.import_module(f"{thing.__name__}.{name}")
            assert hasattr(thing, name), f"{of} has no {path}: {name} moved"
            thing = getattr(thing, name)


def test_a_private_name_that_the_linter_is_told_to_allow_stands_in_the_table() -> None:
    known = {name for seam in PRIVATE_SEAMS for path in seam.names for name in path.split(".")}
    used = {
        name
        for file in SOURCE.rglob("*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if "SLF001" in line
        for name in re.findall(r"(?<=\.)_[a-z]\w*", line)
        if not name.startswith("_tenuto")
    }
    assert used
    assert used <= known
