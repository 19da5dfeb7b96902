"""The site's own parts: pages made as it is built, and the check of what was built.

The strict build itself is `make site`, which CI runs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from conftest import write_files
from cudalint.cli.group import COMMANDS
from cudalint.registry import all_rules
from cudalint.rulepage import HOME, anchor

ROOT = Path(__file__).parents[2]


def tool(name: str) -> ModuleType:
    """A module of tools/site, which is no package: mkdocs reads its hooks as files."""
    spec = spec_from_file_location(name, ROOT / "tools" / "site" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_front_page_sees_the_readmes_links_from_docs() -> None:
    readme = "[a](docs/a.md#x) ![b](docs/pictures/b.svg) [c](LICENSE) [d](https://d.org) [e](#e)"
    page = tool("front_page").front_page(readme)
    assert page == "[a](a.md#x) ![b](pictures/b.svg) [c](../LICENSE) [d](https://d.org) [e](#e)"


def test_lists_are_set_apart_as_mkdocs_needs_it_but_not_in_code() -> None:
    for_mkdocs = tool("github_markdown").for_mkdocs
    assert for_mkdocs("It gives:\n- one\n- two\n") == "It gives:\n\n- one\n- two\n"
    assert for_mkdocs("\nSteps:\n1. one\n2. two\n") == "\nSteps:\n\n1. one\n2. two\n"
    for same in (
        "```text\nIt gives:\n- one\n```\n",
        "````md\n```text\nIt gives:\n- one\n```\n````\n",
        "- one\n- two\n",
        "| a |\n|---|\n| b |\n",
        "    code:\n- one\n",
    ):
        assert for_mkdocs(f"\n{same}") == f"\n{same}"


def test_links_out_of_the_documentation_lead_to_the_repository() -> None:
    for_mkdocs = tool("github_markdown").for_mkdocs
    text = "[a](../README.md) [b](../src/cudalint/rules) [c](tree.md)\n```text\n[d](../no)\n```\n"
    assert for_mkdocs(text) == (
        f"[a]({HOME}/blob/main/README.md) [b]({HOME}/tree/main/src/cudalint/rules) [c](tree.md)\n"
        "```text\n[d](../no)\n```\n"
    )
    with pytest.raises(FileNotFoundError, match=r"no/such\.md"):
        for_mkdocs("[a](../no/such.md)")


def test_the_list_of_rules_has_the_sections_of_the_one_page_and_leads_to_each_page() -> None:
    pages = tool("rule_pages")
    text = pages.rule_list(all_rules())
    headings = [line.removeprefix("## ").lower().replace(" ", "-") for line in text.split("\n")]
    for rule in all_rules():
        assert anchor(rule) in headings
        assert f"({pages.address(rule)})" in text


def test_every_command_has_its_help() -> None:
    text = tool("command_page").command_page()
    for name in COMMANDS:
        assert f"## cudalint {name}\n\n```text\nUsage: cudalint {name}" in text
    assert "## cudalint baseline write\n" in text


def test_every_page_is_in_the_navigation() -> None:
    text = re.sub(r"!!python\S+ \{.*\}", "true", (ROOT / "mkdocs.yml").read_text())
    given = str(yaml.safe_load(text)["nav"])
    for page in (ROOT / "docs").glob("*.md"):
        assert f"'{page.name}'" in given, page.name


def test_the_check_of_the_site_finds_what_leads_nowhere(tmp_path: Path) -> None:
    good = '<a href="b/#here">b</a><a href="https://else.org/x">x</a><img src="p.svg">'
    files = {"index.html": good, "b/index.html": '<h1 id="here">B</h1>', "p.svg": "<svg/>"}
    write_files(tmp_path, files)
    assert check(tmp_path) == (0, "")
    bad = '<a href="c/">c</a><a href="b/#gone">b</a><script src="https://cdn.org/x.js"></script>'
    write_files(tmp_path, {"index.html": bad, "s.css": "@import url(https://fonts.org/f.css);"})
    assert check(tmp_path) == (
        1,
        "index.html: loads https://cdn.org/x.js\n"
        "index.html: links to c/, which is not there\n"
        "index.html: links to b/#gone, which has no such place\n"
        "s.css: loads from another host\n",
    )


def check(site: Path) -> tuple[int, str]:
    command = [sys.executable, str(ROOT / "tools/site/check_links.py"), str(site)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stderr
