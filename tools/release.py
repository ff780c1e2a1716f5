"""Builds a release of all members twice, compares, checks and tries it: `make release-check`.

    python tools/release.py --to dist              # builds into dist/ what passed all checks
    python tools/release.py --extras openai cohere # and tries these extras with the newest SDK
    python tools/release.py --publish              # and refuses what must not be published

It needs what requirements/release.lock pins. On each Python from 3.11 on that is found here, tenuto
is installed into an empty environment, alone and with the other members, reads an answer, and says
its version. If a check of one member fails, nothing is released.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import NamedTuple

from members import PUBLISHED, ROOT, TENUTO, Member

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
ADDRESSES = ("Homepage", "Documentation", "Changelog", "Source", "Issues", "Security")
"""What [project.urls] has to name before a release; package indexes define these names."""
UNDATED_S = 1_767_225_600  # 2026-01-01: the date of all files where no commit says another
EXTRAS = ("sim", "agent", "cli")
"""The extras that are tried together: they bring the other members and their commands."""
TRIAL = """
import tenuto
message = {"role": "assistant", "content": "The tide"}
choice = {"index": 0, "message": message, "finish_reason": "length"}
stop = tenuto.detect({"object": "chat.completion", "choices": [choice]})
print(tenuto.__version__, stop.reason)
"""
TRIAL_OF_MEMBERS = """
import tenuto.agent
from tenuto.sim import Simulator
with Simulator() as sim:
    print(tenuto.agent.Model("openai-chat:m", base_url=sim.base_url).id)
"""
COMMANDS = ("policy", "faults", "run")
"""A command of each member."""


class Files(NamedTuple):
    """What is released of a member."""

    member: Member
    wheel: Path
    sdist: Path


class Refused(Exception):
    """A check found that the release must not be made; its message says which and why."""


def main(arguments: Sequence[str]) -> int:
    """Run all checks; the exit code says whether all passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--to", type=Path, help="folder that receives the wheel and the sdist")
    parser.add_argument("--extras", nargs="*", default=[], help="extras to try with the newest SDK")
    parser.add_argument("--publish", action="store_true", help="refuse what must not be published")
    given = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory() as folder:
            check(Path(folder), to=given.to, extras=given.extras, publish=given.publish)
    except Refused as refused:
        print(f"Refused: {refused}")
        return 1
    print("All checks of the release passed.")
    return 0


def check(folder: Path, *, to: Path | None, extras: Iterable[str], publish: bool) -> None:
    """Build, compare and try a release in an empty folder; raise `Refused` at the first fault."""
    made = [built_twice(member, folder / member.name) for member in PUBLISHED]
    versions = {}
    for member, wheel, sdist in made:
        from_sdist(sdist, wheel, folder / member.name / "from-sdist")
        run(sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist))
        versions[member.name] = checked_metadata(wheel, publish=publish)
        checked_licence(wheel)
        checked_sbom(wheel)
    version = one_version(versions)
    wheels = {member: wheel for member, wheel, _ in made}
    found = dict(pythons())
    for name, python in found.items():
        tried(wheels[TENUTO], python, version, folder / f"python-{name}")
        tried_together(wheels, python, folder / f"members-{name}")
        print(f"Python {name}: installs, reads an answer, runs all members, says {version}")
    missing = [name for name in PYTHONS if name not in found]
    if missing:
        print(f"Not tried, since not found here: Python {', '.join(missing)}")
    for extra in extras:
        print(f"{extra}: {tried_extra(wheels, extra, folder / f'extra-{extra}')}")
    if to:
        for member, *paths in made:
            (to / member.name).mkdir(parents=True, exist_ok=True)
            for path in paths:
                shutil.copyfile(path, to / member.name / path.name)
                print(f"{sha256(path)}  {to / member.name / path.name}")


def one_version(versions: Mapping[str, str]) -> str:
    """The version of all members."""
    if len({*versions.values()}) != 1:
        raise Refused(f"the members have several versions: {versions}")
    return versions[TENUTO.name]


def built_twice(member: Member, folder: Path) -> Files:
    """The wheel and the sdist of a member, which came out the same twice."""
    first, second = built(member.folder, folder / "first"), built(member.folder, folder / "second")
    for one, other in zip(first, second, strict=True):
        if sha256(one) != sha256(other):
            raise Refused(f"{one.name} came out differently the second time")
    print(f"Reproducible: {first[0].name} and {first[1].name}")
    return Files(member, *first)


def built(source: Path, to: Path) -> tuple[Path, Path]:
    """A wheel and an sdist of a source, dated by its last commit."""
    build = (sys.executable, "-m", "hatchling", "build", "--directory", str(to))
    run(*build, cwd=source, epoch_s=date_s())
    (wheel,), (sdist,) = to.glob("*.whl"), to.glob("*.tar.gz")
    return wheel, sdist


