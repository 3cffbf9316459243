"""Measure what mining saves, in judgements per emotional dialogue against a random sample, and what it costs.

    python -m benchmarks.mining quality --data DATA [--encoder FOLDER] [--plot docs/results/mining.svg] [--work FOLDER]
    python -m benchmarks.mining speed --data DATA [--encoder FOLDER] [--sizes 10000,100000]
    python -m benchmarks.mining scale [--vectors 2000000]

`quality` uses EmoContext's training labels as judgements. For each of five seeds it draws 300 dialogues of every
emotion, removes them, and makes a pool with the natural distribution, 4 % of each emotion and 88 % others, by dropping
emotional dialogues. `speed` runs every size in its own process; for larger sizes, dialogues get the last turn of
another one. `scale` compares with two million random vectors, and builds an index of some. FOLDER is the output of
`emoscope corpus encoder`.
"""

import argparse
import tempfile
from pathlib import Path

from benchmarks.common.options import command_line
from benchmarks.mining.quality import quality
from benchmarks.mining.speed import scale, speed


def main() -> None:
    parser = command_line(__doc__, "data")
    parser.add_argument("part", choices=("quality", "speed", "scale"))
    parser.add_argument("--encoder", help="folder that `emoscope corpus encoder` wrote; else n-grams alone")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--work", type=Path, help="folder that keeps vectors from one run to the next")
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--vectors", type=int, default=2_000_000)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        options.work = options.work or Path(folder)
        {"quality": quality, "speed": speed, "scale": scale}[options.part](options)


if __name__ == "__main__":
    main()
