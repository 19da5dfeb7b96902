"""Finding and reading settings: which file counts, and what is said of a bad one."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.settings.load import Loaded, common_folder, load_settings, parse_settings
from cudalint.settings.model import LaunchSettings, RuleSettings, Settings
from cudalint.settings.origin import Origin, SettingsError


def parse(text: str | bytes) -> Settings:
    data = text if isinstance(text, bytes) else text.encode()
    return parse_settings(Origin("cudalint.toml", data))


def load(root: Path, *paths: str, **more: str | bool) -> Loaded:
    return load_settings(paths, root, **more)  # type: ignore[arg-type]


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_every_key() -> None:
    settings = parse(
        """
        select = ["CU1", "sync-in-launch-path"]
        ignore = ["CU102"]
        extend-select = ["CU208"]
        preview = true
        exclude = ["gen/"]
        extend-exclude = ["*.gen.cu"]
        respect-gitignore = false
        license = "Apache-2.0"
        license-match = "equivalent"
        targets = ["sm_90", "sm_121"]
        launcher-globs = ["host/**"]
        launch-functions = ["my_launch"]
        cold-paths = []
        cold-functions = ["boot"]
        compile = "never"
        compile-timeout = 3
        max-file-size = 5
        plugins = []
        [per-file-ignores]
        "tests/**" = ["CU3"]
        [launches."attn_*"]
        threads = 128
        dynamic-shared = 65536
        [rules.CU301]
        level = "note"
        extra = ["x"]
        """
    )
    assert settings.select == ("CU1", "sync-in-launch-path")
    assert settings.per_file_ignores == {"tests/**": ("CU3",)}
    assert settings.launches == {"attn_*": LaunchSettings(128, 65536)}
    assert settings.compile_timeout == 3.0
    assert settings.rules == {"CU301": RuleSettings("note", {"extra": ["x"]})}
    assert settings != Settings()


def test_a_byte_order_mark_is_taken_off() -> None:
    assert parse(b'\xef\xbb\xbflicense = "MIT"').license == "MIT"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("select = [1]", "cudalint.toml:1:11: select: expected str, got int"),
        ("select = 'CU1'", "cudalint.toml:1:10: select: expected array, got str"),
        ("\n\nselct = []", "cudalint.toml:3:1: unknown key 'selct'; did you mean 'select'?"),
        ("[tool.cudalint]", "cudalint.toml:1:2: unknown key 'tool'"),
        ("compile = 'allways'", "cudalint.toml:1:11: compile: 'allways' is none of auto, always, "
         "never; did you mean 'always'?"),
        ("targets = ['sm_121f', 'sm_9x']", "cudalint.toml:1:23: targets: expected an arch of "
         "nvcc's, such as 'sm_90a'"),
        ("targets = ['--version']", "cudalint.toml:1:12: targets: expected an arch of nvcc's, "
         "such as 'sm_90a'"),
        ("max-file-size = 0", "cudalint.toml:1:17: max-file-size: expected int >= 1"),
        ("compile-timeout = 0.0", "cudalint.toml:1:19: compile-timeout: expected float > 0.0"),
        ("max-file-size = 99999999999999999999",
         "cudalint.toml:1:17: max-file-size: expected int <= 2147483647"),
        ("compile-timeout = inf",
         "cudalint.toml:1:19: compile-timeout: expected float <= 604800.0"),
        ("compile-timeout = 99999999999999999999",
         "cudalint.toml:1:19: compile-timeout: expected float <= 604800.0"),
        ("[launches.k]\ndynamic-shared = 99999999999999999999",
         "cudalint.toml:2:18: launches.k.dynamic-shared: expected int <= 2147483647"),
        ("per-file-ignores = 1", "cudalint.toml:1:20: 'per-file-ignores' must be a table"),
        ("[per-file-ignores]\n'é' = ['CU1', 3]",
         "cudalint.toml:2:15: per-file-ignores.é: expected str, got int"),
        ("launches = 1", "cudalint.toml:1:12: 'launches' must be a table"),
        ("[launches.'a.*']\nthreads = 2048",
         "cudalint.toml:2:11: launches.a.*.threads: expected int <= 1024"),
        ("[launches.k]\ndynamic_shared = 1", "cudalint.toml:2:1: unknown key 'dynamic_shared'; "
         "did you mean 'dynamic-shared'?"),
        ("rules = []", "cudalint.toml:1:9: 'rules' must be a table"),
        ("[rules]\nCU301 = 'note'", "cudalint.toml:2:9: 'rules.CU301' must be a table"),
        ("[rules.CU301]\nlevel = 'warn'", "cudalint.toml:2:9: rules.CU301.level: 'warn' is none "
         "of error, warning, note; did you mean 'warning'?"),
        ("rules.'a.b'.level = 3", "cudalint.toml:1:21: rules.a.b.level: expected str, got int"),
        ("license = ", "cudalint.toml:1:10: invalid TOML: invalid value"),
        (b"license = '\xff'", "cudalint.toml:1:12: invalid TOML: it is not UTF-8"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(text: str | bytes, complaint: str) -> None:
    with pytest.raises(SettingsError) as error:
        parse(text)
    assert str(error.value) == complaint


def test_a_place_counts_characters() -> None:
    with pytest.raises(SettingsError, match=r"^cudalint\.toml:2:13: invalid TOML: "):
        parse("preview = true\nlicense = 'é\n'")


def test_the_nearest_file_counts_alone(tmp_path: Path) -> None:
    write(tmp_path / "cudalint.toml", 'license = "outer"\npreview = true\n')
    write(tmp_path / "a" / "b" / "cudalint.toml", 'license = "inner"\n')
    write(tmp_path / "a" / "b" / "c" / "x.cu", "")
    loaded = load(tmp_path, "a/b/c/x.cu")
    assert (loaded.settings.license, loaded.settings.preview) == ("inner", False)
    assert loaded.root == tmp_path / "a" / "b"
    assert load(tmp_path / "a" / "b" / "c", ".").settings.license == "inner"
    assert load(tmp_path, "a/b/c", "a").settings.license == "outer"


def test_cudalint_toml_goes_before_pyproject_toml(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", '[tool.cudalint]\nlicense = "pyproject"\n')
    assert load(tmp_path).settings.license == "pyproject"
    write(tmp_path / "cudalint.toml", 'license = "own"\n')
    assert load(tmp_path).settings.license == "own"


@pytest.mark.parametrize(
    "text", ["[project]\n", "# cudalint\n[tool.ruff]\n", "tool = 3 # cudalint"]
)
def test_a_pyproject_without_our_table_is_passed_by(tmp_path: Path, text: str) -> None:
    write(tmp_path / "cudalint.toml", 'license = "outer"\n')
    write(tmp_path / "sub" / "pyproject.toml", text)
    assert load(tmp_path, "sub").root == tmp_path


def test_places_in_pyproject(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", '[project]\nname = "x"\n\n[tool.cudalint]\nselct = []\n')
    with pytest.raises(SettingsError) as error:
        load(tmp_path)
    assert str(error.value) == "pyproject.toml:5:1: unknown key 'selct'; did you mean 'select'?"
    write(tmp_path / "pyproject.toml", "[tool]\ncudalint = 3\n")
    with pytest.raises(SettingsError, match=r"pyproject.toml:2:12: must be a table"):
        load(tmp_path)


def test_a_file_that_is_named_or_none_at_all(tmp_path: Path) -> None:
    write(tmp_path / "cudalint.toml", 'license = "found"\n')
    write(tmp_path / "other" / "house.toml", 'license = "named"\n')
    named = load(tmp_path, config="other/house.toml")
    assert (named.settings.license, named.root) == ("named", tmp_path)
    isolated = load(tmp_path, isolated=True)
    assert (isolated.settings, isolated.root) == (Settings(), tmp_path)
    with pytest.raises(SettingsError, match=r"cannot read gone\.toml: No such file"):
        load(tmp_path, config="gone.toml")


def test_without_any_file_the_root_is_where_the_run_starts(tmp_path: Path) -> None:
    write(tmp_path / "a" / "x.cu", "")
    loaded = load(tmp_path, "a/x.cu", "a")
    assert (loaded.settings, loaded.root, loaded.origin) == (Settings(), tmp_path, None)


def test_common_folder(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b" / "x.cu", "")
    assert common_folder((), tmp_path) == tmp_path
    assert common_folder(("a/b",), tmp_path) == tmp_path / "a" / "b"
    assert common_folder(("a/b/x.cu", "a/gone.cu"), tmp_path) == tmp_path / "a"
    assert common_folder(("a", "../y.cu"), tmp_path) == tmp_path.parent
