"""What a function does with streams and events, in the order of the text.

For rules that look at one function: which events it records on which stream,
who waits for them, and where it launches. What is wrong with it, the rules say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from cudalint.devicecode.devicecode import device_only, enclosing
from cudalint.hostcode.streamwork import STREAM_AT
from cudalint.regex import regex
from cudalint.syntax.model import Call, Launch

if TYPE_CHECKING:
    from cudalint.project.project import Project
    from cudalint.syntax.model import FileModel

RECORDS = (
    *("cudaEventRecord", "cudaEventRecordWithFlags", "cuEventRecord", "cuEventRecordWithFlags"),
)
WAITS = ("cudaStreamWaitEvent", "cuStreamWaitEvent")
_STREAM_OF_LAUNCH = 3
_API = regex(r"(?:cuda[A-Z]|cu[A-Z]|dim3$)")

Work = tuple[Call | Launch, str]
"""What puts work on a stream, and that stream's name."""


class Ordered(msgspec.Struct, frozen=True):
    """One function: its calls and launches in order; macros' bodies stand at their uses."""

    path: str
    function: int
    calls: tuple[Call, ...]
    launches: tuple[Launch, ...]

    def records(self) -> Iterator[tuple[Call, str, str]]:
        """Each record with its event and stream, as written; a missing stream is none."""
        for call in self.calls:
            arguments = call.arguments if call.name in RECORDS else ()
            if len(arguments) > 1:
                yield call, bare(arguments[0].text), bare(arguments[1].text)

    def waits(self) -> Iterator[tuple[Call, str, str]]:
        """Each wait of a stream for an event, with that stream and that event."""
        for call in self.calls:
            arguments = call.arguments if call.name in WAITS else ()
            if len(arguments) > 1:
                yield call, bare(arguments[0].text), bare(arguments[1].text)

    def given_work(self) -> Iterator[Work]:
        """Each API call that names the stream which it puts work on, with that stream."""
        for call in self.calls:
            place = STREAM_AT.get(call.name, -1)
            arguments = call.arguments if place >= 0 else ()
            if len(arguments) > place >= 0:
                yield call, bare(arguments[place].text)

    def launched(self) -> Iterator[Work]:
        """Each launch that names a stream, with it."""
        for launch in self.launches:
            if len(launch.configuration) > _STREAM_OF_LAUNCH:
                yield launch, bare(launch.configuration[_STREAM_OF_LAUNCH].text)


def at(record: Call | Launch) -> int:
    """Where a record counts in its file."""
    return (record.use or record.span).start


def bare(text: str) -> str:
    """A name without `this->`, spaces, and parentheses around it."""
    text = text.replace(" ", "").removeprefix("this->").removeprefix("::")
    return text[1:-1] if re.fullmatch(r"\([\w.>\[\]-]+\)", text) else text


def api_alone(calls: list[Call]) -> bool:
    """Whether all calls are of the API, or are made on the results of such."""
    known = [call for call in calls if _API.match(call.name)]
    return all(
        call in known or any(call.span.covers(inner.span.start) for inner in known)
        for call in calls
    )


def functions_with(project: Project, names: tuple[str, ...]) -> Iterator[Ordered]:
    """The host functions that hold a call of these names, by path and place."""
    roots: set[tuple[str, int]] = set()
    for call in project.hot_path.api_calls(names):
        if call.function >= 0 and not (call.via_macro and call.use is None):
            path = (call.use or call.span).path
            model = project.models[path]
            root = enclosing(model, call.function)
            if root >= 0 and not device_only(model, call.function):
                roots.add((path, root))
    for path, root in sorted(roots):
        model = project.models[path]
        yield Ordered(
            path,
            root,
            tuple(sorted((c for c in model.calls if _of(c, model, root)), key=at)),
            tuple(sorted((x for x in model.launches if _of(x, model, root)), key=at)),
        )


def _of(record: Call | Launch, model: FileModel, root: int) -> bool:
    if record.function < 0 or (record.via_macro and record.use is None):
        return False
    return enclosing(model, record.function) == root
