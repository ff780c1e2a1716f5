"""The soak: many turns with many faults against a server that knows the truth of each.

Prints how it goes, and a table at the end; exits 1 if any turn was wrong, if too few were complete,
or if a process grew. A wrong turn is printed with its key: `--only KEY` plays it again alone.
"""

from __future__ import annotations

import argparse
import http.client
import json
import queue
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checks.soak.asking import Got, run_one
from checks.soak.flat import MEASURES, growth
from checks.soak.judging import excuse, verdict
from checks.soak.truth import plan_of

PROJECT = Path(__file__).resolve().parents[2]
RATES = (20, 35)
COMPLETE_OF_100 = {20: 97.0, 45: 88.0, 50: 88.0}
"""By the rate of faults, in percent: how many of 100 turns must be complete at least."""
WHOLE_AS_PARTIAL_OF_100 = 0.3
AMBIGUOUS_ONE_IN = 3_000
SHOWN_WRONG = 20


@dataclass
class Found:
    """What all turns came to."""

    turns: Counter[str] = field(default_factory=Counter)
    by_rate: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    by_kind: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    by_fault: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    reasons: Counter[str] = field(default_factory=Counter)
    attempts: int = 0
    whole_as_partial: list[dict[str, Any]] = field(default_factory=list)
    wrong: list[dict[str, Any]] = field(default_factory=list)
    unsure: list[dict[str, Any]] = field(default_factory=list)
    doubted: int = 0
    samples: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))

    def take(self, line: dict[str, Any], record: dict[str, Any]) -> None:
        """One turn: what its client says, and what the server did."""
        attempts = record["attempts"]
        what, why = line["verdict"], line["why"]
        notes = [note for a in attempts for note in a["notes"]]
        if notes and what != "wrong":
            what, why = "wrong", notes[0]
        self.attempts += len(attempts)
        self.doubted += sum(attempt["whole"] for attempt in attempts[:-1])
        if what == "wrong":
            reason = self._excuse(line, record)
            found = {"key": line["key"], "why": why, "record": record, "got": line.get("got")}
            if reason:
                what = "unsure"
                self.unsure.append(found | {"why": reason})
            else:
                self.wrong.append(found)
        if what == "said":
            self.reasons[line["got"]["report"].get("reason") or why] += 1
            if attempts and attempts[-1]["whole"]:
                self.whole_as_partial.append(
                    {"key": line["key"], "why": why, "record": record, "got": line["got"]}
                )
        self.turns[what] += 1
        self.by_rate[int(line["key"].rpartition(".")[2])][what] += 1
        for name in line["kinds"]:
            self.by_kind[name][what] += 1
        for name in {f for a in attempts for f in (a["style"], *a["fault"].split("+")) if f}:
            self.by_fault[name][what] += 1

    def _excuse(self, line: dict[str, Any], record: dict[str, Any]) -> str:
        bad = [n for a in record["attempts"] for n in a["notes"] if not n.startswith("said is not")]
        wrong = line["verdict"] == "wrong" and line.get("got") is not None
        got = Got(**line["got"]) if wrong else None
        return "" if bad else excuse(plan_of(line["key"]), got, record["attempts"])

    def verdicts(self, held: dict[str, Any]) -> list[str]:
        """What does not hold, in sentences."""
        failed = []
        total = self.turns.total()
        if self.wrong:
            failed.append(f"{len(self.wrong)} of {total:,} turns are wrong")
        if len(self.unsure) > max(2, total / AMBIGUOUS_ONE_IN):
            failed.append(f"{len(self.unsure)} of {total:,} turns had no one right answer")
        for rate, counts in sorted(self.by_rate.items()):
            share, least = 100 * counts["complete"] / counts.total(), COMPLETE_OF_100.get(rate, 0.0)
            if share < least:
                failed.append(
                    f"{share:.2f} % of the turns at {rate} % are complete, not {least:g} %"
                )
        partial = 100 * len(self.whole_as_partial) / max(1, total)
        if partial > WHOLE_AS_PARTIAL_OF_100:
            failed.append(f"{partial:.2f} % of the turns ended as partial though all came")
        failed += [
            f"{name}: {measure} grew from {before:g} to {after:g}"
            for name, grown in held.items()
            for measure, (before, after, flat) in grown.items()
            if not flat
        ]
        return failed


