"""The reference: one page that says what every public function computes, and how its gradient goes back.

Everything on it is read from the code: names and forms, signatures,
docstrings, and from the rules the formula, the derivative by each operand,
what is saved for the way back, and the name of the backward node.  The page
needs nothing beside itself and is the same each time that it is written.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from string import Template
from types import ModuleType
from typing import Any, NamedTuple

from autokit import (  # noqa: F401 - the page lists what the rooms that are loaded offer
    amp,
    backends,
    classroom,
    datasets,
    debug,
    distributed,
    distributions,
    linalg,
    ops,
    optim,
    plot,
    serialization,
    special,
    static,
    transforms,
    utils,
)
from autokit.autograd import functional, gradcheck  # noqa: F401
from autokit.base import missing
from autokit.base.version import __version__
from autokit.cuda import accelerator  # noqa: F401
from autokit.cuda import amp as cuda_amp  # noqa: F401
from autokit.draw.escape import xml
from autokit.engine.operation import Operation
from autokit.engine.tensor import Tensor
from autokit.func import jit  # noqa: F401
from autokit.nn.utils import rnn  # noqa: F401

_OPERATORS = {
    "x + y": "add",
    "x - y": "sub",
    "x * y": "mul",
    "x / y": "div",
    "x // y": "floor_divide",
    "x % y": "remainder",
    "x ** y": "pow",
    "x @ y": "matmul",
    "-x": "neg",
    "abs(x)": "abs",
    "x == y": "eq",
    "x != y": "ne",
    "x < y": "lt",
    "x <= y": "le",
    "x > y": "gt",
    "x >= y": "ge",
    "~x": "bitwise_not",
    "x & y": "bitwise_and",
    "x | y": "bitwise_or",
    "x ^ y": "bitwise_xor",
    "x << y": "bitwise_left_shift",
    "x >> y": "bitwise_right_shift",
}
"""Python's operators, and the functions that say the same."""

_OURS = {
    "ak.classroom": vars(classroom),
    "ak.debug": vars(debug),
    "ak.plot": vars(plot),
    "ak.static": {name: getattr(static, name) for name in ("compile", "compare")},
    "torch.transforms.functional": vars(transforms.functional),
}
"""Modules that PyTorch has not."""

_OURS_AMONG_PYTORCHS = {
    *("animate", "descent", "explore", "graph", "graph_of_error", "monitor", "playground", "record"),
    *("recording", "summary"),
}
"""Names that PyTorch has not: they stand under ``ak``."""

_WORDS = {"a": "input", "b": "other", "out": "result"}
"""What a program calls the operands of a rule, and the page its result."""

_PACKAGE = Path(__file__).parents[1]


class Entry(NamedTuple):
    """What the page says of one thing, under all its names.

    Attributes
    ----------
    thing : function or class
        With what adds keywords taken off.
    forms : list of str
        How it is called, as ``torch.exp`` and ``x.exp()``; the first is its title.
    family : str
        The module it stands in, as ``autokit.ops.exponential``.
    """

    thing: Any
    forms: list[str]
    family: str

    @property
    def anchor(self) -> str:
        """The last part of its address on the page."""
        return re.sub(r"[^\w.]", "", self.forms[0])


def page() -> str:
    """The whole page."""
    everything = entries()
    families = by_family(everything)
    contents = "\n".join(
        f'<li><a href="#{xml(name)}">{_inline(short(title_of(name)))}</a> <small>{len(found)}</small></li>'
        for name, found in families.items()
    )
    return Template(_part("html")).substitute(
        version=xml(__version__),
        count=len(everything),
        contents=contents,
        sections="\n".join(_section(name, found) for name, found in families.items()),
        smaller=smaller(everything),
        style=_part("css"),
        script=_part("js"),
    )


def _part(kind: str) -> str:
    """The page's frame, its style or its script."""
    return Path(__file__).with_suffix(f".{kind}").read_text("utf-8")


