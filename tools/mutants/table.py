"""The tally of the results, as Markdown, and the survivors with the lines that they change."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from mutant import read
from results import Result
from scope import code_of
from trial import KILLED, SURVIVED, TIMEOUT

_HEAD = ("file", "mutants", "killed", "timeouts", "survived", "kill rate")


def table(results: Iterable[Result]) -> str:
    """A row for each file, one for each folder, and one for all."""
    files: dict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        files[result.mutant.path][result.outcome] += 1
    folders: dict[str, Counter[str]] = defaultdict(Counter)
    rows = ["| " + " | ".join(_HEAD) + " |", "|---|" + "--:|" * (len(_HEAD) - 1)]
    for path, counts in sorted(files.items()):
        folders[f"{PurePosixPath(path).parent.name}/"].update(counts)
        rows.append(_row(path.removeprefix("src/cudalint/"), counts))
    rows += [_row(f"**{name}**", counts) for name, counts in sorted(folders.items())]
    rows.append(_row("**all**", sum(files.values(), Counter())))
    return "\n".join(rows) + "\n"


def _row(name: str, counts: Counter[str]) -> str:
    numbers = [counts.total(), counts[KILLED], counts[TIMEOUT], counts[SURVIVED]]
    rate = 100 * (counts[KILLED] + counts[TIMEOUT]) / counts.total()
    return f"| {name} | " + " | ".join(map(str, numbers)) + f" | {rate:.1f} % |"


def kill_rate(results: Iterable[Result]) -> float:
    """Which part of the mutants is noticed, from 0 to 1; an endless loop is."""
    outcomes = [result.outcome for result in results]
    return 1 - outcomes.count(SURVIVED) / len(outcomes)


def rules_with_no_negation_killed(results: Iterable[Result]) -> list[str]:
    """The codes of the rules of which no negated condition is killed."""
    killed: dict[str, bool] = {}
    for result in results:
        code = code_of(result.mutant.path)
        if code:
            negated = result.mutant.operator in (
                "NegateCondition",
                "ReplaceUnaryOperator_Delete_Not",
            )
            killed[code] = killed.get(code, False) or (negated and result.outcome != SURVIVED)
    return sorted(code for code, done in killed.items() if not done)


def survivors(root: Path, results: Iterable[Result]) -> str:
    """Each survivor: where it is, and the line before and after."""
    parts = []
    for result in sorted(results, key=lambda r: (r.mutant.path, r.mutant.start)):
        mutant = result.mutant
        if result.outcome == SURVIVED:
            text = read(root, mutant.path)
            before = text.splitlines()[mutant.line - 1].strip()
            after = mutant.apply(text).splitlines()[mutant.line - 1].strip()
            parts.append(f"{mutant.path}:{mutant.line} {mutant.operator}\n- {before}\n+ {after}\n")
    return "".join(parts)
