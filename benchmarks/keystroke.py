"""From a keystroke to the diagnostics, in a real language server, against one bare parse.

    python benchmarks/keystroke.py [--lines N] [--keys N]

Types a line into the middle of a file of N lines (of shipped kernels), one character
after the other, each when the diagnostics of the last are there, and takes the time
until those of its version come. Once with the file alone, and once with the shipped
kernels around it as the rest of its project. `processor` is the server's own, of one
keystroke. Exits 1 where that is more than LIMIT parses; of the wall times 9 of 10 are to
be below 100 ms on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import tree_sitter_cuda
from lsprotocol import types
from pygls.lsp.client import LanguageClient
from tree_sitter import Language, Parser

KERNELS = Path(__file__).parents[1] / "kernels"
LIMIT = 5.0
TYPED = "  const float typed = 1.0f; (void)typed;\n"
SETTINGS = 'compile = "never"\ntargets = ["sm_121"]\n'


class Client(LanguageClient):
    """Keeps the newest version of the document that diagnostics came for."""

    def __init__(self) -> None:
        super().__init__("keystroke", "1")
        self.version = -1
        self.news = asyncio.Event()

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self.version = -1 if params.version is None else params.version
            self.news.set()

        @self.feature(types.WINDOW_LOG_MESSAGE)
        def logged(_: types.LogMessageParams) -> None:
            """What the run says of itself is no matter here."""

    async def until(self, version: int) -> None:
        """Wait for the diagnostics of a version."""
        while self.version != version:
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), 60)


def source(lines: int) -> str:
    """At least so many lines of kernels, whole files of them."""
    files = sorted((KERNELS / "gb10" / "common").glob("*.cu"))
    text = ""
    while text.count("\n") < lines:
        for file in files:
            text += file.read_text()
            if text.count("\n") >= lines:
                break
    return text


def place_to_type(text: str) -> int:
    """The line below the head of the kernel nearest to the middle."""
    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if line.endswith(") {") and at > len(lines) // 2]
    return starts[0] + 1


async def type_there(root: Path, text: str, keys: int) -> tuple[list[float], float]:
    """Wall seconds of each keystroke, and the server's processor seconds of one."""
    client = Client()
    command = ("-m", "cudalint", "server", "--cache-dir", str(root.parent / "cache"))
    await client.start_io(sys.executable, *command, cwd=root)
    await client.initialize_async(
        types.InitializeParams(capabilities=types.ClientCapabilities(), root_uri=root.as_uri())
    )
    client.initialized(types.InitializedParams())
    uri = (root / "typed.cu").as_uri()
    document = types.TextDocumentItem(uri, "cuda-cpp", 0, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(document))
    await client.until(0)
    line, column, taken = place_to_type(text), 0, []
    typed = (TYPED * (keys // len(TYPED) + 2))[: keys + len(TYPED)]
    spent = 0.0
    for version, character in enumerate(typed, 1):
        if version == len(TYPED) + 1:
            spent = processor_seconds(client)
        at = types.Position(line, column)
        change = types.TextDocumentContentChangePartial(types.Range(at, at), character)
        sent = time.perf_counter()
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, uri), [change]
            )
        )
        await client.until(version)
        if version > len(TYPED):
            taken.append(time.perf_counter() - sent)
        line, column = (line + 1, 0) if character == "\n" else (line, column + 1)
    spent = processor_seconds(client) - spent
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return taken, spent / keys


def processor_seconds(client: Client) -> float:
    """What the server has used so far."""
    assert client._server is not None
    fields = Path(f"/proc/{client._server.pid}/stat").read_text().rpartition(")")[2].split()
    ticks: int = os.sysconf("SC_CLK_TCK")
    return (int(fields[11]) + int(fields[12])) / ticks


def bare_parse(text: str) -> float:
    """The least processor seconds of parsing the text and nothing else."""
    parser = Parser(Language(tree_sitter_cuda.language()))
    data, taken = text.encode(), []
    for _ in range(9):
        start = time.process_time()
        parser.parse(data)
        taken.append(time.process_time() - start)
    return min(taken)


def main() -> int:
    """Print the table. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--keys", type=int, default=40)
    options = parser.parse_args()
    text = source(options.lines)
    parse = bare_parse(text)
    print(f"{text.count(chr(10))} lines, {len(text)} bytes; bare parse {parse * 1e3:.0f} ms")
    print(f"{'':<22} {'median':>8} {'9 of 10':>8} {'worst':>8} {'processor':>10} {'parses':>7}")
    worst = 0.0
    for name, around in (("the file alone", False), ("in the kernel tree", True)):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder, "project")
            root.mkdir()
            if around:
                shutil.copytree(KERNELS, root / "kernels")
            (root / "cudalint.toml").write_text(SETTINGS)
            (root / "typed.cu").write_text(text)
            taken, spent = asyncio.run(type_there(root, text, options.keys))
        shown = (statistics.median(taken), statistics.quantiles(taken, n=10)[-1], max(taken))
        walls = " ".join(f"{seconds * 1e3:5.0f} ms" for seconds in shown)
        print(f"{name:<22} {walls} {spent * 1e3:7.0f} ms {spent / parse:7.1f}")
        worst = max(worst, spent / parse)
    print(f"{'limit':<22} {'':>26} {'':>10} {LIMIT:7.1f}")
    return int(worst > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
