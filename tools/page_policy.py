"""docs/policy.md: every setting; what it means stands in the docstring of `Policy` alone."""

from collections.abc import Iterable, Iterator
from dataclasses import fields

from page import code, sentence, table

from tenuto.command_kit.docstrings import attributes
from tenuto.core.settings.policy import EXCEPTIONS, GROUPS, RULES, Decision, Policy
from tenuto.core.settings.presets import PRESETS, Preset
from tenuto.wires.unsupported import KEYS

HEAD = """\
# Policy

This page lists every limit and switch. A setting has the same name everywhere: as an argument of
`tenuto.Policy`, as a key in `tenuto.toml` or under `[tool.tenuto]` in `pyproject.toml`, and, in
capitals after `TENUTO_`, as an environment variable. Environment variables override `tenuto.toml`,
which overrides `pyproject.toml`, which overrides a [preset](#presets). Tenuto ignores all of them
if you pass a policy in code, also for settings that the policy doesn't name, except the
`TENUTO_CAPTURE…` variables and `TENUTO_EVENTS`. To change only some settings in code, use
`dataclasses.replace(tenuto.load_policy(), empty_retries=0)`. An empty variable counts as unset.

A number of attempts of 0 switches that recovery off. A limit of 0 (characters, bytes, tokens,
seconds) means no limit. With `none`, Tenuto works the value out.

For `none`, write `"none"` or `"auto"` in a TOML file or leave the key out, and write `none` or
`auto` in the environment. For `capture` and `events`, the words `off`, `false` and `0` mean the
same as `none`: nothing is recorded. These words mean the same in code, in files and in the
environment, in any case. To use a folder named `off`, write `./off`.

The column "Header" says what the header `x-tenuto` of [a request](#for-one-request) may do with a
setting: set a `lower` or a higher (`raise`) value, `any` value, or `none`.

A set is a list in a TOML file (`per_request = ["off", "ending"]`), and names separated by commas or
spaces in the environment (`TENUTO_PER_REQUEST="off, ending"`). `none` is the empty set.
"""

PRESETS_HEAD = """
## Presets

A preset is a policy for a common kind of program. In code, call its constructor, which takes
further settings: `tenuto.Policy.for_agents(turn_timeout_s=120)`. In a file, set the key `preset`
(`preset = "agents"`), or in the environment `TENUTO_PRESET` (`none` for no preset). If several
places name a preset, the environment overrides `tenuto.toml`, which overrides `pyproject.toml`.
Settings in any file or variable override the preset, wherever it is named. `tenuto policy` shows
where each value comes from. `Policy(...)` in code starts from the defaults.
"""

EXCEPTIONS_HEAD = """
## For one provider or model

You can give a provider its own settings, or all models whose names match a pattern:

```toml
on_incomplete = "error"

[providers.anthropic]
pause_resumes = 20

[models."gpt-5*"]
thinking_retries = 2

[models."*-mini"]
preset = "chat"
```

```python
policy = tenuto.Policy(
    on_incomplete="error",
    providers={"anthropic": {"pause_resumes": 20}},
    models={"gpt-5*": {"thinking_retries": 2}, "*-mini": {"preset": "chat"}},
)
```

In `pyproject.toml`, the tables are `[tool.tenuto.providers.anthropic]` and
`[tool.tenuto.models."gpt-5*"]`. If several places set a value, the last of these wins:

1. the default, then the preset
2. `pyproject.toml`, then `tenuto.toml`
3. the table of the provider, then those of the models, in their order
4. the environment
5. [one request](#for-one-request)
"""

REQUEST_HEAD = """
## For one request

The header `x-tenuto` changes the policy of a single request. Tenuto removes it before it sends the
request:

```python
client.chat.completions.create(
    ...,
    extra_headers={"x-tenuto": "on_incomplete=error, continuation_max_attempts=0"},
)
```

Separate settings by commas, and write values as in the environment, except that only spaces
separate the names of a set: `drop_unsupported=seed user`. `preset=batch` chooses a preset, and
`x-tenuto: off` leaves the request alone. If you can't set headers, for example inside a framework,
set the policy around the call:

```python
with tenuto.policy(on_incomplete="error"):
    agent.run("Why do tides come twice a day?")
```

The block applies to its thread or asyncio task, and to tasks that start inside it. The header
changes the policy of the block, and both override all other places.

The header may come from whoever sends your program the request, so it can make Tenuto do less, but
not more: the column "Header" says how it may change each setting. `none` is above every number, and
0 is above that where it means no limit. `false` is below `true`. Words have the order of the column
"Allowed". A preset is refused. In a program whose callers you trust,
`Policy(requests_may="everything")` allows any value and presets. A block may always set any value,
as it is part of your program.

If you hand the headers of requests on to a client with Tenuto, as a proxy does, remove `x-tenuto`
from those of callers that you don't trust. It switches Tenuto off for their requests, or makes it
raise errors.

`per_request` limits what a header and a block may change: ids of groups, and `off`. Neither can
change the settings that observe turns, `requests_may`, or `per_request` itself. A setting that is
unknown, not allowed or out of range raises a `PolicyError` before anything is sent. Through
`tenuto.HTTPTransport` the SDK raises its own error for a response with status 400, which has the
message of the `PolicyError`.
"""

