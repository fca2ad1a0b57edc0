"""Static graphs: a program is defined first, and run afterwards.

``import autokit.static as tf`` gives the names of TensorFlow 1.
"""

from autokit.static import tf as _tf
from autokit.static.tf import *  # noqa: F403

__getattr__ = _tf.absent("tf", globals())
