"""Write tests/gpu/cupy_names.json anew, from the CuPy that is installed; no GPU is needed.

python -m tests.renew_cupy_names
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).parent / "gpu" / "cupy_names.json"


def parameters(function: Any) -> list[str]:
    """The names of what ``function`` takes; compiled functions tell it in the first line of their text."""
    try:
        found = inspect.signature(function).parameters.values()
        names = [f"*{p.name}" if p.kind is p.VAR_POSITIONAL else p.name for p in found]
    except (TypeError, ValueError):
        first = (function.__doc__ or "").partition("\n")[0]
        inside = first[first.find("(") + 1 : first.rfind(")")]
        names = [re.sub(r"=.*", "", part).split()[-1] for part in inside.split(",") if part.strip(" *")]
    return [name for name in names if name != "self"]


def names_of(owner: Any, numpy_owner: Any) -> dict[str, Any]:
    """Each name that both have: what it takes, or "ufunc", or "value"."""
    import cupy

    found: dict[str, Any] = {}
    for name in sorted({*dir(owner)} & {*dir(numpy_owner)}):
        value = getattr(owner, name)
        if name.startswith("_") or inspect.ismodule(value):
            continue
        if isinstance(value, cupy.ufunc):
            found[name] = "ufunc"
        else:
            found[name] = parameters(value) if callable(value) and not isinstance(value, type) else "value"
    return found


def rows_of(ufunc: Any) -> str:
    """The dtypes in which ``ufunc`` computes and what it gives, as ``"e>e f>f d>d"``."""
    rows = [
        [tuple(map(np.dtype, types)) for types in (each.in_types, each.out_types)] for each in ufunc._ops.ops
    ]
    return " ".join([">".join(["".join([kind.char for kind in kinds]) for kinds in row]) for row in rows])


def text() -> str:
    import cupy

    ufuncs = {name: each for name, each in vars(cupy).items() if isinstance(each, cupy.ufunc)}
    names = {
        "cupy": names_of(cupy, np),
        "cupy.fft": names_of(cupy.fft, np.fft),
        "cupy.linalg": names_of(cupy.linalg, np.linalg),
        "cupy.lib.stride_tricks": names_of(cupy.lib.stride_tricks, np.lib.stride_tricks),
        "cupy.ndarray": names_of(cupy.ndarray, np.ndarray) | {"get": ["stream", "order", "out", "blocking"]},
        "cupy.ufunc": {name: rows_of(each) for name, each in sorted(ufuncs.items())},
    }
    lines = []
    for owner, members in names.items():
        rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(what)}" for name, what in members.items())
        lines.append(f"{json.dumps(owner)}: {{\n{rows}\n}}")
    return "{\n" + f'"version": "{cupy.__version__}",\n' + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
