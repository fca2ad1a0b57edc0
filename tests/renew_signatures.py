"""Write autokit/ops/signatures.txt anew, from the PyTorch that is installed.

python -m tests.renew_signatures
"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any, get_args

FILE = Path(__file__).parent.parent / "autokit" / "ops" / "signatures.txt"

_WORDS = """
    Tensor: Tensor; None: None; str: str; list: list; dtype: _dtype; number: Number; bool: _bool, bool;
    bool: Literal[True], Literal[False]; int: _int, int; float: _float, float;
    ints: _size, Sequence[_int | SymInt], Sequence[int]; floats: Sequence[float], Sequence[_float];
    tensors: tuple[Tensor__ ...], list[Tensor]; : _complex, torch.SymInt, torch.SymFloat, SymInt
"""
KINDS = {
    stub.replace("__", ","): word.strip()
    for word, _, stubs in (row.partition(": ") for row in _WORDS.replace("\n", " ").split(";"))
    for stub in stubs.strip().split(", ")
}
"""A word for each kind of argument in PyTorch's stubs, none for what autokit has not; the rest is ``any``."""

NOT_WRITTEN = {
    "layout",
    "device",
    "pin_memory",
    "requires_grad",
    "memory_format",
    "generator",
    "names",
}
"""Keywords that are looked at elsewhere, or not at all."""


_OF_TWO = "input: Tensor, other: number, alpha?: number"
UNTOLD = {
    "functional.ctc_loss": [
        f"log_probs: Tensor, targets: Tensor, input_lengths: {kind}, target_lengths: {kind}, blank?: int, "
        "reduction?: any, zero_infinity?: bool"
        for kind in ("Tensor", "ints")
    ],
    **{name + underscore: [_OF_TWO] for name in ("add", "sub", "subtract") for underscore in ("", "_")},
    "rsub": [_OF_TWO],
    "avg_pool1d": [
        "input: Tensor, kernel_size: int|ints, stride?: int|ints|None, padding?: int|ints, ceil_mode?: bool, "
        "count_include_pad?: bool"
    ],
    **{name: ["input: Tensor, pivot?: bool, get_infos?: any"] for name in ("lu", ".lu")},
    "functional.elu_": ["input: Tensor, alpha?: number, scale?: number, input_scale?: number"],
    "functional.one_hot": ["input: Tensor, num_classes?: int"],
    "as_tensor": ["data: any, *, dtype?: dtype|None, device?: any"],
    "sparse_coo_tensor": [
        "indices?: any, values?: any, size?: ints|None, *, dtype?: dtype|None, device?: any, "
        "requires_grad?: bool, check_invariants?: bool|None, is_coalesced?: bool|None"
    ],
    **{
        f"{dot}stft": [
            "input: Tensor, n_fft: int, hop_length?: int|None, win_length?: int|None, window?: Tensor|None, "
            "center?: any, pad_mode?: any, normalized?: bool, onesided?: bool|None, "
            "return_complex?: bool|None, align_to_window?: bool|None"
        ]
        for dot in ("", ".")
    },
    ".istft": [
        "input: Tensor, n_fft: int, hop_length?: int|None, win_length?: int|None, window?: Tensor|None, "
        "center?: bool, normalized?: bool, onesided?: bool|None, length?: int|None, return_complex?: bool"
    ],
    ".copy_": ["input: Tensor, other: number, non_blocking?: bool"],
    ".set_": ["input: Tensor, source?: any, storage_offset?: any, size?: any, stride?: any"],
}
"""Ways to call that PyTorch's stubs leave out."""

MISTOLD = {".set_", "as_tensor", "functional.one_hot", "functional.elu_", "sparse_coo_tensor"}
"""Functions of which PyTorch's stubs tell no right way to call them."""


OF_NUMBERS = ("divide", "multiply", "subtract")
"""Functions that take numbers for tensors, as of ``div``, ``mul`` and ``sub`` the stubs tell."""


def text() -> str:
    """The file's whole text: a line for each form of a call, the name first; a dot for methods.

    ``+3`` at the end of a form says that it has three more keywords.
    """
    import torch

    stubs = Path(torch.__file__).parent / "_C"
    functions = _forms(_body(stubs / "_VariableFunctions.pyi"))
    neural = _forms(_body(stubs / "_nn.pyi"))
    classes = [each for each in _body(stubs / "__init__.pyi") if isinstance(each, ast.ClassDef)]
    methods = _forms(next(each for each in classes if each.name == "TensorBase").body)
    lines = []
    public = _public(functions, neural, methods)
    of_functions = dict(public)
    for name, forms in public:
        if name[0] == "." and forms == of_functions.get(name[1:]):
            continue
        lines += [f"{name}({form})" for form in forms]
    version = torch.__version__.split("+")[0]
    return f"# How PyTorch {version} takes its arguments, where it looks at their types first.\n" + "\n".join(
        [*lines, ""]
    )


