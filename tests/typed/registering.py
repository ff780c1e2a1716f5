"""A provider and a wire of the program's own."""
# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from dataclasses import replace
from typing import assert_type

import tenuto
from tenuto.wires.openai_chat import wire as openai_chat


def register() -> None:
    acme = tenuto.Provider("acme", wire="openai-chat", hosts=["llm.acme.example"], prefill=True)
    assert_type(acme, tenuto.Provider)
    tenuto.register_provider(acme)
    tenuto.register_provider(
        tenuto.Provider("lab", "openai-chat", overrides={"stop": "max_tokens"})
    )
    tenuto.register_wire(replace(openai_chat.WIRE, name="own"), version="2")


def refused() -> None:
    tenuto.Provider("acme")  # type: ignore[call-arg]
    tenuto.Provider("acme", "openai-chat", prefill="yes")  # type: ignore[arg-type]
    tenuto.register_provider("acme")  # type: ignore[arg-type]
    tenuto.register_wire("openai-chat")  # type: ignore[arg-type]