class Run:
    """The processes of one soak."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked = asked
        self.found = Found()
        self.lines: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.server, self.port = start_server()
        self.link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        self.workers = [self._worker(n) for n in range(asked.processes)]

    def _worker(self, number: int) -> subprocess.Popen[str]:
        asked = self.asked
        given = (self.port, asked.seed, number, asked.processes, asked.seconds, asked.threads)
        command = [
            sys.executable,
            "-m",
            "checks.soak.worker",
            *map(str, (*given, asked.tasks, *asked.rates)),
        ]
        made = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True)
        threading.Thread(
            target=self._read, args=(made, f"client {number + 1}"), daemon=True
        ).start()
        return made

    def _read(self, process: subprocess.Popen[str], name: str) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self.lines.put(json.loads(line) | {"from": name})
        self.lines.put({"over": name})

    def run(self) -> None:
        """Take what comes until all clients are done."""
        began = told = sampled = time.monotonic()
        running = len(self.workers)
        waiting: list[dict[str, Any]] = []
        while running or waiting:
            try:
                line = self.lines.get(timeout=0.25) if running else {}
            except queue.Empty:
                line = {}
            if "over" in line:
                running -= 1
            elif "sample" in line:
                self.found.samples[line["from"]].append(line["sample"])
            elif line:
                waiting.append(line)
            now = time.monotonic()
            if waiting and (len(waiting) >= 100 or not line):
                self._settle(waiting)
                waiting = []
            if now - sampled >= 1:
                sampled = now
                self.found.samples["server"].append(self._ask("/soak/sample", None))
            if now - told >= self.asked.every and not self.asked.json:
                told = now
                self._progress(now - began)
        self.took_s = time.monotonic() - began
        if any(process.wait(timeout=30) for process in self.workers):
            raise SystemExit("a client process failed")

    def _settle(self, lines: list[dict[str, Any]]) -> None:
        whole = {line["key"]: line["verdict"] != "complete" or bool(line["why"]) for line in lines}
        records = self._ask("/soak/records", whole)
        for line, record in zip(lines, records, strict=True):
            self.found.take(line, record)
            if self.found.wrong and self.found.wrong[-1]["key"] == line["key"]:
                self._keep(self.found.wrong[-1])

    def _keep(self, wrong: dict[str, Any]) -> None:
        if self.asked.keep:
            with Path(self.asked.keep).open("a", encoding="utf-8") as file:
                file.write(
                    json.dumps(wrong | {"truth": _truth(wrong["key"])}, ensure_ascii=False) + "\n"
                )

    def _ask(self, path: str, payload: Any) -> Any:
        self.link.request("POST", path, json.dumps(payload))
        return json.loads(self.link.getresponse().read())

    def _progress(self, seconds: float) -> None:
        turns = self.found.turns
        print(
            f"{seconds:4.0f} s  {turns.total():7,} turns  {turns['complete']:7,} complete"
            f"  {turns['said']:5,} said so  {turns['wrong']:3,} wrong  {turns['unsure']:3,} unsure",
            flush=True,
        )

    def stop(self) -> None:
        for process in (*self.workers, self.server):
            if process.poll() is None and process is not self.server:
                process.kill()
        assert self.server.stdin is not None
        self.server.stdin.close()
        self.server.wait(timeout=10)


def start_server() -> tuple[subprocess.Popen[str], int]:
    """The server in a process of its own, and its port."""
    command = [sys.executable, "-m", "checks.soak.server"]
    made = subprocess.Popen(
        command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert made.stdout is not None
    return made, int(made.stdout.readline())


def _truth(key: str) -> dict[str, Any]:
    plan = plan_of(key)
    return {"text": plan.text, "calls": [[c.name, c.arguments] for c in plan.calls]}


def _row(name: str, counts: Counter[str]) -> str:
    total = counts.total()
    return (
        f"{name:24} {total:8,} {100 * counts['complete'] / total:9.2f} {counts['said']:8,}"
        f" {counts['unsure']:7,} {counts['wrong']:6,}"
    )


def table(run: Run, held: dict[str, Any]) -> str:
    """All that was found, for a person."""
    found = run.found
    head = f"{'':24} {'turns':>8} {'% whole':>9} {'said so':>8} {'unsure':>7} {'wrong':>6}"
    lines = ["", head]
    lines += [_row(f"{rate} % faults", counts) for rate, counts in sorted(found.by_rate.items())]
    lines += [_row(name, counts) for name, counts in sorted(found.by_kind.items())]
    lines += ["", "Turns with at least one", head]
    lines += [_row(name, counts) for name, counts in sorted(found.by_fault.items())]
    lines += ["", "Why turns did not end complete"]
    lines += [f"  {count:6,} {reason}" for reason, count in found.reasons.most_common(12)]
    lines += ["", f"{'':12}" + "".join(f"{m:>24}" for m in MEASURES)]
    lines += [
        f"{name:12}"
        + "".join(
            f"{grown[m][0]:>16,.0f} → {grown[m][1]:,.0f}" if m in grown else f"{'–':>20}"
            for m in MEASURES
        )
        for name, grown in held.items()
    ]
    total = found.turns.total()
    lines += [
        "",
        f"{total:,} turns, {found.attempts:,} requests, {run.took_s:.0f} s,"
        f" {total / run.took_s:.0f} turns a second; seed {run.asked.seed}",
        f"whole answers that ended as partial: {len(found.whole_as_partial)};"
        f" whole answers that were asked for again: {found.doubted}",
    ]
    return "\n".join(lines)


def story(entry: dict[str, Any]) -> str:
    """One turn, attempt by attempt, for a person."""
    plan, got = plan_of(entry["key"]), entry.get("got") or {}
    lines = [
        f"{entry['key']}: {entry['why']}",
        f"  {plan.wire} {'stream' if plan.stream else 'body'} {'task' if plan.task else 'thread'}"
        f" {plan.model} on_incomplete={plan.on_incomplete} prefill={plan.prefill}"
        f" max_tokens={plan.max_tokens} document={plan.document}",
    ]
    for number, attempt in enumerate(entry["record"]["attempts"], 1):
        way = "prefill" if attempt["prefill"] else attempt["hint"][:36]
        name = "+".join(filter(None, (attempt["style"], attempt["fault"]))) or "-"
        lines.append(
            f"  {number}. {name}  [{way}] limit {attempt['max_tokens']} {attempt['notes'] or ''}"
        )
        lines.append(f"     said …{attempt['said'][-70:]!r}")
        lines.append(f"     sent {attempt['sent'][:110]!r} ({len(attempt['sent'])} characters)")
    text = got.get("text", "")
    same = next(
        (n for n, (a, b) in enumerate(zip(text, plan.text, strict=False)) if a != b),
        min(len(text), len(plan.text)),
    )
    lines.append(
        f"  got  {got.get('stop')} {got.get('error', '')} {got.get('report', {}).get('reason', '')}"
    )
    if text != plan.text:
        lines.append(
            f"  got  …{text[max(0, same - 40) : same]!r} | {text[same : same + 80]!r} ({len(text)})"
        )
        lines.append(
            f"  true …{plan.text[max(0, same - 40) : same]!r} | {plan.text[same : same + 80]!r} ({len(plan.text)})"
        )
    if plan.calls or got.get("calls"):
        lines.append(f"  got  calls {got.get('calls')}")
        lines.append(f"  true calls {[(c.name, c.arguments) for c in plan.calls]}")
    return "\n".join(lines)


def replay(key: str) -> int:
    """Play one turn again, and tell all of it."""
    server, port = start_server()
    try:
        plan = plan_of(key)
        got = run_one(port, plan)
        what, why = verdict(plan, got)
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        link.request("POST", "/soak/records", json.dumps({key: True}))
        record = json.loads(link.getresponse().read())[0]
    finally:
        assert server.stdin is not None
        server.stdin.close()
        server.wait(timeout=10)
    notes = [note for a in record["attempts"] for note in a["notes"]]
    entry = {"key": key, "why": f"{what}: {why}", "record": record, "got": vars(got)}
    print(story(entry))
    if what == "wrong":
        reason = excuse(plan, got, record["attempts"])
        print(f"  {'no one right answer: ' + reason if reason else 'WRONG'}")
        return 0 if reason else 1
    return 1 if notes else 0


def main(arguments: list[str]) -> int:
    """Run, print, judge."""
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=20261123)
    parser.add_argument(
        "--rates",
        type=lambda text: [int(rate) for rate in text.split(",")],
        default=list(RATES),
        help="percent of the attempts that go wrong, as in 20,35; from 40 on, further attempts do again and again",
    )
    parser.add_argument("--processes", type=int, default=2, help="client processes")
    parser.add_argument("--threads", type=int, default=4, help="threads of each")
    parser.add_argument("--tasks", type=int, default=16, help="tasks of each")
    parser.add_argument(
        "--every", type=float, default=10.0, help="seconds between lines of progress"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--keep", default="", help="a file that wrong turns are added to")
    parser.add_argument("--only", default="", help="play the turn with this key again, alone")
    asked = parser.parse_args(arguments)
    if asked.only:
        return replay(asked.only)
    run = Run(asked)
    try:
        run.run()
    finally:
        run.stop()
    found = run.found
    held = {name: growth(samples) for name, samples in sorted(found.samples.items())}
    failed = found.verdicts(held)
    if asked.json:
        print(json.dumps(figures(run, held, failed), ensure_ascii=False, indent=1))
        return bool(failed)
    print(table(run, held))
    shown = (
        ("Whole, and ended as partial", found.whole_as_partial),
        ("No one right answer", found.unsure),
        ("WRONG", found.wrong),
    )
    for title, entries in shown:
        for entry in entries[:SHOWN_WRONG]:
            print(f"\n{title}: {story(entry)}")
    if found.wrong:
        print(f"\nPlay one again: make soak ONLY={found.wrong[0]['key']}")
    print("\n".join(["", *(f"Failed: {what}." for what in failed)]) if failed else "\nAll holds.")
    return bool(failed)


def figures(run: Run, held: dict[str, Any], failed: list[str]) -> dict[str, Any]:
    """The same as the table, for a program."""
    found = run.found
    return {
        "seed": run.asked.seed,
        "seconds": run.took_s,
        "turns": found.turns,
        "requests": found.attempts,
        "by_rate": found.by_rate,
        "by_kind": found.by_kind,
        "by_fault": found.by_fault,
        "reasons": found.reasons,
        "whole_as_partial": [entry["key"] for entry in found.whole_as_partial],
        "asked_again": found.doubted,
        "held": held,
        "wrong": [entry | {"truth": _truth(entry["key"])} for entry in found.wrong],
        "no_one_right_answer": [entry | {"truth": _truth(entry["key"])} for entry in found.unsure],
        "failed": failed,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
