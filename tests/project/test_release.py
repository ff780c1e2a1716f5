"""What a release carries and refuses, on small wheels of their own."""

import json
import re
import sys
import tomllib
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest
import release
import sbom
from members import PUBLISHED

METADATA = "Metadata-Version: 2.4\nName: tenuto\nVersion: {}\n"
ROOT = Path(__file__).resolve().parents[2]


def wheel(folder: Path, version: str, url: str, names: Iterable[str] = release.ADDRESSES) -> Path:
    path = folder / f"tenuto-{version}-py3-none-any.whl"
    addresses = "".join(f"Project-URL: {name}, {url}\n" for name in names)
    with zipfile.ZipFile(path, "w") as archive:
        metadata = METADATA.format(version) + addresses
        archive.writestr(f"tenuto-{version}.dist-info/METADATA", metadata)
    return path


def test_an_sbom_names_each_package_once_with_how_it_was_declared_and_for_which_extras() -> None:
    text = sbom.render(
        name="tenuto",
        version="1.2.3",
        licence="Apache-2.0",
        summary="It does.",
        requires=["h11>=0.16"],
        extras={"one": ["h11", "httpx2>=2"], "two": ["httpx2>=2", "tenuto[one]"]},
    )
    told = json.loads(text)
    assert told["metadata"]["component"]["purl"] == "pkg:pypi/tenuto@1.2.3"
    required, optional = told["components"]
    assert (required["name"], required["scope"]) == ("h11", "required")
    assert required["properties"] == [{"name": "tenuto:requirement", "value": "h11>=0.16"}]
    assert (optional["name"], optional["scope"]) == ("httpx2", "optional")
    assert [each["value"] for each in optional["properties"]] == ["httpx2>=2", "one", "two"]


def test_a_release_is_published_only_from_a_tag_and_with_settled_addresses(tmp_path: Path) -> None:
    untagged = wheel(tmp_path, "0.1.0.dev7", "https://example.org")
    unsettled = wheel(tmp_path, "0.1.0", "https://tenuto.example")
    right = wheel(tmp_path, "0.2.0rc1", "https://example.org")
    with pytest.raises(release.Refused, match=r"0\.1\.0\.dev7 is not the version of a tag"):
        release.checked_metadata(untagged, publish=True)
    with pytest.raises(release.Refused, match=r"no settled address for Homepage, .*, Security"):
        release.checked_metadata(unsettled, publish=True)
    without = wheel(tmp_path, "0.1.1", "https://example.org", ["Homepage", "Changelog"])
    with pytest.raises(release.Refused, match="no settled address for Documentation, Source"):
        release.checked_metadata(without, publish=True)
    assert release.checked_metadata(right, publish=True) == "0.2.0rc1"
    assert release.checked_metadata(untagged, publish=False) == "0.1.0.dev7"


def test_the_package_carries_no_address_that_leads_nowhere() -> None:
    reserved = re.compile(r"\.(?:example|invalid|test|localhost)\b|\bexample\.(?:com|net|org)\b")
    for member in PUBLISHED:
        text = (member.folder / "pyproject.toml").read_text("utf-8")
        urls = tomllib.loads(text)["project"].get("urls", {})
        assert [url for url in urls.values() if reserved.search(url)] == []


def test_members_of_several_versions_are_refused() -> None:
    assert release.one_version({"tenuto": "1.0", "tenuto-sim": "1.0"}) == "1.0"
    with pytest.raises(release.Refused, match="have several versions"):
        release.one_version({"tenuto": "1.0", "tenuto-sim": "1.1"})


def test_a_wheel_without_the_licence_that_it_names_is_refused(tmp_path: Path) -> None:
    with pytest.raises(release.Refused, match="does not hold them all"):
        release.checked_licence(wheel(tmp_path, "1.0.0", "https://example.org"))


def test_the_workflow_publishes_each_member_in_the_order_of_the_release() -> None:
    workflow = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    published = re.findall(r"packages-dir: dist/([\w-]+)/", workflow)
    assert published == [member.name for member in PUBLISHED]


def test_a_wheel_without_an_sbom_is_refused(tmp_path: Path) -> None:
    with pytest.raises(release.Refused, match="has 0 SBOMs"):
        release.checked_sbom(wheel(tmp_path, "1.0.0", "https://example.org"))


def test_a_command_that_fails_is_named_with_what_it_printed() -> None:
    with pytest.raises(release.Refused, match=r"(?s)failed:.*no such thing"):
        release.run(sys.executable, "-c", "raise SystemExit('no such thing')")
