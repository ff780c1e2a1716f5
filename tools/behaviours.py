"""Holds the tests to docs/behaviours/claimed.toml: each claimed behaviour has a test or a reason.

Run as a program it prints what is amiss and exits 1 if anything is. With ids, it prints each
one's tests: `python tools/behaviours.py C23`. Tests are read with `ast`, never imported, so this
is quick and works while the code does not.
"""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLAIMED = Path("docs/behaviours/claimed.toml")
ID = re.compile(r"([A-Z])(\d+)([a-z]?)")


@dataclass(frozen=True, slots=True)
class Claim:
    """A behaviour that an issue has promised.

    `home` is the test that shows it best, below tests/; `reason` stands where no test can prove it.
    """

    id: str
    issue: int
    what: str
    home: str | None
    reason: str | None


def read_claims(root: Path) -> tuple[dict[str, Claim], dict[str, str], list[str]]:
    """The claims by id, in reading order; the areas' titles; and what is wrong in the file."""
    table = tomllib.loads((root / CLAIMED).read_text("utf-8"))
    areas: dict[str, str] = table["areas"]
    homes: dict[str, str] = table["home"]
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
                claims[id_] = Claim(id_, int(issue), what, homes.get(id_), reasons.get(id_))
    problems += [
        f"{CLAIMED}: {id_} has a {kind} but is not claimed"
        for kind, ids in (("home", homes), ("reason", reasons))
        for id_ in sorted(ids.keys() - claims)
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
        elif claim.id in proofs and f"tests/{claim.home}" not in proofs[claim.id]:
            found.append(f"{claim.id} needs one of its tests under [home], not {claim.home}")
    for id_ in sorted(proofs.keys() - claims):
        found += [f"{place} names {id_}, which {CLAIMED} does not claim" for place in proofs[id_]]
    return found


def render_page(root: Path = ROOT) -> str:
    """docs/behaviours.md: one table per area."""
    claims, areas, _ = read_claims(root)
    lines = [
        "# Behaviours",
        "",
        "This page lists what Tenuto promises, and for each promise the test that shows it best.",
        "`python tools/behaviours.py C23` lists every test of an id. Tests name an id with",
        '`@pytest.mark.behaviour("C1")`; all else comes from `docs/behaviours/claimed.toml`.',
    ]
    for letter, title in areas.items():
        rows = [c for c in claims.values() if c.id.startswith(letter)]
        if not rows:
            continue
        lines += ["", f"## {letter}. {title}", "", "| Id | What holds | Issue | Shown by |"]
        lines.append("| --- | --- | --- | --- |")
        for c in rows:
            shown = f"`{c.home}`" if c.home else c.reason or "nothing yet"
            lines.append(f"| {c.id} | {c.what} | {c.issue} | {shown} |")
    return "\n".join(lines) + "\n"


def by_id(ids: list[str], root: Path = ROOT) -> list[str]:
    """Lines for each id: what it promises, its home test, then its other tests."""
    claims, _, _ = read_claims(root)
    proofs, _ = read_tests(root)
    lines = []
    for id_ in ids:
        claim = claims.get(id_)
        if claim is None:
            near = ", ".join(get_close_matches(id_, claims, cutoff=0.5))
            lines.append(f"{id_}: no such id in {CLAIMED}; the nearest are {near or 'none'}")
            continue
        home = f"tests/{claim.home}"
        others = sorted(set(proofs.get(id_, [])) - {home})
        lines += [f"{id_}: {claim.what}", f"  {home}", *(f"  {place}" for place in others)]
    return lines


if __name__ == "__main__":
    if sys.argv[1:]:
        print("\n".join(by_id(sys.argv[1:])))
        sys.exit(0)
    found = problems()
    print("\n".join(found) if found else "Each claimed behaviour has its test or its reason.")
    sys.exit(bool(found))
