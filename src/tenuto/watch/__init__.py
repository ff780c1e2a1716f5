"""A page that shows turns while they run: `Board` keeps what their events tell, `Watch` serves it
as an ASGI app, and `follow` feeds it from event files."""

from tenuto.watch.app import Watch
from tenuto.watch.board import Board
from tenuto.watch.files import follow

__all__ = ["Board", "Watch", "follow"]
