"""docs/native.md: the providers' own means of continuing an answer, and Tenuto's use of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Means:
    """One means of a provider's own.

    Attributes:
        wires: the formats that have it.
        gives: what the provider gives, and where that was read.
        used: when and how Tenuto uses it.
        tests: a test for each case, as a file below `tests/` and a name.
    """

    wires: tuple[str, ...]
    gives: str
    used: str
    tests: tuple[tuple[str, str], ...]


_GEMINI: Final = "google-genai 3.4, `_extra_utils.py`"
_GAOS: Final = "google-genai 3.4, `_interactions_continuation.py`"

MEANS: Final[tuple[Means, ...]] = (
    Means(
        ("gemini-generate",),
        f"`continuationToken` between two parts of a stream ({_GEMINI})",
        "A stream that breaks is resumed with the last token: the same request, no hint.",
        (
            (
                "clients/gemini_generate/test_long_decode.py",
                "test_a_stream_that_breaks_at_any_event_goes_on_from_its_token_as_without_tenuto",
            ),
        ),
    ),
    Means(
        ("gemini-generate",),
        f"`continuationToken` beside `CONTINUATION` ({_GEMINI})",
        "The request is sent again with the token, in streams and bodies.",
        (
            (
                "clients/gemini_generate/test_text.py",
                "test_a_pause_goes_on_with_its_token_and_the_sdk_sees_none",
            ),
        ),
    ),
    Means(
        ("gemini-generate",),
        "`continuationToken` beside `MAX_TOKENS`",
        "The same, with a higher `maxOutputTokens`, which is a total over all requests.",
        (
            (
                "clients/gemini_generate/test_long_decode.py",
                "test_at_the_limit_the_token_goes_back_with_a_limit_that_counts_what_came",
            ),
        ),
    ),
    Means(
        ("openai-chat",),
        "Gemini's token through OpenRouter: an encrypted item of `reasoning_details` "
        "([reasoning](https://openrouter.ai/docs/use-cases/reasoning-tokens))",
        "A continuation sends the item back with the text.",
        (
            (
                "clients/test_relayed_tokens.py",
                "test_a_relayed_stream_that_breaks_anywhere_goes_on_with_its_item",
            ),
            (
                "clients/test_relayed_tokens.py",
                "test_a_relayed_answer_at_the_limit_goes_on_with_its_item_and_a_higher_limit",
            ),
        ),
    ),
    Means(
        ("openai-responses",),
        "A stream with `background` can be fetched with `starting_after` (openai 3.54, "
        "`responses.retrieve`)",
        "The rest of a broken stream is fetched from the last event, unless `store` is false.",
        (
            (
                "clients/test_fetched_streams.py",
                "test_a_stream_that_breaks_at_any_event_is_fetched_on_as_if_it_had_not",
            ),
        ),
    ),
    Means(
        ("openai-responses",),
        "`previous_response_id`: the provider keeps the history",
        "A continuation follows the same response as the request did.",
        (
            (
                "clients/openai_responses/test_stored.py",
                "test_a_continuation_goes_on_from_the_response_that_the_request_went_on_from",
            ),
        ),
    ),
    Means(
        ("gemini-interactions",),
        "The stream of a stored interaction can be fetched with `last_event_id` (google-genai 3.4, "
        "`interactions.get`)",
        "The rest of a broken stream is fetched from the last event, before anything is requested "
        "anew, unless `store` is false.",
        (
            (
                "clients/test_fetched_streams.py",
                "test_a_stream_that_breaks_at_any_event_is_fetched_on_as_if_it_had_not",
            ),
            (
                "clients/test_fetched_streams.py",
                "test_an_interaction_that_cannot_be_fetched_is_asked_for_its_rest",
            ),
        ),
    ),
    Means(
        ("gemini-interactions",),
        f"`continuation_token` between two steps of a stream ({_GAOS})",
        "A stream that breaks and can't be fetched is resumed with the last token.",
        (
            (
                "clients/gemini_interactions/test_checkpoints.py",
                "test_a_stream_that_breaks_at_any_event_goes_on_from_its_checkpoint",
            ),
        ),
    ),
    Means(
        ("gemini-interactions",),
        f"`continuation_token` beside `requires_continuation` ({_GAOS})",
        "The interaction is continued with the token, in streams and bodies.",
        (
            (
                "clients/gemini_interactions/test_stored.py",
                "test_a_pause_is_gone_on_from_with_its_token_once_and_not_by_the_sdk_as_well",
            ),
        ),
    ),
    Means(
        ("anthropic-messages", "bedrock-invoke"),
        "`pause_turn` (anthropic 2.12, `types/message.py`)",
        "The paused answer is sent back as it came, without a hint.",
        (
            (
                "clients/anthropic_messages/test_pauses.py",
                "test_a_paused_turn_is_sent_back_as_it_came_and_goes_on",
            ),
        ),
    ),
    Means(
        ("anthropic-messages", "bedrock-invoke"),
        "`container`: where the provider runs code (anthropic 2.12, `types/container.py`)",
        "A further request names the container of the answer.",
        (
            (
                "clients/anthropic_messages/test_blocks.py",
                "test_a_further_request_names_the_container_of_the_answer",
            ),
        ),
    ),
    Means(
        ("mistral",),
        "`prefix` on the last row: the model continues its own message (mistralai 3, "
        "`AssistantMessage.prefix`)",
        "A cut text is continued with it.",
        (
            (
                "clients/mistral/test_turns.py",
                "test_a_cut_text_goes_on_from_a_beginning_that_every_answer_repeats",
            ),
        ),
    ),
)
"""Every means that the newest SDKs and the providers' pages show."""

NONE: Final[dict[str, str]] = {
    "bedrock-converse": "boto3 1.43: no stop of Converse pauses an answer, and none is kept.",
    "cohere": "cohere 7: no answer is kept, and none can be resumed.",
    "ollama": "ollama 0.6: no answer is kept; the model continues a trailing message by itself.",
    "openai-completions": "The model continues the prompt by itself.",
}
"""Wires without one: what the SDKs of the extras were searched for on 2026-11-28."""

HEAD = """\
# The provider's own means

Some providers can continue an answer themselves: they keep it, or give a token for it. That loses
nothing. The model continues with its hidden thinking, exactly where it stopped. So Tenuto uses such
a means first, and asks in words only if there is none or if the provider refuses it.

All of them stay within the turn's budgets: `pause_resumes` limits how often, `fault_retries` the
tries of one that failed, and `continuation_max_attempts` those with a higher limit. Tenuto uses the
caller's own credentials and never another host. The reasons are in
[a decision](decisions/2026-11-28-the-providers-own-means-come-first.md).

"""

BELOW = """\

Tenuto doesn't fetch the rest of a stream for boto3, or for a
[driver of your own](guide/write-your-own-driver.md) that doesn't say that it `fetches`. A body in
the background is left to its caller, who polls for it.

## Formats without one

"""


def render() -> str:
    """The page."""
    made = HEAD + "| Format | What the provider gives | What Tenuto does | Test |\n"
    made += "| --- | --- | --- | --- |\n"
    for row in MEANS:
        wires = ", ".join(f"`{wire}`" for wire in row.wires)
        tests = "<br>".join(f"`{file}::{name}`" for file, name in row.tests)
        made += f"| {wires} | {row.gives} | {row.used} | {tests} |\n"
    made += BELOW + "| Format | Why |\n| --- | --- |\n"
    return made + "".join(f"| `{wire}` | {why} |\n" for wire, why in NONE.items())
