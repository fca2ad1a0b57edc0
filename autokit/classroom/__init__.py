"""Functions for teaching: exercises that check an answer, and copies of the lessons for a class.

In a lesson::

    from autokit.classroom import check, check_function, check_gradient, choose, predict
"""

from autokit.classroom.checking import check, choose, judge, predict
from autokit.classroom.engines import check_engine
from autokit.classroom.functions import check_function, check_gradient
from autokit.classroom.records import check_graph

__all__ = [
    "check",
    "check_engine",
    "check_function",
    "check_gradient",
    "check_graph",
    "choose",
    "judge",
    "predict",
]
