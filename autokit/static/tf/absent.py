"""Names of TensorFlow 1 that autokit leaves out: an error says what to write in their place."""

from __future__ import annotations

import re
from typing import Any

from autokit.base.missing import near

INSTEAD = {
    "contrib|layers|keras|estimator|slim": "tf.Variable or tf.get_variable, tf.matmul and tf.nn",
    "optimizers|RMSProp.*|Ada(grad|delta).*": "AdamOptimizer, or variable.assign_sub(rate * gradient)",
    ".*collection.*|GraphKeys|AUTO_REUSE|.*ariable_?[sS]cope": "tf.Variable kept in Python's names and lists",
    "scalar|histogram|image|merge.*": "print, and ak.plot for what session.run returns",
    ".*[qQ]ueue.*|.*Reader|Coordinator|data|io|gfile|.*batch|.*_producer": "NumPy arrays, by feed_dict",
    "distribut.*|device|Cluster.*|Server|[sS]parse.*|complex.*|bfloat16|fft": "one device and dense tensors",
    "scan|map_fn|foldl|TensorArray|dynamic_rnn|rnn_cell|.*Cell": "a for loop of Python's",
    "GradientTape|function|.*eager.*|enable_v2_behavior": "import autokit.static.v2 as tf",
    "compat|disable_v2_behavior|logging|app|flags|Run.*": "import autokit.static as tf, without it",
    "lin_space|.*_like": "tf.constant(array)",
    "assert_(?!equal).*|add_check_numerics_ops": "tf.Assert and tf.check_numerics",
    ".*_initializer": "initializer=tf.ones, another function of a shape, or an array",
    "shape|rank|size": "x.shape, whose sizes are numbers where they are known, and -1 in tf.reshape",
    "div|truediv|not_equal|logical_.*|reduce_(min|any|prod)": "divide, equal, where, reduce_max",
    "split": "slices such as x[:, :2]",
}
"""What to use in place of names, by patterns of whole names."""


def absent(space: str, there: dict[str, Any]) -> Any:
    """A ``__getattr__`` for a module that stands for TensorFlow's module ``space``."""

    def __getattr__(name: str) -> Any:
        use = next((use for pattern, use in INSTEAD.items() if re.fullmatch(pattern, name)), "")
        if use:
            raise AttributeError(f"autokit leaves out {space}.{name}: use {use}", name=name)
        raise AttributeError(f"{space} has no '{name}'{near(name, there)}", name=name)

    return __getattr__
