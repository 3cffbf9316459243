"""Measure a plain install: its size by package, and the cold start; a table of docs/results/speed.md.

    python -m benchmarks.install [--keep FOLDER]

Builds the wheel, installs it into a new environment as `pip install emoscope` would, and runs the core commands there.
CPU time is measured next to wall time, which other load disturbs.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.common.memory import MB
from benchmarks.common.options import command_line
from benchmarks.common.pages import write_section
from benchmarks.common.paths import PAGES, RESULTS, ROOT
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import write_rows
from benchmarks.common.timing import cpu_of_children, seconds

ROUNDS = 9
NAMED = 8  # packages that are shown by name
TABLE = RESULTS / "install.csv"
COMMANDS = (
    ("detect", "I love you"),
    ("detect", "how was it?", "tell me", "I passed!!!", "--explain"),
    ("detect", "chats.csv", "-o", "labelled.jsonl"),
    ("detect", "chats.csv", "-o", "labelled.csv", "--model", "nano"),
    ("demo",),
    ("tasks",),
    ("systems",),
    ("card", "open"),
)


def install(folder: Path) -> Path:
    """An environment with the wheel and what it needs, and nothing else; its site-packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(folder / "wheel"), str(ROOT)], check=True)
    (wheel,) = (folder / "wheel").glob("*.whl")
    command = [*pip, "--python", str(folder / "bin" / "python"), "install", "-c", str(ROOT / "constraints.txt")]
    subprocess.run([*command, str(wheel)], check=True)
    return next((folder / "lib").glob("python*")) / "site-packages"


def sizes(packages: Path) -> Counter[str]:
    """Bytes of each package, compiled Python files left out: pip writes them, and they may be deleted."""
    found: Counter[str] = Counter()
    for file in packages.rglob("*"):
        if file.is_file() and file.suffix != ".pyc":
            name = file.relative_to(packages).parts[0]
            found[name.removesuffix(".libs").split("-")[0]] += file.stat().st_size
    return found


def run(folder: Path, arguments: Sequence[str]) -> tuple[float, float, str]:
    """Seconds by the clock and of processors for a command, and what it printed."""
    before, begun = cpu_of_children(), time.perf_counter()
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(folder / "bin" / "emoscope"), *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=plain,
        check=False,
    )
    clock, spent = time.perf_counter() - begun, cpu_of_children() - before
    if done.returncode:
        raise SystemExit(f"emoscope {' '.join(arguments)}: {done.stderr}")
    return clock, spent, done.stdout


def section(rows: Sequence[dict[str, object]]) -> str:
    found = {str(row["figure"]): float(str(row["value"])) for row in rows}
    packages = {name: value for name, value in found.items() if name.startswith("package ")}
    shown = ", ".join(f"{name.removeprefix('package ')} {value:.0f}" for name, value in packages.items())
    return "\n".join(
        [
            f"A plain install takes **{found['MB installed']:.0f} MB** ({shown}, others "
            f'{found["MB installed"] - sum(packages.values()):.0f}). `emoscope detect "I love you"` in a new process: '
            f"**{found['seconds of processor']:.2f} s** of processor time, {found['seconds by the clock']:.2f} s by "
            f"the clock (the least of {ROUNDS}); Python alone takes {found['python alone']:.2f} s, with numpy "
            f"{found['python with numpy']:.2f} s.",
        ]
    )


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--keep", type=Path, help="install here, and leave it there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary) / "plain"
        packages = install(folder)
        by_size = sizes(packages)
        (folder / "chats.csv").write_text("turn1,turn2\nhi,I love you\n", encoding="utf-8")
        for command in COMMANDS:
            run(folder, command)
        answers = [run(folder, COMMANDS[0]) for _ in range(ROUNDS)]
        assert all("joy" in printed for _, _, printed in answers)
        python = str(folder / "bin" / "python")
        rows: list[dict[str, object]] = [
            {"figure": "MB installed", "value": round(sum(by_size.values()) / MB, 1)},
            *({"figure": f"package {n}", "value": round(size / MB, 1)} for n, size in by_size.most_common(NAMED)),
            {"figure": "seconds by the clock", "value": round(min(clock for clock, _, _ in answers), 3)},
            {"figure": "seconds of processor", "value": round(min(spent for _, spent, _ in answers), 3)},
            {"figure": "python alone", "value": round(_python(python, "pass"), 3)},
            {"figure": "python with numpy", "value": round(_python(python, "import numpy"), 3)},
        ]
    write_rows(TABLE, rows)
    keep(TABLE, made(settings={"rounds": ROUNDS}, note="installs the package of the commit; nothing is random"))
    text = section(rows)
    print(text)
    write_section(PAGES / "speed.md", "install", text)


def _python(python: str, code: str) -> float:
    run = partial(subprocess.run, [python, "-c", code], check=True)
    return min(seconds(run, cpu_of_children) for _ in range(ROUNDS))


if __name__ == "__main__":
    main()
