"""`cudalint rule`: a page in each format, one or all."""

from __future__ import annotations

import json

import click
import pytest
from click.testing import CliRunner, Result
from markdown_it import MarkdownIt

from cudalint.cli.group import cli
from cudalint.registry import all_rules
from cudalint.rulepage import HEADINGS, read_page


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["rule", *arguments], standalone_mode=False)


@pytest.mark.parametrize("word", ["CU302", "cu302", "event-record-without-stream"])
def test_one_rule_as_text(word: str) -> None:
    output = run(word).output
    assert output.startswith("CU302 event-record-without-stream\n\nAn event is recorded")
    for heading in HEADINGS:
        assert (f"\n\n{heading.upper()}\n\n" in output) is (heading != "Options")
    assert "```" not in output
    assert "\n    cudaEventRecord(start);\n" in output


def test_one_rule_as_data() -> None:
    found = json.loads(run("CU501", "--output-format", "json").output)
    assert (found["code"], found["name"], found["level"]) == ("CU501", "register-spill", "error")
    assert found["options"]["budget"] == 0
    assert found["page"].endswith("docs/rules.md#cu501-register-spill")
    assert "Options" in found["sections"]


def test_all_rules_in_each_format() -> None:
    codes = [rule.code for rule in all_rules()]
    as_data = json.loads(run("--all", "--output-format", "json").output)
    assert [rule["code"] for rule in as_data] == codes
    text = run("--all").output
    titles = {f"{rule.code} {rule.name}" for rule in all_rules()}
    assert [line[:5] for line in text.splitlines() if line in titles] == codes
    tokens = MarkdownIt().parse(run("--all", "--output-format", "markdown").output)
    titles = [
        tokens[i + 1].content for i, t in enumerate(tokens) if t.tag == "h1" and t.nesting == 1
    ]
    assert [title[:5] for title in titles] == codes
    assert all(read_page(rule).summary in text for rule in all_rules())


@pytest.mark.parametrize("arguments", [(), ("CU302", "--all")])
def test_one_or_all(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert isinstance(done.exception, click.UsageError)
    assert "give one rule, by its code or name, or --all" in done.exception.message
