"""The trials of all mutants, inside of one pytest session that has imported everything.

pytest collects the tests; then, in its place, every process of a pool takes one
mutant after the other, forks, puts the mutant in, and runs the tests of the function
that is mutated until one fails.
"""

from __future__ import annotations

import functools
import inspect
import multiprocessing
import pickle
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from anew import MutantFinder, forget, graft
from footprint import Footprint, follow
from inplace import changed_bodies, compiled, loaded_functions, put_in
from mutant import Mutant, read
from results import Result, add_result
from scope import code_of, scope
from trial import forked, together

# Of a mutant's tests, the quickest that take so many seconds together.
BUDGET = 8.0
# A trial may take so many seconds, and this many times as long as its tests do.
PATIENCE = 8.0
TIMES = 4
CHUNK = 8


class Trials:
    """A pytest plugin that runs no tests but on mutants."""

    def __init__(
        self, root: Path, mutants: list[Mutant], jobs: int, file: Path, quick: bool
    ) -> None:
        self._root = root
        self._mutants = mutants
        self._jobs = jobs
        self._file = file
        self._quick = quick
        self._paths = sorted({mutant.path for mutant in mutants})
        self._files = frozenset(str(root / path) for path in self._paths)
        self._seen: dict[str, Footprint] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of pytest's own loop: the footprints of the tests, then the trials."""
        folder = Path(tempfile.mkdtemp(prefix="mutants"))
        try:
            keep_compiles(folder / "compiles")
            items = self._asked(session.items)
            self._seen = {} if self._quick else self._footprints(items, folder)
            broken = [test for test, seen in self._seen.items() if not seen.passed]
            for test in broken:
                print(f"left out, since it fails with no mutant: {test}")
            usable = [item for item in items if item.nodeid not in broken]
            print(f"{len(self._mutants)} mutants, {len(usable)} tests", flush=True)
            self._try_all(usable)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return True

    def _asked(self, items: Iterable[pytest.Item]) -> list[pytest.Item]:
        """The tests that some module of the run has."""
        scopes = [scope(path) for path in self._paths]
        return [i for i in items if any(has(i.nodeid, _text(i.path)) for has in scopes)]

    def _footprints(self, items: list[pytest.Item], folder: Path) -> dict[str, Footprint]:
        """What each test enters of the mutated files, by its id."""
        turn = multiprocessing.Value("i", 0)

        def work(number: int) -> None:
            seen = {}
            for start in _turns(turn, range(0, len(items), CHUNK)):
                for item, following in _with_next(items[start : start + CHUNK]):
                    run = functools.partial(passes, item, following)
                    seen[item.nodeid] = follow(run, self._files)
            (folder / f"{number}.seen").write_bytes(pickle.dumps(seen))

        together(self._jobs, work)
        found: dict[str, Footprint] = {}
        for number in range(self._jobs):
            found |= pickle.loads((folder / f"{number}.seen").read_bytes())
        return found

    def _try_all(self, items: list[pytest.Item]) -> None:
        turn = multiprocessing.Value("i", 0)
        functions = loaded_functions()

        def work(_: int) -> None:
            for mutant in _turns(turn, self._mutants):
                outcome, by = self._try(mutant, items, functions)
                add_result(self._file, Result(mutant, outcome, by))

        together(self._jobs, work)

    def _try(self, mutant: Mutant, items: list[pytest.Item], functions: Any) -> tuple[str, str]:
        """The outcome of one mutant, and the test that failed."""
        path = self._root / mutant.path
        text = read(self._root, mutant.path)
        mutated = mutant.apply(text)
        changed = changed_bodies(compiled(path, text), compiled(path, mutated))
        places = None if changed is None else {(str(path), place) for place in changed}
        if places is not None and any(key not in functions for key in places):
            places = changed = None
        of_rule = bool(code_of(mutant.path))
        if self._quick:
            tests = self._naming(mutant.path, items)
            seconds = 10 * PATIENCE
        else:
            tests = self._tests(mutant.path, items, places)
            seconds = PATIENCE + TIMES * sum(self._seen[item.nodeid].seconds for item in tests)

        def work() -> str:
            if not of_rule:
                keep_compiles(None)
            if changed is not None:
                assert put_in(path, changed, functions)
            elif of_rule:
                graft(path, mutated)
            else:
                forget(self._root)
                sys.meta_path.insert(0, MutantFinder(path, mutated))
                return first_failure_anew([item.nodeid for item in tests])
            return first_failure(tests)

        return forked(work, seconds)

    def _naming(self, path: str, items: list[pytest.Item]) -> list[pytest.Item]:
        """The tests that name the rule, those of its examples first."""
        code = code_of(path)
        return sorted(
            (item for item in items if code in item.nodeid or code in _source(item)),
            key=lambda item: code not in item.nodeid,
        )

    def _tests(
        self, path: str, items: list[pytest.Item], places: set[Any] | None
    ) -> list[pytest.Item]:
        """The module's tests that enter what is mutated, a rule's own and quick ones first.

        Without `places`, those that enter anything of the module; where none does (it
        is tables alone), all.
        """
        asks, code, file = scope(path), code_of(path), str(self._root / path)
        own = [item for item in items if asks(item.nodeid, _text(item.path))]

        def enters(item: pytest.Item) -> bool:
            entered = self._seen[item.nodeid].entered
            return (
                bool(entered & places)
                if places is not None
                else any(name == file for name, _ in entered)
            )

        entering = [item for item in own if enters(item)]
        if places is None and not entering:
            entering = own
        entering.sort(key=lambda i: (code not in i.nodeid, self._seen[i.nodeid].seconds))
        left = BUDGET
        chosen = []
        for item in entering:
            left -= self._seen[item.nodeid].seconds
            if left < 0 and chosen:
                break
            chosen.append(item)
        return chosen


