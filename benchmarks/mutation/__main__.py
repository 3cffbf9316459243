"""The table of docs/results/mutation.md, from what `mutmut run` left.

    mutmut run && python -m benchmarks.mutation

mutmut changes one small thing at a time (a comparison, a number, an argument) in the files named in pyproject.toml, and
runs the tests of the same package that reach it. Rows of files that were not mutated this time are kept. A change that
no test notices has survived. One after which the tests do not end counts as found. Texts of messages are changed, too;
where no test reads them, that is a survivor as well.
"""

import json
from importlib.metadata import version

from benchmarks.common.options import command_line
from benchmarks.common.pages import printed_section
from benchmarks.common.paths import RESULTS, ROOT
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import Row, read_rows, replace_row

MUTANTS, TABLE = ROOT / "mutants" / "src" / "emoscope", RESULTS / "mutation.csv"
NOTE = "mutates the package of the commit and runs its tests"
UNNOTICED = (0, 5, 33)  # mutmut's exit codes: the tests passed; there are none (5 from pytest, 33 from mutmut)


def main() -> None:
    command_line(__doc__).parse_args()
    results = sorted(MUTANTS.rglob("*.meta"))
    for path in results:
        codes = list(json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"].values())
        tried = [code for code in codes if code is not None]
        if tried:
            survived = sum(code in UNNOTICED for code in tried)
            name = str(path.relative_to(MUTANTS)).removesuffix(".meta")
            row: Row = {"file": name, "possible": len(codes), "tried": len(tried), "found": len(tried) - survived}
            replace_row(TABLE, row, ["file"])
    if results:
        keep(TABLE, made(settings={"mutmut": version("mutmut")}, note=NOTE))
    with printed_section("mutation", "mutation", write=True):
        print("| file | mutants | tested | killed | share |\n|---|---:|---:|---:|---:|")
        kept = read_rows(TABLE)
        total: Row = {"file": "all"}
        total |= {name: sum(row[name] for row in kept) for name in ("possible", "tried", "found")}
        for row in [*kept, total]:
            share = row["found"] / row["tried"]
            print(f"| {row['file']} | {row['possible']} | {row['tried']} | {row['found']} | {share:.0%} |")


if __name__ == "__main__":
    main()
