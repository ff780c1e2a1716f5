"""Builds the documentation site into site/: `make site`.

    python tools/site_build.py .site/venv/bin/zensical

The first argument is the generator's command, which lives in an environment of its own.
"""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import site_llms
import site_pages

ROOT = Path(__file__).resolve().parent.parent
DECISIONS = "decisions/"
"""Its index names its pages, so that `nav` need not. The search gives them behind all others: they
tell why, and a reader first looks for how."""

SEARCH = (
    (
        "case 0:let e=",
        "case 0:self.later=t.data.items.map(each=>each.location.includes({last}));let e=",
    ),
    (
        "l.items.sort(ht(...s))",
        "l.items.sort(ht(...s)),l.items.sort((a,b)=>self.later[a.id]-self.later[b.id])",
    ),
)
"""What is replaced in the generator's search, which has no setting for it: it remembers which pages
come last, and sorts by that once more. A sort keeps the order of what is equal."""

SHIM_URL = "https://unpkg.com/iframe-worker/shim"
SHIM = "site_vendor/iframe-worker.js"
"""What the generator fetches from others on every page, and our copy of it."""


def main(generator: str) -> int:
    """Write the pages, run the generator, add what it does not make."""
    staged, site = ROOT / ".site/docs", ROOT / "site"
    for folder in (staged, site):
        shutil.rmtree(folder, ignore_errors=True)
    texts = site_pages.write(ROOT, staged)
    shutil.copyfile(ROOT / "tools/site.css", staged / "site.css")
    if missing := unlisted(ROOT, set(texts)):
        print(f"Give each a place in nav of zensical.toml: {', '.join(missing)}")
        return 1
    done = subprocess.run([generator, "build", "--clean"], cwd=ROOT, check=False)
    if done.returncode == 0:
        keep_at_home(site)
        sort_last(site)
        site_llms.write(ROOT, site, texts)
        print(f"{len(texts)} pages in {site.relative_to(ROOT)}/; open {site.name}/index.html")
    return done.returncode


def keep_at_home(site: Path) -> None:
    """Let every page take the script from the site itself."""
    (site / "assets").mkdir(exist_ok=True)
    shutil.copyfile(ROOT / "tools" / SHIM, site / "assets" / Path(SHIM).name)
    for page in site.rglob("*.html"):
        up = "../" * (len(page.relative_to(site).parts) - 1)
        text = page.read_text("utf-8").replace(SHIM_URL, f"{up}assets/{Path(SHIM).name}")
        page.write_text(text, "utf-8")


def sort_last(site: Path) -> None:
    """Let the search give the decisions last; ValueError: the generator's search is another one."""
    (worker,) = site.glob("assets/javascripts/workers/search.*.js")
    text = worker.read_text("utf-8")
    for found, instead in SEARCH:
        if text.count(found) != 1:
            raise ValueError(f"{worker.name} has {text.count(found)} times {found!r}, not once")
        text = text.replace(found, instead.replace("{last}", repr(DECISIONS)))
    worker.write_text(text, "utf-8")


def unlisted(root: Path, places: set[str]) -> list[str]:
    """Pages that stand in no menu."""
    project = tomllib.loads((root / "zensical.toml").read_text("utf-8"))["project"]
    named = {
        place
        for section in project["nav"]
        for entries in section.values()
        for entry in entries
        for place in entry.values()
    }
    gone = sorted(named - places)
    free = sorted(place for place in places - named if not place.startswith(DECISIONS))
    return gone + free


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
