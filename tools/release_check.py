"""Says whether version, changelog and citation agree: `python tools/release_check.py [--tag v1.2.3]`.

Without a tag, the changelog's first section must be that of the package's version, released or not. With one, that
version is the tag's, and its section has a date.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def problems(version: str, changelog: str, citation: str, tag: str | None = None) -> list[str]:
    """What does not agree, one line each.

    >>> problems("1.2.0", "# Changelog\\n\\n## 1.2.0 (unreleased)\\n\\n- More.\\n", "version: 1.2.0\\n")
    []
    >>> problems("1.2.0", "# Changelog\\n\\n## 1.1.0 (2026-01-01)\\n", "version: 1.2.0\\n", "v1.3.0")
    ['CHANGELOG.md begins with 1.1.0, the package is 1.2.0', 'the tag is v1.3.0, the package is 1.2.0']
    """
    found = []
    first = re.search(r"^## (\S+) \((\S+)\)\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if first is None:
        return ["CHANGELOG.md: expected a section such as `## 1.2.0 (unreleased)`"]
    if first[1] != version:
        found.append(f"CHANGELOG.md begins with {first[1]}, the package is {version}")
    elif "- " not in first[3]:
        found.append(f"CHANGELOG.md says nothing of {version}")
    elif tag is not None and not re.fullmatch(r"\d{4}-\d\d-\d\d", first[2]):
        found.append(f"CHANGELOG.md: {version} has no date, but {first[2]}")
    if (cited := re.search(r"^version: (\S+)", citation, re.MULTILINE)) is None or cited[1] != version:
        found.append(f"CITATION.cff: expected version: {version}")
    if tag is not None and tag != f"v{version}":
        found.append(f"the tag is {tag}, the package is {version}")
    return found


def main() -> None:
    tag = sys.argv[sys.argv.index("--tag") + 1] if "--tag" in sys.argv else None
    source = (ROOT / "src" / "emoscope" / "__init__.py").read_text(encoding="utf-8")
    version = re.search(r'^__version__ = "(.+)"', source, re.MULTILINE)
    assert version is not None
    changelog, citation = ((ROOT / name).read_text(encoding="utf-8") for name in ("CHANGELOG.md", "CITATION.cff"))
    found = problems(version[1], changelog, citation, tag)
    sys.exit("\n".join(found) or 0)


if __name__ == "__main__":
    main()
