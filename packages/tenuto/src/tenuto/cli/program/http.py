"""Reads what a program sends over HTTP by itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenuto.cli.program.following import Following, Given, Scope
from tenuto.cli.program.makers import Argument, Maker
from tenuto.cli.program.urls import is_turn
from tenuto.cli.program.values import (
    ACCOUNTED,
    UNSEEN,
    Const,
    Http,
    Items,
    Opaque,
    Values,
    covers,
    text_of,
)

_SENDING = frozenset({"post", "stream", "request", "send", "build_request"})
"""The methods of a client that send a request."""


class OverHttp(Following):
    """Makes and uses clients of HTTP."""

    def _http(self, row: Maker, given: Given, node: ast.Call, scope: Scope) -> Values:
        covered = "no"
        for name in ("transport", "mounts"):
            for value in given.get(Argument(name)) or ():
                for each in value.all() if isinstance(value, Items) else (value,):
                    if isinstance(each, Http | Opaque):
                        covered = covers(each)
        return frozenset({Http(covered, scope.module, node, row, base_of(given))})

    def _sent(self, http: Http, given: Given) -> Values:
        if http.method in _SENDING and http.node is not None and http.maker is not None:
            for url in self._urls(http.base_url, given):
                if is_turn(url):
                    module = http.module
                    assert module is not None
                    site = self._site(http.maker, http.node, Scope(module))
                    site.covered.add(http.covered)
                    site.text = url.replace(UNSEEN, "…")
        return ACCOUNTED

    def _sent_by_function(self, row: Maker, given: Given, node: ast.Call, scope: Scope) -> Values:
        for url in self._urls("", given):
            if is_turn(url):
                site = self._site(row, node, scope)
                site.covered.add("no")
                site.text = url.replace(UNSEEN, "…")
        return ACCOUNTED

    def _urls(self, base: str, given: Given) -> Iterator[str]:
        for values in (
            *given.positional[:2],
            *(v for k, v in given.named if k in ("url", "request")),
        ):
            for value in values:
                if isinstance(value, Http):
                    yield value.base_url
                elif text := text_of(value):
                    yield (
                        text
                        if "://" in text or not base
                        else f"{base.rstrip('/')}/{text.lstrip('/')}"
                    )


def base_of(given: Given) -> str:
    for name in ("base_url", "url", "full_url"):
        for value in given.get(Argument(name)) or ():
            return text_of(value)
    for values in given.positional[:1]:
        for value in values:
            if isinstance(value, Const) and "://" in text_of(value):
                return text_of(value)
    return ""
