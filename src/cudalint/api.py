"""Linting from Python: `check` gives a `Result`, and docs/api.md is its guide.

    from cudalint.api import check

    for finding in check(["kernels/"]).findings:
        print(finding.path, finding.line, finding.code, finding.message)

What is public of it is in `__all__`. It prints nothing, writes nothing but the cache
that it is given, and ends no process; what it runs (nvcc, libclang, processes when
`jobs` is above 1) has ended when it returns. It may be called from several threads.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from cudalint.reporters.records import FindingRecord, LabelledPlace, Records
from cudalint.reporters.records import Place as PlaceRecord
from cudalint.rule import Rule
from cudalint.runner import Request, run
from cudalint.settings.origin import SettingsError
from cudalint.settings.select import Overrides

if TYPE_CHECKING:
    from cudalint.reporters.records import FixRecord, NotificationRecord

__all__ = [
    "Edit",
    "Finding",
    "Fix",
    "Level",
    "Notification",
    "Place",
    "Result",
    "SettingsError",
    "Skip",
    "Suppressed",
    "check",
]

Level = Literal["error", "warning", "note"]
StrPath = str | os.PathLike[str]


class Place(msgspec.Struct, frozen=True):
    """From one place up to, and without, another, in the file at `path`.

    `path` is relative to the result's `root`, with `/`. Lines and columns count
    from 1, columns in characters. `label` is a short word on what is there, or "".
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    label: str = ""


class Edit(msgspec.Struct, frozen=True):
    """Replaces the bytes from `start` up to `end` of the file at `path` by `text` in UTF-8."""

    path: str
    start: int
    end: int
    text: str


class Fix(msgspec.Struct, frozen=True):
    """Edits to be made together; `safe` ones never change what the program does."""

    title: str
    safe: bool
    edits: tuple[Edit, ...]


