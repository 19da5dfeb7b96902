"""A page for each rule, made from its class, and one that lists them. A hook of mkdocs.

The list stands where docs/rules.md does, which is all pages in one file for who
reads them in the repository: links to its sections hold on the site too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mkdocs.structure.files import File

from cudalint.registry import all_rules
from cudalint.rulepage import markdown, read_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

    from cudalint.rule import Rule

LIST = "rules.md"
_INTRODUCTION = (
    "# Rules\n\n`cudalint rules` lists them too, `cudalint rule CODE` prints one page.\n"
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages into the navigation, below the list."""
    for entry in config.nav or ():
        if "Rules" in entry:
            entry["Rules"] += [{_title(rule): address(rule)} for rule in all_rules()]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages, and the list in the place of docs/rules.md."""
    for rule in all_rules():
        files.append(File.generated(config, address(rule), content=markdown(rule)))
    old = files.get_file_from_path(LIST)
    if old is not None:
        files.remove(old)
    files.append(File.generated(config, LIST, content=rule_list(all_rules())))
    return files


def address(rule: type[Rule]) -> str:
    """Where a rule's page lies, from docs/."""
    return f"rules/{rule.code.lower()}.md"


def rule_list(rules: Sequence[type[Rule]]) -> str:
    """The page that lists them: a heading each, as docs/rules.md has it."""
    return "\n".join([_INTRODUCTION, *(part for rule in rules for part in _entry(rule))])


def _entry(rule: type[Rule]) -> Iterator[str]:
    yield f"## {_title(rule)}\n"
    facts = f"{rule.level.value}{', preview' if rule.preview else ''}"
    yield f"{read_page(rule).summary} ({facts}) [More]({address(rule)})\n"


def _title(rule: type[Rule]) -> str:
    return f"{rule.code} {rule.name}"
