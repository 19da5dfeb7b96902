"""Starting cudalint as a process of its own, at a tenth of the price.

Most of what a start costs is the interpreter and its imports. `run_cudalint` asks a
process that has done all that to fork: the child gets the arguments, the folder,
the environment and the pipes of a new process, and ends as one does. What is
decided before the first line of cudalint runs (the encoding, hash seeds, imports,
signals) is for tests that start an interpreter.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import cudalint
from cudalint.cli.main import main

DECIDED_AT_THE_START = ("PYTHON", "LC_", "LANG")
_HEAD = 8
_PIECE = 65536


class Stem:
    """The process that forks, from one end of a socket."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, __file__, str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        self._socket = ours
        self._started = self._environment()
        atexit.register(self.close)

    @staticmethod
    def _environment() -> dict[str, str]:
        return {k: v for k, v in os.environ.items() if k.startswith(DECIDED_AT_THE_START)}

    def close(self) -> None:
        """End the process: it does so when nobody can ask it any more."""
        self._socket.close()
        self._process.wait()

    def run(
        self, arguments: list[str], cwd: Path, env: Mapping[str, str], given: bytes, timeout: float
    ) -> subprocess.CompletedProcess[bytes]:
        """As `subprocess.run` with both outputs captured; raises TimeoutExpired."""
        start = {k: v for k, v in env.items() if k.startswith(DECIDED_AT_THE_START)}
        assert start == self._started, "such a start needs an interpreter of its own"
        request = json.dumps([arguments, os.fspath(cwd), dict(env)]).encode()
        source, said, complained = os.pipe(), os.pipe(), os.pipe()
        ends = [source[0], said[1], complained[1]]
        socket.send_fds(self._socket, [len(request).to_bytes(_HEAD, "big")], ends)
        self._socket.sendall(request)
        for end in ends:
            os.close(end)
        child = int.from_bytes(_receive(self._socket, _HEAD), "big")
        try:
            output, errors = _communicate(source[1], given, [said[0], complained[0]], timeout)
        except TimeoutError:
            os.kill(child, signal.SIGKILL)
            raise subprocess.TimeoutExpired(arguments, timeout) from None
        finally:
            status = int.from_bytes(_receive(self._socket, _HEAD), "big")
        code = os.waitstatus_to_exitcode(status)
        return subprocess.CompletedProcess(arguments, code, output, errors)


_STEMS: list[Stem] = []


def run_cudalint(
    arguments: list[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    given: bytes = b"",
    timeout: float = 120,
) -> subprocess.CompletedProcess[bytes]:
    """Run cudalint with `arguments` in the folder `cwd`, `given` on its standard input."""
    if not _STEMS:
        _STEMS.append(Stem())
    return _STEMS[0].run(arguments, cwd, os.environ if env is None else env, given, timeout)


def run_cudalint_text(
    arguments: list[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    given: str = "",
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """The same, with text on all three: UTF-8, and line ends as they are read."""
    data = given.encode("utf-8", "surrogateescape")
    done = run_cudalint(arguments, cwd=cwd, env=env, given=data, timeout=timeout)
    output, errors = (io.TextIOWrapper(io.BytesIO(b)).read() for b in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(arguments, done.returncode, output, errors)


def _receive(channel: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = channel.recv(count - len(data))
        if not piece:
            raise EOFError("the other end is closed")
        data += piece
    return data


def _communicate(into: int, given: bytes, outputs: list[int], timeout: float) -> list[bytes]:
    """Write and read until both outputs are closed. Raises TimeoutError."""
    deadline = time.monotonic() + timeout
    texts = {output: bytearray() for output in outputs}
    left = memoryview(given)
    with selectors.DefaultSelector() as selector:
        for output in outputs:
            selector.register(output, selectors.EVENT_READ)
        if given:
            os.set_blocking(into, False)
            selector.register(into, selectors.EVENT_WRITE)
        else:
            os.close(into)
        while selector.get_map():
            ready = selector.select(max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                end = key.fd
                if end == into:
                    try:
                        left = left[os.write(into, left[:_PIECE]) :]
                    except BrokenPipeError:
                        left = left[:0]
                    if not left:
                        selector.unregister(into)
                        os.close(into)
                elif piece := os.read(end, _PIECE):
                    texts[end] += piece
                else:
                    selector.unregister(end)
                    os.close(end)
    return [bytes(texts[output]) for output in outputs]


def _serve(channel: socket.socket) -> None:
    """Fork for each request, until there are none; returns in a child that is to run."""
    while True:
        head, ends, _, _ = socket.recv_fds(channel, _HEAD, 3)
        if not head:
            sys.exit()
        size = int.from_bytes(head + _receive(channel, _HEAD - len(head)), "big")
        arguments, folder, environment = json.loads(_receive(channel, size))
        child = os.fork()
        if not child:
            channel.close()
            _become(arguments, folder, environment, ends)
            return
        for end in ends:
            os.close(end)
        channel.sendall(child.to_bytes(_HEAD, "big"))
        _, status = os.waitpid(child, 0)
        channel.sendall(status.to_bytes(_HEAD, "big"))


def _become(
    arguments: list[str], folder: str, environment: dict[str, str], ends: list[int]
) -> None:
    """Be what a new process with these would be."""
    for number, end in enumerate(ends):
        os.dup2(end, number)
        os.close(end)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["-c", *arguments]


def _import_all() -> None:
    """All modules that a run may import, or each child would import them anew."""
    for module in walk_packages(cudalint.__path__, "cudalint."):
        if not module.name.startswith(("cudalint.lsp", "cudalint.__main__")):
            import_module(module.name)


if __name__ == "__main__":
    _import_all()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    main()
