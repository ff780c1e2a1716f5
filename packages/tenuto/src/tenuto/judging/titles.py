"""What the kinds of rows are called in what people read, and where each is defined."""

from __future__ import annotations

from typing import Final


class Named:
    """A kind of rows. `title`: what people call it. `pages`: the documentation or the source code
    that defines it; none where it was read from rows alone."""

    def __init__(self, title: str, *pages: str) -> None:
        self.title = title
        self.pages = pages


KINDS: Final[dict[str, Named]] = {
    "openai_batch": Named(
        "OpenAI batch results",
        "https://platform.openai.com/docs/guides/batch",
    ),
    "anthropic_batch": Named(
        "Anthropic batch results",
        "https://docs.anthropic.com/en/docs/build-with-claude/batch-processing",
    ),
    "vertex_batch": Named(
        "Vertex AI batch results",
        "https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/batch-prediction-gemini",
    ),
    "gemini_batch": Named(
        "Gemini batch results",
        "https://ai.google.dev/gemini-api/docs/batch-api",
    ),
    "bedrock_batch": Named(
        "Bedrock batch results",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/batch-inference-results.html",
    ),
    "ellmer_batch": Named(
        "ellmer batches",
        "https://ellmer.tidyverse.org/reference/batch_chat.html",
    ),
    "curator": Named(
        "curator responses",
        "https://github.com/bespokelabsai/curator/blob/main/src/bespokelabs/curator/types/generic_response.py",
    ),
    "datatrove": Named(
        "datatrove rollouts",
        "https://github.com/huggingface/datatrove/blob/main/src/datatrove/pipeline/inference/run_inference.py",
    ),
    "inspect_sample": Named(
        "inspect samples",
        "https://inspect.aisi.org.uk/eval-logs.html",
    ),
    "inspect_event": Named(
        "inspect model events",
        "https://inspect.aisi.org.uk/eval-logs.html",
    ),
    "claude_code_result": Named(
        "results of Claude Code",
        "https://docs.claude.com/en/docs/claude-code/headless",
    ),
    "litellm_log": Named(
        "LiteLLM logs",
        "https://docs.litellm.ai/docs/proxy/logging_spec",
    ),
    "bedrock_log": Named(
        "Bedrock invocation logs",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/model-invocation-logging.html",
    ),
    "claude_code_session": Named("Claude Code sessions"),
    "langsmith_run": Named(
        "LangSmith runs",
        "https://docs.langchain.com/langsmith/run-data-format",
    ),
    "mlflow_span": Named(
        "MLflow spans",
        "https://mlflow.org/docs/latest/genai/concepts/span",
    ),
    "datadog_span": Named(
        "Datadog spans",
        "https://docs.datadoghq.com/llm_observability/instrumentation/api/",
    ),
    "langfuse_observation": Named(
        "Langfuse observations",
        "https://langfuse.com/docs/api-and-data-platform/features/export-to-blob-storage",
    ),
    "otel_span": Named(
        "OpenTelemetry spans",
        "https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/",
    ),
    "har": Named(
        "HAR recordings",
        "http://www.softwareishard.com/blog/har-12-spec/",
    ),
    "tenuto_capture": Named("Tenuto captures"),
    "gemini_cli_responses": Named("gemini-cli recordings"),
    "exchange": Named(
        "recorded exchanges",
        "https://docs.helicone.ai/tools/export",
    ),
    "langchain": Named(
        "LangChain messages",
        "https://python.langchain.com/docs/how_to/serialization/",
    ),
    "mini_swe_agent": Named(
        "mini-swe-agent trajectories",
        "https://github.com/SWE-agent/mini-swe-agent",
    ),
    "chatgpt_export": Named("ChatGPT exports"),
    "messages": Named("conversations"),
    "sharegpt": Named(
        "ShareGPT conversations",
        "https://huggingface.co/datasets/lmsys/lmsys-chat-1m",
    ),
    "trajectory": Named(
        "agent trajectories",
        "https://www.harborframework.com/docs/trajectory-format",
        "https://github.com/SWE-agent/SWE-agent/blob/main/sweagent/types.py",
    ),
    "preference": Named("preference pairs"),
    "lm_eval": Named(
        "lm-eval samples",
        "https://github.com/EleutherAI/lm-evaluation-harness",
    ),
    "lighteval": Named(
        "lighteval samples",
        "https://github.com/huggingface/lighteval/blob/main/src/lighteval/models/model_output.py",
    ),
    "olmes": Named(
        "OLMES predictions",
        "https://github.com/allenai/olmes/blob/main/OUTPUT_FORMATS.md",
    ),
    "distilabel": Named(
        "distilabel rows",
        "https://github.com/argilla-io/distilabel/blob/main/src/distilabel/steps/tasks/base.py",
    ),
    "data_designer": Named(
        "Data Designer rows",
        "https://github.com/NVIDIA-NeMo/DataDesigner/blob/main/docs/concepts/traces.md",
    ),
    "mt_bench": Named("MT-bench answers"),
    "fastchat_answer": Named("FastChat answers"),
    "ray_data_llm": Named(
        "vLLM rows of Ray Data",
        "https://docs.ray.io/en/latest/data/working-with-llms.html",
    ),
    "alpaca_eval": Named(
        "AlpacaEval outputs and annotations",
        "https://github.com/tatsu-lab/alpaca_eval",
    ),
    "alpaca": Named("Alpaca rows"),
    "swe_agent_step": Named("SWE-agent steps"),
    "human_eval": Named("HumanEval completions"),
    "prompt_completion": Named(
        "prompts with completions",
        "https://huggingface.co/docs/trl/dataset_formats",
    ),
    "body": Named("answers of an API"),
    "cassette": Named("VCR cassettes"),
    "found_within": Named("rows that hold an answer of an API"),
    "own": Named("rows of your own"),
}
"""By the name of the kind."""


def title_of(kind: str) -> str:
    """Return what a kind is called; its name if it has no title.

    >>> title_of("openai_batch"), title_of("mine")
    ('OpenAI batch results', 'mine')
    """
    return KINDS[kind].title if kind in KINDS else kind
