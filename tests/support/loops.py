"""Event loops that a test creates and closes itself."""

from __future__ import annotations

import asyncio


def close_loop(loop: asyncio.AbstractEventLoop) -> None:
    """Close a loop once the generators that an SDK left open have ended.

    The SDKs leave a stream's generators to the garbage collector, which closes each in a task of
    its own, one after the other. If the loop closes before that, Python 3.14 warns."""
    loop.run_until_complete(_rest())
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


async def _rest() -> None:
    await asyncio.sleep(0)
    while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(tasks, timeout=1)
        for task in tasks:
            task.cancel()
        await asyncio.sleep(0)
