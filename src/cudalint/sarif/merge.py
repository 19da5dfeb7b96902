"""Joins the logs of all shards of a run into the log of the run, byte for byte.

What a shard notes of itself for this purpose is `cudalint.sarif.shard`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import sarif_om as om

from cudalint.sarif.fingerprint import KEY as FINGERPRINT
from cudalint.sarif.fingerprint import Subject, fingerprint
from cudalint.sarif.notification import CONFIGURATION
from cudalint.sarif.serialise import arranged, assembled, dumps, to_data
from cudalint.sarif.shard import KEY, Record, ShardNote, Silencer, digest_of, unwrapped
from cudalint.shard import Shard

_SEVERITY = {"error": 0, "warning": 1, "note": 2}


class MergeError(Exception):
    """The logs can't be joined; the text is one line that says why."""


class Merged(msgspec.Struct, frozen=True):
    """The text of the joined log, and the exit code of the run that it is of."""

    text: str
    exit_code: int


class _Log(msgspec.Struct, frozen=True):
    """One log: `label` is its file's name, `outer` what stands around its only run."""

    label: str
    outer: dict[str, Any]
    run: dict[str, Any]
    results: list[dict[str, Any]]
    note: ShardNote


class _Entry(msgspec.Struct, frozen=True):
    """A finding of a shard; `result` is None where the log leaves it out, `said` its text."""

    record: Record
    code: str
    said: str
    result: dict[str, Any] | None

    @property
    def message(self) -> str:
        """The finding's own message."""
        own = self.record.message
        return self.said if own is None else unwrapped(own)

    @property
    def key(self) -> tuple[str, str, int, int, str]:
        """What equal findings have in common."""
        of = self.record
        return self.code, of.path, of.start, of.end, "" if of.in_macro else self.message

    @property
    def order(self) -> tuple[str, int, str, int, str]:
        """Where it stands among the findings of a run."""
        of = self.record
        return unwrapped(of.path), of.start, self.code, of.end, self.message


def merge(logs: Mapping[str, bytes]) -> Merged:
    """The log of the run whose shards' logs these are, by the names of their files.

    Raises MergeError when one is damaged, is no shard's, or of another run, and
    when a shard is missing or there twice.
    """
    read = sorted(
        (_read(label, data) for label, data in logs.items()), key=lambda log: log.note.index
    )
    _check(read)
    first = read[0]
    entries = [entry for log in read for entry in _entries(log)]
    results = list(_results(entries, first.note))
    results.sort(key=lambda result: _SEVERITY[result["level"]])
    run = _run(read, _exit_code(read, results))
    outer = {key: value for key, value in first.outer.items() if key != "runs"}
    text = assembled(outer, run, (dumps(result) for result in results))
    return Merged(text, run["invocations"][0]["exitCode"])


def _read(label: str, data: bytes) -> _Log:
    try:
        outer = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise MergeError(f"{label} is damaged: it is no whole JSON document") from None
    try:
        (run,) = outer["runs"]
        name = run["tool"]["driver"]["name"]
        properties = run.get("properties", {})
    except (AttributeError, KeyError, TypeError, ValueError):
        raise MergeError(f"{label} is no log of cudalint") from None
    if name != "cudalint":
        raise MergeError(f"{label} is no log of cudalint")
    if not isinstance(properties, dict) or KEY not in properties:
        raise MergeError(f"{label} {_why_no_shard(run)}")
    run = {key: value for key, value in run.items() if key != "properties"}
    results = run.pop("results", None)
    try:
        note = msgspec.convert(properties[KEY], ShardNote)
        texts = [dumps(result) for result in results]
        whole = digest_of(texts, note.records, note.hidden) == note.digest
    except (msgspec.ValidationError, TypeError, ValueError):
        whole = False
    if not whole or len(results) != len(note.records):
        raise MergeError(f"{label} is damaged: its results are not those that cudalint wrote")
    return _Log(label, outer, run, results, note)


def _why_no_shard(run: dict[str, Any]) -> str:
    try:
        (said, *_) = run["invocations"][0]["toolConfigurationNotifications"]
        message = str(said["message"]["text"])
    except (IndexError, KeyError, TypeError, ValueError):
        return "is no shard: it was written without --shard"
    return f"is of a run that came to nothing: {message}"


def _check(logs: Sequence[_Log]) -> None:
    """Raise MergeError unless these are the shards of one run, each once."""
    first = logs[0]
    seen: dict[Shard, str] = {}
    for log in logs:
        shard = log.note.shard
        if shard.count != first.note.count:
            raise MergeError(
                f"{log.label} is shard {shard}, and {first.label} shard {first.note.shard}"
            )
        if shard in seen:
            raise MergeError(f"{seen[shard]} and {log.label} are both shard {shard}")
        seen[shard] = log.label
        different = [what for what, ours, theirs in _compared(first, log) if ours != theirs]
        if different:
            raise MergeError(
                f"{log.label} is of another run than {first.label}:"
                f" they differ in their {different[0]}"
            )
    every = [Shard(index, first.note.count) for index in range(1, first.note.count + 1)]
    missing = [str(shard) for shard in every if shard not in seen]
    if missing:
        listed = ", ".join(missing[:_LISTED]) + (" …" if len(missing) > _LISTED else "")
        raise MergeError(
            f"shard {listed} is missing" if len(missing) == 1 else f"shards {listed} are missing"
        )