def _public(functions: Any, neural: Any, methods: Any) -> list[tuple[str, list[str]]]:
    """The names that autokit has too, and the ways to call what PyTorch has under them."""
    import torch

    import autokit
    from autokit import ops
    from tests.fuzz.signatures import namespace

    tables = [
        ("", [*ops.FUNCTIONS, *autokit._FROM_NN], torch, functions, ""),
        (".", ops.METHODS, torch.Tensor, methods, ""),
        (
            "functional.",
            vars(namespace(autokit, "functional")),
            torch.nn.functional,
            {**functions, **neural},
            "",
        ),
        ("fft_", vars(namespace(autokit, "fft")), torch.fft, functions, "fft_"),
        ("linalg_", vars(namespace(autokit, "linalg")), torch.linalg, functions, "linalg_"),
        ("special_", vars(namespace(autokit, "special")), torch.special, functions, "special_"),
    ]
    found = {}
    for prefix, names, home, stubs, stub_prefix in tables:
        for name in names:
            function = getattr(home, name, None)
            if name.startswith("_") or name == "type" or not inspect.isroutine(function):
                continue
            if inspect.isfunction(function):
                # Of two functions that one name stands for, the one that gives the places has all arguments.
                function = getattr(home, f"{name}_with_indices", function)
                form = _form_of_python(function, prefix == "functional.")
                if form is not None:
                    found[prefix + name] = UNTOLD.get(prefix + name, [form])
            elif stub_prefix and stub_prefix + name not in stubs:
                found[prefix + name] = _forms_of_schemas(stub_prefix + name)
            elif stub_prefix + name in stubs:
                told = [] if prefix + name in MISTOLD else stubs[stub_prefix + name]
                if prefix + name in OF_NUMBERS:
                    told = [re.sub(r"(input|other): Tensor\b", r"\1: Tensor|number", form) for form in told]
                found[prefix + name] = sorted({*told, *UNTOLD.get(name, []), *UNTOLD.get(prefix + name, [])})
    for name in [each for each in found if each[0] != "." and "." not in each]:
        for method in (f".{name}", f".{name}_"):
            if method in found:
                found[method] = sorted({*found[method], *_older_forms(found[name])})
    return sorted((name, _different(forms)) for name, forms in found.items() if forms)


def _older_forms(forms: list[str]) -> list[str]:
    """A function's forms with factors before tensors, as its method takes them: the first tensor first."""
    older = [form for form in forms if re.search(r"(alpha|beta|value): number, [^*]*: Tensor", form)]
    return [
        ", ".join(["input: Tensor", *(part for part in form.split(", ") if part != "input: Tensor")])
        for form in older
        if "out: " not in form
    ]


def _different(forms: list[str]) -> list[str]:
    """One form of several that differ only in how many keywords are not written."""
    by_rest = {re.sub(r", \+\d+$", "", form): form for form in sorted(forms)}
    return sorted(by_rest.values())


def _forms_of_schemas(name: str) -> list[str]:
    """How an operator is called that the stubs do not tell of, from its own schemas."""
    from tests.fuzz.signatures import Target, results_written, signatures

    home, _, plain = name.partition("_")
    forms = []
    for schema in signatures(Target(home, plain)):
        parts, by_keyword = [], False
        for each in schema:
            if each.keyword_only and not by_keyword:
                parts.append("*")
                by_keyword = True
            kind = each.kind.rstrip("?")
            words = SCHEMA_KINDS.get(kind) or ("int|ints" if kind.startswith("int[") else kind)
            none = "|None" * each.kind.endswith("?")
            called = "input" if each.name == "self" else each.name
            parts.append(f"{called}{'?' * each.optional}: {words}{none}")
        if results_written(Target(home, plain)):
            parts += ["out?: any"] if by_keyword else ["*", "out?: any"]
        forms.append(", ".join(parts))
    return sorted(set(forms))


SCHEMA_KINDS = {
    "Scalar": "number",
    "ScalarType": "dtype",
    "Tensor[]": "tensors",
    "float[]": "floats",
    "int[]": "ints",
}
"""Words for what schemas call otherwise."""


def _form_of_python(function: Any, typed: bool) -> str | None:
    """How a function that PyTorch wrote in Python is called.

    It looks at no types itself.  But those of ``nn.functional`` say which types they mean, and nearly all
    give them to a function that looks.
    """
    parts, by_keyword = [], False
    for name, each in inspect.signature(function).parameters.items():
        if each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL):
            return None
        if each.kind is each.KEYWORD_ONLY and not by_keyword:
            parts.append("*")
            by_keyword = True
        if not (by_keyword and name in NOT_WRITTEN):
            kinds = (
                _meant(f"{function.__name__.removesuffix('_with_indices')}.{name}", each) if typed else "any"
            )
            name = "input" if name == "self" else name
            parts.append(f"{name}{'?' * (each.default is not each.empty)}: {kinds}")
    return ", ".join(parts).removesuffix(", *")


