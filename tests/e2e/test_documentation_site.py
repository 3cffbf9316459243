"""The documentation site: builds without warnings, has all pages, and works offline from a folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="the extra docs is not installed")
pytest.importorskip("material")
pytest.importorskip("mkdocstrings")

from emoscope.detector.bundle import PRESETS
from emoscope.systems import SYSTEMS
from emoscope.tasks import TASKS
from kits.doc_commands import leaf_commands

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "mkdocs.yml").is_file(), reason="the pages are not in the package")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def test_there_is_a_page_for_everything(site: Path) -> None:
    for name in TASKS:
        assert name in (site / "reference" / "tasks" / f"{name}.html").read_text(encoding="utf-8")
    for name in SYSTEMS:
        assert (site / "reference" / "systems" / f"{name}.html").is_file()
    for name in PRESETS:
        assert "Use it" in (site / "results" / f"card-{name}.html").read_text(encoding="utf-8")
    text = "".join(path.read_text(encoding="utf-8") for path in (site / "reference").glob("commands*.html"))
    for path in leaf_commands():
        assert f'id="emoscope-{path.replace(" ", "-")}"' in text, path
    api = (site / "reference" / "api.html").read_text(encoding="utf-8")
    for name in ("detect", "load", "Detector", "train", "EmotionClassifier", "emotion_tool"):
        assert f"{name}</span>" in api or f"{name}</code>" in api, name
    assert "&gt;&gt;&gt; " in api  # examples are blocks of code


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|img|iframe|source)[^>]+src="(?:https?:)?//', text), path
        assert not re.findall(r'<link[^>]+rel="(?:stylesheet|preconnect)"[^>]+href="(?:https?:)?//', text), path


def test_search_works_from_a_folder(site: Path) -> None:
    from kits.browser_kit import PATIENCE, opened_browser

    with opened_browser() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.click(".md-search__input")
        page.type(".md-search__input", "kappa", delay=50)
        page.wait_for_selector(".md-search-result__item", timeout=PATIENCE)
        assert [url for url in asked if not url.startswith("file:")] == []


@pytest.mark.parametrize("width", [1280, 390])
def test_no_code_is_cut_off(site: Path, width: int) -> None:
    from kits.browser_kit import opened_browser

    wider = "boxes => boxes.filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.innerText)"
    with opened_browser() as browser:
        page = browser.new_page(viewport={"width": width, "height": 900})
        for name in ("index", "start", "guide/detect", "guide/systems", "people/organiser"):
            page.goto((site / f"{name}.html").as_uri())
            assert page.locator("pre > code").evaluate_all(wider) == [], name
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
