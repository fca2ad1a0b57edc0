"""TensorFlow 1's face of static graphs: ``import autokit.static as tf`` gives these names."""

# ruff: noqa: F403

from types import SimpleNamespace as _SimpleNamespace

from autokit.base.dtypes import as_dtype as _as_dtype
from autokit.static import debugger as debug
from autokit.static.tf import nn as nn
from autokit.static.tf import summary as summary
from autokit.static.tf import train as train
from autokit.static.tf.control import *
from autokit.static.tf.debugging import *
from autokit.static.tf.debugging import print_ as print  # noqa: F401
from autokit.static.tf.functions import *
from autokit.static.tf.graph import *
from autokit.static.tf.session import *
from autokit.static.tf.shapes import TensorShape as TensorShape
from autokit.static.tf.train import gradients as gradients
from autokit.static.tf.values import *

float16, float32, float64 = map(_as_dtype, ("float16", "float32", "float64"))
uint8, int32, int64, bool = map(_as_dtype, ("uint8", "int32", "int64", "bool"))

python = _SimpleNamespace(debug=debug)
"""TensorFlow's package of this name, for ``tf.python.debug``."""
