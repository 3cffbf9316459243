"""The table of docs/results/mutation.md, from what `mutmut run` left.

    mutmut run && python -m benchmarks.mutation

mutmut changes one small thing at a time (a comparison, a number, an argument) in the files named in pyproject.toml, and
runs the tests that reach it. Rows of files that were not mutated this time are kept. A change that no test notices has
survived. One after which the tests do not end counts as found. Texts of messages are changed, too; where no test reads
them, that is a survivor as well.
"""

import json

from benchmarks.common.pages import printed_section
from benchmarks.common.paths import RESULTS, ROOT
from benchmarks.common.tables import Row, read_rows, replace_row

MUTANTS, TABLE = ROOT / "mutants" / "src" / "emoscope", RESULTS / "mutation.csv"
SURVIVED, NO_TESTS = 0, 33  # mutmut's exit codes


def main() -> None:
    for path in sorted(MUTANTS.rglob("*.meta")):
        codes = list(json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"].values())
        tried = [code for code in codes if code is not None]
        if tried:
            survived = sum(code in (SURVIVED, NO_TESTS) for code in tried)
            name = str(path.relative_to(MUTANTS)).removesuffix(".meta")
            row: Row = {"file": name, "possible": len(codes), "tried": len(tried), "found": len(tried) - survived}
            replace_row(TABLE, row, ["file"])
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