_LISTED = 10


def _compared(first: _Log, other: _Log) -> Iterator[tuple[str, object, object]]:
    """What the logs of one run have in common: its name, and what each log says."""
    for what, said in first.note.shared.items():
        yield what, said, other.note.shared.get(what)
    for what in ("category", "suppressed", "strict", "exit_zero"):
        yield "options", getattr(first.note, what), getattr(other.note, what)
    for what, key in (("commits", "versionControlProvenance"), ("bases", "originalUriBaseIds")):
        yield what, first.run.get(key), other.run.get(key)
    yield "rules", _described(first), _described(other)
    yield "plugins", *(log.run["tool"].get("extensions") for log in (first, other))


def _described(log: _Log) -> dict[str, Any]:
    driver = log.run["tool"]["driver"]
    return {key: value for key, value in driver.items() if key != "notifications"}


def _entries(log: _Log) -> Iterator[_Entry]:
    for record, result in zip(log.note.records, log.results, strict=True):
        yield _Entry(record, result["ruleId"], result["message"]["text"], result)
    for hidden in log.note.hidden:
        yield _Entry(hidden.record, hidden.code, "", None)


def _results(entries: Iterable[_Entry], note: ShardNote) -> Iterator[dict[str, Any]]:
    """The results of the whole run, each finding once, in file order."""
    groups: dict[tuple[str, str, int, int, str], list[_Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.key, []).append(entry)
    chosen = [(_first(group), group) for group in groups.values()]
    chosen.sort(key=lambda pair: pair[0].order)
    seen: Counter[Subject] = Counter()
    for entry, group in chosen:
        silencing = [one for one in group if one.record.silencer is not None]
        if entry.result is None or (silencing and not note.suppressed):
            continue
        result = dict(entry.result)
        if silencing:
            by = min(silencing, key=_silencer)
            assert by.result is not None
            result["suppressions"] = by.result["suppressions"]
        if entry.record.subject is not None:
            subject = _subject(entry.record.subject)
            prints = {
                **result["partialFingerprints"],
                FINGERPRINT: fingerprint(subject, seen[subject]),
            }
            result["partialFingerprints"] = prints
            seen[subject] += 1
        yield result


def _first(group: Sequence[_Entry]) -> _Entry:
    """The one of equal findings that a whole run keeps."""
    return min(group, key=lambda entry: unwrapped(entry.record.compiled_from))


def _silencer(entry: _Entry) -> tuple[int, bool, str, int]:
    by = entry.record.silencer
    assert isinstance(by, Silencer)
    return by.rank, by.without_reason, unwrapped(by.path), by.start


def _subject(noted: tuple[str, str, str, str]) -> Subject:
    code, name, around, text = noted
    return code, unwrapped(name), unwrapped(around), text.encode("latin-1")


def _exit_code(logs: Sequence[_Log], results: Sequence[dict[str, Any]]) -> int:
    note = logs[0].note
    if any(log.run["invocations"][0].get("exitCode") == 2 for log in logs):
        return 2
    failing = any(
        (note.strict or result["level"] != "note") and not result.get("suppressions")
        for result in results
    )
    return 1 if failing and not note.exit_zero else 0


def _run(logs: Sequence[_Log], exit_code: int) -> dict[str, Any]:
    """The run of all logs without its results."""
    first = logs[0]
    notifications = _notifications(logs)
    descriptors = {
        descriptor["id"]: descriptor
        for log in logs
        for descriptor in log.run["tool"]["driver"].get("notifications", [])
    }
    ids = sorted(descriptors)
    for notification in notifications:
        reference = notification["descriptor"]
        notification["descriptor"] = {**reference, "index": ids.index(reference["id"])}
    driver = {**_described(first), "notifications": [descriptors[id_] for id_ in ids]}
    invocation = om.Invocation(
        execution_successful=all(log.run["invocations"][0]["executionSuccessful"] for log in logs),
        exit_code=exit_code,
        tool_execution_notifications=[n for n in notifications if not _is_of_settings(n)],
        tool_configuration_notifications=[n for n in notifications if _is_of_settings(n)],
    )
    category = first.note.category
    run = {
        **first.run,
        "tool": {**first.run["tool"], "driver": arranged(driver, om.ToolComponent)},
        "automationDetails": {"id": category} if category else {},
        "invocations": [to_data(invocation)],
    }
    return arranged(run, om.Run)


def _is_of_settings(notification: dict[str, Any]) -> bool:
    return notification["descriptor"]["id"] in CONFIGURATION


def _notifications(logs: Sequence[_Log]) -> list[dict[str, Any]]:
    """What the shards say of themselves, each thing once."""
    found: dict[str, dict[str, Any]] = {}
    for log in logs:
        invocation = log.run["invocations"][0]
        for kind in ("toolExecutionNotifications", "toolConfigurationNotifications"):
            for notification in invocation.get(kind, []):
                alone = {**notification, "descriptor": {"id": notification["descriptor"]["id"]}}
                found.setdefault(dumps(alone), dict(notification))
    return sorted(found.values(), key=lambda n: (n["descriptor"]["id"], n["message"]["text"]))
