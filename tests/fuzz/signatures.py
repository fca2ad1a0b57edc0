"""What may be called, and with which arguments: PyTorch's own schemas, read at run time."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import torch

import autokit
from autokit import ops


class Target(NamedTuple):
    """A public function: the namespace that holds it, and its name."""

    home: str
    name: str

    @property
    def base(self) -> str:
        """The name of the function that this one is a form of, by which the tables know it."""
        prefix = {"linalg": "linalg_", "special": "special_", "fft": "fft_"}.get(self.home, "")
        return prefix + (self.name.rstrip("_") if self.name != "_" else self.name)


class Parameter(NamedTuple):
    """A parameter in a schema: its type as PyTorch writes it, and whether it may be left out."""

    kind: str
    name: str
    optional: bool
    keyword_only: bool


HOMES = {
    "functions": "",
    "methods": "Tensor",
    "functional": "nn.functional",
    "linalg": "linalg",
    "special": "special",
    "fft": "fft",
}
"""Where in the library each kind of function stands."""

LEFT_OUT = {
    "cuda": "needs a GPU",
    "from_dlpack": "takes a capsule or a foreign tensor",
    "frombuffer": "takes a buffer of Python's",
    "from_numpy": "takes a NumPy array",
    **dict.fromkeys(["empty_strided", "empty_permuted", "new_empty_strided"], "gives what was in memory"),
    "segment_reduce": "PyTorch's own reads where it may not on some of these calls",
    "pdist": "PyTorch's own crashes the interpreter on some of these calls",
    "ldl_solve": "PyTorch's own writes where it may not for pivots that no elimination makes",
    "resize_as_": "gives what was in memory",
    "resize_": "gives what was in memory",
    "new": "gives what was in memory",
    "set_": "gives what was in another tensor's memory",
    **dict.fromkeys(["manual_seed", "seed", "initial_seed"], "changes what is drawn after it"),
    "functions.ctc_loss": "PyTorch's own writes where it may not on some of these calls",
    **dict.fromkeys(["load", "save"], "takes a file"),
    **dict.fromkeys(["get_autocast_dtype", "is_autocast_cpu_enabled", "is_autocast_enabled"], "has a device"),
}
"""What is not called at random, and why: each has tests of its own."""

_PLAIN_METHODS = (
    *("dim", "ndimension", "numel", "nelement", "element_size", "item", "tolist", "detach", "detach_"),
    *("is_contiguous", "is_inference", "cfloat", "cdouble"),
)
"""Methods that are no operations, and take nothing."""

_BY_HAND = {
    "is_tensor": ["(Tensor obj)"],
    "unravel_index": ["(Tensor indices, int[] shape)"],
    "asarray": ["(Data obj, *, ScalarType? dtype=None)"],
    "tensor": ["(Data data, *, ScalarType? dtype=None, bool requires_grad=False)"],
    "as_tensor": ["(Data data, *, ScalarType? dtype=None)"],
    "new_tensor": ["(Tensor self, Data data, *, ScalarType? dtype=None)"],
    "lu": ["(Tensor self, bool pivot=True, bool get_infos=False)"],
    "unique": [
        "(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False, int? dim=None)"
    ],
    "type": ["(Tensor self, ScalarType? dtype=None)"],
    "to": [
        "(Tensor self, ScalarType dtype, bool non_blocking=False, bool copy=False)",
        "(Tensor self, Tensor other)",
    ],
    "size": ["(Tensor self, int? dim=None)"],
    "tensordot": ["(Tensor a, Tensor b, Dims dims=2)"],
    "einsum": ["(str equation, Tensor[] tensors)"],
    "broadcast_shapes": ["(int[] a, int[] b)"],
    "logsigmoid": ["(Tensor self)"],
    "one_hot": ["(Tensor self, int num_classes=-1)"],
    "is_complex": ["(Tensor self)"],
    "methods.polygamma": ["(Tensor self, int n)"],
    "methods.where": ["(Tensor self, Tensor condition, Tensor other)"],
    "methods.requires_grad_": ["(Tensor self, bool requires_grad=True)"],
    "methods.stride": ["(Tensor self, int? dim=None)"],
    "methods.dim_order": ["(Tensor self, *, bool ambiguity_check=False)"],
    **{f"methods.{name}": ["(Tensor self)"] for name in _PLAIN_METHODS},
    **{
        name: ["(Tensor self)"]
        for name in ["float", "double", "half", "bfloat16", "long", "int", "short", "char", "byte", "bool"]
    },
}
"""Schemas of what has none in PyTorch's table."""

_PLAIN = re.compile(r"\([a-z](\|[a-z])*!?( -> \*)?\)")  # the alias annotations, as in Tensor(a!)
_IGNORED = {"Generator?", "Layout?", "Device?", "Device", "MemoryFormat?"}