def smaller(everything: Iterable[Entry]) -> str:
    """What autokit leaves out: a row of a table for each group of names, with what to use in their place."""
    things = {"torch.Tensor": Tensor} | {form: entry.thing for entry in everything for form in entry.forms}
    there = {f"{space}.{name}" for space, module in missing.MODULES.items() for name in module} | {*things}
    left = [
        f"{space}.{name}"
        for space, names in missing.pytorch_names().items()
        for name in sorted(names)
        if f"{space}.{name}" not in there and not hasattr(things.get(space), name)
    ]
    rows = []
    for pattern, use in missing.INSTEAD.items():
        group = [name for name in left if re.fullmatch(pattern, name)]
        left = [name for name in left if name not in group]
        shown = ", ".join(f"<code>{xml(name)}</code>" for name in group[:3])
        more = f" and {len(group) - 3} more" if len(group) > 3 else ""
        rows.append(f"<tr><td>{shown}{more}</td><td>{xml(use)}</td></tr>" if group else "")
    return "\n".join(filter(None, rows))


# ---------------------------------------------------------------- what there is to say


def entries() -> list[Entry]:
    """Every public function, method and class, once, with all its forms."""
    found: dict[int, Entry] = {}

    def note(form: str, thing: Any) -> None:
        own = inspect.unwrap(thing) if callable(thing) else thing
        family = _module_of(own.fget if isinstance(own, property) else own)
        entry = found.setdefault(id(own), Entry(own, [], family))
        if form not in entry.forms:
            entry.forms.append(form)

    for name, function in ops.FUNCTIONS.items():
        note(f"torch.{name}", function)
    for name, thing in [*ops.METHODS.items(), *sorted(vars(Tensor).items())]:
        if not name.startswith("_") and (isinstance(thing, property) or inspect.isfunction(thing)):
            note(f"x.{name}" if isinstance(thing, property) else f"x.{name}()", thing)
    for space, module in [*missing.MODULES.items(), *_OURS.items()]:
        for name, thing in _offered(module):
            is_ours = space == "torch" and name in _OURS_AMONG_PYTORCHS
            note(f"ak.{name}" if is_ours else f"{space}.{name}", thing)
    note("x[index]", ops.METHODS["__getitem__"])
    note("x[index] = y", ops.METHODS["__setitem__"])
    by_form = {form: entry for entry in found.values() for form in entry.forms}
    for form, name in _OPERATORS.items():
        by_form[f"torch.{name}"].forms.append(form)
    return list(found.values())


def _offered(module: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The functions and classes that a module offers: by ``__all__``, or by ``dir`` as of autokit itself."""
    listed = module["__dir__"] if "__dir__" in module else lambda: sorted(module)
    for name in module.get("__all__") or listed():
        thing = module[name] if name in module else module["__getattr__"](name)
        home = _module_of(thing)
        is_ours = home.startswith("autokit") and home != missing.__name__
        if callable(thing) and is_ours and not name.startswith("_") and not inspect.ismodule(thing):
            yield name, thing


def by_family(everything: Iterable[Entry]) -> dict[str, list[Entry]]:
    """The entries by the module they stand in, operations first.

    What is alone in its module, as each distribution is, stands among the others of its package.
    """
    everything = list(everything)
    counts = Counter(entry.family for entry in everything)
    found: dict[str, list[Entry]] = {}
    for entry in everything:
        package = entry.family.rpartition(".")[0]
        is_alone = package and counts[entry.family] == 1 and package != ops.__name__
        found.setdefault(package if is_alone else entry.family, []).append(entry)
    ordered = sorted(found, key=lambda name: (not name.startswith(ops.__name__), name))
    return {name: sorted(found[name], key=lambda entry: entry.forms[0]) for name in ordered}


def title_of(module: str) -> str:
    """A family's title: what the first line of its file says."""
    path = _PACKAGE.parent / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    first = (ast.get_docstring(ast.parse(file.read_text("utf-8"))) or module).split("\n\n")[0]
    return " ".join(first.split()).rstrip(".")


def short(title: str) -> str:
    """The title up to its first pause.

    >>> short("The largest and the smallest: ``max``, ``min``")
    'The largest and the smallest'
    """
    return re.split("[:;.,] ", title)[0]


def rule_of(thing: Any) -> Operation | None:
    """The rule that a function was made from, if it was."""
    rule = getattr(thing, "operation", None)
    return rule if isinstance(rule, Operation) else None


def rules_of(thing: Any) -> list[Operation]:
    """The rules by which a function computes: its own, or those of the functions that it calls."""
    own = rule_of(thing)
    if own is not None:
        return [own]
    found: dict[str, Operation] = {}
    seen: set[Any] = set()

    def look(function: Any, depth: int) -> None:
        function = inspect.unwrap(function)
        rule = rule_of(function)
        if rule is not None:
            found.setdefault(rule.name, rule)
        elif inspect.isfunction(function) and depth and function not in seen:
            seen.add(function)
            for called in _called(function):
                look(called, depth - 1)

    look(thing, 3)
    return list(found.values())


def _called(function: Any) -> Iterator[Any]:
    """The functions of our operations that a function names."""
    names = function.__code__.co_names
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType) and value.__name__.startswith("autokit."):
            yield from (getattr(value, other) for other in names if callable(vars(value).get(other)))
        elif callable(value) and _module_of(value).startswith(("autokit.ops", "autokit.nn")):
            yield value


