"""Random calls of a public function, as the source of a line that both libraries run.

A call is drawn from a :class:`random.Random`, so Hypothesis may guide and shrink
it, or a seed alone may name it.  PyTorch's schema says which arguments there are;
``RECIPES`` says what shapes and values make sense for them.  About one call in
five is then made wrong on purpose.
"""

from __future__ import annotations

import re
from random import Random
from typing import NamedTuple

from tests.fuzz.recipes import ALTERNATIVES, BY_NAME, PLAIN, RECIPES
from tests.fuzz.signatures import HOMES, Parameter, Target, results_written, signatures

DTYPES = {"float32": 10, "float64": 4, "float16": 2, "int64": 4, "int32": 1, "uint8": 1, "bool": 2}
DTYPES |= {"complex64": 1, "complex128": 1}
"""How often each dtype is drawn."""
LEARNING = ("float", "complex")
"""How the dtypes are named that may require a gradient."""

AWKWARD = [
    "0.0",
    "-0.0",
    "inf",
    "-inf",
    "nan",
    "1.0",
    "-1.0",
    "2.0",
    "0.5",
    "1e30",
    "-1e30",
    "1e-30",
    "100.0",
    "-30.0",
]
NUMBERS = [
    "0",
    "1",
    "2",
    "-1",
    "3",
    "0.5",
    "-1.5",
    "2.0",
    "True",
    "inf",
    "nan",
    "0.0",
    "1e-3",
    "10",
    "(1+2j)",
]
RANGE = re.compile(r"-?\d+\.\.-?\d+")
"""The recipe of whole numbers."""
WRONG = ["None", "'a'", "[1, 2]", "1.5", "(0, 7)", "{}", "T.tensor([1, 2])", "T.float32", "True", "-7", "99"]


class Call(NamedTuple):
    """A call: the sources of its tensors by their names, and of the call of them."""

    tensors: dict[str, str]
    expression: str

    def __str__(self) -> str:
        return "; ".join([*(f"{name} = {source}" for name, source in self.tensors.items()), self.expression])


def read_call(source: str) -> Call:
    """The call that reads so; see :meth:`Call.__str__`."""
    *tensors, expression = source.split("; ")
    return Call(dict(each.split(" = ", 1) for each in tensors), expression)


