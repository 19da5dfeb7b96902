"""An editor for tests: it starts the language server in a process, as pygls's client."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls import uris
from pygls.lsp.client import LanguageClient


class Editor(LanguageClient):
    """An editor with one folder: it keeps the diagnostics of each file as they come."""

    def __init__(self, root: Path) -> None:
        super().__init__("editor", "1")
        self.root = root
        self.shown: dict[str, list[types.Diagnostic]] = {}
        self.versions: dict[str, int | None] = {}
        self.uris: set[str] = set()
        self.messages: list[str] = []
        self.log: list[str] = []
        self.watched: list[str] = []
        self.ended: tuple[int | None, bytes] | None = None
        self._news = asyncio.Event()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            path = uris.to_fs_path(params.uri)
            assert path
            name = Path(path).relative_to(root).as_posix()
            self.shown[name] = list(params.diagnostics)
            self.versions[name] = params.version
            self.uris.add(params.uri)
            self._news.set()

        @self.feature(types.WINDOW_SHOW_MESSAGE)
        def message(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self._news.set()

        @self.feature(types.WINDOW_LOG_MESSAGE)
        def logged(params: types.LogMessageParams) -> None:
            self.log.append(params.message)

        @self.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            self.watched += [one.method for one in params.registrations]

    async def server_exit(self, server: asyncio.subprocess.Process) -> None:
        """How the server ended, and what it said on stderr."""
        assert server.stderr is not None
        self.ended = server.returncode, await server.stderr.read()
        self._news.set()

    def uri(self, name: str) -> str:
        return str(uris.from_fs_path(str(self.root / name)))

    async def until(self, holds: Callable[[], Any]) -> None:
        """Wait until something came that makes it hold."""
        while not holds():
            try:
                await asyncio.wait_for(self._news.wait(), 120)
            except asyncio.TimeoutError:
                pytest.fail(f"shown: {self.shown}, log: {self.log}")
            self._news.clear()

    def open(self, name: str, text: str | None = None) -> None:
        given = (self.root / name).read_text() if text is None else text
        item = types.TextDocumentItem(self.uri(name), "cuda-cpp", 1, given)
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def change(self, name: str, version: int, text: str) -> None:
        self.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, self.uri(name)),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    def codes(self, name: str) -> list[str]:
        return [str(d.code) for d in self.shown.get(name, [])]


def with_editor(
    root: Path, play: Callable[[Editor], Awaitable[None]], encoding: str = "utf-16"
) -> None:
    """Start the server on `root`, let the editor `play`, and end both in order."""

    async def run() -> None:
        editor = Editor(root)
        command = ("-m", "cudalint", "server", "--no-cache")
        await editor.start_io(sys.executable, *command, cwd=root)
        started = await editor.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(
                    general=types.GeneralClientCapabilities(
                        position_encodings=[types.PositionEncodingKind(encoding)]
                    ),
                    workspace=types.WorkspaceClientCapabilities(
                        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(
                            dynamic_registration=True
                        )
                    ),
                ),
                root_uri=uris.from_fs_path(str(root)),
            )
        )
        assert started.capabilities.position_encoding == encoding
        editor.initialized(types.InitializedParams())
        await play(editor)
        await editor.shutdown_async(None)
        editor.exit(None)
        await editor.until(lambda: editor.ended is not None)
        assert editor.ended == (0, b"")
        await editor.stop()

    asyncio.run(asyncio.wait_for(run(), 300))