ASKED = """
    inplace return_indices size_average reduce _stacklevel mode padding_mode distance_function options
    gaussian_nll_loss.full gumbel_softmax.hard triplet_margin_with_distance_loss.swap
    add_zero_attn multi_head_attention_forward.training need_weights average_attn_weights
    use_separate_proj_weight multi_head_attention_forward.is_causal embed_dim_to_check
    output_ratio antialias recompute_scale_factor align_corners scale_factor interpolate.size
    affine_grid.size multi_margin_loss.p num_heads bias_k bias_v q_proj_weight k_proj_weight v_proj_weight
    gumbel_softmax.eps reduction
"""
"""Arguments of any type: PyTorch asks them ``if ...:``, compares them, or looks at their types by itself."""

MEANT = {
    **dict.fromkeys(ASKED.split(), "any"),
    **dict.fromkeys(["grid_sample.align_corners", "affine_grid.align_corners"], "bool|None"),
    **dict.fromkeys(
        [
            "gaussian_nll_loss.reduction",
            "multilabel_soft_margin_loss.reduction",
            "poisson_nll_loss.reduction",
        ],
        "str",
    ),
    **dict.fromkeys(["local_response_norm." + name for name in ("alpha", "beta", "k")], "number|Tensor"),
    **dict.fromkeys(["tau", "norm_type", "triplet_margin_with_distance_loss.margin"], "number|Tensor"),
    **dict.fromkeys(["embedding.norm_type", "embedding_bag.norm_type"], "float"),
    **dict.fromkeys(["normalize.eps", "gaussian_nll_loss.target"], "number|Tensor"),
    **dict.fromkeys(["threshold.threshold", "threshold.value"], "number"),
    **{f"adaptive_{kind}_pool{n}d.output_size": "int|sizes" for kind in ("avg", "max") for n in (2, 3)},
    **{f"max_unpool{n}d.{name}": "any" for n in (1, 2, 3) for name in ("kernel_size", "stride", "padding")},
    "dtype": "dtype|None",
    "normalize.p": "float|None",
    "normalize.dim": "int|ints|None",
    "margin": "number",
    "gaussian_nll_loss.eps": "number|Tensor|None",
    "pad.mode": "str",
}
"""What an argument takes, where the annotation of PyTorch says something else, or nothing."""


def _meant(place: str, parameter: inspect.Parameter) -> str:
    """The kinds of values that one parameter of a function of ``nn.functional`` takes."""
    name = parameter.name
    known = MEANT.get(place) or MEANT.get(name)
    if known:
        return known
    said = parameter.annotation
    if said is parameter.empty:
        return "Tensor" if name == "input" else "any"
    if said in (None, type(None)):  # as PyTorch's lists that may be one number look at run time
        return "int|ints" + "|None" * (said is not None)
    written = said.__name__ if isinstance(said, type) and not get_args(said) else str(said)
    words = [_OF_ANNOTATIONS.get(word, "any") for word in written.replace("torch.", "").split(" | ")]
    return "any" if "any" in words else "|".join(words)


_OF_ANNOTATIONS = {
    **{word: word for word in ("Tensor", "int", "float", "bool", "str", "None")},
    "list[int]": "ints",
    "list[float]": "floats",
}
"""Words for the annotations of ``nn.functional``."""


def _body(file: Path) -> list[ast.stmt]:
    return ast.parse(file.read_text("utf-8")).body


def _forms(body: list[ast.stmt]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in body:
        if isinstance(each, ast.FunctionDef) and "names" not in {arg.arg for arg in each.args.kwonlyargs}:
            form = _form(each.args)
            if form not in found.setdefault(each.name, []):
                found[each.name].append(form)
    return found


def _form(arguments: ast.arguments) -> str:
    named = [*arguments.posonlyargs, *arguments.args]
    parts = []
    required = len(named) - len(arguments.defaults)
    for place, each in enumerate(named):
        parts.append(_parameter(each, arguments.defaults[place - required] if place >= required else None))
    if arguments.vararg:
        parts.append("*" + _parameter(arguments.vararg, None))
    later = [
        _parameter(each, default)
        for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults)
        if each.arg not in NOT_WRITTEN
    ]
    unwritten = len(arguments.kwonlyargs) - len(later)
    parts += ["*", *later] if later and not arguments.vararg else later
    return ", ".join([*parts, *([f"+{unwritten}"] if unwritten else [])])


def _parameter(each: ast.arg, default: ast.expr | None) -> str:
    name = "input" if each.arg == "self" else each.arg
    kinds = _kinds(each.annotation) if each.annotation is not None else ["any"]
    if name == "input":
        kinds = ["Tensor"] if "any" in kinds else kinds
    if default is not None and ast.unparse(default) not in ("None", "()") and "None" in kinds:
        kinds.remove("None")  # the stubs say so of every argument that may be left out
    if default is not None and ast.unparse(default) == "()" and "None" not in kinds:
        kinds.append("None")
    return f"{name}{'?' * (default is not None)}: {'|'.join(kinds)}"


def _kinds(annotation: ast.expr) -> list[str]:
    if isinstance(annotation, ast.BinOp):
        found = [*_kinds(annotation.left), *_kinds(annotation.right)]
        return ["any"] if "any" in found else list(dict.fromkeys(found))
    word = KINDS.get(ast.unparse(annotation), "any")
    return [word] if word else []


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