def saved_by(rule: Operation) -> list[str]:
    """What a rule saves where every operand learns: operands, and ``out``, the result."""
    rules = rule.rules((True,) * len(rule.operands))
    if rules is None:
        return []
    return [rule.operands[place] for place in rules.saves] + ["out"] * rules.saves_output


def signature_of(thing: Any) -> str:
    """How it is called, in a program's words for the operands: ``(input, dim=None)``."""
    rule = rule_of(thing)
    try:
        signature = inspect.signature(rule.plain if rule is not None else thing)
    except ValueError:
        return "(...)"
    plain = [
        each.replace(
            annotation=each.empty,
            name=_WORDS.get(each.name, each.name) if rule is not None else each.name,
            kind=each.POSITIONAL_OR_KEYWORD if each.kind is each.POSITIONAL_ONLY else each.kind,
        )
        for each in signature.parameters.values()
        if each.name != "self"
    ]
    text = str(signature.replace(parameters=plain, return_annotation=signature.empty))
    return re.sub(r"<(?:function|class|built-in function|object) '?([\w.]+)[^>]*>", r"\1", text)


def source_of(thing: Any) -> str:
    """File and line, as ``autokit/ops/exponential.py:31``; empty where there is none."""
    rule = rule_of(thing)
    own: Any = rule.plain if rule is not None else thing.fget if isinstance(thing, property) else thing
    try:
        file = inspect.getsourcefile(own)
        line = inspect.getsourcelines(own)[1]
    except (TypeError, OSError):
        return ""
    path = Path(file or "")
    return f"{path.relative_to(_PACKAGE.parent).as_posix()}:{line}" if path.is_relative_to(_PACKAGE) else ""


def _module_of(thing: Any) -> str:
    name = getattr(thing, "__module__", None) or "autokit"
    return "autokit" if name == "torch" else name  # as a few classes say in PyTorch


# ---------------------------------------------------------------- how it looks


def _section(name: str, found: list[Entry]) -> str:
    articles = "\n".join(map(_article, found))
    return f'<section id="{xml(name)}">\n<h2>{_inline(title_of(name))}</h2>\n{articles}\n</section>'


def _article(entry: Entry) -> str:
    title, *others = entry.forms
    signature = "" if isinstance(entry.thing, property) else signature_of(entry.thing)
    call = title.removesuffix("()") + signature
    parts = [f'<h3><a href="#{xml(entry.anchor)}">{xml(call)}</a></h3>']
    if others:
        parts.append(f"<p class=forms>also {', '.join(f'<code>{xml(form)}</code>' for form in others)}</p>")
    parts.append(document(inspect.getdoc(entry.thing) or ""))
    if not isinstance(entry.thing, type | property):
        parts += map(_rule, rules_of(entry.thing))
    source = source_of(entry.thing)
    if source:
        parts.append(f"<p class=source><code>{xml(source)}</code></p>")
    return f'<article id="{xml(entry.anchor)}">\n' + "\n".join(parts) + "\n</article>"