def passes(item: Any, following: pytest.Item | None) -> bool:
    """Whether a test passes (or is skipped)."""
    reports = runtestprotocol(item, log=False, nextitem=following)
    return not any(report.failed for report in reports)


def first_failure(items: list[pytest.Item]) -> str:
    """The first test that fails, "" when all pass."""
    for item, following in _with_next(items):
        if not passes(item, following):
            return item.nodeid
    return ""


class _First:
    """Keeps the first failure of a session."""

    def __init__(self) -> None:
        self.failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid


def first_failure_anew(tests: list[str]) -> str:
    """The same in a session of its own, for modules that were forgotten."""
    if not tests:
        return ""
    first = _First()
    code = pytest.main([*ARGUMENTS, "-x", *tests], plugins=[first])
    if code == pytest.ExitCode.USAGE_ERROR:
        # Tests that are named after the values of a table have other names now, if any.
        functions = dict.fromkeys(test.partition("[")[0] for test in tests)
        code = pytest.main([*ARGUMENTS, "-x", *functions], plugins=[first])
    return "" if code == pytest.ExitCode.OK else first.failed or f"(pytest: {code.name})"


ARGUMENTS = ["-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:terminal", "-p", "no:xdist"]


@functools.cache
def _text(path: Path) -> str:
    return path.read_text("utf-8")


@functools.cache
def _source(item: Any) -> str:
    return inspect.getsource(item.function)


def _with_next(items: list[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(items, [*items[1:], None], strict=True)


def _turns(turn: Any, things: Any) -> Iterator[Any]:
    """What this process gets of `things`, that several share by counting `turn` on."""
    while True:
        with turn.get_lock():
            at = turn.value
            turn.value += 1
        if at >= len(things):
            return
        yield things[at]


def keep_compiles(folder: Path | None) -> None:
    """Keep what nvcc says from test to test: a rule's mutant can't change it. None: no more."""
    from cudalint.compile import stage

    plain = getattr(stage.compile_files, "plain", stage.compile_files)

    @functools.wraps(plain)
    def keeping(
        requests: Any, toolchains: Any, jobs: int, timeout: float, cache: Any, **more: Any
    ) -> Any:
        return plain(requests, toolchains, jobs, timeout, cache or folder, **more)

    keeping.plain = plain  # type: ignore[attr-defined]
    stage.compile_files = plain if folder is None else keeping
