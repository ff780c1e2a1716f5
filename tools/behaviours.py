"""Holds the tests to docs/behaviours/claimed.toml: each claimed behaviour has a test or a reason.

Run as a program it prints what is amiss and exits 1 if anything is. Tests are read with `ast`,
never imported, so this is quick and works while the code does not.
"""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLAIMED = Path("docs/behaviours/claimed.toml")
ID = re.compile(r"([A-Z])(\d+)([a-z]?)")


@dataclass(frozen=True, slots=True)
class Claim:
    """A behaviour that an issue has promised; `reason` stands where no test can prove it."""

    id: str
    issue: int
    what: str
    reason: str | None


def read_claims(root: Path) -> tuple[dict[str, Claim], dict[str, str], list[str]]:
    """The claims by id, in reading order; the areas' titles; and what is wrong in the file."""
    table = tomllib.loads((root / CLAIMED).read_text("utf-8"))
    areas: dict[str, str] = table["areas"]
    reasons: dict[str, str] = table["untested"]
    claims: dict[str, Claim] = {}
    problems = []
    for issue, rows in table["claimed"].items():
        for id_, what in rows.items():
            match = ID.fullmatch(id_)
            if match is None or match[1] not in areas:
                problems.append(f"{CLAIMED}: {id_} is no id of a known area")
            elif id_ in claims:
                problems.append(f"{CLAIMED}: {id_} is claimed twice")
            else:
                claims[id_] = Claim(id_, int(issue), what, reasons.get(id_))
    problems += [
        f"{CLAIMED}: {id_} has a reason but is not claimed" for id_ in reasons.keys() - claims
    ]

    def reading_order(claim: Claim) -> tuple[int, int, str]:
        match = ID.fullmatch(claim.id)
        assert match is not None
        return list(areas).index(match[1]), int(match[2]), match[3]

    return {c.id: c for c in sorted(claims.values(), key=reading_order)}, areas, problems


def read_tests(root: Path) -> tuple[dict[str, list[str]], list[str]]:
    """The tests of each id, as file::name, and the markers that cannot be read."""
    proofs: dict[str, list[str]] = defaultdict(list)
    problems = []
    for path in sorted((root / "tests").rglob("test_*.py")):
        name = path.relative_to(root).as_posix()
        for place, mark in _marks(ast.parse(path.read_text("utf-8"), name), name):
            ids = [a.value for a in mark.args if isinstance(a, ast.Constant)]
            if not ids or len(ids) != len(mark.args) or not all(isinstance(i, str) for i in ids):
                problems.append(f"{name}:{mark.lineno} write the ids out as strings")
                continue
            for id_ in ids:
                proofs[str(id_)].append(place)
    return dict(proofs), problems


def _marks(node: ast.AST, place: str) -> Iterator[tuple[str, ast.Call]]:
    """Each behaviour(...) mark under `node`: on a test, on a class of tests, or in pytestmark."""
    for child in ast.iter_child_nodes(node):
        match child:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                if name.lower().startswith("test"):
                    here = f"{place}::{name}"
                    yield from ((here, mark) for d in child.decorator_list for mark in _calls(d))
                    yield from _marks(child, here)
            case ast.Assign(targets=[ast.Name(id="pytestmark")], value=value):
                yield from ((place, mark) for mark in _calls(value))


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    for child in ast.walk(node):
        match child:
            case ast.Call(func=ast.Attribute(attr="behaviour")):
                yield child


def problems(root: Path = ROOT) -> list[str]:
    """One line for each claim without proof, each proof without claim, and each misprint."""
    claims, _, found = read_claims(root)
    proofs, unreadable = read_tests(root)
    found += unreadable
    for claim in claims.values():
        if claim.id not in proofs and claim.reason is None:
            found.append(f"{claim.id} has no test and no reason: {claim.what}")
        elif claim.id in proofs and claim.reason is not None:
            found.append(f"{claim.id} has a test, so it needs no reason: {proofs[claim.id][0]}")
    for id_ in sorted(proofs.keys() - claims):
        found += [f"{place} names {id_}, which {CLAIMED} does not claim" for place in proofs[id_]]
    return found


def render_page(root: Path = ROOT) -> str:
    """docs/behaviours.md: one table per area."""
    claims, areas, _ = read_claims(root)
    proofs, _ = read_tests(root)
    lines = [
        "# Behaviours",
        "",
        "This page lists what Tenuto promises, and the tests that prove it. Tests name an id with",
        '`@pytest.mark.behaviour("C1")`; the sentences come from `docs/behaviours/claimed.toml`.',
    ]
    for letter, title in areas.items():
        rows = [c for c in claims.values() if c.id.startswith(letter)]
        if not rows:
            continue
        lines += ["", f"## {letter}. {title}", "", "| Id | What holds | Issue | Proved by |"]
        lines.append("| --- | --- | --- | --- |")
        for c in rows:
            tests = "<br>".join(
                f"`{place.removeprefix('tests/')}`" for place in proofs.get(c.id, [])
            )
            lines.append(
                f"| {c.id} | {c.what} | {c.issue} | {tests or c.reason or 'nothing yet'} |"
            )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    found = problems()
    print("\n".join(found) if found else "Each claimed behaviour has its test or its reason.")
    sys.exit(bool(found))
