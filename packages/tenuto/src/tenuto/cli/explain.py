"""`tenuto explain`: why recorded turns ended, and what Tenuto does about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from tenuto.cli import explained
from tenuto.cli.explained import Plain, sentence_of
from tenuto.cli.recorded import NotRecorded
from tenuto.cli.summing import captures_in, print_summary, summary
from tenuto.command_kit.command_error import CommandError
from tenuto.command_kit.printing import (
    BAD_FILE,
    FileName,
    JsonFlag,
    Switch,
    pieces,
    print_told,
    read_file,
    told_of,
    visible,
    why_unread,
)
from tenuto.config import load_settings, read_policy
from tenuto.core.answer.stop import printable
from tenuto.core.errors import PolicyError
from tenuto.core.settings.policy import Policy
from tenuto.providers.table import UNKNOWN

EXAMPLES = (
    "tenuto explain turns/*.json",
    "tenuto explain --policy strict.toml recorded.sse",
    "curl -s $URL -d @request.json | tenuto explain --show-content -",
    "tenuto explain --json turns/*.json",
    "tenuto explain turns/",
)
_SEAM = "⟦seam⟧"


def explain(
    *files: FileName,
    policy: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None,
    show_content: Switch = False,
    json: JsonFlag = False,
) -> int:
    """Show why each attempt of a recorded turn ended, and what Tenuto did next.

    Tenuto runs the recorded turn again without sending anything. For a folder, it shows the
    totals: how turns ended, why, and what recovery cost.

    Args:
        files: captures (Policy(capture="folder"), TENUTO_CAPTURE), or bodies and streams as they
            were received, gzipped or not; "-" reads standard input. A folder stands for its JSON
            files.
        policy: a TOML file with the settings to use. The default is the settings in the capture, or
            for other files the settings that apply here (tenuto policy).
        show_content: print the text too, with marks where attempts were joined.
        json: print one JSON object per line, for each file or folder that you name.
    """
    folder = next((name for name in files if _is_folder(name)), None)
    if show_content and folder is not None:
        named = printable(folder, 200)
        raise CommandError(
            f"--show-content works with files, and {named} is a folder; name its files",
            BAD_FILE,
        )
    asked = _policy_of(policy) if policy is not None else None
    in_force = cache(lambda: load_settings(any_provider=True).policy)
    tell = partial(_told, asked=asked, in_force=in_force, show_content=show_content)
    told = list(told_of(files, lambda name: _sums(name, tell) if _is_folder(name) else tell(name)))
    for one in told:
        if "folder" in one and not json:
            print_summary(one)
            continue
        words = _story if len(told) == 1 or show_content else _headline
        print_told(one, "explained", partial(words, one), json=json)
    return BAD_FILE if any("error" in one or one.get("unread") for one in told) else 0


def _is_folder(name: str) -> bool:
    return name != "-" and Path(name).is_dir()


def _sums(folder: str, tell: Callable[[str], Plain]) -> Plain:
    found = captures_in(folder)
    if not found:
        raise CommandError("it is a folder without JSON files", BAD_FILE)
    # A program that is still running may remove old captures meanwhile (capture_max_files).
    told = (one for one in told_of(found, tell) if "error" not in one or Path(one["file"]).exists())
    return summary(folder, told)


def _policy_of(file: Path) -> Policy:
    try:
        content = read_file(str(file))
    except FileNotFoundError:
        raise PolicyError(f"{file}: no such file") from None
    except OSError as error:
        raise PolicyError(f"{file}: cannot be read: {why_unread(str(file), error)}") from None
    return read_policy(file.name, content)


def _told(name: str, asked: Policy | None, in_force: Any, show_content: bool) -> Plain:
    try:
        content = read_file(name)
        told = explained.explain(content, asked, in_force)
    # These concern the settings in force, or reading the file, and not what is in it.
    except (PolicyError, OSError, NotRecorded):
        raise
    except Exception as error:  # noqa: BLE001 - one odd file must not hide the others
        return {"file": name, "error": f"it cannot be read ({type(error).__name__})"}
    if not show_content:
        del told["content"]
    return {"file": name, **told}


# --- for a person -------------------------------------------------------------------------------


def _headline(told: Plain) -> str:
    return "\n".join(_brief_lines(told))


def _brief_lines(told: Plain) -> Iterator[str]:
    """Yield why each attempt ended and what Tenuto did, and the end: one line each."""
    yield _named(told)
    for attempt in told["attempts"]:
        rung = f" → {sentence_of(attempt['rung'])}" if attempt["rung"] else ""
        yield f"  {attempt['number']}. {_why(attempt)}{rung}"
    yield f"  then: {_follows(told['next'])}"


def _story(told: Plain) -> str:
    return "\n".join(_lines(told))


def _named(told: Plain) -> str:
    provider = told.get("provider")
    host = told.get("host") if provider == UNKNOWN.dialect.name else provider
    about = [told["kind"], host, told["wire"], told.get("model")]
    return f"{printable(told['file'], 200)}: {', '.join(printable(a) for a in about if a)}"


def _lines(told: Plain) -> Iterator[str]:
    yield _named(told)
    if told["request"]:
        yield f"  asked: {_facts(told['request'])}"
    elif told["kind"] != "capture":
        yield "  asked: not in the file; assuming an ordinary request without limits"
    yield f"  policy: {told['policy']}"
    for attempt in told["attempts"]:
        yield f"  {attempt['number']}. {_why(attempt)}. {attempt['message']}".rstrip()
        yield f"     {_measured(attempt)}"
        if attempt["outcome"]:
            rung = f", rung: {sentence_of(attempt['rung'])}" if attempt["rung"] else ""
            yield f"     outcome {attempt['outcome']}{rung}"
        yield from (f"       {change}" for change in attempt.get("changes", ()))
    yield f"  then: {_follows(told['next'])}"
    yield from (f"       {change}" for change in told["next"].get("changes", ()))
    if told.get("note"):
        yield f"  note: {told['note']}"
    if "content" in told:
        text = _marked(told["content"])
        yield "  text:" if text else "  text: none"
        yield from (f"    {line}" for line in text.split("\n") if text)


def _why(attempt: Plain) -> str:
    status = f"{attempt['status']}, " if attempt.get("status") else ""
    lost = f"broken off ({attempt['lost']}), " if attempt.get("lost") else ""
    return f"{status}{lost}{explained.why(attempt)}"


def _measured(attempt: Plain) -> str:
    usage = attempt["usage"] or {}
    parts = [
        f"{attempt['text_chars']} characters of text",
        f"{attempt['reasoning_chars']} of reasoning" if attempt["reasoning_chars"] else "",
        f"calls: {', '.join(attempt['calls'])}" if attempt["calls"] else "",
        f"{usage['output_tokens']} output tokens" if usage.get("output_tokens") is not None else "",
    ]
    return ", ".join(part for part in parts if part)


def _facts(request: Plain) -> str:
    words = {True: "yes", False: "no"}
    return ", ".join(
        name.replace("_", " ") + ("" if value is True else f" {words.get(value, value)}")
        for name, value in request.items()
    )


def _follows(following: Plain) -> str:
    if following["do"] == "send":
        return f"Tenuto sends another request ({sentence_of(following['rung'])})."
    shown = f"; the caller sees {following['shown']}" if following["shown"] else ""
    advice = f" {following['advice']}" if following["advice"] else ""
    reason = following["reason"].replace("_", " ")
    return f"The turn ends {following['status']} ({reason}){shown}.{advice}"


def _marked(content: Plain) -> str:
    """Return the text with its seams, without characters that control a terminal."""
    return _SEAM.join(map(visible, pieces(content["text"], content["seams"])))
