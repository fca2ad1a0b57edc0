"""Functions for teaching: exercises that check an answer, and copies of the lessons for a class.

In a lesson::

    from autokit.classroom import check, check_gradient, predict
"""

from autokit.classroom.checking import Verdict, check, judge, predict
from autokit.classroom.gradients import check_gradient, judge_gradient

__all__ = ["Verdict", "check", "check_gradient", "judge", "judge_gradient", "predict"]
