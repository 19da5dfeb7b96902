"""One run, from the paths on the command line to a finished `Run`.

The order of the stages and what each hands to the next; the work is theirs.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from cudalint.adoption.aside import Aside
from cudalint.compile.progress import Progress
from cudalint.context import Context
from cudalint.finding import Finding, Level
from cudalint.fixes.offer import offered
from cudalint.judged import Judged, judge_sources
from cudalint.judging import Judge, Selection
from cudalint.outcome import distinct, exit_code, in_force, ordered, ordered_suppressed
from cudalint.reading import Reading, read, with_overrides
from cudalint.registry import Known, known_rules
from cudalint.rule import CompileRule, ProjectRule
from cudalint.run import Notification, RuleInForce, Run, Skip
from cudalint.settings.check import check_selectors, rule_options
from cudalint.settings.load import Loaded, load_settings
from cudalint.settings.model import Settings
from cudalint.settings.select import (
    Overrides,
    PerFileIgnores,
    level_in_force,
    selected_rules,
)
from cudalint.shard import Shard
from cudalint.source import SourceFile
from cudalint.suppress import judge
from cudalint.suppress.parse import may_suppress
from cudalint.syntax.model import FileModel

if TYPE_CHECKING:
    from cudalint.compile.model import CompiledFile
    from cudalint.judgements import Judgements
    from cudalint.project.project import Project
    from cudalint.resources.baseline import Baseline
    from cudalint.rule import Rule


class Request(msgspec.Struct, frozen=True):
    """What one run shall do, as the command line says it.

    `paths` are relative to `cwd`, which is absolute. `config` names a settings
    file, `isolated` means none. `preview` and `compile` beat the settings when
    they are not None, and so does `compile_commands`, which is relative to `cwd`;
    `exclude` adds to them. `cache` is the cache's folder,
    None for no cache. `strict` makes notes fail the run, `exit_zero` nothing.
    `compiler_launcher` is the program to call nvcc by, "none" for none at all,
    None for that of the settings; `progress` is told what is being compiled.
    `shard` is the part of the run to do, None for the whole. `contents` are what
    files, by absolute path, are to be taken to hold instead of what is on the disk.
    What stands in the file `baseline` (relative to `cwd`) is not shown, nor what
    the changes since the merge base with the commit `diff_base` do not touch.
    `plugins` are named beside those of the settings; `rules` are rules to know
    beside all others, as they are.
    """

    paths: tuple[str, ...]
    cwd: Path
    config: str | None = None
    isolated: bool = False
    overrides: Overrides = Overrides()
    preview: bool | None = None
    compile: Literal["auto", "always", "never"] | None = None
    compile_commands: str | None = None
    exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    jobs: int = 1
    cache: Path | None = None
    strict: bool = False
    exit_zero: bool = False
    shard: Shard | None = None
    baseline: str | None = None
    diff_base: str | None = None
    compiler_launcher: str | None = None
    progress: Progress | None = None
    contents: dict[str, bytes] = {}
    plugins: tuple[str, ...] = ()
    rules: tuple[type[Rule], ...] = ()


def run(request: Request) -> Run:
    """Lint. Raises SettingsError; all else is told in the Run."""
    loaded = load_settings(
        request.paths, request.cwd, config=request.config, isolated=request.isolated
    )
    settings = with_overrides(loaded.settings, request)
    known = known_rules(settings.plugins, request.rules)
    check_selectors(loaded, request.overrides, known)
    options = rule_options(settings, loaded.origin, known)
    selected = selected_rules(known.rules, settings, request.overrides)
    selection = Selection(selected, options, PerFileIgnores(settings, known.rules), known.owners)
    recorded = _recorded(settings.resource_baseline, loaded, request.cwd)
    whole = loaded.origin is not None and request.config is None
    aside = Aside.of(request, loaded.root)
    return _Stages(
        request, settings, loaded.root, known, selection, aside, recorded, whole=whole
    ).run()


def _recorded(name: str | None, loaded: Loaded, cwd: Path) -> Baseline | None:
    if name is None:
        return None
    from cudalint.resources.baseline import configured_baseline

    return configured_baseline(name, loaded.root, cwd, loaded.origin)


class _Stages:
    """The stages of one run, each a method, in the order in which `run` calls them."""

    def __init__(
        self,
        request: Request,
        settings: Settings,
        root: Path,
        known: Known,
        selection: Selection,
        aside: Aside,
        recorded: Baseline | None,
        *,
        whole: bool,
    ) -> None:
        self._aside = aside
        self._recorded = recorded
        self._whole = whole and bool(selection.of_kind(ProjectRule))
        self._request = request
        self._settings = settings
        self._root = root
        self._known = known
        self._selection = selection
        self._notifications: list[Notification] = [*known.problems]
        self._skips: list[Skip] = []

    def run(self) -> Run:
        """All of it."""
        kept = self._kept()
        reading = read(self._request, self._settings, self._root, whole=self._whole, kept=kept)
        self._notifications += reading.notifications
        self._skips += reading.skips
        sources, models, trees = reading.sources, reading.models, reading.project.trees
        context = Context(self._settings, sources, reading.project, trees, self._recorded)
        judging = Judge(self._selection, context)
        judged = self._judge(judging, context, reading, kept)
        self._skips += judged.skips
        compiled = self._compile(sources, reading.project)
        judging.compiled(compiled or ())
        self._tell_failures(compiled or (), sources, judging.findings)
        self._notifications += self._of_baseline(compiled or (), context)
        if context.types_failure:
            message = f"types are judged by their spelling alone: {context.types_failure}"
            self._notifications.append(Notification("types-unavailable", Level.WARNING, message))
        return self._finish(sources, models, judging, judged, compiled)

    def _kept(self) -> Judgements | None:
        if self._request.cache is None:
            return None
        from cudalint.judgements import Judgements

        return Judgements.of(self._request, self._settings, self._selection, self._root)

    def _judge(
        self, judging: Judge, context: Context, reading: Reading, kept: Judgements | None
    ) -> Judged:
        """What the rules on sources say: as it is kept, or by running them."""
        if reading.judged is not None:
            judging.findings += reading.judged.findings
            return reading.judged
        rules = self._selection.rules
        judged = judge_sources(judging, rules, context, reading.models, self._owns)
        if kept and not (reading.failed or context.types_failure or judging.has_failed):
            with_files = msgspec.structs.replace(
                judged, cut_off=reading.cut_off, incomplete=reading.incomplete
            )
            self._tell_of_cache(kept.put(with_files))
        return judged

    def _tell_of_cache(self, failure: str | None) -> None:
        if failure and all(one.id != "cache-unusable" for one in self._notifications):
            self._notifications.append(Notification("cache-unusable", Level.WARNING, failure))

    def _compile(
        self, sources: dict[str, SourceFile], project: Project
    ) -> tuple[CompiledFile, ...] | None:
        """What nvcc said of each file; None when no rule asks for it, or it was skipped.

        What a shard owns comes first: of equal findings the first is kept.
        """
        if not self._selection.of_kind(CompileRule):
            return None
        if self._settings.compile == "never":
            self._skips.append(Skip("CU5", "--compile never"))
            return None
        from cudalint.compiling import compile_project

        compiled = compile_project(
            self._to_compile(sources, project),
            self._root,
            project,
            self._settings,
            self._request.jobs,
            self._request.cache,
            self._request.compiler_launcher,
            self._request.progress,
        )
        self._notifications += compiled.notifications
        self._skips += compiled.skips
        if compiled.files is None:
            self._no_nvcc(compiled.why)
            return None
        return tuple(sorted(compiled.files, key=lambda file: not self._owns(sources[file.path])))

    def _to_compile(self, sources: dict[str, SourceFile], project: Project) -> list[str]:
        """The files to compile.

        A shard compiles its own, and what includes one of its own that holds a
        suppression, for that may be of use in such a compile only.
        """
        wanted = [path for path, file in sources.items() if file.requested and not file.problem]
        contents = self._request.contents
        given = [path for path in wanted if posixpath.normpath(self._root / path) in contents]
        # nvcc reads files, and would see something else.
        self._skips += (Skip(f"CU5 of {path}", "nvcc can't see this content") for path in given)
        wanted = [path for path in wanted if path not in given]
        if self._request.shard is None:
            return wanted
        own = {path for path in wanted if self._owns(sources[path])}
        silencing = [
            path for path in own if path.endswith(".cu") and may_suppress(sources[path].data)
        ]
        own.update(other for path in silencing for other in project.includes.includers(path))
        return [path for path in wanted if path in own]

    def _of_baseline(
        self, compiled: Sequence[CompiledFile], context: Context
    ) -> list[Notification]:
        """What is to be said of the recorded resources beside findings, where they are judged."""
        if self._recorded is None or all(r.code != "CU506" for r in self._selection.rules):
            return []
        from cudalint.resources.recorded import remarks

        own = [file for file in compiled if self._owns(context.sources[file.path])]
        return list(remarks(own, self._root, context, self._recorded))

    def _owns(self, file: SourceFile) -> bool:
        """Whether what is found in `file`, or in compiling it, is this run's to tell."""
        return self._request.shard is None or self._request.shard.owns(file.data)

    def _no_nvcc(self, why: str) -> None:
        """Say that nothing was compiled; an error only where compiling was demanded."""
        self._skips.append(Skip("CU5", why))
        if self._settings.compile == "always":
            message = f"--compile always, but there is no usable nvcc: {why}"
            self._notifications.append(Notification("no-nvcc", Level.ERROR, message))

    def _tell_failures(
        self,
        compiled: Sequence[CompiledFile],
        sources: dict[str, SourceFile],
        findings: Sequence[Finding],
    ) -> None:
        """Say what was not judged for it does not compile, where no finding says so."""
        if all(one.failure == "" for file in compiled for one in file.compilations):
            return
        from cudalint.compiling import untold_failures

        own = [file for file in compiled if self._owns(sources[file.path])]
        for skip in untold_failures(own, findings):
            self._skips.append(skip)
            if self._settings.compile == "always":
                message = f"--compile always, but {skip.what} was skipped: {skip.why}"
                self._notifications.append(Notification("not-compiled", Level.ERROR, message))

    def _is_shown(self, finding: Finding, sources: dict[str, SourceFile]) -> bool:
        path = finding.span.path
        if path not in sources or not sources[path].requested:
            return False
        return self._owns(sources[finding.compiled_from or path])

    def _sees_everything(self) -> bool:
        """Whether the whole project was read, so that a rule across files missed nothing."""
        root, cwd = self._root, self._request.cwd
        folders = (Path(posixpath.normpath(cwd / path)) for path in self._request.paths)
        return self._whole or any(root == folder or folder in root.parents for folder in folders)

    def _finish(
        self,
        sources: dict[str, SourceFile],
        models: Mapping[str, FileModel],
        judging: Judge,
        judged: Judged,
        compiled: Sequence[CompiledFile] | None,
    ) -> Run:
        """Suppressions, levels, order, counts and exit code."""
        codes = {rule.code for rule in self._selection.rules}
        of_compiling = {rule.code for rule in self._selection.of_kind(CompileRule)}
        was_compiled = {
            file.path
            for file in compiled or ()
            if not any(one.failure for one in file.compilations)
        }
        idle = {rule.code for rule in self._selection.rules if judging.is_idle(rule)}
        half_blind = set()
        if not self._sees_everything():
            half_blind = {rule.code for rule in self._selection.of_kind(ProjectRule)}

        def ran(code: str, path: str) -> bool:
            if code not in codes or code in self._selection.ignores.ignored(path):
                return False
            if code in half_blind or code in idle:
                return False
            return path in was_compiled if code in of_compiling else path in sources

        judgement = judge(
            sources,
            models,
            distinct(judging.findings, models),
            judging.suppression_rules(),
            ran,
            {rule.code: rule.name for rule in self._known.rules},
        )
        self._notifications += judging.failures()
        rules = tuple(
            RuleInForce(
                rule,
                level_in_force(rule, self._settings),
                compiled is not None or rule.code not in of_compiling,
                self._known.owners.get(rule.code),
            )
            for rule in self._selection.rules
        )
        shown = [f for f in judgement.kept if self._is_shown(f, sources)]
        silenced = [s for s in judgement.suppressed if self._is_shown(s.finding, sources)]
        every = ordered(offered(in_force(shown, rules), models))
        parted = self._aside.part(every, sources, models, ran, self._selection)
        findings = parted.show
        self._notifications += parted.notifications
        levels = in_force((one.finding for one in silenced), rules)
        suppressed = ordered_suppressed(
            msgspec.structs.replace(one, finding=finding)
            for one, finding in zip(silenced, levels, strict=True)
        )
        self._notifications += judged.not_understood
        strict, exit_zero = self._request.strict, self._request.exit_zero
        code = exit_code(findings, self._notifications, strict=strict, exit_zero=exit_zero)
        return Run(
            root=str(self._root),
            settings=self._settings,
            rules=rules,
            findings=findings,
            suppressed=suppressed,
            sources=sources,
            counts=judged.counts,
            skips=tuple(self._skips),
            notifications=tuple(self._notifications),
            exit_code=code,
            models=models,
            cwd=str(self._request.cwd),
            shard=self._request.shard,
            strict=strict,
            exit_zero=exit_zero,
            baselined=parted.baselined,
            gone=parted.gone,
            unchanged=parted.unchanged,
        )
