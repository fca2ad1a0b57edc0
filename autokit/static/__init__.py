"""Static graphs: a program is defined first, and run afterwards.

``import autokit.static as tf`` gives the names of TensorFlow 1.
"""

from typing import Any as _Any

from autokit.base import doors as _doors
from autokit.static.step import compile  # noqa: F401
from autokit.static.tf import *  # noqa: F403
from autokit.static.tf.absent import absent as _absent


def compare(step: _Any, *args: _Any, **kwargs: _Any) -> _Any:
    """A compiled step beside the eager one, as a widget."""
    return _doors.compare(step, *args, **kwargs)


__getattr__ = _absent("tf", globals())
