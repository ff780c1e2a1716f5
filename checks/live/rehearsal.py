"""The same checks where nobody has a key: against the simulator, and against the small model.

The checks know nothing of the simulator; it is only started here, as `tenuto sim` starts it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from checks.live.providers import Target, WrongSetting
from tenuto.cli.model_server import ModelServer, missing_wheels

SIMULATED: dict[str, tuple[str, str]] = {
    "openai": ("gpt-4.1-nano", "/v1"),
    "openai-responses": ("gpt-4.1-nano", "/v1"),
    "anthropic": ("claude-haiku-4-5", ""),
    "gemini": ("gemini-2.5-flash-lite", ""),
    "gemini-interactions": ("gemini-2.5-flash-lite", ""),
    "aws-converse": ("anthropic.claude-3-5-haiku-20241022-v1:0", ""),
    "cohere": ("command-r7b-12-2024", ""),
    "mistral": ("mistral-small-latest", "/mistral/v1"),
    "ollama": ("qwen3", ""),
}
"""By the name of a row: a model whose ways the simulator takes on, and what its wire's base URL has
behind the address."""

LOCAL = "llama.cpp"


@contextmanager
def rehearsing(only: str = "") -> Iterator[list[Target]]:
    """Start what is asked, and end it afterwards.

    Args:
        only: names, with commas between them; "": one for each wire, and the small model where it
            is installed.

    Raises:
        WrongSetting: nothing here can stand in for one of the names.
    """
    from tenuto_sim import Simulator

    known = [*SIMULATED, *([] if missing_wheels() else [LOCAL])]
    names = [name.strip() for name in only.split(",") if name.strip()] or known
    if unknown := [name for name in names if name not in known]:
        raise WrongSetting(f"a rehearsal has no {', '.join(unknown)}; it has {', '.join(known)}")
    with ExitStack() as stack:
        made = []
        root = stack.enter_context(Simulator()).root_url
        for name in names:
            if name == LOCAL:
                url, model = stack.enter_context(ModelServer()).base_url, "small"
            else:
                model, path = SIMULATED[name]
                url = root + path
            made.append(Target(name, model, url, "none", elsewhere=True))
        yield made