def _rule(rule: Operation) -> str:
    words = {name: name for name in (*rule.operands, *rule.defaults)} | _WORDS
    formula = rule.formula.format_map(words)
    rows = [("rule", f"<code>{xml(rule.name)}</code>: {xml(rule.symbol)}"), ("formula", xml(formula))]
    for operand, one in rule.derivatives.items():
        told = {operand: one.local} if isinstance(one.local, str) else one.local
        for name, local in told.items():
            by = "all operands at once" if name == "joint" else f"<var>{xml(words[name])}</var>"
            rows.append((f"derivative by {by}", xml(local.format_map(words))))
    if rule.derivatives:
        rows.append(("saves", ", ".join(xml(words[name]) for name in saved_by(rule)) or "nothing"))
        rows.append(("node", xml(rule.backward)))
    else:
        rows.append(("derivative", "none: nothing flows back"))
    cells = "".join(f"<tr><th scope=row>{name}</th><td>{value}</td></tr>" for name, value in rows)
    return f"<table>{cells}</table>"


_PROSE = ("Examples", "Notes", "References", "See Also")
_HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def document(text: str) -> str:
    r"""A docstring in NumPy's style as HTML.

    >>> print(document("Twice ``x``.\n\nRaises\n------\nTypeError\n    If it is no number."))
    <p>Twice <code>x</code>.</p>
    <h4>Raises</h4>
    <dl><dt>TypeError</dt><dd><p>If it is no number.</p></dd></dl>
    """
    parts = _HEADING.split(text.strip() + "\n")
    shown = [_paragraphs(parts[0])]
    for heading, body in zip(parts[1::2], parts[2::2]):
        inner = _paragraphs(body) if heading in _PROSE else _terms(body)
        shown.append(f"<h4>{xml(heading)}</h4>\n{inner}")
    return "\n".join(filter(None, shown))


def _paragraphs(text: str) -> str:
    return "\n".join(_paragraph(each) for each in re.split(r"\n\s*\n", text.strip("\n")) if each.strip())


def _paragraph(text: str) -> str:
    if text.lstrip().startswith(">>>"):
        return f"<pre>{xml_lines(inspect.cleandoc(text))}</pre>"
    lines = text.splitlines()
    if all(line.startswith("    ") for line in lines):
        return f"<pre>{xml_lines(inspect.cleandoc(text))}</pre>"
    if all(line.lstrip().startswith(("* ", "- ")) or line.startswith("  ") for line in lines):
        items = re.split(r"^[*-] ", text.strip(), flags=re.MULTILINE)[1:]
        return f"<ul>{''.join(f'<li>{_inline(item)}</li>' for item in items)}</ul>"
    return f"<p>{_inline(text)}</p>"


def _terms(text: str) -> str:
    """What stands under ``Parameters`` and the like: terms at the margin, and what they mean below."""
    items = re.split(r"^(?=\S)", text.strip("\n"), flags=re.MULTILINE)
    shown = []
    for item in filter(str.strip, items):
        term, _, meaning = item.partition("\n")
        shown.append(f"<dt>{_inline(term)}</dt><dd>{_paragraphs(inspect.cleandoc(meaning))}</dd>")
    return f"<dl>{''.join(shown)}</dl>"


def _inline(text: str) -> str:
    """A line of reStructuredText: code, emphasis and names of functions."""
    shown = xml(" ".join(text.split()))
    shown = re.sub(r"``(.+?)``", r"<code>\1</code>", shown)
    shown = re.sub(r":\w+:`~?([^`]+)`", r"<code>\1</code>", shown)
    return re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])", r"<em>\1</em>", shown)


def xml_lines(text: str) -> str:
    """Lines of text, each escaped."""
    return "\n".join(map(xml, text.splitlines()))
