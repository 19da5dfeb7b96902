"""Code actions: the fix of a finding, a comment that silences it, and all safe fixes at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lsprotocol import types

from cudalint.adoption.placing import Placements
from cudalint.finding import Edit, Finding, Span
from cudalint.fixes.edits import joined_edits, mendable
from cudalint.lsp.diagnostics import SOURCE
from cudalint.lsp.session import Document, Linted

_NO_REASON = ""

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.{SOURCE}"


def actions(
    linted: Linted,
    document: Document,
    chosen: types.Range,
    diagnostics: Sequence[types.Diagnostic],
    only: Sequence[str] | None,
) -> list[types.CodeAction]:
    """What can be done in the range `chosen` of `document`.

    `diagnostics` are those that the client shows there; `only` the kinds that it
    asks for, None for all.
    """
    found = linted.findings(document)
    here = [f for f in found if _touch(linted.places.range(f.span), chosen)]
    every = [
        *_fixes(linted, here, diagnostics),
        *_silencers(linted, here, diagnostics),
        *_fix_all(linted, found),
    ]
    return [action for action in every if _is_wanted(action, only)]


def _fixes(
    linted: Linted, findings: Iterable[Finding], diagnostics: Sequence[types.Diagnostic]
) -> Iterator[types.CodeAction]:
    for finding in findings:
        if finding.fix is None:
            continue
        yield types.CodeAction(
            title=f"{finding.code}: {finding.fix.title}{'' if finding.fix.safe else ' (unsafe)'}",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=_shown(linted, finding, diagnostics),
            is_preferred=finding.fix.safe,
            edit=_change(linted, finding.fix.edits),
        )


def _silencers(
    linted: Linted, findings: Iterable[Finding], diagnostics: Sequence[types.Diagnostic]
) -> Iterator[types.CodeAction]:
    """A comment on each finding, whose reason is left to be written: CU003 asks for it."""
    for finding in findings:
        path = finding.span.path
        data = linted.run.sources[path].data
        places = Placements(path, data, linted.run.models.get(path), _NO_REASON)
        place = next(places.of(finding), None)
        if place is None:
            continue
        text = place.text([finding.code], _NO_REASON)
        yield types.CodeAction(
            title=f"{finding.code}: silence with a comment, whose reason is yours to write",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=_shown(linted, finding, diagnostics),
            edit=_change(linted, [Edit(Span(path, place.at, place.at), text)]),
        )


def _shown(
    linted: Linted, finding: Finding, diagnostics: Sequence[types.Diagnostic]
) -> list[types.Diagnostic]:
    """Which of the client's diagnostics are this finding."""
    place = linted.places.range(finding.span)
    return [shown for shown in diagnostics if shown.code == finding.code and shown.range == place]


def _fix_all(linted: Linted, findings: Sequence[Finding]) -> Iterator[types.CodeAction]:
    fixes = [fix for _, fix in mendable(findings, unsafe=False)]
    if fixes:
        yield types.CodeAction(
            title="cudalint: apply all safe fixes",
            kind=FIX_ALL,
            edit=_change(linted, joined_edits(fixes)),
        )


def _change(linted: Linted, edits: Iterable[Edit]) -> types.WorkspaceEdit:
    """The edits, each document's with the version that they are made for."""
    by_path: dict[str, list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit]] = {}
    for edit in edits:
        place = linted.places.edited(edit.span)
        by_path.setdefault(edit.span.path, []).append(types.TextEdit(place, edit.text))
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(
                    uri=linted.documents[path].uri
                    if path in linted.documents
                    else linted.places.uri(path),
                    version=linted.documents[path].version if path in linted.documents else None,
                ),
                changes,
            )
            for path, changes in by_path.items()
        ]
    )


def _touch(one: types.Range, other: types.Range) -> bool:
    """Whether two ranges share a character, or meet."""
    return _order(one.start) <= _order(other.end) and _order(other.start) <= _order(one.end)


def _order(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def _is_wanted(action: types.CodeAction, only: Sequence[str] | None) -> bool:
    kind = str(getattr(action.kind, "value", action.kind))
    return only is None or any(kind == one or kind.startswith(f"{one}.") for one in only)
