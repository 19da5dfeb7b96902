"""Settings held to the rules that exist."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from cudalint.finding import Level
from cudalint.registry import Known
from cudalint.rule import FileRule
from cudalint.run import Notification
from cudalint.settings.check import check_selectors, rule_options
from cudalint.settings.load import Loaded, parse_settings
from cudalint.settings.model import Settings
from cudalint.settings.origin import Origin, SettingsError
from cudalint.settings.select import Overrides


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """Options."""

    at_most: int = 3
    names: tuple[str, ...] = ("a",)


class Sync(FileRule):
    """A rule with options."""

    code = "CU301"
    name = "sync-here"
    level = Level.ERROR
    options = Limits


class Plain(FileRule):
    """A rule without."""

    code = "CU302"
    name = "no-stream"
    level = Level.ERROR


RULES = Known((Sync, Plain))


def loaded(text: str) -> Loaded:
    origin = Origin("cudalint.toml", text.encode())
    return Loaded(parse_settings(origin), Path("/"), origin)


@pytest.mark.parametrize(
    ("text", "overrides", "complaint"),
    [
        ("", Overrides(select=("ZZZ9",)), "unknown rule 'ZZZ9' in --select on the command line"),
        ("", Overrides(ignore=("cu301",)), "unknown rule 'cu301' in --ignore on the command line; "
         "did you mean 'CU301'?"),
        ("", Overrides(extend_select=("sync-her",)), "unknown rule 'sync-her' in --extend-select "
         "on the command line; did you mean 'sync-here'?"),
        ("select = ['CU3',\n'CU303']", Overrides(), "cudalint.toml:2:1: unknown rule 'CU303' in "
         "'select'; did you mean 'CU302'?"),
        ("ignore = ['x']", Overrides(), "cudalint.toml:1:11: unknown rule 'x' in 'ignore'"),
        ("[per-file-ignores]\n'a/*' = ['CU3', 'nostream']", Overrides(), "cudalint.toml:2:17: "
         "unknown rule 'nostream' in 'per-file-ignores' for 'a/*'; did you mean 'no-stream'?"),
    ],
)  # fmt: skip
def test_unknown_selectors(text: str, overrides: Overrides, complaint: str) -> None:
    with pytest.raises(SettingsError) as error:
        check_selectors(loaded(text), overrides, RULES)
    assert str(error.value) == complaint


def test_known_selectors() -> None:
    text = "select = ['ALL', 'CU', 'CU3', 'CU301', 'sync-here']"
    check_selectors(loaded(text), Overrides(("CU30",), ("ALL",), ("no-stream",)), RULES)


def options(text: str) -> dict[str, msgspec.Struct]:
    given = loaded(text)
    return rule_options(given.settings, given.origin, RULES)


def test_options_by_code_or_name() -> None:
    assert options("")["CU301"] == Limits()
    by_code = options("[rules.CU301]\nat-most = 5\nlevel = 'note'")
    assert by_code["CU301"] == Limits(at_most=5)
    assert options("[rules.sync-here]\nnames = ['b']")["CU301"] == Limits(names=("b",))
    assert rule_options(Settings(), None, RULES)["CU302"] == Plain.options()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[rules.CU391]", "cudalint.toml:1:8: unknown rule 'CU391'; did you mean 'CU301'?"),
        ("[rules.CU301]\nat-mots = 5", "cudalint.toml:2:1: unknown key 'at-mots'; did you mean "
         "'at-most'?"),
        ("[rules.CU301]\nlevl = 5", "cudalint.toml:2:1: unknown key 'levl'; did you mean "
         "'level'?"),
        ("[rules.CU302]\nx = 1", "cudalint.toml:2:1: unknown key 'x'"),
        ("[rules.sync-here]\nat-most = 'x'", "cudalint.toml:2:11: rules.sync-here.at-most: "
         "expected int, got str"),
        ("[rules.CU301]\nnames = ['a', 2]", "cudalint.toml:2:15: rules.CU301.names: expected str, "
         "got int"),
        ("[rules.CU301]\n[rules.sync-here]", "cudalint.toml:2:8: 'CU301' and 'sync-here' are the "
         "same rule"),
    ],
)  # fmt: skip
def test_bad_options(text: str, complaint: str) -> None:
    with pytest.raises(SettingsError) as error:
        options(text)
    assert str(error.value) == complaint


def test_while_a_plugin_cannot_be_used_unknown_rules_may_be_its() -> None:
    problem = Notification("plugin-failed", Level.ERROR, "plugin 'house' can't be imported")
    known = Known(RULES.rules, problems=(problem,))
    given = loaded("select = ['HO001', 'CU302']\n[rules.HO001]\nat = 'most'\n")
    check_selectors(given, Overrides(ignore=("raw-malloc",)), known)
    assert set(rule_options(given.settings, given.origin, known)) == {"CU301", "CU302"}
