"""The language server in a process of its own, driven by pygls's client as an editor would."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from conftest import write_files
from editor import Editor, with_editor

SPDX = "// SPDX-License-Identifier: MIT OR Apache-2.0\n"
SOURCE = (
    SPDX + "void f(cudaEvent_t done) {\n    /* é漢🚀 */ cudaEventRecord(done);\n}\n"
    "void g(cudaEvent_t done, cudaStream_t stream) {\n    cudaEventRecord(done);\n}\n"
)
ISOLATED = '[rules.CU302]\nlevel = "warning"\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_files(tmp_path, {"cudalint.toml": 'compile = "never"\n' + ISOLATED, "a.cu": SOURCE})
    return tmp_path


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 20), ("utf-16", 15), ("utf-32", 14)])
def test_positions_are_in_the_client_s_encoding(root: Path, encoding: str, column: int) -> None:
    async def play(editor: Editor) -> None:
        editor.open("a.cu")
        await editor.until(lambda: "a.cu" in editor.shown)
        first = editor.shown["a.cu"][0]
        assert (first.code, first.source) == ("CU302", "cudalint")
        assert first.severity == types.DiagnosticSeverity.Warning
        assert first.code_description is not None
        assert first.code_description.href.endswith("#cu302-event-record-without-stream")
        assert (first.range.start.line, first.range.start.character) == (2, column)
        assert first.range.end.character - first.range.start.character == len("cudaEventRecord")

    with_editor(root, play, encoding)


def test_diagnostics_follow_what_is_typed_and_go_when_the_file_is_closed(root: Path) -> None:
    async def play(editor: Editor) -> None:
        editor.open("a.cu")
        await editor.until(lambda: editor.codes("a.cu") == ["CU302", "CU302"])
        editor.change("a.cu", 2, SOURCE.replace("(done);\n}\nvoid g", "(done, s);\n}\nvoid g"))
        await editor.until(lambda: editor.codes("a.cu") == ["CU302"])
        assert editor.versions["a.cu"] == 2
        editor.change("a.cu", 3, SPDX)
        await editor.until(lambda: editor.codes("a.cu") == [])
        editor.change("a.cu", 4, SOURCE)
        await editor.until(lambda: len(editor.codes("a.cu")) == 2)
        closed = types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(editor.uri("a.cu")))
        editor.text_document_did_close(closed)
        await editor.until(lambda: editor.codes("a.cu") == [])

    with_editor(root, play)


def test_a_document_is_called_what_the_client_calls_it(root: Path) -> None:
    write_files(root, {"a b/é.cu": SOURCE})

    async def play(editor: Editor) -> None:
        editor.open("a b/é.cu")
        await editor.until(lambda: editor.codes("a b/é.cu"))
        assert editor.uris == {(root / "a b/é.cu").as_uri()}
        document = types.TextDocumentIdentifier(editor.uri("a b/é.cu"))
        place = editor.shown["a b/é.cu"][0].range.start
        assert await editor.text_document_hover_async(types.HoverParams(document, place))

    with_editor(root, play)


def test_a_fix_is_offered_and_does_what_it_says(root: Path) -> None:
    async def play(editor: Editor) -> None:
        editor.open("a.cu")
        await editor.until(lambda: len(editor.codes("a.cu")) == 2)
        shown = editor.shown["a.cu"][1]
        found = await editor.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(editor.uri("a.cu")),
                types.Range(shown.range.start, shown.range.start),
                types.CodeActionContext([shown]),
            )
        )
        assert found is not None
        action, silencer = found
        assert isinstance(action, types.CodeAction)
        assert isinstance(silencer, types.CodeAction)
        assert silencer.title.startswith("CU302: silence with a comment")
        assert silencer.edit is not None
        (change,) = silencer.edit.document_changes or ()
        assert isinstance(change, types.TextDocumentEdit)
        (comment,) = change.edits
        assert isinstance(comment, types.TextEdit)
        assert comment.new_text == "  // NOLINT(CU302): "
        assert comment.range.start == types.Position(5, len("    cudaEventRecord(done);"))
        assert action.title.startswith("CU302: ")
        assert action.title.endswith(" (unsafe)")
        assert action.kind == types.CodeActionKind.QuickFix
        assert list(action.diagnostics or ()) == [shown]
        assert action.edit is not None
        (change,) = action.edit.document_changes or ()
        assert isinstance(change, types.TextDocumentEdit)
        assert change.text_document.version == 1
        (edit,) = change.edits
        line = SOURCE.splitlines()[edit.range.start.line]
        assert isinstance(edit, types.TextEdit)
        at = edit.range.start.character
        assert line[:at] + edit.new_text + line[at:] == "    cudaEventRecord(done, stream);"

    with_editor(root, play)


def test_what_the_actions_do_when_they_are_taken(root: Path) -> None:
    """The fix of one finding, then a comment with a reason on the other: nothing is left."""

    async def take(editor: Editor, text: str, wanted: str) -> str:
        shown = editor.shown["a.cu"][-1]
        document = types.TextDocumentIdentifier(editor.uri("a.cu"))
        context = types.CodeActionContext([shown])
        asked = types.CodeActionParams(document, shown.range, context)
        for action in await editor.text_document_code_action_async(asked) or ():
            assert isinstance(action, types.CodeAction)
            if wanted in action.title:
                return applied(action, text)
        raise AssertionError(f"no action says '{wanted}'")

    async def play(editor: Editor) -> None:
        editor.open("a.cu")
        await editor.until(lambda: len(editor.codes("a.cu")) == 2)
        fixed = await take(editor, SOURCE, "(unsafe)")
        assert fixed == SOURCE.replace(
            "    cudaEventRecord(done);", "    cudaEventRecord(done, stream);"
        )
        editor.change("a.cu", 2, fixed)
        await editor.until(lambda: len(editor.codes("a.cu")) == 1)
        silenced = await take(editor, fixed, "silence with a comment")
        assert "cudaEventRecord(done);  // NOLINT(CU302): \n" in silenced
        editor.change("a.cu", 3, silenced)
        await editor.until(lambda: editor.codes("a.cu") == ["CU003"])
        editor.change("a.cu", 4, silenced.replace("(CU302): ", "(CU302): one stream"))
        await editor.until(lambda: editor.codes("a.cu") == [])

    with_editor(root, play)


def applied(action: types.CodeAction, text: str) -> str:
    """The text after an action's only edit, whose place counts UTF-16 units."""
    assert action.edit is not None
    (change,) = action.edit.document_changes or ()
    assert isinstance(change, types.TextDocumentEdit)
    (edit,) = change.edits
    assert isinstance(edit, types.TextEdit)
    lines = text.splitlines(keepends=True)
    offsets = []
    for point in (edit.range.start, edit.range.end):
        line = lines[point.line].encode("utf-16-le")[: 2 * point.character]
        offsets.append(sum(map(len, lines[: point.line])) + len(line.decode("utf-16-le")))
    return text[: offsets[0]] + edit.new_text + text[offsets[1] :]