@cache
def targets() -> list[Target]:
    """Every public function that the fuzzer calls."""
    others = [name for name in dir(autokit) if inspect.isroutine(getattr(autokit, name))]
    named = dict.fromkeys([*ops.FUNCTIONS, *others])
    found = [Target("functions", name) for name in named if not name.startswith("_")]
    found += [Target("methods", name) for name in dict.fromkeys([*ops.METHODS, *_other_methods()])]
    for home in ("functional", "linalg", "special", "fft"):
        ours, theirs = namespace(autokit, home), namespace(torch, home)
        found += [
            Target(home, name)
            for name in vars(ours)
            if not name.startswith("_") and inspect.isroutine(getattr(ours, name)) and hasattr(theirs, name)
        ]
    found = [each for each in found if {each.name, f"{each.home}.{each.name}"}.isdisjoint(LEFT_OUT)]
    here = [t for t in found if hasattr(namespace(torch, t.home), t.name)]
    return [target for target in here if signatures(target)]


def _other_methods() -> Iterator[str]:
    """Methods that are no operations and whose arguments stand here."""
    for name in _BY_HAND:
        home, _, method = name.rpartition(".")
        if home == "methods" or not home and callable(getattr(autokit.Tensor, method, None)):
            yield method


def namespace(library: Any, home: str) -> Any:
    for name in filter(None, HOMES[home].split(".")):
        library = getattr(library, name)
    return library


@cache
def signatures(target: Target) -> list[list[Parameter]]:
    """The forms in which PyTorch takes the call."""
    for name in (f"{target.home}.{target.name}", target.base, target.name):
        if name in _BY_HAND:
            return [_parsed(each) for each in _BY_HAND[name]]
    function = getattr(namespace(torch, target.home), target.name)
    if target.home == "functional" and inspect.isfunction(function) and not _is_dispatcher(function):
        return [_of_python(function)]
    name = target.base if not target.name.endswith("_") else target.name
    if target.home in ("linalg", "special", "fft"):
        name = target.home + "_" + target.name
    forms: list[list[Parameter]] = []
    for schema in torch._C._jit_get_schemas_for_operator("aten::" + name):
        text = str(schema)
        if re.search(r"Dimname|complex[ ,\[]|complex$|Stream|\.\.\.|\bt\[\]|\*, .*\([a-z]!\).* ->", text):
            continue  # named dimensions, TorchScript's lists, and results written into `out`
        inside = _PLAIN.sub("", text).partition("(")[2]
        inside = "(" + inside[: inside.index(") ->") + 1]
        if "bool reverse" not in inside:
            forms.append(_parsed(inside))
    of_tensors = [form for form in forms if any(p.kind.startswith("Tensor") for p in form)]
    forms = forms if name == "normal" else of_tensors or forms
    if target.home == "methods":
        forms = [form for form in forms if form and form[0].name == "self" and form[0].kind == "Tensor"]
    return [form for n, form in enumerate(forms) if form not in forms[:n]]


@cache
def results_written(target: Target) -> int:
    """How many tensors the function writes into where ``out=`` names them; 0 where it takes none."""
    if target.home not in ("functions", "linalg", "special", "fft") or target.name.endswith("_"):
        return 0
    name = target.base if target.home != "functions" else target.name
    schemas = map(str, torch._C._jit_get_schemas_for_operator("aten::" + name))
    written = [
        len(re.findall(r"\([a-z]!\)", schema.partition("->")[0])) for schema in schemas if "*, " in schema
    ]
    return max(written, default=0)


def _is_dispatcher(function: Any) -> bool:
    return "kwargs" in inspect.signature(function).parameters


def _parsed(inside: str) -> list[Parameter]:
    found, keyword_only = [], False
    for part in filter(None, re.split(r", (?![^\[]*\])", inside.strip()[1:-1])):
        if part == "*":
            keyword_only = True
            continue
        declared, _, default = part.partition("=")
        kind, name = declared.rsplit(" ", 1)
        kind = kind.replace("SymInt", "int")
        if kind in _IGNORED or name in ("pin_memory", "generator", "implicit"):
            continue
        found.append(Parameter(kind, name, bool(default), keyword_only))
    return found


def _of_python(function: Any) -> list[Parameter]:
    found = []
    for name, each in inspect.signature(function).parameters.items():
        kind = str(each.annotation).replace("torch.", "").replace("<class '", "").replace("'>", "")
        optional = "None" in kind and kind != "None"
        kind = kind.replace(" | None", "")
        kind = {
            "dtype": "ScalarType",
            "None": "int",
            "list[float]": "float[]",
            "list[int]": "int[]",
            "DType": "ScalarType",
        }.get(kind, kind)
        if "inspect._empty" in kind:
            kind = "Tensor" if name in ("input", "target", "weight", "bias") else "int"
        if (
            name in ("size_average", "reduce", "out", "generator")
            or each.kind is each.VAR_KEYWORD
            or "Callable" in kind
        ):
            continue
        found.append(
            Parameter(
                kind + "?" * optional, name, each.default is not each.empty, each.kind is each.KEYWORD_ONLY
            )
        )
    return found
