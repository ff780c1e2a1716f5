"""A page that shows turns while they run: `Board` stores what their events say, `Watch` serves it
as an ASGI app, and `follow` feeds it from event files."""

from tenuto.watch.app import Watch
from tenuto.watch.board import Board
from tenuto.watch.files import follow

__all__ = ["Board", "Watch", "follow"]