def test_all_safe_fixes_at_once(root: Path) -> None:
    write_files(root, {"b.cu": "#include <cuda.h>\n", "cudalint.toml": 'compile = "never"\n'})

    async def play(editor: Editor) -> None:
        editor.open("b.cu")
        await editor.until(lambda: editor.codes("b.cu"))
        whole = types.Range(types.Position(0, 0), types.Position(9, 0))
        found = await editor.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(editor.uri("b.cu")),
                whole,
                types.CodeActionContext([], only=[types.CodeActionKind.SourceFixAll]),
            )
        )
        (action,) = found or ()
        assert isinstance(action, types.CodeAction)
        assert action.kind == "source.fixAll.cudalint"
        assert action.edit is not None
        (change,) = action.edit.document_changes or ()
        assert isinstance(change, types.TextDocumentEdit)
        assert SPDX in [edit.new_text for edit in change.edits if isinstance(edit, types.TextEdit)]

    with_editor(root, play)


def test_hovering_shows_the_rule(root: Path) -> None:
    async def play(editor: Editor) -> None:
        editor.open("a.cu")
        await editor.until(lambda: editor.codes("a.cu"))
        document = types.TextDocumentIdentifier(editor.uri("a.cu"))
        place = editor.shown["a.cu"][0].range.start
        found = await editor.text_document_hover_async(types.HoverParams(document, place))
        assert found is not None
        assert isinstance(found.contents, types.MarkupContent)
        assert found.contents.value.startswith("### CU302 event-record-without-stream")
        nothing = types.HoverParams(document, types.Position(0, 0))
        assert await editor.text_document_hover_async(nothing) is None

    with_editor(root, play)


