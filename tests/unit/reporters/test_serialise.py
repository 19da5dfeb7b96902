"""Writing sarif-om objects down: names, order, what is left out and what is refused."""

from __future__ import annotations

import datetime
import enum
import json
from typing import Any

import attr
import pytest
import sarif_om as om

from cudalint.sarif.result import Suppression
from cudalint.sarif.serialise import to_data, to_json, to_text


def test_standard_names_and_no_nulls() -> None:
    result = om.Result(rule_id="CU1", rule_index=0, level="warning", message=om.Message(text="é"))
    assert to_data(result) == {
        "ruleId": "CU1",
        "ruleIndex": 0,
        "kind": "fail",
        "level": "warning",
        "message": {"text": "é"},
    }


def test_every_class_of_the_model_has_standard_names() -> None:
    schema_names = {"$schema"}
    for kind in vars(om).values():
        if isinstance(kind, type) and attr.has(kind):
            for field in attr.fields(kind):
                name = field.metadata["schema_property_name"]
                assert "_" not in name
                schema_names.add(name)
    assert {"ruleIndex", "executionSuccessful", "columnKind"} <= schema_names


def test_what_means_something_is_kept() -> None:
    assert to_data(om.Invocation(execution_successful=False, exit_code=0)) == {
        "executionSuccessful": False,
        "exitCode": 0,
    }
    assert to_data(om.ArtifactContent(text="")) == {"text": ""}
    assert "suppressions" in to_data(om.Result(message=om.Message(text="x"), suppressions=[]))
    assert "fixes" not in to_data(om.Result(message=om.Message(text="x"), fixes=[]))


def test_suppressions_have_a_status() -> None:
    made = Suppression(kind="inSource", status="accepted", justification="one stream")
    assert to_data(made) == {
        "kind": "inSource",
        "status": "accepted",
        "justification": "one stream",
    }


class Word(str, enum.Enum):
    """A string that is none."""

    A = "a"


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        {"b"},
        datetime.datetime(2024, 1, 1),
        b"bytes",
        Word.A,
        object(),
        {1: "x"},
    ],
)
def test_what_has_no_place_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        to_data({"key": [value]})


def test_lone_surrogates_become_replacement_characters() -> None:
    text = to_text({"path": "a\udcff😀"})
    assert json.loads(text.encode("utf-8")) == {"path": "a\ufffd😀"}


def test_the_log_is_one_result_a_line() -> None:
    log = om.SarifLog(
        runs=[om.Run(tool=om.Tool(driver=om.ToolComponent(name="x")))],
        version="2.1.0",
        schema_uri="https://example.org",
    )
    text = to_json(log, ['{"a":1}', '{"b":2}'])
    assert text.splitlines()[1:3] == ['"$schema": "https://example.org",', '"version": "2.1.0",']
    assert '\n{"a":1},\n{"b":2}\n' in text
    assert json.loads(text)["runs"][0]["results"] == [{"a": 1}, {"b": 2}]
    assert json.loads(to_json(log, []))["runs"][0]["results"] == []