class Finding(msgspec.Struct, frozen=True):
    """One fault at one place.

    `path`, `line`, `column`, `end_line`, `end_column` are as in `Place`. `name` is the
    rule's. `related` are places that explain it, `chain` the calls that lead to it, in
    order. `properties` are numbers for programs. `fingerprint` stays when lines move;
    `url` is the rule's page on the web, "" for none.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    code: str
    name: str
    level: Level
    message: str
    confidence: Literal["high", "medium", "low"]
    related: tuple[Place, ...]
    chain: tuple[Place, ...]
    fix: Fix | None
    properties: dict[str, int | float | str]
    fingerprint: str
    url: str


class Suppressed(msgspec.Struct, frozen=True):
    """A finding that a comment silences, with the reason that the comment gives, or ""."""

    finding: Finding
    reason: str
    comment: Place


class Notification(msgspec.Struct, frozen=True):
    """Something to know of the run itself; at level "error" the run failed.

    The `id`s are those of docs/notifications.md.
    """

    id: str
    level: Level
    message: str
    place: Place | None


class Skip(msgspec.Struct, frozen=True):
    """A part of the analysis that did not take place: `what` ("CU5"), `why` ("no nvcc")."""

    what: str
    why: str


class Result(msgspec.Struct, frozen=True):
    """What came of a run.

    `root` is the project root that all paths are relative to. `findings` are in the
    order of the command line: by path, line, column and code. `files` and `kernels`
    are how many were analysed for their own sake, `rules` the codes of the rules that
    ran. `exit_code` is the command line's: 0, 1 for findings, 2 for a run that failed.
    """

    root: Path
    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    notifications: tuple[Notification, ...]
    skips: tuple[Skip, ...]
    rules: tuple[str, ...]
    files: int
    kernels: int
    exit_code: int


def check(
    paths: StrPath | Sequence[StrPath] = ".",
    *,
    cwd: StrPath | None = None,
    contents: Mapping[StrPath, str | bytes] | None = None,
    config: StrPath | None = None,
    isolated: bool = False,
    select: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    preview: bool | None = None,
    compile: Literal["auto", "always", "never"] | None = None,  # noqa: A002  (as on the command line)
    compile_commands: str | None = None,
    exclude: Sequence[str] = (),
    force_exclude: bool = False,
    plugins: Sequence[str] = (),
    rules: Sequence[type[Rule]] = (),
    baseline: StrPath | None = None,
    diff_base: str | None = None,
    strict: bool = False,
    jobs: int = 1,
    cache: StrPath | None = None,
) -> Result:
    """Lint files, folders and patterns, as `cudalint PATHS` does with the options of these names.

    `paths` and all other paths are relative to `cwd`, the current folder without it.
    `contents` gives what files are to be taken to hold instead of what is on the
    disk, where they need not exist: with `check("a.cu", contents={"a.cu": text})`
    a text is linted as `cudalint - --stdin-filename a.cu` does it. `rules` are rule
    classes of the caller's own, to run beside all others. `cache` is a folder to keep
    what was read in; nothing is kept without it. `jobs` above 1 starts processes.

    Raises SettingsError for settings, selectors, a baseline or a `diff_base` that can't
    be used, ValueError for a path that holds a NUL and other values that mean nothing,
    TypeError for what is of another type than asked for. All else is told in the result:
    a path that is not there, a file that can't be read, a rule that fails.
    """
    if compile not in (None, "auto", "always", "never"):
        raise ValueError(f"compile is 'auto', 'always' or 'never', not {compile!r}")
    if not isinstance(jobs, int):
        raise TypeError(f"jobs is a number, not {jobs!r}")
    if jobs < 1:
        raise ValueError(f"jobs is at least 1, not {jobs}")
    folder = Path.cwd() if cwd is None else Path(cwd).absolute()
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    given = {
        os.path.normpath(folder / _path(path)): _encoded(path, text)
        if isinstance(text, str)
        else text
        for path, text in (contents or {}).items()
    }
    finished = run(
        Request(
            paths=tuple(_path(path) for path in listed),
            cwd=folder,
            config=None if config is None else _path(config),
            isolated=isolated,
            overrides=Overrides(
                None if select is None else _words("select", select),
                _words("ignore", ignore),
                _words("extend_select", extend_select),
            ),
            preview=preview,
            compile=compile,
            compile_commands=compile_commands,
            exclude=_words("exclude", exclude),
            force_exclude=force_exclude,
            jobs=jobs,
            cache=None if cache is None else folder / _path(cache),
            strict=strict,
            baseline=None if baseline is None else _path(baseline),
            diff_base=diff_base,
            contents=given,
            plugins=_words("plugins", plugins),
            rules=_rules(rules),
        )
    )
    records = Records(finished)
    return Result(
        root=Path(finished.root),
        findings=tuple(_finding(record) for record in records.findings),
        suppressed=tuple(
            Suppressed(_finding(one.finding), one.reason, _place(one.place))
            for one in records.suppressed
        ),
        notifications=tuple(_notification(record) for record in records.notifications),
        skips=tuple(Skip(record.what, record.why) for record in records.skips),
        rules=tuple(records.summary.rules),
        files=finished.counts.files,
        kernels=finished.counts.kernels,
        exit_code=finished.exit_code,
    )


def _path(path: StrPath) -> str:
    text = os.fspath(path)
    if "\0" in text:
        raise ValueError(f"a path can't hold a NUL: {text!r}")
    return text


def _words(name: str, words: Sequence[str]) -> tuple[str, ...]:
    """The words of an argument that takes several; a lone string would be taken for its letters."""
    if isinstance(words, str):
        raise TypeError(f"{name} takes a sequence of strings, not {words!r}")
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"{name} takes strings, not {word!r}")
    return tuple(words)


def _encoded(path: StrPath, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"the contents of {os.fspath(path)!r} are no text: {error}") from error


def _rules(rules: Sequence[type[Rule]]) -> tuple[type[Rule], ...]:
    for rule in rules:
        if not (isinstance(rule, type) and issubclass(rule, Rule)):
            raise TypeError(f"rules takes rule classes, not {rule!r}")
    return tuple(rules)


def _finding(record: FindingRecord) -> Finding:
    place = record.place
    return Finding(
        path=place.path,
        line=place.start.line,
        column=place.start.column,
        end_line=place.end.line,
        end_column=place.end.column,
        code=record.code,
        name=record.name,
        level=record.level,  # type: ignore[arg-type]  # the records hold the same words
        message=record.message,
        confidence=record.confidence,  # type: ignore[arg-type]
        related=tuple(_labelled(place) for place in record.related),
        chain=tuple(_labelled(step) for step in record.flow),
        fix=None if record.fix is None else _fix(record.fix),
        properties=record.properties,
        fingerprint=record.fingerprint,
        url=record.url,
    )


def _fix(record: FixRecord) -> Fix:
    edits = (
        Edit(edit.place.path, edit.place.start.offset, edit.place.end.offset, edit.text)
        for edit in record.edits
    )
    return Fix(record.title, record.safe, tuple(edits))


def _notification(record: NotificationRecord) -> Notification:
    place = None if record.place is None else _place(record.place)
    return Notification(record.id, record.level, record.message, place)  # type: ignore[arg-type]


def _labelled(record: LabelledPlace) -> Place:
    return _place(record.place, record.label)


def _place(record: PlaceRecord, label: str = "") -> Place:
    start, end = record.start, record.end
    return Place(record.path, start.line, start.column, end.line, end.column, label)
