"""What the log of a shard says on top, so that the logs of all can be joined.

It stands in the run's properties under KEY, and goes when they are joined. The
findings that no compile shows lie whole in the log of the shard that owns their
file; one that a compile shows may be in several, as the fault of a header that
is compiled in many files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

import cudalint
from cudalint.finding import Finding, Span
from cudalint.outcome import MacroBodies
from cudalint.run import Run, Suppressed
from cudalint.sarif.fingerprint import Subject
from cudalint.sarif.result import without_links
from cudalint.shard import Shard

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "cudalint/shard"


class Silencer(msgspec.Struct, frozen=True, order=True, array_like=True):
    """The comment that silences a finding; the least of several is the one that counts."""

    rank: int
    without_reason: bool
    path: str
    start: int


class Record(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What a result does not say of its finding. Texts are in the form of `wrapped`.

    `path`, `start` and `end` are its span in bytes, `message` is there where the
    result's is another. The rest is for those that a compile shows:
    `compiled_from`, whether it is `in_macro`, and the `subject` of its
    fingerprint.
    """

    path: str
    start: int
    end: int
    message: str | None = None
    compiled_from: str = ""
    in_macro: bool = False
    subject: tuple[str, str, str, str] | None = None
    silencer: Silencer | None = None


class Hidden(msgspec.Struct, frozen=True):
    """A silenced finding that the log leaves out, though another shard may show the same.

    The record has its message.
    """

    record: Record
    code: str


class ShardNote(msgspec.Struct, frozen=True, rename="camel"):
    """All of it. `records` are in the order of the results; `category` is the run's own.

    `shared` are hashes of what the shards of one run have in common, by its
    name; `digest` is that of the results and what stands here of them.
    """

    index: int
    count: int
    shared: dict[str, str]
    category: str
    suppressed: bool
    strict: bool
    exit_zero: bool
    records: tuple[Record, ...]
    hidden: tuple[Hidden, ...]
    digest: str

    @property
    def shard(self) -> Shard:
        """Which of the shards it is."""
        return Shard(self.index, self.count)


def note_of(
    run: Run,
    shard: Shard,
    shown: Sequence[tuple[Finding, Suppressed | None, str]],
    subject: Callable[[Finding], Subject],
    *,
    suppressed: bool,
    category: str | None,
) -> ShardNote:
    """The note for the log of `run`, which has the results `shown`, each with its text.

    `suppressed` says that silenced findings are among them.
    """
    bodies = MacroBodies(run.models)

    def record(finding: Finding, silenced: Suppressed | None, said: str) -> Record:
        made = _record(finding, silenced, bodies.hold(finding.span), subject)
        message = None if said == finding.message else wrapped(finding.message)
        return msgspec.structs.replace(made, message=message)

    records = tuple(
        record(finding, silenced, without_links(finding.message)) for finding, silenced, _ in shown
    )
    hidden = tuple(
        Hidden(record(one.finding, one, ""), one.finding.code)
        for one in (() if suppressed else run.suppressed)
        if one.finding.compiled_from
    )
    return ShardNote(
        index=shard.index,
        count=shard.count,
        shared=_shared(run),
        category=category or "",
        suppressed=suppressed,
        strict=run.strict,
        exit_zero=run.exit_zero,
        records=records,
        hidden=hidden,
        digest=digest_of((text for _, _, text in shown), records, hidden),
    )


def digest_of(results: Iterable[str], records: Sequence[Record], hidden: Sequence[Hidden]) -> str:
    """A hash of the texts of the results and of what is noted of them."""
    digest = blake2b(digest_size=16)
    for text in results:
        digest.update(text.encode() + b"\n")
    digest.update(msgspec.json.encode((records, hidden)))
    return digest.hexdigest()


def wrapped(text: str) -> str:
    """`text` as characters that stand for its bytes: JSON can't hold every file name."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def unwrapped(text: str) -> str:
    """The text that was `wrapped`. Raises UnicodeEncodeError for what never was."""
    return text.encode("latin-1").decode("utf-8", "surrogateescape")


def _record(
    finding: Finding,
    silenced: Suppressed | None,
    in_macro: bool,
    subject: Callable[[Finding], Subject],
) -> Record:
    span = finding.span
    if not finding.compiled_from:
        return Record(wrapped(span.path), span.start, span.end)
    code, name, around, text = subject(finding)
    return Record(
        path=wrapped(span.path),
        start=span.start,
        end=span.end,
        compiled_from=wrapped(finding.compiled_from),
        in_macro=in_macro,
        subject=(code, wrapped(name), wrapped(around), text.decode("latin-1")),
        silencer=None if silenced is None else _silencer(silenced),
    )


def _silencer(silenced: Suppressed) -> Silencer:
    comment: Span = silenced.span
    rank, start = silenced.precedence
    return Silencer(rank, not silenced.reason, wrapped(comment.path), start)


def _shared(run: Run) -> dict[str, str]:
    files = [
        (file.path, file.requested, file.problem, _hash(file.data)) for file in run.sources.values()
    ]
    return {
        "version": cudalint.__version__,
        "settings": _hash(repr(run.settings)),
        "rules": _hash(repr([(entry.rule.code, entry.level.value) for entry in run.rules])),
        "files": _hash(repr(files)),
    }


def _hash(what: str | bytes) -> str:
    data = what if isinstance(what, bytes) else what.encode("utf-8", "backslashreplace")
    return blake2b(data, digest_size=16).hexdigest()
