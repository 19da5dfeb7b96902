"""Mutation check of the rules and of what they stand on.

    python tools/mutants [--jobs N] [--again] [PATH ...]
    python tools/mutants --list FILE
    python tools/mutants --survivors

Changes one thing at a time in the files (without PATH, those of rules/, compile/ and
tree/), and runs the tests of what was changed: one that fails has killed the mutant.
Results go to .mutants/results.jsonl; mutants that are there already are not tried
again, with --again but those that survived. Prints a table of the files; the exit
code is 1 below the kill rate that is asked for.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / ".mutants"
FOLDERS = ("rules", "compile", "tree")
WANTED = 0.85


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files to mutate")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (%(default)s)")
    parser.add_argument("--again", action="store_true", help="try those that survived again")
    parser.add_argument("--quick", action="store_true", help="rules: tests that name them alone")
    parser.add_argument("--list", type=Path, help="write the mutants to a file, and try none")
    parser.add_argument("--from-list", type=Path, help="try those of such a file")
    parser.add_argument("--survivors", action="store_true", help="show those that survived")
    options = parser.parse_args()
    mutants = _mutants(options.paths, options.from_list)
    if options.list:
        options.list.write_text(json.dumps([mutant.record() for mutant in mutants]))
        return 0
    KEPT.mkdir(exist_ok=True)
    if not options.survivors:
        _try(mutants, options.jobs, options.again, options.quick)
    return _tell(mutants, options.survivors)


def _mutants(paths: list[str], listed: Path | None) -> list:
    from mutant import Mutant, digest_of, read

    if listed:
        found = [Mutant(**record) for record in json.loads(listed.read_text())]
        now = {path: digest_of(read(ROOT, path)) for path in {mutant.path for mutant in found}}
        changed = sorted({mutant.path for mutant in found if mutant.digest != now[mutant.path]})
        if changed:
            print(f"left out, since they have changed: {', '.join(changed)}")
        return [mutant for mutant in found if mutant.digest == now[mutant.path]]
    from generate import mutants_of

    files = [Path(path).resolve() for path in paths] or [
        file
        for folder in FOLDERS
        for file in sorted((ROOT / "src" / "cudalint" / folder).glob("*.py"))
    ]
    names = [str(file.relative_to(ROOT)) for file in files]
    return [mutant for name in names for mutant in mutants_of(name, read(ROOT, name))]


def _try(mutants: list, jobs: int, again: bool, quick: bool) -> None:
    import pytest
    from results import read_results
    from scope import QUICK, collected
    from trial import SURVIVED
    from trials import ARGUMENTS, Trials

    done = read_results(KEPT / "results.jsonl")
    keys = {key for key, said in done.items() if not again or said.outcome != SURVIVED}
    left = [mutant for mutant in mutants if mutant.key not in keys]
    if left:
        os.chdir(ROOT)
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(KEPT / "hypothesis")
        plugin = Trials(ROOT, left, jobs, KEPT / "results.jsonl", quick)
        tests = QUICK if quick else collected({mutant.path for mutant in left})
        pytest.main([*ARGUMENTS, "--hypothesis-seed=0", *tests], plugins=[plugin])


def _tell(mutants: list, with_survivors: bool) -> int:
    from results import read_results
    from table import kill_rate, rules_with_no_negation_killed, survivors, table

    done = read_results(KEPT / "results.jsonl")
    results = [done[mutant.key] for mutant in mutants if mutant.key in done]
    if with_survivors:
        print(survivors(ROOT, results), end="")
        return 0
    print(table(results), end="")
    lacking = rules_with_no_negation_killed(results)
    if lacking:
        print(f"no negated condition is killed in {', '.join(lacking)}")
    if len(results) < len(mutants):
        print(f"{len(mutants) - len(results)} of {len(mutants)} mutants were not tried")
        return 1
    return int(kill_rate(results) < WANTED or bool(lacking))


if __name__ == "__main__":
    sys.exit(main())
