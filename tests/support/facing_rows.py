"""Every SDK that can be wrapped, one row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anthropic
import groq
import httpx
import ollama
import openai
import together
from cerebras.cloud import sdk as cerebras
from cohere.core import ApiError
from google.genai import errors, types

from examples.wires.tests.asking import cohere_v1, dashscope
from examples.wires.tests.asking.cohere_v1 import WrappedCohereV1
from examples.wires.tests.asking.cohere_v1 import assert_one_message as assert_one_message_of_v1
from examples.wires.tests.asking.dashscope import WrappedDashScope
from support.asking import (
    anthropic_messages,
    bedrock_converse,
    bedrock_invoke,
    cohere,
    gemini_generate,
    gemini_interactions,
    mistral,
    openai_chat,
    openai_completions,
    openai_responses,
)
from support.asking import ollama as asking_ollama
from support.asking.anthropic_messages import WrappedAnthropic, assert_one_message
from support.asking.bedrock_converse import WrappedBedrock, assert_one_converse_message
from support.asking.bedrock_invoke import assert_one_chat
from support.asking.cohere import WrappedCohere
from support.asking.cohere import assert_one_message as assert_one_cohere_message
from support.asking.gemini_generate import WrappedGemini
from support.asking.gemini_interactions import WrappedInteractions, assert_one_interaction
from support.asking.mistral import WrappedMistral
from support.asking.mistral import assert_one_message as assert_one_mistral_message
from support.asking.native_paths import WrappedWatsonx
from support.asking.ollama import WrappedOllama, WrappedPrompts
from support.asking.openai_completions import WrappedCompletions
from support.asking.openai_responses import WrappedResponses, assert_one_response
from support.asking.sharing_openai_chat import CerebrasAsker, GroqAsker, TogetherAsker
from support.asking.wrapping import Watching, Wrapped
from support.facing import Facing, Judged
from support.pairing import WAYS
from tenuto_sim import Case


def _inputs(broken_call: Callable[[Any, list[Any]], str]) -> Judged:
    """Where a cut call has a dictionary as a whole one has, only the right one tells."""
    return lambda asker, said, case: broken_call(said, asker.wanted(said, case)[1])


_CHAT = {
    "unknown_stop": "weird_new_reason",
    "unknown_stop_control": "weird\x1b[31m\nreason",
    "abort": "abort",
    "length_then_filter": "content_filter",
    "content_filter": "content_filter",
    "empty_after_tool_result_always": "stop",
}
_REFUSAL = {"refusal": lambda got: got.message.get("refusal")}

CHAT = Facing(
    "openai",
    Wrapped,
    "openai-chat",
    raises=(openai.APIError,),
    stops=_CHAT,
    elsewhere=_REFUSAL,
    thorough=("cjk", "multibyte_split"),
)


_A_BREAK = ("host_marks_nothing-stream", "host_closes-stream")
"""Where a provider's row says that it marks each end, an end without a mark is a break (S3a)."""


def _like_openais(
    asker: Any, module: Any, *left_out: str, sharing: int, stop: str = "stop"
) -> Facing:
    def broken_call(_: Any, got: Any, case: Case) -> str:
        said = "stop" if got.finish == stop else got.finish
        return openai_chat.broken_call(replace(got, finish=said))

    name = asker.dialect
    return replace(
        CHAT,
        name=name,
        kind=type(f"Wrapped{asker.__name__}", (Watching, asker), {}),
        raises=(module.APIError,),
        stops=_CHAT | {"empty_after_tool_result_always": stop},
        broken_call=broken_call,
        # None of these SDKs reads an event that has a name, and their providers send none.
        left_out=("event_lines-stream", *left_out),
        left_to_the_caller=_A_BREAK,
        strict_ways=WAYS,
        sharing=(sharing, 12),
        dialect=name,
    )


class _OfTwoMakers(bedrock_invoke.WrappedInvoke):
    """A maker for each way."""

    def ask_case(self, case: Case, mode: str, way: str = "sync", **more: Any) -> Any:
        self.maker = {
            "sync": "openai.gpt-oss-120b-1:0/",
            "async": "mistral.mistral-large-2407-v1:0/",
        }[way]
        return super().ask_case(case, mode, way, **more)


_OLLAMA = Facing(
    "ollama",
    WrappedOllama,
    asking_ollama.WIRE,
    raises=(ollama.ResponseError,),
    stops=_CHAT,
    broken_call=_inputs(asking_ollama.broken_call),
    refused=asking_ollama.next_turn_is_refused,
    most_requests=12,
)

