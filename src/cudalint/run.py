"""`Run`: a finished run, and all that reporters are given.

Plain data. It is put together by `cudalint.runner` and `cudalint.outcome`;
what it looks like on paper is the business of `cudalint.reporters`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from cudalint.finding import Finding, Level, Span
from cudalint.settings.model import Settings
from cudalint.shard import Shard
from cudalint.source import SourceFile

if TYPE_CHECKING:
    from cudalint.adoption.baseline import Entry
    from cudalint.rule import Rule
    from cudalint.syntax.model import FileModel


class Plugin(msgspec.Struct, frozen=True, order=True):
    """An installed plugin: its `name`, and the package that it came with."""

    name: str
    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} ({self.package} {self.version})"


class RuleInForce(msgspec.Struct, frozen=True):
    """A rule that this run selected, with its level after the settings.

    `ran` is false when the rule could not run at all (CU5 with no nvcc); why
    stands in `Run.skips`. `plugin` is where it is from, None for cudalint's own.
    """

    rule: type[Rule]
    level: Level
    ran: bool = True
    plugin: Plugin | None = None


class Suppressed(msgspec.Struct, frozen=True):
    """A finding that a comment silences; `span` is the comment, `reason` its words or "".

    Of several comments it is the one with the least `precedence`: how far it
    reaches (0 a line, 1 a block, 2 the file), and where it stands. `in_source` is
    false for what no comment silences, but a baseline; `span` is then the finding's.
    """

    finding: Finding
    reason: str
    span: Span
    precedence: tuple[int, int] = (0, 0)
    in_source: bool = True


class Skip(msgspec.Struct, frozen=True):
    """A part of the analysis that did not take place: `what` ("CU5"), `why` ("no nvcc")."""

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what} skipped ({self.why})"


class Notification(msgspec.Struct, frozen=True):
    """Something to know of the run itself that is no finding about the code.

    `id` is a stable kebab-case word: "regions-not-understood", "unreadable-file",
    "rule-failed", "cache-unusable", "missing-path". `level` ERROR means that the
    run failed (exit code 2). `span` is where, if it is anywhere. `detail` is
    more text for `--verbose` (a traceback), never shown otherwise.
    """

    id: str
    level: Level
    message: str
    span: Span | None = None
    detail: str = ""


class Counts(msgspec.Struct, frozen=True):
    """What was analysed: `files` read for their own sake, and kernel definitions in them."""

    files: int = 0
    kernels: int = 0


class Run(msgspec.Struct, frozen=True):
    """A finished run.

    `root` is the absolute path that all other paths are relative to; `cwd` is the
    absolute folder from which people are shown them, "" for the root. `findings`
    are those to show, in order (path, line, column, code), with the levels in
    force; `suppressed` are in the same order. `sources` maps a path to its file,
    context files included. `exit_code` is 0 (nothing at a failing level), 1
    (findings) or 2 (the run itself failed); the same for every format. `models`
    are what the files say, to name the function that a finding stands in.
    `shard` is the part of the run that this is, None for the whole; `strict` and
    `exit_zero` are what the exit code was made with. `baselined` are the findings
    that stand in the baseline, `gone` its entries that nothing answers to, and
    `unchanged` is how many findings the changes looked at do not touch.
    """

    root: str
    settings: Settings
    rules: tuple[RuleInForce, ...]
    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    sources: dict[str, SourceFile]
    counts: Counts
    skips: tuple[Skip, ...] = ()
    notifications: tuple[Notification, ...] = ()
    exit_code: int = 0
    models: Mapping[str, FileModel] = {}
    cwd: str = ""
    shard: Shard | None = None
    strict: bool = False
    exit_zero: bool = False
    baselined: tuple[Finding, ...] = ()
    gone: tuple[Entry, ...] = ()
    unchanged: int = 0
