"""Neural networks, as ``torch.nn``: modules hold parameters; layers, activations and losses are modules."""

from autokit.base.missing import absent
from autokit.nn import (
    activation,
    attention,
    container,
    convolution,
    dropout,
    embedding,
    functional,
    init,
    lazy,
    linear,
    loss,
    normalization,
    padding,
    parallel,
    pooling,
    recurrent,
    resampling,
    transformer,
    utils,
)
from autokit.nn.activation import *  # noqa: F403
from autokit.nn.attention import *  # noqa: F403
from autokit.nn.container import *  # noqa: F403
from autokit.nn.convolution import *  # noqa: F403
from autokit.nn.dropout import *  # noqa: F403
from autokit.nn.embedding import *  # noqa: F403
from autokit.nn.lazy import *  # noqa: F403
from autokit.nn.linear import *  # noqa: F403
from autokit.nn.loss import *  # noqa: F403
from autokit.nn.module import Module
from autokit.nn.normalization import *  # noqa: F403
from autokit.nn.padding import *  # noqa: F403
from autokit.nn.parameter import Buffer, Parameter
from autokit.nn.pooling import *  # noqa: F403
from autokit.nn.recurrent import *  # noqa: F403
from autokit.nn.resampling import *  # noqa: F403
from autokit.nn.transformer import *  # noqa: F403

__getattr__ = absent("torch.nn")

__all__ = ["Buffer", "Module", "Parameter", "functional", "init", "parallel", "utils"]
__all__ += activation.__all__
__all__ += attention.__all__
__all__ += container.__all__
__all__ += convolution.__all__
__all__ += dropout.__all__
__all__ += embedding.__all__
__all__ += lazy.__all__
__all__ += linear.__all__
__all__ += loss.__all__
__all__ += normalization.__all__
__all__ += padding.__all__
__all__ += pooling.__all__
__all__ += recurrent.__all__
__all__ += resampling.__all__
__all__ += transformer.__all__
