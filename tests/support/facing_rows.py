"""Every SDK that can be wrapped, one row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anthropic
import groq
import ollama
import openai
import together
from cerebras.cloud import sdk as cerebras
from cohere.core import ApiError
from google.genai import errors, types

from support.asking import anthropic_messages as asking_anthropic
from support.asking import bedrock_converse as asking_bedrock
from support.asking import bedrock_invoke as asking_invoke
from support.asking import cohere as asking_cohere
from support.asking import cohere_v1 as asking_cohere_v1
from support.asking import dashscope as asking_dashscope
from support.asking import gemini_generate as asking_gemini
from support.asking import gemini_interactions as asking_interactions
from support.asking import mistral as asking_mistral
from support.asking import ollama as asking_ollama
from support.asking import openai_chat as asking
from support.asking import openai_completions as asking_completions
from support.asking import openai_responses as asking_responses
from support.asking import tgi as asking_tgi
from support.asking.native_paths import WrappedWatsonx
from support.asking.one_chat_of_invoke import assert_one_chat
from support.asking.one_converse_message import assert_one_converse_message
from support.asking.one_message import assert_one_message
from support.asking.one_response import assert_one_response
from support.asking.openai_chat import WAYS
from support.asking.sharing_openai_chat import CerebrasAsker, GroqAsker, TogetherAsker
from support.asking.wrapping import Watching, Wrapped
from support.asking.wrapping_anthropic import WrappedAnthropic
from support.asking.wrapping_bedrock import WrappedBedrock
from support.asking.wrapping_cohere import WrappedCohere
from support.asking.wrapping_cohere import assert_one_message as assert_one_cohere_message
from support.asking.wrapping_cohere_v1 import WrappedCohereV1
from support.asking.wrapping_cohere_v1 import assert_one_message as assert_one_message_of_v1
from support.asking.wrapping_completions import WrappedCompletions
from support.asking.wrapping_dashscope import WrappedDashScope
from support.asking.wrapping_gemini import WrappedGemini
from support.asking.wrapping_interactions import WrappedInteractions, assert_one_interaction
from support.asking.wrapping_mistral import WrappedMistral
from support.asking.wrapping_mistral import assert_one_message as assert_one_mistral_message
from support.asking.wrapping_ollama import WrappedOllama, WrappedPrompts
from support.asking.wrapping_responses import WrappedResponses
from support.facing import Facing, Judged
from tenuto.sim import Case


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


def _like_openais(
    asker: Any, module: Any, *left_out: str, sharing: int, stop: str = "stop"
) -> Facing:
    def broken_call(_: Any, got: Any, case: Case) -> str:
        said = "stop" if got.finish == stop else got.finish
        return asking.broken_call(replace(got, finish=said))

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
        strict_ways=WAYS,
        sharing=(sharing, 12),
        dialect=name,
    )


class _OfTwoMakers(asking_invoke.WrappedInvoke):
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
    asking_dashscope.WIRE,
    # A program that finds another status than 200 raises for it.
    raises=(asking_dashscope.CallFailed,),
    stops=_CHAT,
    bare=asking_dashscope.DashScopeAsker,
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
        wire=asking_completions.WIRE,
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
        left_to_the_caller=tuple(
            f"http_{status}_once-{mode}" for status in (429, 500) for mode in ("body", "stream")
        ),
        strict_ways=(),
        sharing=(3, 12),
        dialect="watsonx",
    ),
    Facing(
        "anthropic",
        WrappedAnthropic,
        asking_anthropic.WIRE,
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
        broken_call=_inputs(asking_anthropic.broken_call),
        refused=asking_anthropic.next_turn_is_refused,
        is_one=lambda asker: assert_one_message(asking_anthropic.of_the_wire(asker.told)),
        most_requests=14,  # the ten resumptions of a paused turn, and what else a ladder can send
    ),
    Facing(
        "bedrock-converse",
        WrappedBedrock,
        asking_bedrock.WIRE,
        raises=asking_bedrock.OWN,
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
        broken_call=_inputs(asking_bedrock.broken_call),
        refused=asking_bedrock.next_turn_is_refused,
        is_one=lambda asker: assert_one_converse_message(asker.told),
        strict_ways=WAYS,
    ),
    Facing(
        "bedrock-invoke",
        _OfTwoMakers,
        asking_invoke.WIRE,
        raises=asking_bedrock.OWN,
        stops=_CHAT | {"guardrail": "stop"},
        elsewhere=_REFUSAL,
        is_one=lambda asker: assert_one_chat(asker.told),
        strict_ways=WAYS,
    ),
    Facing(
        "cohere",
        WrappedCohere,
        asking_cohere.WIRE,
        # Bodies raise; of a stream the end holds the error, on which the SDK raises not.
        raises=(ApiError, asking_cohere.ErrorSeen),
        limit="MAX_TOKENS",
        stops=_CHAT
        | {
            "content_filter": "ERROR_TOXIC",
            "length_then_filter": "ERROR_TOXIC",
            "empty_after_tool_result_always": "COMPLETE",
        },
        broken_call=lambda asker, got, case: asking_cohere.broken_call(got),
        is_one=lambda asker: assert_one_cohere_message(asker.told),
        bare=asking_cohere.CohereAsker,
        left_to_the_caller=("http_429_once-stream", "http_500_once-stream"),
        thorough=("done_no_finish",),
    ),
    Facing(
        "cohere-v1",
        WrappedCohereV1,
        asking_cohere_v1.WIRE,
        raises=(ApiError, asking_cohere.ErrorSeen),
        limit="MAX_TOKENS",
        stops=_CHAT
        | {
            "content_filter": "ERROR_TOXIC",
            "length_then_filter": "ERROR_TOXIC",
            "empty_after_tool_result_always": "COMPLETE",
        },
        broken_call=_inputs(asking_cohere_v1.broken_call),
        refused=asking_cohere_v1.next_turn_is_refused,
        is_one=lambda asker: assert_one_message_of_v1(asker.told),
        bare=asking_cohere_v1.CohereV1Asker,
        left_to_the_caller=("http_429_once-stream", "http_500_once-stream"),
    ),
    Facing(
        "gemini-generate",
        WrappedGemini,
        asking_gemini.WIRE,
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
        broken_call=_inputs(asking_gemini.broken_call),
        refused=asking_gemini.next_turn_is_refused,
        most_requests=14,
        # What an SDK does by itself with an HTTP error is its own (P1b); this one has to be told to.
        options={
            "retry_options": types.HttpRetryOptions(attempts=3, initial_delay=0.01, max_delay=0.01)
        },
    ),
    Facing(
        "gemini-interactions",
        WrappedInteractions,
        asking_interactions.WIRE,
        # Bodies raise, and streams hold an event, on which the SDK raises not.
        raises=(*asking_interactions.ERRORS, asking_interactions.ErrorEventSeen),
        limit="incomplete",
        stops={
            "unknown_stop": "weird_new_reason",
            "abort": "cancelled",
            "blocked_mid_text": "failed",
            "empty_after_tool_result_always": "completed",
            "in_progress": "in_progress",
        },
        broken_call=_inputs(asking_interactions.broken_call),
        refused=asking_interactions.next_turn_is_refused,
        is_one=lambda asker: assert_one_interaction(asker.told),
        bare=asking_interactions.InteractionsAsker,
    ),
    Facing(
        "mistral",
        WrappedMistral,
        asking_mistral.WIRE,
        raises=asking_mistral.MistralAsker.own_errors,
        stops=_CHAT | {"model_length": "model_length"},
        is_one=lambda asker: assert_one_mistral_message(asker.told),
        bare=asking_mistral.MistralAsker,
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
        left_out=tuple(f"{name}-body" for name in asking_dashscope.CASES),
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
        asking_responses.WIRE,
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
        broken_call=lambda asker, got, case: asking_responses.broken_call(got),
        refused=asking_responses.next_turn_is_refused,
        is_one=lambda asker: assert_one_response(asker.told),
        bare=asking_responses.ResponsesAsker,
        # Pieces are tokens, and with fewer a limit falls below the least that this wire takes.
        chars=(4, 8),
    ),
    Facing(
        "huggingface-hub",
        asking_tgi.RecoveringTgi,
        asking_tgi.WIRE,
        raises=asking_tgi.TgiAsker.own_errors,
        stops=_CHAT,
        is_one=lambda asker: asking_tgi.assert_one_generation(asker.told),
        chars=(8, 20),  # with larger pieces `length_json` is not mended
    ),
)
