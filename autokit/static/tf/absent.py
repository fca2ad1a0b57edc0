"""Names of TensorFlow 1 that autokit leaves out: an error says what to write in their place."""

from __future__ import annotations

import re
from typing import Any

from autokit.base.missing import near

INSTEAD = {
    "contrib": "tf.get_variable, tf.matmul and tf.nn",
    "summary": "print, and ak.plot for what session.run returns",
    "layers|keras|estimator|slim|feature_column": "tf.Variable or tf.get_variable, tf.matmul and tf.nn",
    "data|.*Reader|python_io|io|gfile|image|read_file|decode_.*": "NumPy arrays, by feed_dict",
    ".*[qQ]ueue.*|Coordinator|batch|shuffle_batch|string_input_producer": "NumPy arrays, by feed_dict",
    "distribute|device|ClusterSpec|Server|distributions": "one process on one device",
    "scan|map_fn|foldl|TensorArray|dynamic_rnn|static_rnn|rnn_cell|.*Cell": "a for loop of Python's",
    "GradientTape|function|.*eager.*|enable_v2_behavior": "import autokit.static.v2 as tf",
    "compat|disable_v2_behavior|logging|app|flags": "import autokit.static as tf, without it",
    "SparseTensor|sparse.*|SparseTensorValue|RaggedTensor|ragged": "dense tensors",
    "complex64|complex128|bfloat16|fft": "tf.float32",
}
"""What to use in place of names, by patterns of whole names."""


def absent(space: str, there: dict[str, Any]) -> Any:
    """A ``__getattr__`` for a module that stands for TensorFlow's module ``space``."""

    def __getattr__(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{space} has no '{name}'", name=name)
        use = next((use for pattern, use in INSTEAD.items() if re.fullmatch(pattern, name)), "")
        if use:
            raise AttributeError(f"autokit leaves out {space}.{name}: use {use}", name=name)
        raise AttributeError(f"{space} has no '{name}'{near(name, there)}", name=name)

    return __getattr__
