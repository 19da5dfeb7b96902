"""Makes fixes in memory, pass after pass, until there is nothing left to mend.

Fixes that clash are made in different passes: after each, the files are linted
as they would be then. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from cudalint.finding import Finding, Level
from cudalint.fixes.edits import Joined, apply_edits, mendable
from cudalint.fixes.links import leads_out
from cudalint.run import Notification, Run
from cudalint.runner import Request

PASSES = 20
"""How often the files are linted again at most."""

Lint = Callable[[Request], Run]


class Mended(msgspec.Struct, frozen=True):
    """What fixing comes to, in memory.

    `first` is the run before any fix; `contents` are the new contents of the
    files that changed, by their path relative to the root, `fixed` the findings
    that were mended, in the order in which that was done.
    """

    first: Run
    contents: dict[str, bytes]
    fixed: tuple[Finding, ...]
    notifications: tuple[Notification, ...] = ()

    @property
    def changed(self) -> dict[str, tuple[bytes, bytes]]:
        """The old and the new content of each file that changed, in order of path."""
        return {
            path: (self.first.sources[path].data, self.contents[path])
            for path in sorted(self.contents)
        }


def mend(request: Request, lint: Lint, *, unsafe: bool) -> Mended:
    """Lint what `request` asks for with `lint`, and make the fixes, the unsafe too if asked to.

    A file that a fix would leave with code that can't be read, or that is
    reached over a link out of the project, stays as it is, and that is said.
    """
    return _Passes(request, lint, unsafe).run()


class _Passes:
    """The state of the passes: the last run, and the contents that it saw."""

    def __init__(self, request: Request, lint: Lint, unsafe: bool) -> None:
        self._request = request
        self._lint = lint
        self._unsafe = unsafe
        self._barred: set[str] = set()
        self._seen: dict[str, bool] = {}
        self._notifications: list[Notification] = []

    def run(self) -> Mended:
        first = now = self._lint(self._request)
        contents: dict[str, bytes] = {}
        fixed: list[Finding] = []
        for _ in range(PASSES):
            taken, joined = self._choose(now)
            if not taken:
                break
            new = {
                path: apply_edits(now.sources[path].data, edits)
                for path, edits in joined.by_path.items()
            }
            then = self._look({**contents, **new}, first)
            spoilt = [path for path in new if _broken(then, path) > _broken(now, path)]
            if spoilt:
                self._bar(spoilt, taken)
                continue
            now, contents = then, {**contents, **new}
            fixed += taken
        else:
            self._say_unfinished(now)
        changed = {
            path: data for path, data in contents.items() if data != first.sources[path].data
        }
        return Mended(first, changed, tuple(fixed), tuple(self._notifications))

    def _choose(self, now: Run) -> tuple[list[Finding], Joined]:
        """The findings to mend in one pass, and the edits that do it."""
        joined = Joined()
        taken: list[Finding] = []
        for finding, fix in mendable(now.findings, unsafe=self._unsafe):
            paths = {edit.span.path for edit in fix.edits}
            if paths and all(self._may_change(path, now) for path in paths) and joined.take(fix):
                taken.append(finding)
        return taken, joined

    def _may_change(self, path: str, now: Run) -> bool:
        source = now.sources.get(path)
        if path in self._barred or source is None or source.problem is not None:
            return False
        if path not in self._seen:
            outside = leads_out(Path(now.root), path)
            self._seen[path] = outside is None
            if outside is not None:
                message = f"'{path}' is not mended: it leads to '{outside}', outside the project"
                self._notifications.append(Notification("fix-left-out", Level.WARNING, message))
        return self._seen[path]

    def _look(self, contents: dict[str, bytes], first: Run) -> Run:
        """The run that there would be with these contents; no rule on compiled code has a fix."""
        held = {str(Path(first.root, path)): data for path, data in contents.items()}
        return self._lint(
            msgspec.structs.replace(
                self._request, contents={**self._request.contents, **held}, compile="never"
            )
        )

    def _bar(self, spoilt: Iterable[str], taken: Iterable[Finding]) -> None:
        for path in spoilt:
            codes = " and ".join(sorted({f.code for f in taken if _touches(f, path)}))
            message = f"'{path}' is not mended: after the fix of {codes} it can't be read"
            self._notifications.append(Notification("fix-left-out", Level.WARNING, message))
            self._barred.add(path)

    def _say_unfinished(self, now: Run) -> None:
        left, _ = self._choose(now)
        if left:
            codes = " and ".join(sorted({finding.code for finding in left}))
            message = f"after {PASSES} passes there are still fixes of {codes} to make"
            self._notifications.append(Notification("fixes-unfinished", Level.WARNING, message))


def _touches(finding: Finding, path: str) -> bool:
    return finding.fix is not None and any(edit.span.path == path for edit in finding.fix.edits)


def _broken(run: Run, path: str) -> int:
    """How many regions of a file can't be read."""
    model = run.models.get(path)
    return len(model.broken) if model else 0
