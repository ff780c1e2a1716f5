"""A client process: threads and tasks that ask one turn after the other, and say how each ended.

    python -m checks.soak.worker PORT SEED FIRST STEP SECONDS THREADS TASKS RATE...

Each line of its output is one JSON document: a verdict, or a sample of what the process holds. They
come once a second: a write for each turn would make every thread wait for the others.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from checks.soak.asking import Asker, Got
from checks.soak.flat import sample
from checks.soak.judging import verdict
from checks.soak.truth import Plan, key_of, plan_of

SAMPLE_S = 1.0


class Worker:
    """Hands out turns, and tells their verdicts."""

    def __init__(self, port: int, seed: int, first: int, step: int, rates: list[int]) -> None:
        self.asker = Asker(port)
        self.seed, self.rates = seed, rates
        self.numbers = {way: iter(itertools.count(first * 2 + way, step * 2)) for way in (0, 1)}
        self.lock = threading.Lock()
        self.until = 0.0

    def plans(self, way: int) -> Iterator[Plan]:
        """Turns for threads (0) or tasks (1), until the time is over."""
        while time.monotonic() < self.until:
            with self.lock:
                number = next(self.numbers[way])
            rate = self.rates[number // 2 % len(self.rates)]
            yield plan_of(key_of(self.seed, number, rate))

    def tell(self, plan: Plan, got: Got) -> None:
        """One line for one turn: all of it only where somebody will read it."""
        what, why = verdict(plan, got)
        line: dict[str, Any] = {"key": plan.key, "verdict": what, "why": why, "kinds": kinds(plan)}
        if what != "complete" or why:
            line["got"] = asdict(got)
        self.write(line)

    def write(self, line: dict[str, Any], *, flush: bool = False) -> None:
        data = json.dumps(line) + "\n"
        with self.lock:
            sys.stdout.write(data)
            if flush:
                sys.stdout.flush()

    def thread(self) -> None:
        for plan in self.plans(0):
            self.tell(plan, self.asker.ask(plan))

    async def task(self) -> None:
        for plan in self.plans(1):
            self.tell(plan, await self.asker.ask_async(plan))

    async def run(self, seconds: float, threads: int, tasks: int) -> None:
        """Ask with all of them at once, for so many seconds."""
        self.asker.warm()
        self.until = time.monotonic() + seconds
        sampler = asyncio.create_task(self.samples())
        asking = [threading.Thread(target=self.thread) for _ in range(threads)]
        for each in asking:
            each.start()
        await asyncio.gather(*(self.task() for _ in range(tasks)))
        for each in asking:
            await asyncio.to_thread(each.join)
        sampler.cancel()
        await self.asker.close()

    async def samples(self) -> None:
        while True:
            self.write({"sample": sample()}, flush=True)
            await asyncio.sleep(SAMPLE_S)


def kinds(plan: Plan) -> list[str]:
    """The kinds of turns that this one is counted among."""
    kind = f"{plan.wire} {'stream' if plan.stream else 'body'}"
    way = "task" if plan.task else "thread"
    return [kind, way, f'on_incomplete="{plan.on_incomplete}"']


def main(arguments: list[str]) -> None:
    """Read the arguments, and run."""
    port, seed, first, step = (int(a) for a in arguments[:4])
    seconds, threads, tasks = float(arguments[4]), int(arguments[5]), int(arguments[6])
    worker = Worker(port, seed, first, step, [int(a) for a in arguments[7:]])
    asyncio.run(worker.run(seconds, threads, tasks))


if __name__ == "__main__":
    main(sys.argv[1:])
