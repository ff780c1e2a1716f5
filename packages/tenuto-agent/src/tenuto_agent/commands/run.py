"""`tenuto run`: runs an agent in the terminal."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tenuto.command_kit.command_error import INTERRUPTED, CommandError
from tenuto.command_kit.numbers import whole_number
from tenuto.command_kit.printing import JsonFlag, reason_of
from tenuto.core.answer.fault import FaultKind
from tenuto.core.errors import AgentError
from tenuto.core.settings.rule import Rule
from tenuto_agent import Agent, Conversation, Limits, Model, Session
from tenuto_agent.commands.run_view import JsonView, PersonView, View
from tenuto_agent.files import file_tools
from tenuto_agent.function_tool import Tool

EXAMPLES = (
    'tenuto run "Why do tides come twice a day?" --model openai:gpt-5.4-mini',
    'tenuto run "Mend typos." --model openai:gpt-5.4 --tools files --session typos',
    'tenuto run "Go on." --model openai:gpt-5.4 --tools files --session typos',
    "tenuto run --model openai-chat:llama --base-url http://127.0.0.1:8080/v1",
    "git diff | tenuto run - --model openai:gpt-5.4-mini --system 'Review this.'",
)
CODES = {"complete": 0, "failed": 1, "partial": 3}
"""Exit codes by the status of the last turn. 2 is a wrong request, and 130 is Ctrl-C."""

MAX_STEPS = Limits().max_steps

_name = re.compile(r"[\w-][\w.-]{0,63}")
_PROMPT = "> "


def run(
    prompt: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    /,
    *,
    model: Annotated[list[str], Parameter(negative="")],
    tools: Literal["files", "none"] = "none",
    root: Path | None = None,
    session: str | None = None,
    system: str = "",
    base_url: str = "",
    key_variable: str = "",
    max_steps: Annotated[int, whole_number(Rule(int, 1))] = MAX_STEPS,
    max_tokens: Annotated[int | None, whole_number(Rule(int, 1))] = None,
    json: JsonFlag = False,
) -> int:
    """Run an agent: call a model and run its tool calls until the turn is complete.

    The answer streams to standard output; tools and recoveries go to standard error. Ctrl-C ends
    the turn, but not the session. The exit code is 0 for a complete turn, 3 for a partial one, and
    1 for a failed one.

    Args:
        prompt: the message to the model; "-" reads it from standard input. Without a prompt, each
            line of standard input is a turn of one conversation.
        model: provider:model, with a wire's name in place of an unknown provider. Repeat the option
            to name models to fall back on.
        tools: "files" lets the model read, write and search the text files below --root.
        root: the folder for the file tools; the current folder by default.
        session: a name, or a file (with a / or ending in .jsonl), to save the conversation to and
            resume it from.
        system: the system prompt.
        base_url: the base URL, if it is neither the provider's own nor in the environment variables
            that the provider's SDK reads, such as OPENAI_BASE_URL.
        key_variable: the environment variable with the key for --base-url. Without it, no key is
            sent there.
        max_steps: the highest number of model calls in a turn.
        max_tokens: the output limit of each request, in tokens.
        json: print each event as one JSON object per line, and the result last.
    """
    if root is not None and tools != "files":
        raise CommandError("--root needs --tools files: it is the folder of the file tools", 2)
    models = [_model(name, base_url, key_variable, max_tokens, len(model)) for name in model]
    offered: Sequence[Tool] = ()
    if tools == "files":
        limit = models[0].output_limit_tokens
        offered = file_tools(root or ".", output_limit_tokens=limit)
    limits = Limits(max_steps=max_steps)
    shown = JsonView() if json else PersonView()
    with contextlib.ExitStack() as stack:
        kept = stack.enter_context(Session(session_path(session))) if session else None
        agent = stack.enter_context(Agent(models, tools=offered, system=system, limits=limits))
        for note in kept.notes if kept is not None else ():
            shown.note(note)
        chat = agent.conversation(kept if kept is not None else ())
        code = _talk(chat, shown, prompt, session)
        fault = chat.result.fault if chat.result is not None else None
        refused = fault is not None and fault.kind is FaultKind.AUTHENTICATION
        if refused and base_url and not key_variable:
            shown.note("No key was sent: name the environment variable with it in --key-variable.")
        return code


def _model(name: str, base_url: str, key_variable: str, limit: int | None, of: int) -> Model:
    if base_url and of > 1:
        raise CommandError("--base-url works with a single --model", 2)
    if key_variable and not base_url:
        raise CommandError(
            "--key-variable needs --base-url: known providers have their own variable", 2
        )
    key = os.environ.get(key_variable, "")
    if key_variable and not key:
        raise CommandError(f"the environment variable {key_variable} is empty or not set", 2)
    try:
        return Model(name, base_url=base_url, api_key=key, max_output_tokens=limit)
    except AgentError as error:
        raise CommandError(_in_options(str(error)), 2) from None


_OPTIONS = {
    "model": "--model",
    "base_url": "--base-url",
    "api_key": "--base-url and --key-variable",
}
_argument = re.compile(r"Model\(…, (\w+)=…\)|^(\w+)(?= is )")


def _in_options(message: str) -> str:
    """Put the options of the command in place of the arguments of `Model` in its error message.

    >>> _in_options("acme has no base URL of its own: give Model(…, base_url=…)")
    'acme has no base URL of its own: give --base-url'
    """
    return _argument.sub(lambda m: _OPTIONS.get(m[1] or m[2], m[0]), message)


def session_path(given: str) -> Path:
    """Return the file of a session, from its name or its path.

    >>> session_path("notes/tides.jsonl").name
    'tides.jsonl'
    """
    if "/" in given or os.sep in given or given.endswith(".jsonl"):
        return Path(given)
    if not _name.fullmatch(given):
        raise CommandError(f"--session {given!r}: a name has letters, digits, '_', '-' and '.'", 2)
    states = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    folder = (Path(states) if states else Path.home() / ".local/state") / "tenuto/sessions"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"cannot create {folder}: {reason_of(error)}") from None
    return folder / f"{given}.jsonl"


def _talk(chat: Conversation, shown: View, prompt: str | None, session: str | None) -> int:
    code = 0
    for said in _lines() if prompt is None else [_given(prompt)]:
        code = _turn(chat, said, shown, session)
        if code == INTERRUPTED and not sys.stdin.isatty():
            break
    return code


def _turn(chat: Conversation, prompt: str, shown: View, session: str | None) -> int:
    try:
        with contextlib.closing(chat.stream(prompt)) as events:
            for event in events:
                shown.event(event)
    except KeyboardInterrupt:
        code = INTERRUPTED
        goes_on = f"the session {session} goes on" if session else "the conversation goes on"
        shown.note(f"The turn was interrupted; {goes_on}.")
    else:
        assert chat.result is not None
        code = CODES[chat.result.status]
    if chat.result is not None:
        shown.result(chat.result)
    return code


def _given(prompt: str) -> str:
    text = sys.stdin.read() if prompt == "-" else prompt
    if not text.strip():
        raise CommandError("the prompt is blank", 2)
    return text


def _lines() -> Iterator[str]:
    """Yield a person's messages, line by line, until the input ends or Ctrl-C is pressed."""
    if not sys.stdin.isatty():
        yield from (line for line in sys.stdin if line.strip())
        return
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - makes the line editable
    sign = _PROMPT if sys.stdout.isatty() else ""  # otherwise it would be part of the output
    while True:
        try:
            line = input(sign)
        except (EOFError, KeyboardInterrupt):
            print(file=sys.stderr)
            return
        if line.strip():
            yield line
