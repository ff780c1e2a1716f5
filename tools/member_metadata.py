"""Completes the metadata of a member with what its pyproject.toml can't say: its own version.

Hatchling runs this when it builds a member or is asked for its metadata. The members are released
together, and each requires the others at exactly its own version, which comes from the tag.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface
from packaging.markers import Marker
from packaging.requirements import Requirement

Extras = Mapping[str, Iterable[str]]


class MemberMetadata(MetadataHookInterface):
    """Adds the fields that the configuration of the hook has; an sdist knows them already."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Write the version into the requirements, and read the README."""
        given, version = self.config, metadata["version"]
        if "dependencies" in given:
            metadata["dependencies"] = [
                each.format(version=version) for each in given["dependencies"]
            ]
        if extras := given.get("optional-dependencies"):
            metadata["optional-dependencies"] = {
                extra: [each.format(version=version) for each in required]
                for extra, required in written_out(metadata["name"], extras).items()
            }
        if "readme" in given and "readme" not in metadata:
            text = (Path(self.root) / given["readme"]).read_text("utf-8")
            metadata["readme"] = {"content-type": "text/markdown", "text": text}


def written_out(name: str, extras: Extras) -> dict[str, list[str]]:
    """Return the extras of a package, with the requirements of those that they name in their place.

    Hatchling does so too, but loses the marker.

    >>> extras = {"a": ["one>=1"], "b": ["it[a]; os_name == 'nt'", "two; os_name == 'posix'"]}
    >>> written_out("it", extras)["b"]
    ['one>=1; os_name == "nt"', "two; os_name == 'posix'"]
    """
    return {extra: [*_written_out(name, extras, extra)] for extra in extras}


def _written_out(name: str, extras: Extras, extra: str) -> Iterator[str]:
    for text in extras[extra]:
        if text.partition("[")[0] != name:
            yield text
            continue
        own = Requirement(text)
        for named in sorted(own.extras):
            for each in _written_out(name, extras, named):
                yield each if own.marker is None else _only_if(own.marker, each)


def _only_if(marker: Marker, text: str) -> str:
    plain, _, before = text.partition(";")
    both = f"({before.strip()}) and ({marker})" if before else str(marker)
    return f"{plain.strip()}; {both}"