OFF = """
## Switch everything off

`TENUTO=off` in the environment, or `tenuto.disable()` in code, switches Tenuto off in the whole
process: requests leave as the program made them, and answers arrive as the provider sent them. It
applies to all clients, also those with a policy in code, and to agents. Tenuto logs it once, as a
warning. It can't be switched on again in that process. `on` and an empty variable change nothing.
"""

CODE_HEAD = """
## In code only
"""

LEFT_OUT_HEAD = """
## Keys that a provider may reject

If a provider answers with 400 or 422 and names a key that it doesn't support, and the answer would
be the same without that key, Tenuto sends the request once more without it. The event
`keys_left_out`, the report and the header `x-tenuto-left-out` name the keys that were left out.

Tenuto leaves out only the keys in this table, and those that you add with `drop_unsupported`. For
any other key, it passes the provider's error on. `*.` means anywhere in the request.
"""

DECISION_HEAD = """
## The argument of `decide`

Tenuto calls `decide` with each `Decision` before it acts on it. `Report.overridden` names what
`decide` chose instead. If `decide` raises, Tenuto logs the exception and keeps its own choice.

```python
def decide(decision: tenuto.Decision) -> str | None:
    return "stop" if decision.output_tokens > 20_000 else None
```
"""


def render() -> str:
    """The page."""
    lines = [HEAD]
    for group, title in GROUPS.items():
        lines += [f"## {title}", "", f"Group `{group}`.", ""]
        columns = ["TOML key", "Environment", "Default", "Allowed", "Header", "Meaning"]
        lines += [*table(columns, _settings(group)), ""]
    lines.pop()
    lines.append(PRESETS_HEAD)
    for name, preset in PRESETS.items():
        lines += [f'`Policy.for_{name}()`, `preset = "{name}"`: {preset.about}', ""]
        lines += [*table(["Setting", "Value", "Default", "Why"], _choices(preset)), ""]
    lines.pop()
    lines.append(EXCEPTIONS_HEAD)
    lines += table(["Table", "Meaning"], _fields(EXCEPTIONS))
    lines.append(REQUEST_HEAD.rstrip("\n"))
    lines += [OFF.rstrip("\n"), CODE_HEAD]
    code_only = [item.name for item in fields(Policy)]
    code_only = [name for name in code_only if name not in (*RULES, *EXCEPTIONS)]
    lines += table(["Argument", "Meaning"], _fields(code_only))
    lines.append(LEFT_OUT_HEAD)
    lines += table(["Key", "Values that may be left out", "Why", "Where"], _left_out())
    lines.append(DECISION_HEAD)
    told = attributes(Decision.__doc__)
    lines += table(["Field", "Meaning"], ([code(name), sentence(told[name])] for name in told))
    return "\n".join(lines) + "\n"


def _settings(group: str) -> Iterator[list[str]]:
    policy, told = Policy(), attributes(Policy.__doc__)
    for key, rule in RULES.items():
        if rule.group == group:
            allowed = rule.allowed.replace("'", "`")
            value = code(_toml(getattr(policy, key)))
            variable, header = code(f"TENUTO_{key.upper()}"), rule.by_request
            yield [code(key), variable, value, allowed, header, sentence(told[key])]


def _choices(preset: Preset) -> Iterator[list[str]]:
    policy = Policy()
    for key, choice in preset.choices.items():
        default = code(_toml(getattr(policy, key)))
        yield [code(key), code(_toml(choice.value)), default, choice.why]


def _fields(names: Iterable[str]) -> Iterator[list[str]]:
    told = attributes(Policy.__doc__)
    for name in names:
        yield [code(name), sentence(told[name])]


def _left_out() -> Iterator[list[str]]:
    for row in KEYS:
        where = [code(name) for name in (*row.wires, *row.providers)]
        said = "rows of the assistant" if row.said else ""
        places = ", ".join(map(code, row.places))
        yield [places, row.values.words, row.why, said or ", ".join(where) or "everywhere"]


def _toml(value: object) -> str:
    """A default as TOML writes it; `none` where the key is left out."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, frozenset):
        return str(sorted(value))
    return f'"{value}"' if isinstance(value, str) else str(value)
