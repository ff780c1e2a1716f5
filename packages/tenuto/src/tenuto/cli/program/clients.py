"""Reads what other packages make of a call: Tenuto, the SDKs, the frameworks, and all others."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from tenuto.cli.program.following import Given, Scope
from tenuto.cli.program.http import OverHttp, base_of
from tenuto.cli.program.makers import (
    UNKNOWN_MAKER,
    Argument,
    Maker,
    http_call_of,
    http_of,
    maker_of,
)
from tenuto.cli.program.values import (
    ACCOUNTED,
    NONE,
    NOTHING,
    UNKNOWN,
    Bound,
    Class,
    Const,
    Function,
    Http,
    Items,
    Made,
    Opaque,
    Outside,
    Site,
    Values,
    covers,
    key_of,
    text_of,
    worth,
)

_QUIET = ("builtins.", "logging.", "atexit.", "typing.", "contextlib.", "weakref.", "warnings.")
"""Functions that use no client that they are given."""

_SAME = frozenset({"copy.copy", "copy.deepcopy", "asyncio.run", "anyio.run", "asyncio.wait_for",
    "contextlib.closing", "contextlib.aclosing", "builtins.list", "builtins.tuple", "builtins.set",
    "builtins.iter", "builtins.next", "builtins.reversed", "builtins.sorted", "builtins.dict",
    "asyncio.create_task", "asyncio.ensure_future", "asyncio.shield", "httpx.URL", "httpx2.URL",
    "builtins.str"})  # fmt: skip
"""Functions that return what they are given."""

ENTERING = frozenset({"enter_context", "enter_async_context"})
_FACTORIES = frozenset({"Depends", "partial", "Singleton", "ThreadSafeSingleton", "Resource",
    "Factory", "to_thread", "from_litellm"})  # fmt: skip
"""Functions that call the class or function that they are given."""

_TRANSPORTS = frozenset({"tenuto.HTTPTransport", "tenuto.AsyncHTTPTransport"})
_CLIENTS = frozenset({"tenuto.http_client", "tenuto.async_http_client"})
_COPIES = frozenset({"with_options", "copy"})
_NO_TURN = frozenset({"list", "retrieve", "get", "delete", "cancel", "embed_content",
    "count_tokens", "compute_tokens", "generate_images", "edit_image", "upscale_image",
    "generate_videos", "input_items", "input_tokens"})  # fmt: skip
"""Last names of methods below a resource of turns that send none."""
_WORDS_OF_A_TURN = frozenset({"model", "modelId", "model_id"})
_TAILS = ("chat.completions.create", "chat.completions.parse", "chat.completions.stream",
    "responses.create", "responses.parse", "responses.stream", "messages.create", "messages.stream",
    "messages.parse", "models.generate_content", "models.generate_content_stream", "converse",
    "converse_stream", "invoke_model", "invoke_model_with_response_stream", "chat.complete",
    "chat.stream")  # fmt: skip
"""How the calls end that send a turn, whoever made the client."""

_MOCKS = ("unittest.mock.", "mock.", "pytest_mock.", "pydantic_ai.models.test.",
    "pydantic_ai.models.function.", "langchain_core.language_models.", "llama_index.core.llms.Mock",
    )  # fmt: skip
"""Objects of tests, which ask no model."""

_SESSION = re.compile(r"(aio)?boto(3|core)\..*(Session|get_session)")
"""What makes an object of AWS's SDKs that makes clients."""

_OWN_AGENT = Maker("tenuto.agent", "Agent", "Tenuto's agent")
_SETTERS = {
    "agents.set_default_openai_client": ("agents", Argument("client", position=0)),
    "agents.RunConfig": ("agents", Argument("model_provider")),
    "huggingface_hub.set_client_factory": ("huggingface_hub", Argument("", position=0)),
    "huggingface_hub.set_async_client_factory": (
        "huggingface_hub.async",
        Argument("", position=0),
    ),
}
"""Functions that give every client of a package something, with the fact that they make true."""


