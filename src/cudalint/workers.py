"""A function mapped over items in processes, each item's result in order.

`concurrent.futures` has the same with threads between, and these wait for ever at
the interpreter's end when a worker is killed while a pipe is full. Here the one
thread there is waits for all workers at once, a task is a number in a pipe that
never fills, and a worker that dies costs the item that it had.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from cudalint.signals import LOOK_AGAIN, ended_by_signals

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkContext, SpawnContext

Item = TypeVar("Item")
Result = TypeVar("Result")


class Died:
    """What there is of an item whose worker died over it."""


def map_in_processes(
    function: Callable[[Item], Result], items: Sequence[Item], jobs: int
) -> Iterator[Result | Died]:
    """The results in order of `items`, worked out by at most `jobs` processes.

    `function`, `items` and results are pickled where processes can't be forked.
    Whatever ends the iteration, a signal too, no process is left.
    """
    with ended_by_signals() as look:
        crew = _Crew(function, items, min(jobs, len(items)))
        try:
            yield from crew.results(look)
        finally:
            crew.end()


class _Crew(Generic[Item, Result]):
    """The workers, by the pipe to each, with the number of the item that each has."""

    def __init__(
        self, function: Callable[[Item], Result], items: Sequence[Item], size: int
    ) -> None:
        import multiprocessing

        can_fork = "fork" in multiprocessing.get_all_start_methods()
        self._context: ForkContext | SpawnContext = (
            multiprocessing.get_context("fork")
            if can_fork
            else multiprocessing.get_context("spawn")
        )
        self._can_fork = can_fork
        self._function = function
        self._items = items
        self._size = size
        self._waiting = deque(range(len(items)))
        self._workers: dict[Connection, tuple[multiprocessing.process.BaseProcess, int]] = {}

    def results(self, look: Callable[[], None]) -> Iterator[Result | Died]:
        """Each item's result in turn; `look` is called at least every `LOOK_AGAIN` seconds."""
        from multiprocessing.connection import wait

        done: dict[int, Result | Died] = {}
        for number in range(len(self._items)):
            while number not in done:
                while self._waiting and len(self._workers) < self._size:
                    look()
                    self._start()
                ready = wait(list(self._workers), LOOK_AGAIN)
                for pipe in [pipe for pipe in self._workers if pipe in ready]:
                    finished, result = self._receive(pipe)
                    done[finished] = result
                look()
            yield done.pop(number)

    def end(self) -> None:
        """Kill every worker, idle or not, and wait until it is gone."""
        for pipe, (process, _) in self._workers.items():
            process.kill()
            process.join()
            pipe.close()
        self._workers.clear()

    def _start(self) -> None:
        """One more worker, with the next item."""
        ours, its = self._context.Pipe()
        # A forked worker has our ends of the other pipes too, and these would keep
        # the others waiting after we are gone.
        others = (*self._workers, ours) if self._can_fork else ()
        process = self._context.Process(
            target=_work, args=(self._function, self._items, its, others), daemon=True
        )
        process.start()
        its.close()
        self._workers[ours] = (process, -1)
        self._give(ours)

    def _give(self, pipe: Connection) -> None:
        process, _ = self._workers[pipe]
        number = self._waiting.popleft()
        self._workers[pipe] = (process, number)
        try:
            pipe.send(number)
        except ConnectionError:
            # It is gone; reading from it will tell.
            return

    def _receive(self, pipe: Connection) -> tuple[int, Result | Died]:
        """The item that the worker had, and its result; the next item goes out."""
        process, number = self._workers[pipe]
        try:
            result: Result | Died = pipe.recv()
        except (EOFError, ConnectionError):
            process.kill()
            process.join()
            pipe.close()
            del self._workers[pipe]
            return number, Died()
        if self._waiting:
            self._give(pipe)
        else:
            self._workers[pipe] = (process, -1)
        return number, result


def _work(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    pipe: Connection,
    others: Sequence[Connection],
) -> None:
    """The life of a worker: until the pipe ends, or the parent ends it.

    Ctrl-C reaches every process of the terminal, and the parent ends its workers itself.
    """
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    for other in others:
        other.close()
    try:
        while True:
            pipe.send(function(items[pipe.recv()]))
    except (EOFError, ConnectionError):
        return
