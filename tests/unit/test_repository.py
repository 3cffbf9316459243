"""What a public repository and a package index need: workflows, templates, citation, addresses, working links."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / ".github").is_dir(), reason="the repository is not in the package")


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_yaml_file_is_one() -> None:
    yaml = pytest.importorskip("yaml")
    files = [*(ROOT / ".github").rglob("*.yml"), ROOT / "CITATION.cff"]
    assert len(files) >= 7
    for file in files:
        assert isinstance(yaml.safe_load(file.read_text(encoding="utf-8")), dict), file


def test_the_matrix_is_of_all_systems_and_the_pythons_we_name(project: dict[str, Any]) -> None:
    yaml = pytest.importorskip("yaml")
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))["jobs"]
    matrix = jobs["test"]["strategy"]["matrix"]
    assert {each.split("-")[0] for each in matrix["os"]} == {"ubuntu", "macos", "windows"}
    named = [each.rsplit(" ", 1)[1] for each in project["project"]["classifiers"] if "Python :: 3." in each]
    assert matrix["python"] == named


def test_version_changelog_and_citation_agree() -> None:
    from tools.release_check import problems

    texts = [(ROOT / name).read_text(encoding="utf-8") for name in ("CHANGELOG.md", "CITATION.cff")]
    from emoscope import __version__

    assert problems(__version__, *texts) == []


def test_links_are_whole_on_a_package_index(project: dict[str, Any]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for each in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert links
    assert [link for link in links if not link.startswith(("https://", "http://"))] == []
    assert any(link.startswith("https://raw.githubusercontent.com") and link.endswith(".png") for link in links)


def test_addresses_agree(project: dict[str, Any]) -> None:
    urls = project["project"]["urls"]
    for name in ("CITATION.cff", ".github/ISSUE_TEMPLATE/config.yml", "README.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for address in re.findall(r"https://(?:github\.com|emoscope\.github\.io)/emoscope[^\s)/]*(?:/emoscope)?", text):
            assert any(url.startswith(address) for url in urls.values()), (name, address)
