"""What the kinds of rows are called in what people read."""

from __future__ import annotations

from typing import Final

TITLES: Final[dict[str, str]] = {
    "openai_batch": "OpenAI batch results",
    "anthropic_batch": "Anthropic batch results",
    "vertex_batch": "Vertex AI batch results",
    "gemini_batch": "Gemini batch results",
    "bedrock_batch": "Bedrock batch results",
    "ellmer_batch": "ellmer batches",
    "curator": "curator responses",
    "datatrove": "datatrove rollouts",
    "inspect_sample": "inspect samples",
    "inspect_event": "inspect model events",
    "litellm_log": "LiteLLM logs",
    "bedrock_log": "Bedrock invocation logs",
    "claude_code_session": "Claude Code sessions",
    "langsmith_run": "LangSmith runs",
    "mlflow_span": "MLflow spans",
    "datadog_span": "Datadog spans",
    "langfuse_observation": "Langfuse observations",
    "otel_span": "OpenTelemetry spans",
    "har": "HAR recordings",
    "tenuto_capture": "Tenuto captures",
    "gemini_cli_responses": "gemini-cli recordings",
    "exchange": "recorded exchanges",
    "langchain": "LangChain messages",
    "mini_swe_agent": "mini-swe-agent trajectories",
    "chatgpt_export": "ChatGPT exports",
    "messages": "conversations",
    "sharegpt": "ShareGPT conversations",
    "trajectory": "agent trajectories",
    "preference": "preference pairs",
    "lm_eval": "lm-eval samples",
    "lighteval": "lighteval samples",
    "olmes": "OLMES predictions",
    "distilabel": "distilabel rows",
    "mt_bench": "MT-bench answers",
    "fastchat_answer": "FastChat answers",
    "ray_data_llm": "vLLM rows of Ray Data",
    "alpaca_eval": "AlpacaEval outputs",
    "alpaca": "Alpaca rows",
    "swe_agent_step": "SWE-agent steps",
    "human_eval": "HumanEval completions",
    "prompt_completion": "prompts with completions",
    "body": "answers of an API",
    "cassette": "VCR cassettes",
    "found_within": "rows that hold an answer of an API",
    "own": "rows of your own",
}
"""By the name of the kind."""


def title_of(kind: str) -> str:
    """Return what a kind is called; its name if it has no title.

    >>> title_of("openai_batch"), title_of("mine")
    ('OpenAI batch results', 'mine')
    """
    return TITLES.get(kind, kind)
