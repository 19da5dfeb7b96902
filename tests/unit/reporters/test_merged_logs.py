"""Joined logs of shards: equal to the log of the whole run, or one line on what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_runs import BY_CODE, run_of, runs

from cudalint.finding import Finding, Level, Span
from cudalint.outcome import exit_code, ordered, ordered_suppressed
from cudalint.reporters.sarif import sarif
from cudalint.run import Run, Suppressed
from cudalint.sarif.merge import MergeError, merge
from cudalint.sarif.shard import unwrapped, wrapped
from cudalint.settings.model import Settings
from cudalint.shard import Shard, parse_shard

UNITS = ("a.cu", "k/\udcff.cu", "z.cu")
SHOWN_BY_COMPILES = "CU302"


class Shown(msgspec.Struct, frozen=True):
    """A finding as one shard has it."""

    finding: Finding
    shard: int
    silenced: Suppressed | None


@st.composite
def _told(draw: st.DrawFn, finding: Finding, count: int) -> list[Shown]:
    """A finding as some of the shards have it: one, or those of the files that show it."""

    def silencer(of: Finding) -> Suppressed | None:
        if not draw(st.booleans()):
            return None
        path = draw(st.sampled_from([finding.span.path, "a.cu"]))
        precedence = (draw(st.integers(0, 2)), draw(st.integers(0, 9)))
        comment = Span(path, 0, 0)
        return Suppressed(of, draw(st.sampled_from(["", "why"])), comment, precedence)

    if finding.code != SHOWN_BY_COMPILES:
        return [Shown(finding, len(wrapped(finding.span.path)) % count, silencer(finding))]
    units = draw(st.lists(st.sampled_from(UNITS), min_size=1, unique=True))
    found = []
    for unit in units:
        of = msgspec.structs.replace(finding, compiled_from=unit, properties={"unit": unit[:1]})
        found.append(Shown(of, (UNITS.index(unit) + len(unit)) % count, silencer(of)))
    return found


def _precedence(one: Suppressed) -> tuple[object, ...]:
    return one.precedence[0], not one.reason, one.span.path, one.precedence[1]


def _kept(same: list[Shown]) -> tuple[Finding, Suppressed | None]:
    """What one run makes of equal findings: the first, silenced if any of them is."""
    first = min(same, key=lambda one: one.finding.compiled_from).finding
    by = min((one.silenced for one in same if one.silenced), key=_precedence, default=None)
    return first, None if by is None else msgspec.structs.replace(by, finding=first)


def _run(run: Run, pairs: list[tuple[Finding, Suppressed | None]], shard: Shard | None) -> Run:
    findings = ordered(finding for finding, silenced in pairs if silenced is None)
    return msgspec.structs.replace(
        run,
        findings=findings,
        suppressed=ordered_suppressed(one for _, one in pairs if one is not None),
        shard=shard,
        exit_code=exit_code(findings, run.notifications),
    )


@st.composite
def _split_runs(draw: st.DrawFn) -> tuple[Run, list[Run]]:
    """A whole run and its shards, in any order."""
    count = draw(st.integers(1, 4))
    run = draw(runs())
    drawn = [*run.findings, *(one.finding for one in run.suppressed)]
    distinct = {(f.code, f.span, f.message): f for f in drawn}.values()
    told = [draw(_told(finding, count)) for finding in distinct]
    whole = _run(run, [_kept(same) for same in told], None)
    parts = []
    for index in range(count):
        own = [[one for one in same if one.shard == index] for same in told]
        pairs = [_kept(same) for same in own if same]
        parts.append(_run(run, pairs, Shard(index + 1, count)))
    return whole, draw(st.permutations(parts))


@given(_split_runs(), st.booleans(), st.sampled_from([None, "kernels"]))
def test_the_joined_log_is_that_of_the_whole_run(
    split: tuple[Run, list[Run]], suppressed: bool, category: str | None
) -> None:
    whole, parts = split
    logs = {
        f"{at}.sarif": sarif(part, suppressed=suppressed, category=category).encode()
        for at, part in enumerate(parts)
    }
    merged = merge(logs)
    assert merged.text == sarif(whole, suppressed=suppressed, category=category)
    assert merged.exit_code == whole.exit_code


FILES = {"a.cu": b"one two three\n", "b.cu": b"four\n"}


def shard_log(index: int, count: int, files: dict[str, bytes] = FILES, **more: Any) -> bytes:
    record = BY_CODE["CU302"].report("missing", Span("a.cu", 0, 3), "one")
    findings = [record] if index == 1 else []
    run = run_of(files, findings, shard=Shard(index, count), **more)
    return sarif(run).encode()


def complaint(logs: dict[str, bytes]) -> str:
    with pytest.raises(MergeError) as caught:
        merge(logs)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_what_is_missing_there_twice_or_of_another_run_is_said() -> None:
    one, two, three = (shard_log(index, 3) for index in (1, 2, 3))
    assert json.loads(merge({"a": one, "b": two, "c": three}).text)["runs"][0]["results"]
    assert complaint({"a": one, "c": three}) == "shard 2/3 is missing"
    assert complaint({"c": three}) == "shards 1/3, 2/3 are missing"
    assert complaint({"a": one, "b": two, "c": two}) == "b and c are both shard 2/3"
    assert complaint({"a": one, "b": shard_log(2, 4)}) == "b is shard 2/4, and a shard 1/3"
    other = shard_log(2, 3, {**FILES, "b.cu": b"five\n"})
    expected = "b is of another run than a: they differ in their files"
    assert complaint({"a": one, "b": other, "c": three}) == expected
    strict = shard_log(2, 3, strict=True)
    expected = "b is of another run than a: they differ in their options"
    assert complaint({"a": one, "b": strict, "c": three}) == expected
    noted = shard_log(2, 3, levels={"CU302": Level.NOTE})
    expected = "b is of another run than a: they differ in their rules"
    assert complaint({"a": one, "b": noted, "c": three}) == expected
    many = {"a": shard_log(1, 40)}
    assert complaint(many).endswith("10/40, 11/40 … are missing")


def _damaged() -> Iterator[tuple[bytes, str]]:
    log = shard_log(1, 1)
    not_whole = "is damaged: it is no whole JSON document"
    not_ours = "is no log of cudalint"
    not_written = "is damaged: its results are not those that cudalint wrote"
    yield log[:-20], not_whole
    yield b"", not_whole
    yield b"\xff" + log, not_whole
    yield b"[" * 200_000, not_whole
    yield b"[]", not_ours
    yield b'{"runs": []}', not_ours
    yield b'{"runs": [{"tool": {"driver": {"name": "clang-tidy"}}, "results": []}]}', not_ours
    yield b'{"runs": [{"tool": {"driver": {"name": "cudalint"}}}]}', "is no shard: it was written"
    yield sarif(run_of(FILES)).encode(), "is no shard: it was written without --shard"
    for key, value in (
        ("results", None),
        ("results", []),
        ("results", [{"ruleId": "CU302"}]),
        ("properties", {"cudalint/shard": {}}),
        ("properties", {"cudalint/shard": None}),
    ):
        document = json.loads(log)
        document["runs"][0][key] = value
        yield json.dumps(document).encode(), not_written
    document = json.loads(log)
    document["runs"][0]["results"][0]["level"] = "note"
    yield json.dumps(document).encode(), not_written
    document = json.loads(log)
    document["runs"][0]["properties"]["cudalint/shard"]["records"][0]["start"] = 1
    yield json.dumps(document).encode(), not_written


@pytest.mark.parametrize(("log", "expected"), list(_damaged()))
def test_what_is_no_whole_log_of_a_shard_is_said(log: bytes, expected: str) -> None:
    assert complaint({"x.sarif": log}).startswith(f"x.sarif {expected}")


def test_a_shard_says_which_it_is() -> None:
    run = run_of(FILES, shard=Shard(2, 8))
    (log,) = json.loads(sarif(run))["runs"]
    assert log["automationDetails"] == {"id": "cudalint/shard-2-of-8/"}
    note = log["properties"]["cudalint/shard"]
    assert (note["index"], note["count"]) == (2, 8)
    (log,) = json.loads(sarif(run, category="gb10"))["runs"]
    assert log["automationDetails"] == {"id": "gb10/shard-2-of-8/"}
    assert "properties" not in json.loads(sarif(run_of(FILES)))["runs"][0]


def test_other_settings_are_another_run() -> None:
    run = run_of(FILES, shard=Shard(2, 2))
    other = msgspec.structs.replace(run, settings=Settings(targets=("sm_90",)))
    logs = {"a": shard_log(1, 2), "b": sarif(other).encode()}
    assert complaint(logs) == "b is of another run than a: they differ in their settings"


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1/99999"])
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(ValueError, match="shard"):
        parse_shard(text)


@given(st.binary(), st.integers(1, 9))
def test_each_content_is_exactly_one_shards(data: bytes, count: int) -> None:
    owners = [index for index in range(1, count + 1) if Shard(index, count).owns(data)]
    assert len(owners) == 1
    assert str(parse_shard(f"{owners[0]}/{count}")) == f"{owners[0]}/{count}"


@given(st.binary())
def test_any_file_name_can_be_noted(name: bytes) -> None:
    text = name.decode("utf-8", "surrogateescape")
    assert unwrapped(json.loads(json.dumps(wrapped(text)))) == text