class Drawing:
    """A call while it is being drawn: what was drawn before decides what fits next."""

    def __init__(self, random: Random, target: Target, plain: bool = False):
        self.random, self.target, self.plain = random, target, plain
        self.letters: dict[str, int] = {}
        self.tensors: dict[str, str] = {}
        self.shape: tuple[int, ...] = ()
        self.dtype = "float32"
        self.dim: int | None = None
        self.learns = random.random() < 0.5
        self.awkward = random.random() < 0.3 and not any(word in target.base for word in PLAIN)
        self.wrong = random.random() < 0.2
        self.coarse = random.random() < 0.2  # few different numbers: ties, and places where a slope jumps
        if plain:
            self.awkward = self.wrong = False
        self.recipe = {**RECIPES.get(target.base, {}), **random.choice(ALTERNATIVES.get(target.base, [{}]))}

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    # ------------------------------------------------------------ shapes and tensors

    def size(self) -> int:
        return self.random.choice((1, 2, 2, 3, 3, 4, 2, 3, 1, 0))

    def shape_of(self, letters: str) -> tuple[int, ...]:
        """The shape that letters stand for: the same letter, the same size; ``*`` stands for a batch."""
        found: list[int] = []
        for letter in letters:
            if letter == "*":
                found += [self.size() for _ in range(self.random.choice((0, 0, 1, 2)))]
            elif letter.isdigit():
                found.append(int(letter))
            elif letter == "?":
                if found and self.chance(0.2):
                    found.pop(0)
            else:
                if letter not in self.letters:
                    small = self.random.choice((1, 2, 3))
                    self.letters[letter] = self.random.choice((3, 4, 5, 6)) if letter.isupper() else small
                    if letter.islower() and self.chance(0.04):
                        self.letters[letter] = 0
                found.append(self.letters[letter])
        return tuple(found)

    def free_shape(self) -> tuple[int, ...]:
        return tuple(self.size() for _ in range(self.random.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))))

    def like(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts with ``shape``, mostly."""
        way = self.random.random()
        if way < 0.45:
            return shape
        if way < 0.85:
            kept = shape[self.random.randrange(len(shape) + 1) :] if self.chance(0.5) else shape
            return tuple(1 if self.chance(0.3) else size for size in kept)
        return self.free_shape() if self.wrong else ()

    def elements(self, count: int, dtype: str) -> list[str]:
        draw = self.random
        if dtype == "bool":
            return [draw.choice(("True", "False")) for _ in range(count)]
        if dtype.startswith("float"):
            if self.awkward:
                return [
                    draw.choice(AWKWARD) if self.chance(0.4) else str(draw.randint(-8, 8) / 4)
                    for _ in range(count)
                ]
            if self.coarse:
                return [str(draw.randint(-3, 3) / 2) for _ in range(count)]
            return [str(draw.randint(-400, 400) / 128) for _ in range(count)]
        if dtype.startswith("complex"):
            return [f"({draw.randint(-12, 12) / 8}{draw.randint(-12, 12) / 8:+}j)" for _ in range(count)]
        low = 0 if dtype == "uint8" else -5
        return [str(draw.randint(low, 6)) for _ in range(count)]

    def tensor(self, shape: tuple[int, ...], dtype: str, elements: list[str] | None = None) -> str:
        """The name of a new tensor, behind a view of it now and then."""
        view, base = "", shape
        if elements is None and len(shape) > 1 and self.chance(0.2):
            base, view = (*shape[:-2], shape[-1], shape[-2]), ".transpose(-1, -2)"
        elif elements is None and shape and self.chance(0.12):
            base, view = (2 * shape[0], *shape[1:]), "[::2]"
        elif elements is None and shape and self.chance(0.08):
            base, view = (1, *shape[1:]), f".expand({', '.join(map(str, shape))})"
        count = 1
        for size in base:
            count *= size
        values = self.elements(count, dtype) if elements is None else elements
        learns = ", requires_grad=True" if self.learns and dtype.startswith(LEARNING) else ""
        source = f"T.tensor({_nested(values, base)}, dtype=T.{dtype}{learns})"
        if not count and len(base) > 1:
            source = f"T.zeros({base}, dtype=T.{dtype}{learns})"
        name = chr(ord("a") + len(self.tensors))
        self.tensors[name] = source
        if learns and self.target.name.endswith("_") and len(self.tensors) == 1 and self.chance(0.85):
            view = " * 1" + view if not view else f".mul(1){view}"
            return f"({name}{view})"
        return name + view

    def tensor_dtype(self) -> str:
        if self.plain or self.tensors and self.chance(0.75):
            return self.dtype
        choices = DTYPES
        if self.target.home in ("functional", "linalg", "fft") and self.chance(0.6):
            choices = {"float32": 2, "float64": 1}
            if self.target.home in ("linalg", "fft"):
                choices = {"float32": 3, "float64": 2, "complex64": 2, "complex128": 1}
        return self.random.choice([name for name, weight in choices.items() for _ in range(weight)])

    def a_tensor(self, parameter: Parameter) -> str:
        how = self.recipe.get(parameter.name, BY_NAME.get(parameter.name, ""))
        how = "" if "|" in how or RANGE.fullmatch(how) else how  # that was for a number in its place
        first = not self.tensors
        if first and parameter.name == "condition":
            how = how or "bool"
        dtype = self.tensor_dtype()
        if how.startswith("index"):
            return self.index(how)
        if how == "bool":
            return self.tensor(self.like(self.shape) if self.tensors else self.free_shape(), "bool")
        if how.startswith("classes:"):  # integers below a size
            letters, _, bound = how[8:].partition("<")
            shape = self.shape_of(letters)
            top = self.shape_of(bound)[0] if not bound.isdigit() else int(bound)
            return self.integers(shape, 0, max(top, 1))
        if how.startswith("of:"):  # elements of a few values
            values = how[3:].split(",")
            shape = self.shape
            return self.tensor(shape, dtype, [self.random.choice(values) for _ in range(_count(shape))])
        if how == "same":
            shape = self.shape
        elif how:
            shape = self.shape_of(how)
        else:
            shape = self.free_shape() if first else self.like(self.shape)
        name = self.tensor(shape, dtype)
        if first:
            self.shape, self.dtype = shape, dtype
        return name

    def integers(self, shape: tuple[int, ...], low: int, high: int) -> str:
        if self.wrong and self.chance(0.2):
            low, high = low - 2, high + 2
        values = [str(self.random.randrange(low, max(high, low + 1))) for _ in range(_count(shape))]
        return self.tensor(shape, "int64" if self.chance(0.93) else "int32", values)

    def index(self, how: str) -> str:
        """Indices into the first tensor: along the dimension drawn, of one dimension, or of its elements."""
        dim = self.dim if self.dim is not None else 0
        try:
            size = self.shape[dim] if self.shape else 1
        except IndexError:
            size = 1
        if how == "index-flat":
            return self.integers(self.free_shape(), 0, _count(self.shape))
        if how == "index-1":
            return self.integers((self.size(),), 0, size)
        shape = tuple(
            self.size() if n == dim % max(len(self.shape), 1) else self.random.randint(min(1, s), s)
            for n, s in enumerate(self.shape)
        )
        if self.wrong and self.chance(0.2):
            shape = self.free_shape()
        self.letters["index"] = 0
        return self.integers(shape, 0, size)

    # ------------------------------------------------------------ other arguments

    def a_dim(self, dims: int | None = None) -> int:
        dims = len(self.shape) if dims is None else dims
        top = max(dims, 1)
        if self.wrong and self.chance(0.25):
            return self.random.choice((top, -top - 1, top + 2))
        return self.random.randrange(-top, top)

    def value(self, parameter: Parameter) -> str:
        """The source of an argument."""
        draw, kind, name = self.random, parameter.kind, parameter.name
        how = self.recipe.get(name, "" if kind.startswith("Tensor") else BY_NAME.get(name, ""))
        if kind.endswith("?") and self.chance(0.2):
            return "None"
        plain = kind.rstrip("?")
        if name == "reduction" and plain == "int":  # as of the functions that torch.nn.functional calls
            return draw.choice(("0", "1", "2", "2", "3"))
        if how.startswith("tensors"):
            return self.a_list(how)
        if (
            how
            and not plain.startswith("Tensor")
            and not RANGE.fullmatch(how)
            and how not in ("dim", "new-dim", "dims", "shape")
        ):
            return draw.choice(how.split("|"))
        if RANGE.fullmatch(how) and not plain.startswith("Tensor"):
            low, high = map(int, how.split(".."))
            number = str(draw.randint(low, high))
            if plain.startswith("int[") and self.chance(0.3):
                count = int(plain[4:-1] or draw.randint(0, 3))
                return str(tuple(draw.randint(low, high) for _ in range(count)))
            return number
        if plain == "Dims":
            return draw.choice(("1", "2", "0", "([0], [0])", "([1], [0])", "([-1], [0])", "([0], [])"))
        if plain == "Tensor" or plain == "Tensor | float":
            return self.a_tensor(parameter)
        if plain == "Tensor[]":
            return self.a_list("")
        if plain == "Tensor?[]":
            count = draw.randint(1, max(len(self.shape), 1))
            shape = draw.choice(((), (2,), (2, 2)))
            each = [
                self.integers(shape, 0, self.shape[n] if n < len(self.shape) else 1) for n in range(count)
            ]
            return f"({', '.join(each)},)"
        if plain == "Data":
            return draw.choice(
                (
                    "1",
                    "2.5",
                    "[1, 2]",
                    "[[1.0], [2.0]]",
                    "[]",
                    "[[1, 2], [3]]",
                    "True",
                    "'a'",
                    "None",
                    "[True, 2]",
                )
            )
        if plain == "ScalarType":
            return draw.choice(
                ("T.float32", "T.float64", "T.int64", "T.float64", "T.int32", "T.bool", "T.float16")
            )
        if plain == "bool":
            return draw.choice(("True", "False"))
        if plain == "str":
            return "'a'"
        if name in ("dim", "dims") or how == "dims":
            return self.dims(plain)
        if how == "dim":
            self.dim = self.a_dim()
            return str(self.dim)
        if how == "new-dim":
            return str(self.a_dim(len(self.shape) + 1))
        if how == "shape":
            return self.a_size()
        if plain == "Scalar":
            return draw.choice(NUMBERS)
        if plain in ("float", "int | float"):
            return draw.choice(("0.0", "0.5", "1.0", "2.0", "0.25", "1", "-1.0", "1e-3"))
        if plain == "float[]":
            return draw.choice(("[2.0]", "[0.5]", "[2.0, 2.0]", "2.0"))
        if plain.startswith("int["):
            count = int(plain[4:-1] or draw.randint(0, 3))
            numbers = tuple(draw.randint(-1 if self.wrong else 0, 4) for _ in range(count))
            return str(numbers) if self.chance(0.7) else str(list(numbers))
        return str(draw.choice((0, 1, 2, 3, -1, -2) if not how else (1, 2)))

    def dims(self, kind: str) -> str:
        draw = self.random
        if not kind.startswith("int[") or self.chance(0.4):
            self.dim = self.a_dim()
            return str(self.dim)
        count = draw.randint(0 if self.chance(0.2) else 1, max(len(self.shape), 1))
        if self.target.base in ("permute",):
            count = len(self.shape)
        chosen = draw.sample(range(max(len(self.shape), 1)), min(count, max(len(self.shape), 1)))
        chosen = [each - len(self.shape) if self.chance(0.3) and self.shape else each for each in chosen]
        if self.wrong and self.chance(0.4):
            chosen += [self.a_dim() if self.chance(0.5) else chosen[0] if chosen else 0]
        return str(tuple(chosen)) if self.chance(0.6) else str(chosen)

    def a_size(self) -> str:
        """A shape for the elements of the first tensor, as for reshape."""
        sizes, left = [], _count(self.shape)
        while left > 1 and self.chance(0.6):
            part = self.random.choice([n for n in range(1, left + 1) if left % n == 0])
            sizes.append(part)
            left //= part
        sizes.append(left)
        if self.chance(0.3):
            sizes[self.random.randrange(len(sizes))] = -1
        if self.wrong and self.chance(0.3):
            sizes.append(self.random.choice((2, -1, 0)))
        return str(tuple(sizes))

    def a_list(self, how: str) -> str:
        """A list of tensors: of one shape, of matrices, or of free ones."""
        draw = self.random
        shape = {"tensors-1": self.shape_of("i"), "tensors-2": self.shape_of("ij")}.get(
            how, self.free_shape()
        )
        dtype = self.tensor_dtype()
        names = []
        for n in range(draw.choice((1, 2, 2, 3)) if not (self.wrong and self.chance(0.1)) else 0):
            if how == "tensors-1":
                shape = (self.size(),) if n else shape
            elif how == "tensors-like":
                shape = self.like(shape)
            elif how == "tensors-chain" and n:
                shape = (shape[-1] if shape else 1, self.size())
            elif self.wrong and self.chance(0.3):
                shape = self.free_shape()
            if how == "tensors-chain" and not n:
                shape = self.shape_of("ij")
            names.append(self.tensor(shape, dtype if self.chance(0.85) else self.tensor_dtype()))
            if not n:
                self.shape, self.dtype = shape, dtype
        return f"[{', '.join(names)}]"


def draw_call(random: Random, target: Target, plain: bool = False) -> Call:
    """A random call of ``target``; where ``plain``, of float32 and with no mistake on purpose."""
    drawing = Drawing(random, target, plain)
    form = random.choice(signatures(target))
    values: dict[str, str] = {}
    first_tensors = [p for p in form if p.kind.startswith("Tensor")][:1]
    dims = [p for p in form if p.name in ("dim", "dims") and p.kind.startswith("int")]
    for parameter in [*first_tensors, *dims, *form]:  # an index needs to know the shape and the dimension
        if parameter.name not in values:
            values[parameter.name] = drawing.value(parameter)
    given = [p for p in form if not (p.optional and drawing.chance(0.5))]
    arguments: list[str] = []
    positional = True
    receiver = ""
    for parameter in form:
        name = "input" if parameter.name == "self" and target.home != "methods" else parameter.name
        if parameter not in given:
            positional = False
        elif name == "self":
            receiver = values["self"]
        elif (
            positional
            and not parameter.keyword_only
            and (not parameter.optional or drawing.chance(0.5))
            and drawing.chance(0.9)
        ):
            arguments.append(values[parameter.name])
        else:
            positional = False
            arguments.append(f"{name}={values[parameter.name]}")
    outs = results_written(target)
    if outs and drawing.chance(0.08):
        arguments.append(f"out={_out(drawing, outs)}")
    if drawing.wrong and drawing.chance(0.6):
        _spoil(drawing, arguments)
    home = f"{HOMES[target.home]}." if target.home != "functions" else ""
    head = f"{receiver}.{target.name}" if target.home == "methods" else f"T.{home}{target.name}"
    expression = f"{head}({', '.join(arguments)})"
    if not _is_program(expression):  # an argument by place after one by name
        return draw_call(random, target)
    used = {name: source for name, source in drawing.tensors.items() if _uses(expression, name)}
    return Call(used, expression)


def _out(drawing: Drawing, count: int) -> str:
    """Tensors to write results into: of the shape of the first operand, or empty, to be resized."""
    learns, drawing.learns = drawing.learns, drawing.learns and drawing.chance(0.1)
    shape = drawing.shape if drawing.chance(0.7) else (0,) if drawing.chance(0.8) else drawing.free_shape()
    names = []
    for _ in range(count):
        name = chr(ord("a") + len(drawing.tensors))
        learns_too = ", requires_grad=True" if drawing.learns else ""
        dtype = drawing.tensor_dtype()
        drawing.tensors[name] = f"T.zeros({shape}, dtype=T.{dtype}{learns_too * dtype.startswith(LEARNING)})"
        names.append(name)
    drawing.learns = learns
    return names[0] if count == 1 else f"({', '.join(names)})"


def _spoil(drawing: Drawing, arguments: list[str]) -> None:
    """Make the arguments wrong: one of another type, one too few, one too many, or an unknown keyword."""
    way = drawing.random.choice(("type", "type", "type", "fewer", "more", "keyword", "shape"))
    place = drawing.random.randrange(len(arguments)) if arguments else None
    if way == "keyword" or place is None:
        arguments.append(drawing.random.choice(("dimm=1", "foo=2", "inptu=3")))
    elif way == "fewer":
        arguments.pop(place)
    elif way == "more" and not any("=" in each for each in arguments):
        arguments.append(drawing.random.choice(WRONG))
    else:
        keyword, equals, _ = arguments[place].partition("=")
        arguments[place] = (f"{keyword}=" if equals and keyword.isidentifier() else "") + (
            drawing.tensor(drawing.free_shape(), drawing.tensor_dtype())
            if way == "shape"
            else drawing.random.choice(WRONG)
        )


def _is_program(expression: str) -> bool:
    try:
        compile(expression, "<call>", "eval")
    except SyntaxError:
        return False
    return True


def _uses(expression: str, name: str) -> bool:
    return name in compile(expression, "<call>", "eval").co_names


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _nested(values: list[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return values[0]
    if len(shape) == 1:
        return f"[{', '.join(values)}]"
    step = len(values) // shape[0] if shape[0] else 0
    return f"[{', '.join(_nested(values[n * step : n * step + step], shape[1:]) for n in range(shape[0]))}]"
