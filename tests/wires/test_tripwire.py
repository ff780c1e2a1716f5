"""The SDKs that are installed know no stop, no event and no error that our tables lack (N13)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, get_args

import botocore.session
import pytest
from anthropic.types import StopReason
from anthropic.types.beta import BetaStopReason
from cohere.types import (
    ChatFinishReason,
    ChatStreamEndEventFinishReason,
)
from cohere.types import (
    FinishReason as CohereFinishReason,
)
from google.genai.interactions import Interaction
from google.genai.types import FinishReason
from mistralai.client.models import (
    chatcompletionchoice,
    completionresponsestreamchoice,
    contentchunk,
)
from openai.types.chat import chat_completion, chat_completion_chunk

from examples.wires.tests.at_hand import every_wire as wires
from tenuto.wires.bedrock_converse.events import EVENTS
from tenuto.wires.bedrock_like.errors import read_fault
from tenuto.wires.chat_like.chat import OTHER_PARTS

RUNTIME: Any = botocore.session.get_session().get_service_model("bedrock-runtime")


def literals(annotation: Any) -> set[str]:
    """The texts of a literal, optional or nested in whatever ways."""
    inner = get_args(annotation)
    if not inner:
        return {annotation} if isinstance(annotation, str) else set()
    return set().union(*map(literals, inner))


def openais() -> Iterable[str]:
    choices: list[Any] = [chat_completion.Choice, chat_completion_chunk.Choice]
    return set().union(*(literals(c.model_fields["finish_reason"].annotation) for c in choices))


MISTRALS: Any = (
    chatcompletionchoice.ChatCompletionChoiceFinishReason,
    completionresponsestreamchoice.CompletionResponseStreamChoiceFinishReason,
)

COHERES: Any = (ChatFinishReason, ChatStreamEndEventFinishReason, CohereFinishReason)
"""Those of version 2, and of version 1."""

KNOWN: dict[str, Callable[[], Iterable[str]]] = {
    "openai-chat": openais,
    "anthropic-messages": lambda: literals(StopReason) | literals(BetaStopReason),
    "bedrock-converse": lambda: RUNTIME.shape_for("StopReason").enum,
    "cohere": lambda: set().union(*map(literals, COHERES)),
    "cohere-v1": lambda: set().union(*map(literals, COHERES[1:])),
    "gemini-generate": lambda: [reason.value for reason in FinishReason],
    "mistral": lambda: set().union(*map(literals, MISTRALS)),
    "gemini-interactions": lambda: literals(Interaction.model_fields["status"].annotation),
}
"""By wire, the stops that its official SDK knows."""


@pytest.mark.behaviour("N13")
@pytest.mark.parametrize("name", [name for name in KNOWN if name in wires()])
def test_every_stop_that_an_sdk_knows_is_in_our_table(name):
    table: Any = wires()[name]
    known = list(KNOWN[name]())
    assert len(known) > 2
    assert [value for value in known if value.lower() not in {s.lower() for s in table.stops}] == []


@pytest.mark.behaviour("N13")
def test_every_event_and_every_error_of_bedrocks_runtime_is_known():
    stream = RUNTIME.shape_for("ConverseStreamOutput").members
    errors = {name for name, shape in stream.items() if shape.metadata.get("exception")}
    assert set(stream) - errors == set(EVENTS)
    for operation in ("Converse", "ConverseStream", "InvokeModel", "InvokeModelWithResponseStream"):
        errors |= {shape.name for shape in RUNTIME.operation_model(operation).error_shapes}
    assert len(errors) > 10
    for name in errors:
        by_code = read_fault({"type": name, "message": "No."}, status=499)
        assert by_code != read_fault({"type": "SomethingNew", "message": "No."}, status=499), name


@pytest.mark.behaviour("N13")
def test_every_kind_of_chunk_of_mistrals_content_is_known():
    read = {"text", "thinking", "reference"}
    assert set(contentchunk._CONTENT_CHUNK_VARIANTS) == read | set(OTHER_PARTS)