def test_settings_are_read_again_when_they_change_and_complained_of_once(root: Path) -> None:
    async def play(editor: Editor) -> None:
        editor.open("a.cu")
        await editor.until(lambda: editor.codes("a.cu"))
        assert types.WORKSPACE_DID_CHANGE_WATCHED_FILES in editor.watched
        settings = root / "cudalint.toml"
        event = types.FileEvent(editor.uri("cudalint.toml"), types.FileChangeType.Changed)
        changed = types.DidChangeWatchedFilesParams([event])
        settings.write_text('compile = "never"\nignore = ["CU302"]\n')
        editor.workspace_did_change_watched_files(changed)
        await editor.until(lambda: editor.codes("a.cu") == [])
        settings.write_text("ignroe = []\n")
        for _ in range(2):
            editor.workspace_did_change_watched_files(changed)
        await editor.until(lambda: editor.messages)
        settings.write_text('compile = "never"\n')
        editor.workspace_did_change_watched_files(changed)
        await editor.until(lambda: editor.codes("a.cu"))
        (message,) = editor.messages
        assert "cudalint.toml:1:1: unknown key 'ignroe'; did you mean 'ignore'?" in message

    with_editor(root, play)


def test_unsaved_text_counts_for_the_other_files_too(root: Path) -> None:
    write_files(
        root,
        {
            "wait.cpp": SPDX + "void wait();\nvoid wait() { }\n",
            "go.cu": SPDX + "void wait();\n"
            "__global__ void __launch_bounds__(32) k();\n"
            "void step(cudaStream_t s) { k<<<1, 32, 0, s>>>(); wait(); }\n",
        },
    )

    async def play(editor: Editor) -> None:
        editor.open("go.cu")
        editor.open("wait.cpp")
        await editor.until(lambda: {"go.cu", "wait.cpp"} <= set(editor.shown))
        assert "CU301" not in editor.codes("wait.cpp")
        editor.change(
            "wait.cpp", 2, SPDX + "void wait();\nvoid wait() { cudaDeviceSynchronize(); }\n"
        )
        await editor.until(lambda: "CU301" in editor.codes("wait.cpp"))
        (finding,) = [d for d in editor.shown["wait.cpp"] if d.code == "CU301"]
        around = [place.location.uri for place in finding.related_information or ()]
        assert editor.uri("go.cu") in around

    with_editor(root, play)


def test_compiled_when_saved(root: Path, toolchains: object) -> None:
    write_files(
        root,
        {
            "cudalint.toml": 'targets = ["sm_90"]\nselect = ["CU5"]\n',
            "k.cu": SPDX + 'extern "C" __global__ void k(int* p) { int unused; p[0] = 1; }\n',
        },
    )

    async def play(editor: Editor) -> None:
        editor.open("k.cu")
        await editor.until(lambda: editor.codes("k.cu") == ["CU507"])
        fixed = (root / "k.cu").read_text().replace("int unused; ", "")
        editor.change("k.cu", 2, fixed)
        await editor.until(lambda: editor.codes("k.cu") == [])
        (root / "k.cu").write_text(fixed.replace("p[0]", "int again; p[0]"))
        editor.change("k.cu", 3, (root / "k.cu").read_text())
        editor.text_document_did_save(
            types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(editor.uri("k.cu")))
        )
        await editor.until(lambda: editor.codes("k.cu") == ["CU507"])

    with_editor(root, play)
