"""The server: what the client sends, when linting runs, and what is sent back."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer

import cudalint
from cudalint.lsp.actions import FIX_ALL, actions
from cudalint.lsp.garbage import Garbage
from cudalint.lsp.places import path_of
from cudalint.lsp.session import Document, Linted, lint, may_compile
from cudalint.rulepage import markdown
from cudalint.settings.origin import SettingsError
from cudalint.syntax.lastread import LastRead

_AFTER_DISK = 0.03
"""Seconds without a further change on the disk before linting starts: many come at once.

What is typed is linted at once, or, while something is being linted, when that has
ended: so the wait is no longer than the last run was.
"""

_PAUSE = 0.7
"""Seconds without a further change before everything is read afresh."""

_WATCHED = (
    "**/*.{cu,cuh,h,hpp,cpp,cc,cxx,inl}",
    "**/{KERNEL,HARDWARE,MODEL}.toml",
    "**/{cudalint,pyproject}.toml",
    "**/compile_commands.json",
)


class Server(LanguageServer):
    """One client's server. All of it runs in one thread, but for the linting itself."""

    def __init__(self, cache: Path | None) -> None:
        super().__init__("cudalint", cudalint.__version__)
        self._cache = cache
        self._linted: Linted | None = None
        self._generation = 0
        self._last = LastRead()
        self._garbage = Garbage()
        self._linting = asyncio.Lock()
        self._compiling = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._complaint = ""
        self._said: list[str] = []

    def lint_soon(self, delay: float = 0) -> None:
        """Lint the open documents afresh in `delay` seconds, unless asked again before that."""
        self._generation += 1
        self._start(self._lint(self._generation, delay, typed=False))

    def lint_typed(self) -> None:
        """Lint the open documents from what they were before, and afresh after a pause."""
        self._generation += 1
        self._start(self._lint(self._generation, 0, typed=True))

    async def _lint(self, generation: int, delay: float, *, typed: bool) -> None:
        """Lint what is open, then compile, if all of it is saved."""
        await asyncio.sleep(delay)
        linted = await self._linted_next(generation, afresh=not typed)
        if linted is None:
            return
        self._show(linted)
        if may_compile(self._documents(), self._folder()):
            self._start(self._compile(generation))
        if typed:
            await asyncio.sleep(_PAUSE)
            settled = await self._linted_next(generation, afresh=True)
            if settled is not None and settled.published() != linted.published():
                self._show(settled)

    async def _linted_next(self, generation: int, *, afresh: bool) -> Linted | None:
        """What is found once nothing else is being linted; `afresh` as the command line has it."""
        async with self._linting:
            if afresh and generation == self._generation:
                self._last.settle()
            return await self._linted_now(generation, self._last, compiled=False)

    async def _compile(self, generation: int) -> None:
        """The same once more with nvcc, beside the linting of what is edited in the meantime."""
        async with self._compiling:
            linted = await self._linted_now(generation, LastRead(), compiled=True)
        if linted is not None and generation == self._generation:
            self._show(linted)

    async def _linted_now(
        self, generation: int, last: LastRead, *, compiled: bool
    ) -> Linted | None:
        """What is found in the open documents; None when that can't be said, or is old by now."""
        documents = self._documents()
        if generation != self._generation or not documents:
            return None
        encoding = types.PositionEncodingKind(self.workspace.position_encoding or "utf-16").value
        arguments = (documents, self._folder(), self._cache, encoding, last)
        try:
            linted = await asyncio.to_thread(lint, *arguments, compiled=compiled)
        except SettingsError as error:
            self._complain(str(error))
            return None
        self._complaint = ""
        return linted

    def _start(self, work: Coroutine[None, None, None]) -> None:
        # The loop itself holds tasks weakly.
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            text = f"internal error: {type(error).__name__}: {error}"
            self.window_log_message(types.LogMessageParams(types.MessageType.Error, text))

    def _show(self, linted: Linted) -> None:
        """Tell the client, and tidy up before the next keystroke."""
        self._linted = linted
        self._publish(linted)
        self._garbage.collect(at_rest=not (self._linting.locked() or self._compiling.locked()))

    def _publish(self, linted: Linted) -> None:
        open_now = self._documents()
        for uri, found in linted.published().items():
            if uri in open_now:
                version = next(d.version for d in linted.documents.values() if d.uri == uri)
                self.text_document_publish_diagnostics(
                    types.PublishDiagnosticsParams(uri, found, version)
                )
        said = [notification.message for notification in linted.run.notifications]
        for message in said:
            if message not in self._said:
                self.window_log_message(types.LogMessageParams(types.MessageType.Log, message))
        self._said = said

    def withdraw(self, uri: str) -> None:
        """Take back what was said of a document that is closed."""
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """The code actions in a range; none while the text is newer than what was found."""
        document = self._documents().get(params.text_document.uri)
        if self._linted is None or document is None:
            return []
        context = params.context
        return actions(self._linted, document, params.range, context.diagnostics, context.only)

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        """The pages of the rules that found something at a position."""
        document = self._documents().get(params.text_document.uri)
        if self._linted is None or document is None:
            return None
        rules = {entry.rule.code: entry.rule for entry in self._linted.run.rules}
        pages: dict[str, str] = {}
        for finding in self._linted.findings(document):
            offset = self._linted.places.offset(finding.span.path, params.position)
            if finding.span.start <= offset <= finding.span.end:
                pages[finding.code] = markdown(rules[finding.code], depth=3)
        if not pages:
            return None
        text = "\n---\n\n".join(pages.values())
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))

    def _documents(self) -> dict[str, Document]:
        """The open documents that are files, by the URI that the client calls each."""
        found = {}
        for document in self.workspace.text_documents.values():
            path = path_of(document.uri)
            if path is not None:
                version = document.version or 0
                found[document.uri] = Document(path, document.uri, version, document.source)
        return found

    def _folder(self) -> Path:
        root = self.workspace.root_path
        return Path(root) if root else Path.cwd()

    def _complain(self, text: str) -> None:
        """Show what keeps linting from running, once until it is mended."""
        if text != self._complaint:
            self._complaint = text
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, text))


def make_server(cache: Path | None) -> Server:
    """A server that keeps file models in `cache` (None: nowhere), with its features."""
    server = Server(cache)

    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        watched = server.client_capabilities.workspace
        files = watched.did_change_watched_files if watched else None
        if files is not None and files.dynamic_registration:
            watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
            await server.client_register_capability_async(
                types.RegistrationParams(
                    [
                        types.Registration(
                            "cudalint-watch",
                            types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                            types.DidChangeWatchedFilesRegistrationOptions(watchers),
                        )
                    ]
                )
            )

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(_: types.DidOpenTextDocumentParams) -> None:
        server.lint_soon()

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(_: types.DidChangeTextDocumentParams) -> None:
        server.lint_typed()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(_: types.DidSaveTextDocumentParams) -> None:
        server.lint_soon()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.withdraw(params.text_document.uri)
        server.lint_soon()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def on_disk(_: types.DidChangeWatchedFilesParams) -> None:
        server.lint_soon(_AFTER_DISK)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL]),
    )
    async def wants_actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        return server.actions(params)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def wants_hover(params: types.HoverParams) -> types.Hover | None:
        return server.hover(params)

    return server
