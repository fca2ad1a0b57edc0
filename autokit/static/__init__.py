"""Static graphs: a program is defined first, and run afterwards.

``import autokit.static as tf`` gives the names of TensorFlow 1.
"""

from autokit.static.tf import *  # noqa: F403
from autokit.static.tf.absent import absent as _absent

__getattr__ = _absent("tf", globals())
