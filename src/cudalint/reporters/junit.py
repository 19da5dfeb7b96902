"""JUnit XML, which most build servers show as test results.

A file is a test suite and a finding a test that failed; a note, which fails no
run, is one that was skipped. A file without findings is one test that passed.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from cudalint.finding import Finding, Level
from cudalint.reporters.reported import Reported
from cudalint.reporters.visible import visible
from cudalint.run import Run


def junit(run: Run) -> str:
    """Test suites for the files asked for, and one for what made the run fail."""
    reported = Reported(run)
    by_path: dict[str, list[Finding]] = {
        path: [] for path, source in run.sources.items() if source.requested
    }
    for finding in run.findings:
        by_path.setdefault(finding.span.path, []).append(finding)
    suites = [_suite(path, by_path[path], reported) for path in sorted(by_path)]
    if reported.problems:
        cases = [
            _case("cudalint", problem.id, f"<error{_attributes(message=problem.message)}/>")
            for problem in reported.problems
        ]
        suites.append(_assembled("cudalint", cases, errors=len(cases)))
    tests = sum(max(len(findings), 1) for findings in by_path.values()) + len(reported.problems)
    counts = _attributes(
        name="cudalint",
        tests=str(tests),
        failures=str(sum(finding.level is not Level.NOTE for finding in run.findings)),
        errors=str(len(reported.problems)),
    )
    body = "".join(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites{counts}>\n{body}</testsuites>\n'


def _suite(path: str, findings: list[Finding], reported: Reported) -> str:
    """The suite of one file."""
    shown = reported.path(path)
    # A build server takes what stands before the last dot for a package.
    classname = shown.replace(".", "_").replace("/", ".")
    cases = list(_cases(classname, findings, reported)) or [_case(classname, "cudalint", "")]
    notes = sum(finding.level is Level.NOTE for finding in findings)
    return _assembled(shown, cases, failures=len(findings) - notes, skipped=notes)


def _cases(classname: str, findings: list[Finding], reported: Reported) -> Iterator[str]:
    for finding in findings:
        place = reported.range(finding.span).start
        name = f"{place.line}:{place.column} {finding.code} {reported.rule_name(finding.code)}"
        told = _attributes(type=finding.level.value, message=finding.message)
        if finding.level is Level.NOTE:
            yield _case(classname, name, f"<skipped{told}/>")
        else:
            where = f"{reported.path(finding.span.path)}:{place.line}:{place.column}"
            text = _text(f"{where}: {finding.code} {finding.message}")
            yield _case(classname, name, f"<failure{told}>{text}</failure>")


def _assembled(
    name: str, cases: list[str], *, failures: int = 0, errors: int = 0, skipped: int = 0
) -> str:
    counts = _attributes(
        name=name,
        tests=str(len(cases)),
        failures=str(failures),
        errors=str(errors),
        skipped=str(skipped),
    )
    return f"  <testsuite{counts}>\n{''.join(cases)}  </testsuite>\n"


def _case(classname: str, name: str, inside: str) -> str:
    told = _attributes(classname=classname, name=name)
    return f"    <testcase{told}>{inside}</testcase>\n" if inside else f"    <testcase{told}/>\n"


def _attributes(**values: str) -> str:
    return "".join(f" {key}={quoteattr(visible(value))}" for key, value in values.items())


def _text(text: str) -> str:
    return escape(visible(text))
