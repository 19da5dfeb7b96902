"""For tests of rules, cudalint's own and those of plugins: their examples, and their form.

    from cudalint.testing import check_form, examples

`examples(MyRule)` gives a case for each example, whose `check(folder)` runs it;
`check_form(MyRule)` holds the rule to what its page and messages should be. Both
raise AssertionError, and need no test framework. docs/plugins.md shows them with
pytest.
"""

from cudalint.testing.examples import ExampleCase, examples
from cudalint.testing.form import check_form

__all__ = ["ExampleCase", "check_form", "examples"]
