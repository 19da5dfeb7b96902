"""Plugins: which are found, which of their rules are taken, and what comes of faulty ones."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conftest import lint, write_files
from cudalint import plugins
from cudalint.finding import Finding, Level
from cudalint.registry import all_rules, known_rules
from cudalint.reporters.sarif import sarif
from cudalint.rule import Example, FileRule
from cudalint.ruleform import rules_in
from cudalint.run import Plugin, Run
from cudalint.sarif.merge import merge
from cudalint.shard import Shard
from cudalint.testing import check_form, examples

RULE = """
from cudalint.finding import Finding, Level, Span
from cudalint.rule import {base}

class {class_}({base}):
    '''{doc}'''
    code = "{code}"
    name = "{name}"
    level = Level.NOTE
    messages = {{"said": "Said of '{{0}}'."}}

    def check(self, subject, *_):
{body}
"""
FAITHFUL = "yield self.report('said', Span(subject.path, 0, 0), subject.path)"

Install = Callable[..., None]


def rule(
    code: str, name: str, body: str = FAITHFUL, base: str = "FileRule", doc: str = "A rule."
) -> str:
    """The source of a module with one rule."""
    indented = "".join(f"        {line}\n" for line in body.splitlines())
    return RULE.format(base=base, class_="Own", doc=doc, code=code, name=name, body=indented)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Puts packages into an environment of their own, as an installer would."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.setattr(plugins, "environment", lambda: [str(folder)])
    monkeypatch.syspath_prepend(str(folder))
    loaded = set(sys.modules)

    def installed(plugin: str, target: str = "", **modules: str) -> None:
        files = {f"{name.replace('__', '/', 1)}.py": text for name, text in modules.items()}
        target = target or next(iter(modules))
        points = f"[cudalint.rules]\n{plugin} = {target}\n"
        info = f"{plugin}_package-2.1.dist-info"
        metadata = f"Metadata-Version: 2.1\nName: {plugin}-package\nVersion: 2.1\n"
        write_files(folder, {**files, f"{info}/METADATA": metadata})
        write_files(folder, {f"{info}/entry_points.txt": points})

    plugins._installed.cache_clear()
    plugins._load.cache_clear()
    yield installed
    plugins._installed.cache_clear()
    plugins._load.cache_clear()
    for name in set(sys.modules) - loaded:
        # What cudalint imported on the way is not to be there twice.
        if str(folder) in (getattr(sys.modules[name], "__file__", None) or ""):
            del sys.modules[name]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    write_files(folder, {"a.cu": "// SPDX-License-Identifier: MIT OR Apache-2.0\n"})
    return folder


def said(finished: Run) -> list[tuple[str, str]]:
    return [(note.id, note.message) for note in finished.notifications]


def codes(finished: Run) -> list[str]:
    return [finding.code for finding in finished.findings]


def test_a_plugin_that_nobody_names_changes_nothing(install: Install, root: Path) -> None:
    install("house", house_mod="raise SystemError('it was imported')")
    assert plugins.installed_plugins() == {"house": Plugin("house", "house-package", "2.1")}
    assert lint(root).notifications == ()


@pytest.mark.parametrize("target", ["house_mod", "house_mod:Own"])
def test_a_module_and_a_class(install: Install, root: Path, target: str) -> None:
    install("house", target, house_mod=rule("HO001", "house-rule"))
    finished = lint(root, plugins=("house",))
    assert (codes(finished), said(finished), finished.exit_code) == (["HO001"], [], 0)
    (entry,) = (entry for entry in finished.rules if entry.rule.code == "HO001")
    assert str(entry.plugin) == "house (house-package 2.1)"


def test_a_package_is_searched_one_level_deep(install: Install) -> None:
    install(
        "house",
        "house_pkg",
        house_pkg____init__=rule("HO001", "first-rule"),
        house_pkg__two=rule("HO002", "second-rule") + "\nfrom house_pkg import Own as Other\n",
    )
    known = known_rules(["house", "house"])
    assert [r.code for r in known.rules if r.code.startswith("HO")] == ["HO001", "HO002"]
    assert known.complete


def test_settings_know_its_rules(install: Install, root: Path) -> None:
    install("house", house_mod=rule("HO001", "house-rule"))
    settings = 'plugins = ["house"]\nselect = ["HO"]\n[rules.house-rule]\nlevel = "error"\n'
    write_files(root, {"cudalint.toml": settings})
    finished = lint(root)
    assert [(f.code, f.level) for f in finished.findings] == [("HO001", Level.ERROR)]
    write_files(root, {"a.cu": "int x;  // NOLINT(HO001): not here\n// NOLINT(house-rule): x\n"})
    assert codes(lint(root, select=("HO", "CU0"))) == ["CU002"]
    write_files(root, {"a.cu": "// cudalint: ignore-file[HO001] generated\n"})
    assert codes(lint(root, select=("HO", "CU0"))) == []


def test_what_it_prints_is_no_part_of_the_report(
    install: Install, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("house", house_mod=rule("HO001", "house-rule", "print('by the way')\n" + FAITHFUL))
    assert codes(lint(root, plugins=("house",))) == ["HO001"]
    assert capsys.readouterr() == ("", "by the way\n")


def test_one_that_is_not_installed(install: Install, root: Path) -> None:
    install("house", house_mod=rule("HO001", "house-rule"))
    finished = lint(root, select=("OTH1", "CU1"), plugins=("other", "house"))
    message = "plugin 'other' is not installed (installed: house)"
    assert said(finished) == [("unknown-plugin", message)]
    assert finished.exit_code == 2


FAULTY = {
    "raise ImportError('no torch')": "can't be imported: ImportError: no torch",
    "import sys; sys.exit(3)": "can't be imported: SystemExit: 3",
    "import nothing_of_this_name": "can't be imported: ModuleNotFoundError: "
    "No module named 'nothing_of_this_name'",
    "x = 1": "holds no rule",
    rule("CU999", "their-rule"): "has a rule that can't be used: Own has the code 'CU999', "
    "not capital letters of its own and then digits",
    rule("HO1", "word"): "has a rule that can't be used: Own has the name 'word', "
    "not lower-case words with hyphens between them",
    rule("HO1", "a-rule").replace("Level.NOTE", "'note'"): "has a rule that can't be used: Own "
    "has no 'level' that is a Level",
    rule("HO1", "a-rule").replace("def check", "def other"): "has a rule that can't be used: "
    "Own has no 'check'",
    rule("HO1", "a-rule", base="Rule"): "has a rule that can't be used: Own is derived from none "
    "of FileRule, ProjectRule, TreeRule, CompileRule, SuppressionRule",
    rule("HO1", "spdx-header"): "has a rule HO1 spdx-header, but 'spdx-header' is taken by "
    "CU101 spdx-header of cudalint",
    rule("HO1", "a-rule") + "    options = dict\n": "has a rule that can't be used: "
    "Own has 'options' that are no msgspec Struct",
}


@pytest.mark.parametrize("module", FAULTY, ids=FAULTY.values())
def test_one_that_cannot_be_used_gives_one_notification(
    install: Install, root: Path, module: str
) -> None:
    install("faulty", faulty_mod=module)
    install("house", house_mod=rule("HO001", "house-rule"))
    write_files(root, {"b.cu": "int x;\n"})
    finished = lint(root, plugins=("faulty", "house"))
    assert said(finished) == [("plugin-failed", f"plugin 'faulty' {FAULTY[module]}")]
    assert codes(finished) == ["HO001", "CU101", "HO001"]
    assert finished.exit_code == 2


def test_what_is_no_class(install: Install, root: Path) -> None:
    install("house", "house_mod:f", house_mod="def f(): pass\n")
    ((id_, message),) = said(lint(root, plugins=("house",)))
    assert id_ == "plugin-failed"
    assert message.endswith(" is no class")


def test_of_two_that_clash_the_first_that_is_named_stays(install: Install, root: Path) -> None:
    install("one", one_mod=rule("HO001", "one-rule"))
    install("two", two_mod=rule("HO001", "two-rule"))
    for first, second in (("one", "two"), ("two", "one")):
        known = known_rules([first, second])
        assert known.owners["HO001"].name == first
        (problem,) = known.problems
        assert problem.message == (
            f"plugin '{second}' has a rule HO001 {second}-rule, but 'HO001' is taken by"
            f" HO001 {first}-rule of plugin '{first}'"
        )


RAISING = {
    FAITHFUL + "\nraise ValueError('no')": ("ValueError: no", 2),
    "import sys\nsys.exit('enough')": ("SystemExit: enough", 0),
    "yield 3": ("TypeError: yielded int, not Finding", 0),
    "yield self.report('said', Span('b', 0, 0), 1)": (
        "ValueError: yielded a span in 'b', which is no file of the run",
        0,
    ),
    "yield self.report('said', Span(subject.path, 4, 999), 1)": (
        "ValueError: yielded the span 4 to 999 of 'a.cu', which has 7 bytes",
        0,
    ),
    "self.code = 'CU101'\nyield Finding('CU101', Level.NOTE, 'x', Span('a.cu', 0, 0), 'said')": (
        "ValueError: yielded a finding with the code 'CU101'",
        0,
    ),
    "yield Finding('HO001', Level.NOTE, 'x', Span('a.cu', 0, 0), 'other')": (
        "ValueError: yielded a finding with the unknown message id 'other'",
        0,
    ),
    "yield Finding('HO001', 'note', 'x', Span('a.cu', 0, 0), 'said')": (
        "TypeError: yielded a finding whose level is a str",
        0,
    ),
}


@pytest.mark.parametrize("body", RAISING, ids=[what for what, _ in RAISING.values()])
def test_a_rule_that_fails_on_several_files_is_told_once(
    install: Install, root: Path, body: str
) -> None:
    install("house", house_mod=rule("HO001", "house-rule", body))
    write_files(root, {"a.cu": "int x;\n", "b.cu": "int y;\n"})
    finished = lint(root, plugins=("house",))
    what, kept = RAISING[body]
    message = f"internal error in HO001 of plugin 'house' on 'a.cu': {what} (and in 1 more place)"
    assert said(finished) == [("rule-failed", message)]
    assert codes(finished).count("HO001") == kept
    assert codes(finished).count("CU101") == 2
    assert "Traceback" in finished.notifications[0].detail
    invocation = json.loads(sarif(finished))["runs"][0]["invocations"][0]
    told = [note["message"]["text"] for note in invocation["toolExecutionNotifications"]]
    assert told == [message, "CU5 skipped (--compile never)."]


@pytest.mark.parametrize("base", ["ProjectRule", "TreeRule", "SuppressionRule"])
def test_every_kind_may_fail(install: Install, root: Path, base: str) -> None:
    install("house", house_mod=rule("HO001", "house-rule", "return 1 / 0", base))
    suppressing = "// SPDX-License-Identifier: MIT OR Apache-2.0\nint x;  // NOLINT(CU302): y\n"
    write_files(root, {"hw/common/a.cu": suppressing, "hw/m/q/KERNEL.toml": ""})
    finished = lint(root, plugins=("house",))
    (one,) = finished.notifications
    assert one.message.startswith("internal error in HO001 of plugin 'house' on ")
    assert one.message.endswith(": ZeroDivisionError: division by zero")
    assert codes(finished) == ["CU002"]


@pytest.mark.parametrize("question", ["lacks_arch(cls, file, context)", "is_idle(cls, settings)"])
def test_a_question_that_fails(install: Install, root: Path, question: str) -> None:
    asked = f"\n    @classmethod\n    def {question}: raise KeyError('arch')\n"
    install("house", house_mod=rule("HO001", "house-rule") + asked)
    finished = lint(root, plugins=("house",))
    (one,) = finished.notifications
    assert one.message.endswith(": KeyError: 'arch'")
    assert codes(finished) == ["HO001"]


def test_sarif_has_the_plugins_as_extensions(install: Install, root: Path) -> None:
    install("house", house_mod=rule("HO001", "house-rule"))
    install("more", more_mod=rule("AA001", "more-rule"))
    log = json.loads(sarif(lint(root, plugins=("more", "house"))))["runs"][0]
    own, others = log["tool"]["driver"], log["tool"]["extensions"]
    expected = [rule.code for rule in all_rules() if rule.default and not rule.preview]
    assert [one["id"] for one in own["rules"]] == expected
    assert [(one["name"], one["version"]) for one in others] == [
        ("house-package", "2.1"),
        ("more-package", "2.1"),
    ]
    places = {result["ruleId"]: result["rule"] for result in log["results"]}
    for code, component in (
        ("HO001", {"index": 0, "name": "house-package"}),
        ("AA001", {"index": 1, "name": "more-package"}),
    ):
        assert places[code] == {"id": code, "index": 0, "toolComponent": component}
    assert all("ruleIndex" not in result for result in log["results"])


def test_an_unknown_rule_may_be_of_a_plugin_that_is_not_named(install: Install, root: Path) -> None:
    from cudalint.settings.origin import SettingsError

    install("house", house_mod="raise SystemError('it was imported')")
    hint = r"unknown rule 'HO9' in --select on the command line \(installed and not in 'plugins':"
    with pytest.raises(SettingsError, match=hint):
        lint(root, select=("HO9",))


def test_the_rule_that_the_guide_writes(tmp_path: Path) -> None:
    guide = Path(__file__).parents[2] / "docs" / "plugins.md"
    marker = "<!-- file: house_rules/ho001_raw_malloc.py -->\n```python\n"
    (source,) = (part.partition("```")[0] for part in guide.read_text().split(marker)[1:])
    module = ModuleType("ho001_raw_malloc")
    vars(module)["__name__"] = module.__name__
    exec(compile(source, "plugins.md", "exec"), vars(module))
    (written,) = rules_in(module)
    check_form(written)
    cases = examples(written)
    assert [str(case) for case in cases] == ["HO001-invalid-0", "HO001-valid-0"]
    for case in cases:
        case.check(tmp_path / str(case))


def test_an_example_that_does_not_hold_says_what_was_found(tmp_path: Path) -> None:
    class Silent(FileRule):
        code = "HO001"
        name = "silent-rule"
        level = Level.NOTE
        messages = {"said": "Said."}
        INVALID = (Example("int x;\n~~~\n"),)
        VALID = (Example("int x;\n"),)

        def check(self, *_: object) -> Iterator[Finding]:
            yield from ()

    for case, complaint in zip(
        examples(Silent),
        (r"spans: expected \[Span\(path='example.cu', start=0, end=3\)\]\n  found \[\]", "CU101"),
        strict=True,
    ):
        with pytest.raises(AssertionError, match=complaint):
            case.check(tmp_path / str(case))
    with pytest.raises(AssertionError, match="HO001: headings are"):
        check_form(Silent)


def test_shards_are_joined_with_their_plugins(install: Install, root: Path) -> None:
    install("house", house_mod=rule("HO001", "house-rule"))
    write_files(root, {f"{number}.cu": f"int x{number};\n" for number in range(4)})
    asked: dict[str, Any] = {"plugins": ("house",)}
    logs = {
        str(index): sarif(lint(root, shard=Shard(index, 2), **asked)).encode() for index in (1, 2)
    }
    assert merge(logs).text == sarif(lint(root, **asked))
