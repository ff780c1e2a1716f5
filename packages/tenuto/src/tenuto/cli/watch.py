"""`tenuto watch`: a page that shows the turns of running programs, from their event files."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import stat
import sys
import threading
import webbrowser
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tenuto.cli.tail import first_line, is_odd
from tenuto.cli.turn_text import text_of
from tenuto.command_kit.command_error import CommandError
from tenuto.command_kit.numbers import whole_number
from tenuto.command_kit.printing import (
    BAD_FILE,
    JsonFlag,
    Switch,
    cannot_listen,
    print_json,
    why_unread,
)
from tenuto.core.answer.stop import printable
from tenuto.core.settings.rule import Rule
from tenuto.watch import Board, Watch, follow
from tenuto.watch.access import LOOPBACK

if TYPE_CHECKING:
    import uvicorn

EXAMPLES = (
    "tenuto watch events",
    "tenuto watch --open events.jsonl",
    "tenuto watch --captures turns --show-content events",
    "tenuto watch --host 0.0.0.0 --port 8080 --token-env WATCH_TOKEN events",
)


def watch(
    file: Annotated[Path, Parameter(allow_leading_hyphen=True)],
    *,
    host: str = "127.0.0.1",
    port: Annotated[int, whole_number(Rule(int, 0, 65_535))] = 0,
    token_env: str | None = None,
    open: Switch = False,  # noqa: A002 - the option is called that
    captures: Path | None = None,
    show_content: Switch = False,
    json: JsonFlag = False,
) -> int:
    """Show the turns of running programs in the browser.

    It reads the event files that the programs write, and serves a page with the latest turns,
    their attempts, totals, and why attempts stopped. Press Ctrl-C to stop.

    Args:
        file: the folder that TENUTO_EVENTS names, or the file that a program writes with
            tenuto.telemetry.EventFile. It need not exist yet.
        host: the address to listen on. Any address but loopback needs a token.
        port: the port to listen on; 0 chooses a free one.
        token_env: the environment variable with the token that readers need.
        open: open the page in the browser.
        captures: a folder of captures (TENUTO_CAPTURE), to show the text of turns.
        show_content: show the text of turns, with marks where attempts were joined.
        json: print the address as one JSON object on one line.
    """
    _check_file(file)
    if show_content != (captures is not None):
        raise CommandError("--captures and --show-content only work together", BAD_FILE)
    if captures is not None and not captures.is_dir():
        raise CommandError(f"--captures: {captures} is not a folder", BAD_FILE)
    token = _token(token_env)
    if token is None and not _is_loopback(host):
        where = host or "all addresses"
        raise CommandError(f"on {where}, readers need a token: use --token-env", BAD_FILE)
    board = Board()
    app = _app(board, host, token, captures)
    server = _server(app)
    with _listening(host, port) as listener, follow(file, board):
        url = _url(host, listener.getsockname()[1])
        if json:
            print_json({"url": url}, indent=None)
        else:
            of = f"; add ?token= and the value of {token_env}" if token is not None else ""
            print(f"Watching {printable(str(file), 200)} at {url} (Ctrl-C to stop{of})", flush=True)
        if open:
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
        server.run(sockets=[listener])
    return 0


def _check_file(file: Path) -> None:
    if str(file) == "-":
        raise CommandError("watch follows files and cannot read standard input", BAD_FILE)
    try:
        mode = file.stat().st_mode
        if stat.S_ISDIR(mode):
            return
        if not stat.S_ISREG(mode):
            raise CommandError(f"{file}: it is a pipe or a device, not a file", BAD_FILE)
        file.open("rb").close()
        if is_odd(first_line(file)):
            print(f"tenuto: {file}: its first line is not an event", file=sys.stderr)
        return
    except (FileNotFoundError, NotADirectoryError) as error:
        if not file.parent.is_dir():
            raise CommandError(
                f"{file}: the folder {file.parent} does not exist", BAD_FILE
            ) from None
        if str(file).startswith("-"):
            raise CommandError(f"{file}: {why_unread(str(file), error)}", BAD_FILE) from None
    except OSError as error:
        raise CommandError(f"{file}: {why_unread(str(file), error)}", BAD_FILE) from None
    print(f"tenuto: waiting for {printable(str(file), 200)}", file=sys.stderr)


def _token(name: str | None) -> str | None:
    if name is None:
        return None
    token = os.environ.get(name, "")
    if not token:
        raise CommandError(f"--token-env: the variable {name} is not set", BAD_FILE)
    return token


def _app(board: Board, host: str, token: str | None, captures: Path | None) -> Watch:
    texts = partial(text_of, captures) if captures is not None else None
    names = (*LOOPBACK, f"[{host}]" if ":" in host else host)
    try:
        return Watch(board, token=token, hosts=names, text_of=texts)
    except ValueError as error:
        raise CommandError(str(error), BAD_FILE) from None


def _is_loopback(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise CommandError(cannot_listen(host, port, error)) from None


def _url(host: str, port: int) -> str:
    shown = "127.0.0.1" if host == "0.0.0.0" else "::1" if host == "::" else host
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def _server(app: Watch) -> uvicorn.Server:
    try:
        import uvicorn
    except ModuleNotFoundError as error:
        raise CommandError(
            f"watch needs the package {error.name}; install it with: pip install 'tenuto[watch]'",
            BAD_FILE,
        ) from None

    class Server(uvicorn.Server):
        """A server that ends the app's streams before it shuts down."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            app.close()
            super().handle_exit(sig, frame)

    config = uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,  # a URL may have the token
        proxy_headers=False,  # any client could claim to be on this machine
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    return Server(config)