_DASHSCOPE = Facing(
    "dashscope",
    WrappedDashScope,
    dashscope.WIRE,
    # A program that finds another status than 200 raises for it.
    raises=(dashscope.CallFailed,),
    stops=_CHAT,
    bare=dashscope.DashScopeAsker,
    # Its SDK tries nothing again.
    left_to_the_caller=tuple(
        f"http_{status}_once-{mode}" for status in (429, 500) for mode in ("body", "stream")
    ),
)

FACING = (
    CHAT,
    replace(
        CHAT,
        name="openai-completions",
        kind=WrappedCompletions,
        wire=openai_completions.WIRE,
        # To a whole prompt the model adds nothing.
        end_unknown=("host_marks_nothing", "host_closes"),
    ),
    # Who goes on from a prefill does not repeat.
    _like_openais(
        GroqAsker, groq, "length_then_repeat-body", "length_then_repeat-stream", sharing=0
    ),
    _like_openais(TogetherAsker, together, stop="eos", sharing=1),
    # Of a chunk whose stop its SDK does not know it makes a whole answer, without what it says.
    _like_openais(
        CerebrasAsker,
        cerebras,
        *(f"{name}-stream" for name in ("unknown_stop", "unknown_stop_control", "abort")),
        *(f"finish_{name}-stream" for name in ("null_string", "empty_string", "upper")),
        sharing=2,
    ),
    replace(
        CHAT,
        name="watsonx",
        kind=WrappedWatsonx,
        raises=WrappedWatsonx.own_errors,
        # It is asked by HTTP alone: nobody tries again.
        left_to_the_caller=(
            *(f"http_{status}_once-{mode}" for status in (429, 500) for mode in ("body", "stream")),
            *_A_BREAK,
        ),
        left_out=("double_done-stream",),  # its streams have no end mark that could come twice
        strict_ways=(),
        sharing=(3, 12),
        dialect="watsonx",
    ),
    Facing(
        "anthropic",
        WrappedAnthropic,
        anthropic_messages.WIRE,
        raises=(anthropic.APIError,),
        limit="max_tokens",
        stops=_CHAT
        | {
            "content_filter": "refusal",
            "length_then_filter": "refusal",
            "refusal": "refusal",
            "length_context": "model_context_window_exceeded",
            "pause_turn_always": "pause_turn",
            "empty_after_tool_result_always": "end_turn",
        },
        broken_call=_inputs(anthropic_messages.broken_call),
        refused=anthropic_messages.next_turn_is_refused,
        is_one=lambda asker: assert_one_message(anthropic_messages.of_the_wire(asker.told)),
        most_requests=14,  # the ten resumptions of a paused turn, and what else a ladder can send
    ),
    Facing(
        "bedrock-converse",
        WrappedBedrock,
        bedrock_converse.WIRE,
        raises=bedrock_converse.OWN,
        limit="max_tokens",
        stops=_CHAT
        | {
            "content_filter": "content_filtered",
            "length_then_filter": "content_filtered",
            "refusal": "content_filtered",
            "guardrail": "guardrail_intervened",
            "length_context": "model_context_window_exceeded",
            "call_malformed_always": "malformed_tool_use",
            "empty_after_tool_result_always": "end_turn",
        },
        broken_call=_inputs(bedrock_converse.broken_call),
        refused=bedrock_converse.next_turn_is_refused,
        is_one=lambda asker: assert_one_converse_message(asker.told),
        strict_ways=WAYS,
    ),
    Facing(
        "bedrock-invoke",
        _OfTwoMakers,
        bedrock_invoke.WIRE,
        raises=bedrock_converse.OWN,
        stops=_CHAT | {"guardrail": "stop"},
        elsewhere=_REFUSAL,
        is_one=lambda asker: assert_one_chat(asker.told),
        strict_ways=WAYS,
    ),
    Facing(
        "cohere",
        WrappedCohere,
        cohere.WIRE,
        # Bodies raise; of a stream the end holds the error, on which the SDK raises not. It breaks
        # for those who ask for errors.
        raises=(ApiError, cohere.ErrorSeen, httpx.ReadError),
        limit="MAX_TOKENS",
        stops=_CHAT
        | {
            "content_filter": "ERROR_TOXIC",
            "length_then_filter": "ERROR_TOXIC",
            "empty_after_tool_result_always": "COMPLETE",
        },
        broken_call=lambda asker, got, case: cohere.broken_call(got),
        is_one=lambda asker: assert_one_cohere_message(asker.told),
        bare=cohere.CohereAsker,
        left_to_the_caller=("http_429_once-stream", "http_500_once-stream"),
        thorough=("done_no_finish",),
    ),
    Facing(
        "cohere-v1",
        WrappedCohereV1,
        cohere_v1.WIRE,
        raises=(ApiError, cohere.ErrorSeen, httpx.ReadError),
        limit="MAX_TOKENS",
        stops=_CHAT
        | {
            "content_filter": "ERROR_TOXIC",
            "length_then_filter": "ERROR_TOXIC",
            "empty_after_tool_result_always": "COMPLETE",
        },
        broken_call=_inputs(cohere_v1.broken_call),
        refused=cohere_v1.next_turn_is_refused,
        is_one=lambda asker: assert_one_message_of_v1(asker.told),
        bare=cohere_v1.CohereV1Asker,
        left_to_the_caller=("http_429_once-stream", "http_500_once-stream"),
    ),
    Facing(
        "gemini-generate",
        WrappedGemini,
        gemini_generate.WIRE,
        raises=(errors.APIError,),
        limit="MAX_TOKENS",
        stops=_CHAT
        | {
            "other_mid_text": "OTHER",
            "content_filter": "SAFETY",
            "length_then_filter": "SAFETY",
            "safety_empty": "SAFETY",
            "recitation": "RECITATION",
            "empty_after_tool_result_always": "STOP",
        },
        thorough=("think_then_call",),
        elsewhere={"prompt_blocked": lambda said: said.blocked and said.stop is None},
        broken_call=_inputs(gemini_generate.broken_call),
        refused=gemini_generate.next_turn_is_refused,
        most_requests=14,
        # What an SDK does by itself with an HTTP error is its own (P1b); this one has to be told to.
        options={
            "retry_options": types.HttpRetryOptions(attempts=3, initial_delay=0.01, max_delay=0.01)
        },
    ),
    Facing(
        "gemini-interactions",
        WrappedInteractions,
        gemini_interactions.WIRE,
        # Bodies raise, and streams hold an event, on which the SDK raises not.
        raises=(*gemini_interactions.ERRORS, gemini_interactions.ErrorEventSeen),
        limit="incomplete",
        stops={
            "unknown_stop": "weird_new_reason",
            "abort": "cancelled",
            "blocked_mid_text": "failed",
            "empty_after_tool_result_always": "completed",
            "in_progress": "in_progress",
        },
        broken_call=_inputs(gemini_interactions.broken_call),
        refused=gemini_interactions.next_turn_is_refused,
        is_one=lambda asker: assert_one_interaction(asker.told),
        bare=gemini_interactions.InteractionsAsker,
    ),
    Facing(
        "mistral",
        WrappedMistral,
        mistral.WIRE,
        raises=mistral.MistralAsker.own_errors,
        stops=_CHAT | {"model_length": "model_length"},
        is_one=lambda asker: assert_one_mistral_message(asker.told),
        bare=mistral.MistralAsker,
        # This SDK tries again where it is told to.
        left_to_the_caller=tuple(
            f"http_{status}_once-{mode}" for status in (429, 500) for mode in ("body", "stream")
        ),
        left_out=("length_then_repeat-body", "length_then_repeat-stream"),  # as with Groq
        thorough=("reasoning_only_stop",),
        chars=(40, 80),  # it takes long to read an event
    ),
    _DASHSCOPE,
    replace(
        _DASHSCOPE,
        name="dashscope-so-far",
        options={"increments": False},
        sharing=(1, 4),
        left_out=tuple(f"{name}-body" for name in dashscope.CASES),
    ),
    _OLLAMA,
    replace(
        _OLLAMA,
        name="ollama-prompts",
        kind=WrappedPrompts,
        sharing=(1, 4),
        left_out=tuple(
            f"{name}-{mode}"
            for name, case in asking_ollama.CASES.items()
            for mode in case.modes
            if name not in asking_ollama.WITHOUT_TOOLS
        ),
        ways=("async",),
        strict_ways=(),
    ),
    Facing(
        "openai-responses",
        WrappedResponses,
        openai_responses.WIRE,
        raises=(openai.APIError,),
        limit="max_output_tokens",
        stops=_CHAT
        | {
            "unknown_status": "weird_new_status",
            "abort": "cancelled",
            "failed_policy": "failed",
            "empty_after_tool_result_always": "completed",
        },
        elsewhere={"refusal": lambda got: got.refused},
        broken_call=lambda asker, got, case: openai_responses.broken_call(got),
        refused=openai_responses.next_turn_is_refused,
        is_one=lambda asker: assert_one_response(asker.told),
        bare=openai_responses.ResponsesAsker,
        # Pieces are tokens, and with fewer a limit falls below the least that this wire takes.
        chars=(4, 8),
    ),
)
