"""Looks at the built site in headless Chromium: `make check-site`.

    python tools/site_check.py site --shots .site/shots --browser /usr/bin/chromium

It opens every page from a server on loopback, light and dark, and finds: links and anchors that
lead nowhere, requests to anybody else, errors on the console, headings out of order, text with too
little contrast, and a search that does not work (over HTTP, and from files alone). Pictures of some
pages go to --shots.
"""

import argparse
import functools
import shutil
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Request,
    Response,
    sync_playwright,
)

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SHOWN = (
    "index.html",
    "reference.html",
    "ladders.html",
    "frameworks.html",
    "performance.html",
    "glossary.html",
    "stability.html",
    "guide/check-your-program.html",
    "guide/disable.html",
    "guide/troubleshooting.html",
    "guide/what-the-caller-sees.html",
    "guide/what-you-use.html",
)
SEARCHED = "max_tokens"
SCHEMES = ("light", "dark")
WIDTHS = (390, 1280)
FOUND_FIRST = {
    "structured": "guide/structured-output.html",
    "gateway": "guide/what-you-use.html",
    "disable": "guide/disable.html",
    "why not": "guide/what-you-use.html",
    "langgraph": "frameworks.html",
    "glossary": "glossary.html",
}
"""What people search for, and the page that has to be the first result."""
LEFT = "net::ERR_ABORTED"
"""How a request ends when its page is left: the search of a page that nobody searches."""


SCRIPT = Path(__file__).with_suffix(".js").read_text("utf-8")
"""The functions that run in the page: `read`, `broken` and `faint`."""


def main(arguments: Sequence[str]) -> int:
    """Look at all pages; the exit code says whether anything was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("site", type=Path)
    parser.add_argument("--shots", type=Path, help="folder that receives pictures")
    parser.add_argument("--browser", help="the command of Chromium")
    given = parser.parse_args(arguments)
    command = given.browser or next(filter(None, map(shutil.which, BROWSERS)), None)
    if command is None:
        print("No Chromium found. Install it, for instance with: apt-get install chromium")
        return 1
    found: list[str] = []
    with served(given.site) as url, sync_playwright() as playwright:
        # Its sandbox wants rights that root, as in a container, must not use.
        browser = playwright.chromium.launch(executable_path=command, args=["--no-sandbox"])
        found += look(browser, given.site, url)
        for address, shots in ((url, given.shots), (given.site.resolve().as_uri() + "/", None)):
            found += search(browser, address, shots)
            found += first_results(browser, address)
        if given.shots:
            picture(browser, url, given.shots)
        browser.close()
    for each in found:
        print(each)
    print(f"{len(found)} faults." if found else "Nothing found.")
    return bool(found)


@contextmanager
def served(site: Path) -> Iterator[str]:
    """The site on a free port of loopback."""
    handler = functools.partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and prints nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 — the base class names it so
        """Print nothing."""


def look(browser: Browser, site: Path, url: str) -> list[str]:
    """What is wrong on the pages, in each colour scheme."""
    places = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    places.remove("404.html")
    found: list[str] = []
    links: dict[str, set[str]] = {}
    anchors: dict[str, set[str]] = {}
    page = watched(browser.new_context(), url, found)
    for place in places:
        page.goto(url + place)
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            found += [f"{place}, {scheme}: faint: {each}" for each in asked(page, "faint")]
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            found += [f"{place}, {width} px: broken: {each}" for each in asked(page, "broken")]
        told = asked(page, "read")
        found += [f"{place}: {each}" for each in disorder(told["headings"])]
        found += [f"{place}: has no name: {each}" for each in told["nameless"]]
        links[place] = {each for each in told["links"] if each.startswith(url)}
        anchors[url + place] = set(told["anchors"])
    page.context.close()
    print(f"{len(places)} pages, {sum(map(len, links.values()))} links within the site")
    return found + list(broken(site, url, links, anchors))


def asked(page: Page, function: str) -> Any:
    """What a function of the script answers in a page."""
    return page.evaluate(f"() => {{ {SCRIPT} return {function}(); }}")


def watched(context: BrowserContext, url: str, found: list[str]) -> Page:
    """A page that adds to `found` what it asks others for and what goes wrong on it."""
    page = context.new_page()

    def asks(request: Request) -> None:
        if not request.url.startswith((url, "data:", "blob:")):
            found.append(f"{page.url}: asks {request.url}")

    def answered(response: Response) -> None:
        if response.status >= 400:
            found.append(f"{page.url}: {response.status} for {response.url}")

    def failed(request: Request) -> None:
        if request.failure != LEFT:
            found.append(f"{page.url}: failed {request.url}: {request.failure}")

    def said(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            found.append(f"{page.url}: {message.type}: {message.text}")

    page.on("request", asks)
    page.on("response", answered)
    page.on("requestfailed", failed)
    page.on("console", said)
    page.on("pageerror", lambda error: found.append(f"{page.url}: {error}"))
    return page


def disorder(headings: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Levels that a page leaves out, and titles that it has twice or not at all."""
    before, titles = 0, 0
    for level, text in headings:
        titles += level == 1
        if level > before + 1:
            yield f"heading {text!r} of level {level} follows level {before}"
        before = level
    if titles != 1:
        yield f"has {titles} headings of level 1"


