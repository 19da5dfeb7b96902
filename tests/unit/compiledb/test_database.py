"""Databases: which entries a file has, and the place of what is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.compiledb.error import DatabaseError
from cudalint.compiledb.read import Database


def database(data: bytes | list[Any]) -> Database:
    text = data if isinstance(data, bytes) else json.dumps(data).encode()
    return Database("build/cc.json", text, "/p/build", ("/p",))


def entry(file: str, *words: str, directory: str = "/p/build") -> dict[str, Any]:
    return {"directory": directory, "file": file, "arguments": ["g++", *words]}


def test_files_are_those_of_the_root_however_they_are_named() -> None:
    found = database(
        [
            entry("../a.cpp", "-DA"),
            entry("/p/a.cpp", "-DB"),
            entry("a.cpp", "-DC", directory=".."),
            entry("sub/../a.cpp", "-DD", directory="/p"),
            entry("/q/a.cpp", "-DE"),
            entry("../../a.cpp", "-DF"),
        ]
    )
    names = [[name for name, _ in read.command.defines] for read in found.commands("a.cpp")]
    assert names == [["A"], ["B"], ["C"], ["D"]]
    assert found.commands("b.cpp") == ()


def test_equal_commands_are_one_and_arguments_go_before_a_command() -> None:
    both = {**entry("../a.cpp", "-DA"), "command": "g++ -DB", "output": "a.o"}
    found = database([both, entry("../a.cpp", "-DA", "-Wall"), entry("../a.cpp", "-DC")])
    assert [read.command.defines for read in found.commands("a.cpp")] == [
        (("A", "1"),),
        (("C", "1"),),
    ]


def test_a_command_is_split_and_a_byte_order_mark_is_no_fault() -> None:
    text = json.dumps([{"directory": "/p", "file": "a.cpp", "command": "g++ -D'A=1 2' a.cpp"}])
    (read,) = database(b"\xef\xbb\xbf" + text.encode()).commands("a.cpp")
    assert read.command.defines == (("A", "1 2"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "build/cc.json:1:1: the JSON ends too early"),
        (b'[\n{"directory": "/p"', "build/cc.json:2:19: the JSON ends too early"),
        (b"{}", "build/cc.json:1:1: expected a list, got an object"),
        (b"[1]", "build/cc.json:1:2: entry 1: expected an object, got a number"),
        (
            b'[\n  {"directory": "/p", "file": "a"},\n  {"directory": 3, "file": "b"}]',
            "build/cc.json:3:3: entry 2: expected a string, got a number at 'directory'",
        ),
        (
            b'[{"directory": "/p"}]',
            "build/cc.json:1:2: entry 1: object missing required field 'file'",
        ),
        (b"[1,\n2] x", "build/cc.json:2:5: JSON is malformed: trailing characters"),
        (b"[{'a'", "build/cc.json:1:3: JSON is malformed: expected '\"'"),
        (b"[" * 100_000, "build/cc.json: nested too deep"),
        (b'[{"x":' + b"[" * 100_000, "build/cc.json: nested too deep"),
    ],
)
def test_json_that_is_no_database_is_told_with_its_place(text: bytes, message: str) -> None:
    with pytest.raises(DatabaseError) as raised:
        database(text)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "entry 1: has neither 'arguments' nor 'command'"),
        ({"command": 'g++ "-DA'}, "entry 1: 'command': no closing quotation"),
        ({"command": "g++ \\"}, "entry 1: 'command': no escaped character"),
        (
            {"arguments": ["g++", 3]},
            "entry 1: 'arguments': expected a string, got a number at '[1]'",
        ),
        ({"arguments": "g++"}, "entry 1: 'arguments': expected a list, got a string"),
    ],
)
def test_a_command_that_makes_no_sense_is_told_when_it_is_wanted(
    fields: dict[str, Any], message: str
) -> None:
    found = database([{"directory": "/p", "file": "a.cpp", **fields}])
    assert found.commands("b.cpp") == ()
    with pytest.raises(DatabaseError) as raised:
        found.commands("a.cpp")
    assert str(raised.value) == f"build/cc.json:1:2: {message}"


ENTRIES = st.fixed_dictionaries(
    {"directory": st.text(max_size=8), "file": st.text(max_size=8)},
    optional={"command": st.text(max_size=8), "output": st.lists(st.integers(), max_size=2)},
)


@given(st.lists(ENTRIES, max_size=5), st.lists(ENTRIES, max_size=3), st.sampled_from([None, 1, 2]))
def test_a_faulty_entry_is_found_where_it_begins(
    before: list[Any], after: list[Any], indent: int | None
) -> None:
    text = json.dumps([*before, {"directory": []}, *after], indent=indent, ensure_ascii=False)
    data = text.encode("utf-8", "replace")
    with pytest.raises(DatabaseError) as raised:
        database(data)
    shown = data.decode().split("\n")
    line, column = map(int, str(raised.value).split(":")[1:3])
    rest = "\n".join((shown[line - 1][column - 1 :], *shown[line:]))
    found, _ = json.JSONDecoder().raw_decode(rest)
    assert found == {"directory": []}
    assert f": entry {len(before) + 1}: " in str(raised.value)
