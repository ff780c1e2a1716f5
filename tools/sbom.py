"""Puts a CycloneDX SBOM of a wheel into it, at .dist-info/sboms/ (PEP 770).

Hatchling runs this when it builds a wheel. The wheel bundles nothing of others, so the SBOM names
the package, what it requires, and what its extras require, as declared: an installer chooses the
versions. The same source gives the same bytes, so it holds no time and no random number.
"""

import json
import tempfile
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.requirements import Requirement

Component = dict[str, Any]


class SbomHook(BuildHookInterface[BuilderConfig]):
    """Adds the SBOM to the wheel that is being built; an editable install gets none."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the SBOM to a folder of its own, and name it to Hatchling."""
        if version != "standard":
            return
        core = self.metadata.core
        text = render(
            name=core.name,
            version=self.metadata.version,
            licence=core.license_expression,
            summary=core.description,
            requires=core.dependencies,
            extras=core.optional_dependencies,
        )
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name) / f"{core.name}.cdx.json"
        path.write_text(text, "utf-8")
        build_data["sbom_files"].append(str(path))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the folder."""
        if version == "standard":
            self._folder.cleanup()


def render(
    *,
    name: str,
    version: str,
    licence: str,
    summary: str,
    requires: Iterable[str],
    extras: Mapping[str, Iterable[str]],
) -> str:
    """The SBOM as JSON, in CycloneDX 1.6.

    >>> text = render(
    ...     name="a", version="1", licence="MIT", summary="A.", requires=["b>=2"], extras={}
    ... )
    >>> [each["purl"] for each in json.loads(text)["components"]]
    ['pkg:pypi/b']
    """
    root = f"pkg:pypi/{name}@{version}"
    required = [_component(each, scope="required") for each in requires]
    needed = {each["bom-ref"] for each in required}
    optional: dict[str, Component] = {}
    for extra, wanted in extras.items():
        for each in wanted:
            component = _component(each, scope="optional")
            if component["bom-ref"] in needed or component["name"] == name:
                continue
            kept = optional.setdefault(component["bom-ref"], component)
            kept["properties"].append({"name": "tenuto:extra", "value": extra})
    components = [*required, *(optional[ref] for ref in sorted(optional))]
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, root)}",
        "version": 1,
        "metadata": {
            "lifecycles": [{"phase": "build"}],
            "component": {
                "type": "library",
                "bom-ref": root,
                "name": name,
                "version": version,
                "description": summary,
                "licenses": [{"expression": licence}],
                "purl": root,
            },
        },
        "components": components,
        "dependencies": [
            {"ref": root, "dependsOn": sorted(each["bom-ref"] for each in components)},
            *({"ref": each["bom-ref"]} for each in components),
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _component(requirement: str, *, scope: str) -> Component:
    """A package that is required, and how it was declared; no version is known yet."""
    name = Requirement(requirement).name.lower()
    return {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}",
        "name": name,
        "scope": scope,
        "purl": f"pkg:pypi/{name}",
        "properties": [{"name": "tenuto:requirement", "value": requirement}],
    }
