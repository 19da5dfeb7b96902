"""Comments that silence findings: reading them, applying them, judging them."""

from cudalint.suppress.judgement import Judgement, judge

__all__ = ["Judgement", "judge"]
