"""Late patterns are what `re.compile` gives, but for when that happens."""

from __future__ import annotations

import re

import pytest

from cudalint.regex import regex


def test_it_does_what_a_pattern_does() -> None:
    late, at_once = regex(r"(?P<word>\w+)-", re.IGNORECASE), re.compile(r"(?P<word>\w+)-", re.I)
    for _ in range(2):
        assert [m["word"] for m in late.finditer("a-b- c")] == ["a", "b"]
        assert late.sub("+", "a-b-c") == at_once.sub("+", "a-b-c")
    assert (late.pattern, late.flags) == (at_once.pattern, at_once.flags)
    assert regex(rb"\d").search(b"a1")


def test_it_is_compiled_once_and_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_ = re.compile

    def counted(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return compile_(pattern, flags)

    monkeypatch.setattr(re, "compile", counted)
    late = regex("a+")
    assert compiled == []
    assert late.search("baa")
    assert late.fullmatch("aa")
    assert late.search("b") is None
    assert compiled == ["a+"]


def test_a_faulty_pattern_is_told_at_its_first_use() -> None:
    late = regex("(")
    with pytest.raises(re.error):
        late.search("")
