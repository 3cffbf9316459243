"""The screenshots of the documentation can still be taken."""

import importlib
from pathlib import Path
from typing import Any

import pytest

from kits.browser_kit import OpenedPage
from kits.server_process import ServerProcess

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.mark.skipif(not TOOLS.is_dir(), reason="the tools are not in the package")
def test_a_conversation_is_photographed(
    browser: Any, challenge_server: ServerProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))
    pictures = importlib.import_module("docs_pictures")
    monkeypatch.setattr(pictures, "IMAGES", tmp_path)
    with OpenedPage(browser, challenge_server, "desk") as page:
        pictures._timeline(page, challenge_server.url)
    assert (tmp_path / "timeline.png").read_bytes().startswith(b"\x89PNG")
