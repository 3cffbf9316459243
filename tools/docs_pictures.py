"""Takes the pictures of the documentation, with the models as they are: `python tools/docs_pictures.py [NAME...]`.

Starts a server with a made-up challenge and photographs its pages with Debian's chromium into docs/images.
"""

import os
import random
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from golden_bench import ROOT, Bench
from golden_challenge import fetch, ready, serving, until

IMAGES = ROOT / "docs" / "images"
CONVERSATION = """Ana: did you hear back from them?
Ben: not yet, and I can't sleep anymore
Ben: THEY SAID YES!!! I start on Monday 😂
Ana: wow, I did not see that coming
Ben: and now I have to say goodbye to my team, it breaks my heart
Ben: and my boss told me he won't pay what he owes me. I could scream"""
TEAMS = {
    "Blue Whale": 0.93,
    "kitchen table": 0.91,
    "Team Joy": 0.88,
    "Ana & Ben": 0.87,
    "late night": 0.8,
    "n-grams": 0.7,
}
LABELS = ("others", "others", "others", "happy", "sad", "angry")


def main() -> None:
    chosen = sys.argv[1:] or ["timeline", "board"]
    from playwright.sync_api import sync_playwright

    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as work, sync_playwright() as driver:
        bench, where = _bench(Path(work) / "bench"), ("--data-dir", Path(work) / "server")
        definition = _challenge(Path(work))
        bench.json("challenge", "create", definition, *where)
        chromium = os.environ.get("EMOSCOPE_CHROMIUM") or shutil.which("chromium")
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        with serving(bench, *where, "--model", "default") as url:
            page = browser.new_page(viewport={"width": 1000, "height": 800}, device_scale_factor=1.5)
            if "timeline" in chosen:
                _timeline(page, url)
            if "board" in chosen:
                _submit(bench, url)
                bench.text("challenge", "close", "tea-corner", "final", *where)
                board = f"{url}/v1/challenges/tea-corner/phases/final/board"
                until(lambda: ready(fetch(board)))
                page.goto(f"{url}/challenges/tea-corner/board/final")
                _board(page)
        browser.close()


def _bench(folder: Path) -> Bench:
    folder.mkdir()
    return Bench(folder)


def _timeline(page: Any, url: str) -> None:
    page.goto(f"{url}/detect")
    page.wait_for_selector("#share:not([hidden])")  # the page's scripts have run
    page.fill("#conversation", CONVERSATION)
    page.wait_for_selector(".turn >> nth=5")
    page.locator("#results").screenshot(path=IMAGES / "timeline.png")


def _board(page: Any) -> None:
    """The table and the intervals; what follows is for those who scroll."""
    shown, plot = (page.locator(place).bounding_box() for place in ("main", "main :has(> h2:has-text('intervals'))"))
    height = plot["y"] + plot["height"] - shown["y"]
    page.screenshot(path=IMAGES / "board.png", full_page=True, clip={**shown, "height": height})


def _challenge(work: Path) -> Path:
    draw = random.Random(1)
    (work / "gold.txt").write_text(_rows([draw.choice(LABELS) for _ in range(900)]), encoding="utf-8")
    given = ["\t".join(line.split("\t")[:4]) for line in (work / "gold.txt").read_text().splitlines()]
    (work / "given.txt").write_text("\n".join(given) + "\n", encoding="utf-8")
    (work / "tea-corner.toml").write_text(
        'slug = "tea-corner"\ntitle = "Tea Corner 2026"\ntask = "emocontext"\n'
        '[[phases]]\nname = "final"\ntitle = "Final"\n'
        'unlabelled = "given.txt"\ngold = "gold.txt"\nopens = 2020-01-01T00:00:00\nper_day = 5\npublic_share = 0.3\n',
        encoding="utf-8",
    )
    return work / "tea-corner.toml"


def _rows(labels: list[str]) -> str:
    head = "id\tturn1\tturn2\tturn3\tlabel\n"
    return head + "".join(f"{row}\thello {row}\tyes?\tso {row}\t{label}\n" for row, label in enumerate(labels))


def _submit(bench: Bench, url: str) -> None:
    gold = [line.split("\t")[4] for line in (bench.work.parent / "gold.txt").read_text().splitlines()[1:]]
    for seed, (team, accuracy) in enumerate(TEAMS.items()):
        draw = random.Random(seed)
        token = fetch(f"{url}/v1/challenges/tea-corner/teams", {"team": team, "member": "Ana"})["token"]
        labels = [label if draw.random() < accuracy else draw.choice(LABELS) for label in gold]
        file = bench.work / "answers.txt"
        file.write_text(_rows(labels), encoding="utf-8")
        bench.json("submit", file, "--challenge", f"{url}/challenges/tea-corner", "--token", token)


if __name__ == "__main__":
    main()