def broken(
    site: Path, url: str, links: dict[str, set[str]], anchors: dict[str, set[str]]
) -> Iterator[str]:
    """Links that lead to no file, or to no place in it."""
    for place, targets in links.items():
        for target in sorted(targets):
            page, anchor = urldefrag(target)
            path = unquote(page.removeprefix(url)) or "index.html"
            if not (site / path).is_file():
                yield f"{place}: no file {path}"
            elif anchor and unquote(anchor) not in anchors.get(
                urljoin(url, path), {unquote(anchor)}
            ):
                yield f"{place}: no {anchor} in {path}"


def open_search(page: Page) -> None:
    """Open the search by its key, and wait until it takes letters: earlier ones would be lost. A
    key that comes before the page listens does nothing, so it is pressed again."""
    for _ in range(20):
        page.keyboard.press("/")
        with suppress(Error):
            page.locator(SEARCH).wait_for(timeout=1_000)
            break
    page.locator(SEARCH).fill("")


def search(browser: Browser, url: str, shots: Path | None) -> list[str]:
    """Search by keyboard, and follow the first result."""
    found: list[str] = []
    for scheme in SCHEMES:
        context = browser.new_context(color_scheme=scheme, viewport={"width": 1280, "height": 800})
        page = watched(context, url, found)
        page.goto(url + "index.html")
        open_search(page)
        page.keyboard.type(SEARCHED)
        result = page.locator(RESULT).first
        try:
            result.wait_for(timeout=10_000)
        except Exception as error:  # noqa: BLE001 — whatever it is, the search does not work
            found.append(f"{url}: no result for {SEARCHED}: {error}")
        else:
            if shots:
                shots.mkdir(parents=True, exist_ok=True)
                page.wait_for_timeout(400)  # until what opens has opened, for the picture alone
                page.screenshot(path=shots / f"search-{scheme}.png")
            result.click()
            # The result may be a section of this very page, and the page is loaded already.
            try:
                page.wait_for_url(lambda now: now != url + "index.html", timeout=10_000)
            except Exception as error:  # noqa: BLE001 — whatever it is, nobody arrives
                found.append(f"{url}: the first result for {SEARCHED} leads nowhere: {error}")
        context.close()
    return found


def first_results(browser: Browser, url: str) -> Iterator[str]:
    """Searches whose first result is another page, and decisions that come before a page."""
    for words, wanted in FOUND_FIRST.items():
        page = browser.new_page()
        page.goto(url + "index.html")
        open_search(page)
        page.keyboard.type(words)
        try:
            page.locator(RESULT).first.wait_for(timeout=10_000)
        except Exception as error:  # noqa: BLE001 — whatever it is, the search does not work
            yield f"{url}: no result for {words!r}: {error}"
        else:
            page.wait_for_timeout(500)  # the results of the first letters go
            results = page.locator(RESULT).evaluate_all(LEADS_TO)
            places = [urldefrag(each)[0].removeprefix(url).partition("?")[0] for each in results]
            if places[0] != wanted:
                yield f"{words!r} finds {places[0]} first, not {wanted}"
            whys = [place.startswith("decisions/") for place in places]
            if whys != sorted(whys):
                yield f"{words!r} finds a decision before a page: {places}"
        page.close()


SEARCH = "input:focus"
RESULT = "[role=option]"
LEADS_TO = "all => all.map(each => (each.closest('a') ?? each.querySelector('a') ?? each).href)"
"""Where each result leads."""


def picture(browser: Browser, url: str, shots: Path) -> None:
    """Pictures of some pages, light and dark, wide and narrow."""
    shots.mkdir(parents=True, exist_ok=True)
    for scheme in SCHEMES:
        for width, name in ((1280, ""), (390, "-narrow")):
            context = browser.new_context(
                color_scheme=scheme, viewport={"width": width, "height": 900}
            )
            page = context.new_page()
            for place in SHOWN:
                page.goto(url + place)
                page.screenshot(path=shots / f"{Path(place).stem}-{scheme}{name}.png")
            context.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