class Clients(OverHttp):
    """Makes clients, and follows what becomes of them."""

    def _outside(self, name: str, given: Given, node: ast.Call, scope: Scope) -> Values:
        if name in ("tenuto.wrap", "tenuto.clients.wrap.wrap"):
            return self._wrapped(given)
        if name in _CLIENTS or name in _TRANSPORTS:
            return frozenset(
                {Http("yes", scope.module, node, http_of("httpx.Client"), base_of(given))}
            )
        if name == "tenuto.litellm.install":
            self.facts.setdefault("litellm", set()).add("yes")
            return NONE
        if name == "tenuto.agent.Agent":
            self._site(_OWN_AGENT, node, scope).covered.add("yes")
            return ACCOUNTED
        if name == "tenuto.disable":
            self.facts.setdefault("disabled", set()).add("yes")
            return NONE
        if name.startswith(_MOCKS):
            return ACCOUNTED
        if name == "functools.wraps":
            return UNKNOWN
        if name.startswith("tenuto.sansio.Turn"):
            self.facts.setdefault("sansio", set()).add("yes")
            return UNKNOWN
        if name.startswith("tenuto."):
            return UNKNOWN
        if name in _SAME or name.rpartition(".")[2] in ENTERING:
            return given.all() or UNKNOWN
        if name == "builtins.getattr" and len(given.positional) > 1:
            return self._getattr(given, scope)
        if name in ("typing.cast", "typing_extensions.cast") and len(given.positional) == 2:
            return given.positional[1]
        if name in ("urllib.parse.urljoin", "os.path.join", "posixpath.join") and given.positional:
            joined = given.positional[0]
            for part in given.positional[1:]:
                joined = self._joined(joined, part)
            return joined
        if name in ("os.environ.get", "os.getenv") and len(given.positional) > 1:
            return given.positional[1] | UNKNOWN
        if _SESSION.fullmatch(name):
            return frozenset({Outside(name)})
        if (setter := _SETTERS.get(name)) is not None:
            self._note(*setter, given)
        if (http := http_call_of(name)) is not None:
            return self._sent_by_function(http, given, node, scope)
        if (http := http_of(name)) is not None:
            return self._http(http, given, node, scope)
        if (maker := maker_of(name)) is not None:
            made = self._make(maker, given, node, scope) or self._handed_out(name, given, node)
            return made | {Outside(maker.then)} if maker.then else made
        return self._handed_out(name, given, node)

    def _getattr(self, given: Given, scope: Scope) -> Values:
        key = key_of(given.positional[1])
        found: Values = NOTHING
        for base in given.positional[0]:
            if isinstance(key, str):
                found |= self._attribute(base, key, scope)
            elif isinstance(base, Outside):
                found |= {Outside(f"{base.name}.?")}
            else:
                found |= UNKNOWN
        return found.union(*given.positional[2:])

    def _wrapped(self, given: Given) -> Values:
        found: Values = NOTHING
        for value in given.get(Argument("client", position=0)) or UNKNOWN:
            match value:
                case Made():
                    if not value.path and value.site.maker.wraps:
                        value.site.wrapped = True
                    found |= {replace(value, wrapped=value.site.maker.wraps or bool(value.path))}
                case Opaque():
                    found |= {Opaque(accounted=True, wrapped=True)}
                case Const(value=None):
                    pass
                case _:
                    found |= {value}
        return found or UNKNOWN

    def _note(self, fact: str, argument: Argument, given: Given) -> None:
        """Note that the program gives every client of a package something."""
        values = given.get(argument)
        if values is None:
            return
        self._use(frozenset(v for v in values if isinstance(v, Made)), None)
        for value in values:
            if isinstance(value, Function | Bound):
                for made in self._call(value, Given(), None, None):
                    self.facts.setdefault(fact, set()).add(covers(made))
            elif not isinstance(value, Const):
                self.facts.setdefault(fact, set()).add(covers(value))

    def _handed_out(
        self, name: str, given: Given, node: ast.Call, *, accounted: bool = False
    ) -> Values:
        """Return what a function that is not read may return, and note what it was given."""
        passed = given.all()
        if not name.startswith(_QUIET):
            self._escape(passed, node)
        result = ACCOUNTED if accounted or worth(passed) else UNKNOWN
        for place, values in enumerate(given.positional):
            result |= self._called_back(values, given.positional[place + 1 :], given)
        for _, values in given.named:
            result |= self._called_back(values, (), given)
        last = name.rpartition(".")[2]
        for word, values in [("", v) for v in given.positional] + list(given.named):
            if last in _FACTORIES or "factory" in word:
                result |= self._made_later(values, node)
        if last in _FACTORIES and given.positional:
            for value in given.positional[0]:
                if isinstance(value, Class):
                    later = Given(given.positional[1:], given.named, "passed")
                    result |= self._call(value, later, None, None)
        return result

    def _called_back(self, values: Values, behind: tuple[Values, ...], given: Given) -> Values:
        """Return what functions that another package calls return. It may pass them what it was
        given behind them (`submit(function, client)`), as `args`, or by name."""
        functions = [v for v in values if isinstance(v, Function | Bound)]
        if not functions:
            return NOTHING
        named = dict(given.named)
        for items in named.get("args", NOTHING):
            if isinstance(items, Items) and not behind:
                behind = tuple(items.in_order())
        later = Given(behind, given.named, "passed")
        return NOTHING.union(*(self._call(v, later, None, None) for v in functions)) - NONE

    def _made_later(self, values: Values, node: ast.Call) -> Values:
        """Return what classes and functions of other packages make, which are called later."""
        found: Values = NOTHING
        for value in values:
            maker = maker_of(value.name) if isinstance(value, Outside) else None
            if maker is not None and (maker.wraps or maker.fact) and self._here is not None:
                found |= self._make(maker, Given(), node, self._here)
        return found

    def _escape(self, values: Values, node: ast.expr) -> None:
        """Note that clients are given to code that is not read, and which uses them."""
        inside = NOTHING.union(values, *(v.all() for v in values if isinstance(v, Items)))
        used = [v for v in inside if isinstance(v, Made) and (not v.path or sends(v))]
        self._use(frozenset(used), node)
        for value in used:
            value.site.escapes = True

    def _escape_softly(self, values: Values) -> None:
        for value in values:
            if isinstance(value, Made) and not value.path:
                value.site.escapes = True

    def _make(self, maker: Maker, given: Given, node: ast.Call, scope: Scope) -> Values:
        """Return the client that a call makes; nothing if it makes none."""
        name = given.positional[0] if given.positional else dict(given.named).get("service_name")
        if maker.only and maker.only not in {text_of(v) for v in name or ()}:
            return UNKNOWN
        handed: Values = NOTHING
        for argument in maker.takes:
            values = given.get(argument)
            if values is None or all(isinstance(v, Const) for v in values):
                continue
            self._escape(values, node)
            hidden = any(isinstance(v, Opaque) and not v.accounted for v in values)
            if hidden and not worth(values):
                self._site(maker, node, scope).covered.add("unknown")
                return ACCOUNTED
            handed |= values - NONE
        if handed:
            wrapped = {covers(v) for v in handed} == {"yes"}
            return frozenset({Opaque(accounted=True, wrapped=wrapped)})
        text = self._model(maker, given)
        if not text and not maker.defaults:
            return NOTHING
        site = self._site(maker, node, scope)
        site.text = text or site.text
        site.covered.add(self._by_arguments(maker, given, site))
        return frozenset({Made(site)})

    def _model(self, maker: Maker, given: Given) -> str:
        """Return the name of the model, if it is a text that the source shows."""
        named = any(argument.name == "model" for argument in maker.takes)
        first = () if named else (Argument("model", position=0),)
        for argument in (*maker.takes, *first):
            for value in given.get(argument) or ():
                if isinstance(value, Const) and isinstance(value.value, str) and value.value:
                    return value.value
        return ""

    def _by_arguments(self, maker: Maker, given: Given, site: Site) -> str:
        """Return whether the arguments let Tenuto in: yes, partly, no or unknown."""
        if maker.fact == "dspy":
            engine = given.get(Argument("engine")) or NOTHING
            return "fact litellm" if Const("litellm") in engine else "no"
        if maker.fact:
            return f"fact {maker.fact}"
        told = "no"
        if not re.fullmatch(maker.models, site.text):
            return told
        for way in maker.ways:
            each = {argument.name: self._http_argument(given, argument) for argument in way}
            found = set(each.values())
            if found == {"yes"}:
                return "yes"
            if "unknown" in found:
                told = "unknown"
            elif "yes" in found:
                told = "partly"
                site.missing.update(name for name, how in each.items() if how != "yes")
        if given.unseen == "passed" and maker.ways and told != "partly":
            told = "unknown"
        return told

    def _http_argument(self, given: Given, argument: Argument) -> str:
        values = given.get(argument)
        if values is None:
            return "no"
        found = {covers(v) for v in values if v != Const(None)}
        found |= {"no"} if Const(None) in values else set()
        return found.pop() if len(found) == 1 else "unknown"

    def _use_of(self, made: Values, given: Given, node: ast.Call | None) -> Values:
        """Read a call of a client or of something below it."""
        found: Values = NOTHING
        sending: set[Made] = set()
        for value in made:
            assert isinstance(value, Made)
            last = value.path[-1] if value.path else ""
            if not value.path:
                found |= {value}
            elif value.site.maker.wraps and last in _COPIES and len(value.path) == 1:
                found |= {replace(value, path=())}
            elif sends(value):
                sending.add(value)
                found |= ACCOUNTED
            else:
                value.site.others += value.path[0] not in ("close", "aclose")
                found |= ACCOUNTED
        self._use(frozenset(sending), node)
        return found

    def _use(self, made: Values, node: ast.expr | None) -> None:
        line = node.lineno if node is not None else 0
        clients = [v for v in made if isinstance(v, Made)]
        for site in {v.site for v in clients}:
            how = {v.wrapped for v in clients if v.site is site}
            if how == {False}:
                site.bare.add(line)
            elif len(how) == 2:
                site.mixed.add(line)

    def _unknown_turn(self, node: ast.Call, given: Given, scope: Scope) -> None:
        """Note a call that sends a turn with a client that the source does not show."""
        called = ast.unparse(node.func) if isinstance(node.func, ast.Attribute) else ""
        if called.endswith(tuple(f".{tail}" for tail in _TAILS)) and (
            _WORDS_OF_A_TURN & {name for name, _ in given.named}
        ):
            self._site(UNKNOWN_MAKER, node, scope).covered.add("unknown")


def sends(made: Made) -> bool:
    """Return whether a call of this would send a turn."""
    path = [name for name in made.path if name not in ("aio", "beta", "with_raw_response",
            "with_streaming_response")]  # fmt: skip
    turns = made.site.maker.turns
    if not path or path[-1] in _NO_TURN:
        return False
    return not turns or path[0] in turns
