"""autokit: learn automatic differentiation by watching it happen."""
from autokit import ops, autograd
from autokit.autograd import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from autokit.engine.modes import recording
from autokit.engine.tensor import Tensor
from autokit.base.dtypes import *
from autokit.base import dtypes as _d
globals().update(ops.FUNCTIONS)
globals().update(_d.BY_NAME)
from autokit.base.generator import *