def date_s() -> int:
    """The time of the last commit in seconds since 1970, or SOURCE_DATE_EPOCH where it is set."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    git = shutil.which("git")
    if git is None:
        return UNDATED_S
    done = subprocess.run(
        [git, "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return int(done.stdout) if done.returncode == 0 else UNDATED_S


def from_sdist(sdist: Path, wheel: Path, folder: Path) -> None:
    """Build the wheel again from the sdist, where there is no git, and compare."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    build = (sys.executable, "-m", "hatchling", "build", "--target", "wheel")
    run(*build, cwd=source, epoch_s=date_s())
    (again,) = source.glob("dist/*.whl")
    if sha256(again) != sha256(wheel):
        raise Refused("the wheel that is built from the sdist is another one")
    print(f"{sdist.name} builds the same wheel without git.")


def metadata_of(wheel: Path) -> Message:
    """The metadata of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode("utf-8"))


def checked_metadata(wheel: Path, *, publish: bool) -> str:
    """The version, where the metadata may be published."""
    metadata = metadata_of(wheel)
    version, urls = str(metadata["Version"]), metadata.get_all("Project-URL", [])
    if publish and not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        raise Refused(f"{version} is not the version of a tag such as v0.1.0")
    settled = {url.partition(", ")[0] for url in urls if ".example" not in url}
    if publish and (lacking := [name for name in ADDRESSES if name not in settled]):
        raise Refused(f"pyproject.toml has no settled address for {', '.join(lacking)}")
    return version


def checked_licence(wheel: Path) -> None:
    """Hold a wheel to the files of the licences that it names."""
    named = metadata_of(wheel).get_all("License-File", [])
    with zipfile.ZipFile(wheel) as archive:
        held = {each.partition(".dist-info/licenses/")[2] for each in archive.namelist()}
    if "LICENSE" not in named or not {*named} <= held:
        raise Refused(f"{wheel.name} names the licences {named} and does not hold them all")


def checked_sbom(wheel: Path) -> None:
    """Hold the SBOM of a wheel to the schema of CycloneDX."""
    with zipfile.ZipFile(wheel) as archive:
        names = [each for each in archive.namelist() if ".dist-info/sboms/" in each]
        if len(names) != 1:
            raise Refused(f"the wheel has {len(names)} SBOMs and should have one")
        text = archive.read(names[0]).decode("utf-8")

    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise Refused(f"{names[0]} is not valid: {error}")
    print(f"Valid: {names[0]}")


def pythons() -> Iterator[tuple[str, str]]:
    """Each supported Python that is here and starts: its version and its path."""
    for name in PYTHONS:
        places = [
            shutil.which(f"python{name}"),
            *map(str, Path.home().glob(f".pyenv/versions/{name}.*/bin/python")),
        ]
        for place in filter(None, places):
            done = subprocess.run([place, "-c", ""], capture_output=True, check=False)
            if done.returncode == 0:
                yield name, place
                break


def tried(wheel: Path, python: str, version: str, folder: Path) -> None:
    """Install the wheel into an empty environment, and read an answer there."""
    environment = made_environment(folder, python)
    install(environment, str(wheel))
    told = run(str(environment), "-I", "-W", "error", "-c", TRIAL)
    if told.split() != [version, "max_tokens"]:
        raise Refused(f"with {python}, the installed wheel says: {told}")


def tried_together(wheels: Mapping[Member, Path], python: str, folder: Path) -> None:
    """Install all members by the extras of tenuto, and run a command of each."""
    environment = made_environment(folder, python)
    install(environment, f"{wheels[TENUTO]}[{','.join(EXTRAS)}]", *map(str, others(wheels)))
    run(str(environment), "-I", "-W", "error", "-c", TRIAL_OF_MEMBERS)
    for command in COMMANDS:
        run(str(environment), "-I", "-m", "tenuto", command, "--help")


def others(wheels: Mapping[Member, Path]) -> list[Path]:
    """The wheels beside that of tenuto, which no index has yet."""
    return [wheel for member, wheel in wheels.items() if member != TENUTO]


def tried_extra(wheels: Mapping[Member, Path], extra: str, folder: Path) -> str:
    """Install the wheel with an extra at its newest, and let its SDK meet some faults."""
    environment = made_environment(folder, sys.executable)
    install(environment, f"{wheels[TENUTO]}[{extra},sim]", *map(str, others(wheels)), "httpx2")
    return run(str(environment), str(ROOT / "checks/lowest/run.py"), extra, cwd=folder).strip()


def made_environment(folder: Path, python: str) -> Path:
    """An empty environment; the path of its Python."""
    run(sys.executable, "-m", "uv", "venv", "--quiet", "--python", python, str(folder))
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install(python: Path, *wanted: str) -> None:
    """Install packages from the index into an environment."""
    run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(python), *wanted)


def sha256(path: Path) -> str:
    """The digest of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def run(*command: str, cwd: Path = ROOT, epoch_s: int | None = None) -> str:
    """What a command prints; `Refused`, with all that it printed, if it fails."""
    dated = {} if epoch_s is None else {"SOURCE_DATE_EPOCH": str(epoch_s)}
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **dated}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Refused(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
