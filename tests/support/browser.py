"""A headless Chromium, driven over its own protocol (Chrome DevTools Protocol).

Only what the tests of the page need: open an address, evaluate, press keys, take a picture, and
read what the page asked for and what it complained about.
"""

from __future__ import annotations

import base64
import itertools
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
WITHIN_S = 30.0
"""A machine under load gives a browser its time slowly; a failing test waits as long."""
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
    "--disable-extensions", "--disable-sync", "--no-default-browser-check", "--mute-audio",
    "--remote-debugging-port=0", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip


def found() -> str | None:
    """The program of a Chromium on this machine; None where there is none that runs."""
    for program in filter(None, map(shutil.which, NAMES)):
        done = subprocess.run([program, "--version"], capture_output=True, check=False)
        if done.returncode == 0:  # some systems have a stub of this name
            return program
    return None


class Page:
    """One tab.

    Attributes:
        asked: the addresses that it asked for.
        complaints: exceptions, warnings and errors of its console, and requests that failed.
    """

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._numbers = itertools.count(1)
        self._session: str | None = None
        self.asked: list[str] = []
        self.complaints: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._connection.send(json.dumps(message))
        while True:
            told = json.loads(self._connection.recv(timeout=WITHIN_S))
            if told.get("id") == number:
                assert "error" not in told, f"{method}: {told['error']}"
                return dict(told["result"])
            self._hear(told.get("method", ""), told.get("params", {}))

    def _hear(self, method: str, told: dict[str, Any]) -> None:
        match method:
            case "Network.requestWillBeSent":
                self.asked.append(told["request"]["url"])
            case "Network.loadingFailed":
                if not told.get("canceled"):
                    self.complaints.append(f"request failed: {told['errorText']}")
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(told["exceptionDetails"]))
            case "Runtime.consoleAPICalled":
                self.complaints.append(json.dumps(told["args"]))
            case "Log.entryAdded":
                self.complaints.append(told["entry"]["text"])

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=url)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript, also of a promise."""
        got = self.call(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in got, got["exceptionDetails"]
        return got["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until an expression is true."""
        until = time.monotonic() + WITHIN_S
        while not self.evaluate(f"Boolean({expression})"):
            assert time.monotonic() < until, f"never true: {expression}"
            time.sleep(0.02)

    def press(self, key: str, text: str = "") -> None:
        """Press and release a key, "Tab" or "Enter" for instance."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27}
        about = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
        text = "\r" if key == "Enter" else text
        self.call(
            "Input.dispatchKeyEvent", type="keyDown", **about, **({"text": text} if text else {})
        )
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def look(self, *, dark: bool = False, width: int = 1280, height: int = 1000) -> None:
        """Set the colors and the size."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def picture(self) -> bytes:
        """What is seen, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def tree(self) -> list[tuple[str, str]]:
        """What a screen reader is given: roles and names."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        shown = (node for node in nodes if not node.get("ignored"))
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in shown]


@contextmanager
def browser(program: str, folder: Path) -> Iterator[Page]:
    """A page of a browser, which keeps what it has in a folder."""
    command = [program, *_FLAGS, f"--user-data-dir={folder}", "about:blank"]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if address := re.search(rb"DevTools listening on (ws://\S+)", line):
                break
        else:
            raise AssertionError("the browser ended before it listened")
        with connect(address[1].decode(), max_size=None) as connection:
            page = Page(connection)
            yield page
            page._session = None
            page.call("Browser.close")
    finally:
        process.terminate()
        process.communicate(timeout=WITHIN_S)
