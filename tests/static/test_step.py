"""Compiled functions: what they are built for, what they refuse, and what a run leaves behind."""

import contextlib
import copy
import warnings
from pathlib import Path

import numpy as np
import pytest

import autokit as torch
from autokit import nn
from autokit.nn import functional as F
from autokit.static.errors import RecompileWarning, StaticError, Untraceable
from autokit.static.step import compile

FILE = Path(__file__).name


def training(criterion=F.cross_entropy, seed=0, layers=None, **settings):
    """A model, its optimizer, and a compiled step of them."""
    torch.manual_seed(seed)
    model = nn.Sequential(*(layers or [nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)]))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def step(x, t):
        optimizer.zero_grad()
        loss = criterion(model(x), t)
        loss.backward()
        optimizer.step()
        return loss

    return model, optimizer, step, compile(step, **settings)


def batch(rows=6, seed=1):
    torch.manual_seed(seed)
    return torch.randn(rows, 4), torch.randint(0, 3, (rows,))


# ---------------------------------------------------------------- what is refused


BEST, CALLS, SCALE, LAYER = 0.5, 0, 2.0, nn.LeakyReLU(0.1)
SCALED, LAZY = torch.ones(3), nn.LazyLinear(2)
HISTORY: list[float] = []


def branch(x):
    return x if x.sum() > BEST else -x


def append(x):
    HISTORY.append(x.sum().item())
    return x


def as_list(x):
    return x.tolist()


def as_array(x):
    return np.asarray(x.detach())


def positive(x):
    return x[x > 0]


def one_hot(x):
    return F.one_hot(x.long())


def seeded(x):
    torch.manual_seed(0)
    return x + torch.rand(3)


def into_argument(x):
    x += 1
    return x


def counting(x):
    global CALLS
    CALLS += 1
    return x * CALLS


def appending(x):
    HISTORY.append(x)
    return x


def drawing(x):
    return x * np.random.rand()


def catching(x):
    with contextlib.suppress(RuntimeError):
        return x if x.sum() > 0 else x * 2
    return -x


def reaching_its_argument(x):
    x.requires_grad_().square().sum().backward()
    return x.grad


def generating(x):
    yield x


def learning(x):
    SCALED.requires_grad_()
    return x * SCALED


def lazy(x):
    return LAZY(x)


REFUSED = {
    branch: (Untraceable, "return x if x.sum() > BEST else -x", "torch.where(condition, a, b)"),
    append: (Untraceable, "HISTORY.append(x.sum().item())", "ask for its number outside"),
    as_list: (Untraceable, "return x.tolist()", "call .tolist() outside"),
    as_array: (Untraceable, "return np.asarray(x.detach())", "convert it outside"),
    positive: (Untraceable, "return x[x > 0]", "a shape that depends on the numbers"),
    one_hot: (Untraceable, "return F.one_hot(x.long())", "outside"),
    seeded: (StaticError, "", "seed it outside"),
    into_argument: (StaticError, "", "clone()"),
    counting: (StaticError, "", "the function changes CALLS"),
    appending: (StaticError, "", "the function changes HISTORY"),
    drawing: (StaticError, "", "the random numbers of Python's random or of NumPy's"),
    catching: (Untraceable, "return x if x.sum() > 0 else x * 2", "torch.where(condition, a, b)"),
    reaching_its_argument: (StaticError, "", "return torch.autograd.grad(loss, x)"),
    generating: (StaticError, "", "the function returns a generator"),
    learning: (StaticError, "", "the function changes requires_grad of SCALED"),
    lazy: (StaticError, "", "call the model once before"),
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_what_a_graph_cannot_do_is_refused_with_its_line_and_advice(function):
    kind, line, advice = REFUSED[function]
    with pytest.raises(kind) as caught:
        compile(function)(torch.ones(3))
    first, _, second = str(caught.value).partition("\n")
    assert advice in second and len(caught.traceback) == 2  # the call, and no frames that lead to the words
    assert not line or FILE in first and first.endswith(line)
    HISTORY.clear()


def test_after_a_refusal_everything_is_as_before():
    model, optimizer, _, _ = training()
    before, stream = copy.deepcopy(model.state_dict()), torch.get_rng_state()

    @compile
    def step(x):
        loss = F.dropout(model(x)).sum()
        loss.backward()
        optimizer.step()
        return loss.item()

    with pytest.raises(Untraceable):
        step(torch.ones(2, 4))
    assert all([torch.equal(value, before[key]) for key, value in model.state_dict().items()])
    assert all([each.grad is None and type(each.array) is np.ndarray for each in model.parameters()])
    assert torch.equal(torch.get_rng_state(), stream) and optimizer.param_groups[0]["lr"] == 0.1


def test_print_shows_once_that_there_are_no_numbers_yet(capsys):
    def f(x):
        y = x * 2
        print(y)
        return y

    static = compile(f)
    assert [static(torch.ones(2)).tolist() for _ in range(2)] == [[2, 2], [2, 2]]
    assert capsys.readouterr().out.startswith("<traced float32[2], line ")
    assert "never again" in static.explain() and "print(y)" in static.explain()


def test_a_scheduler_in_the_function_is_refused():
    model, optimizer, _, _ = training()
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)

    def step(x):
        model(x).sum().backward()
        optimizer.step()
        schedule.step()

    with pytest.raises(StaticError, match=r"scheduler.step\(\) outside"):
        compile(step)(torch.ones(2, 4))
    assert optimizer.param_groups[0]["lr"] == 0.1


def test_gradients_that_add_up_over_calls_are_refused_or_kept():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def step(x):
        loss = model(x).sum()
        loss.backward()
        optimizer.step()

    model(torch.ones(1, 2)).sum().backward()
    with pytest.raises(StaticError, match="zero_grad"):
        compile(step)(torch.ones(1, 2))
    kept = compile(lambda x: model(x).sum().backward())
    for _ in range(3):
        kept(torch.ones(1, 2))
    assert torch.equal(model.weight.grad, torch.full((1, 2), 4.0))


def test_a_gradient_that_is_dropped_first_is_new_in_each_run():
    w = torch.ones(2, requires_grad=True)

    @compile
    def gradient(x):
        w.grad = None
        (w * x).sum().backward()
        return w.grad

    for number in range(5):
        assert gradient(torch.full((2,), float(number))).tolist() == w.grad.tolist() == [number, number]
    seconds = gradient.last.seconds["passes and code"]
    gradient(torch.ones(2))
    assert gradient.last.seconds["passes and code"] == seconds and len(gradient.plans) == 2


# ---------------------------------------------------------------- checks


def test_a_target_out_of_bounds_stops_the_run_before_anything_is_written():
    model, _, _, static = training()
    x, t = batch()
    static(x, t)
    before = copy.deepcopy(model.state_dict())
    t[2] = 7
    with pytest.raises(IndexError, match="Target 7 is out of bounds") as caught:
        static(x, t)
    assert FILE in str(caught.value) and "loss = criterion(model(x), t)" in str(caught.value)
    assert all([torch.equal(value, before[key]) for key, value in model.state_dict().items()])


def test_targets_to_be_ignored_build_another_graph():
    _, _, _, static = training()
    _, _, eager, _ = training()
    x, _ = batch()
    for ignored in (0, 2, 0, 3):
        t = batch()[1]
        t[:ignored] = -100
        assert static(x, t).item() == pytest.approx(eager(x, t).item(), rel=1e-6)


# ---------------------------------------------------------------- signatures


def test_a_graph_serves_one_signature_and_modes_are_part_of_it():
    model, _, _, static = training(layers=[nn.Linear(4, 3), nn.Dropout(0.5)])
    for rows in (6, 4, 6, 4):
        static(*batch(rows))
    assert len(static.plans) == 2 and static.calls == 4
    model.eval()
    static(*batch(6))
    model.train()
    static(*batch(6))
    assert len(static.plans) == 3


def fixed_mask(x):
    weights = torch.arange(x.shape[0]).unsqueeze(1)
    return (x * weights).mean() + x.var(0).sum()


def free_of_it(x):
    return (
        (x - x.mean(0) * torch.ones(len(x), 1)).square().mean()
        + F.softmax(x, 0).max()
        + x.reshape(2 * x.shape[0], -1).sum()
    )


def by_size(x):
    return x.sum() * 2 if len(x) > 4 else x.mean()


@pytest.mark.parametrize("function", (fixed_mask, free_of_it, by_size))
def test_results_at_every_batch_size_are_those_of_the_eager_function(function):
    static = compile(function)
    for rows in (6, 7, 5, 3, 1000):
        x = torch.randn(rows, 4)
        np.testing.assert_allclose(static(x).item(), function(x).item(), rtol=1e-5)


def lstm():
    class Last(nn.Module):
        def forward(self, pair):
            return pair[0][:, -1]

    return [nn.Unflatten(1, (2, 2)), nn.LSTM(2, 5, batch_first=True), Last(), nn.Linear(5, 3)]


def convolutional():
    return [nn.Unflatten(1, (1, 2, 2)), nn.Conv2d(1, 3, 2), nn.BatchNorm2d(3), nn.Flatten(), nn.Linear(3, 3)]


@pytest.mark.parametrize("layers", [lambda: None, lstm, convolutional])
def test_a_step_has_the_losses_of_eager_at_every_batch_size(layers):
    losses = []
    for place in (2, 3):
        torch.manual_seed(0)
        run = training(layers=layers())[place]
        losses.append([run(*batch(rows)).item() for rows in (6, 4, 9, 2, 6, 31)])
    np.testing.assert_allclose(losses[1], losses[0], rtol=3e-6)
    assert len(run.plans) == 5


def test_many_signatures_warn_unless_they_are_wanted():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for settings in ({}, {"dynamic": True}):
            f = compile(lambda x: x * 2, **settings)
            results = [f(torch.ones(rows)).sum().item() for rows in range(10)]
            assert results == [2 * rows for rows in range(10)]
    assert [each.category for each in caught] == [RecompileWarning]


def test_a_replaced_array_is_bound_anew():
    model = nn.Linear(3, 2)
    static = compile(model)
    x = torch.randn(4, 3)
    static(x)
    model.weight.data = torch.randn(2, 3)
    assert torch.equal(static(x), model(x))
    model.load_state_dict(nn.Linear(3, 2).state_dict())
    np.testing.assert_allclose(static(x).detach(), model(x).detach(), rtol=1e-6)
    assert len(static.plans) == 1


def test_arguments_and_results_may_be_nested():
    @compile
    def f(pair, scale=1.0, *, named):
        return {"sum": pair[0] + pair[1], "rest": [named["x"] * scale, "words", None]}

    a, b = torch.ones(2), torch.arange(2.0)
    found = f((a, b), 3.0, named={"x": b})
    assert found["sum"].tolist() == [1, 2] and found["rest"][0].tolist() == [0, 3]
    assert found["rest"][1:] == ["words", None]


# ---------------------------------------------------------------- what a run leaves behind


def test_settings_of_an_optimizer_may_change_between_runs():
    runs = []
    for compiled in (False, True):
        torch.manual_seed(0)
        w = torch.randn(3, requires_grad=True)
        optimizer = torch.optim.AdamW([w], 0.1, weight_decay=0.01)

        def step(x, w=w, optimizer=optimizer):
            optimizer.zero_grad()
            ((w * x) ** 2).sum().backward()
            optimizer.step()

        run = compile(step) if compiled else step
        for place in range(8):
            if place == 5:
                optimizer.param_groups[0].update(lr=0.5, betas=(0.5, 0.9), weight_decay=0.0)
            run(torch.full((3,), 1.0 + place))
        runs.append((w.detach().numpy(), optimizer.state[w]["step"].item()))
    np.testing.assert_allclose(runs[1][0], runs[0][0], rtol=2e-6)
    assert runs[0][1] == runs[1][1] == 8


def load_older_state(model, optimizer):
    optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))


def freeze(model, optimizer):
    model[0].requires_grad_(False)


def replace_layer(model, optimizer):
    model[0] = nn.Linear(4, 8)
    optimizer.add_param_group({"params": list(model[0].parameters())})


def replace_activation(model, optimizer):
    model[1] = nn.ReLU()


def whole_number(model, optimizer):
    optimizer.param_groups[0].update(lr=1, maximize=True)


@pytest.mark.parametrize(
    "change", (load_older_state, freeze, replace_layer, replace_activation, whole_number)
)
def test_a_program_that_changes_between_runs_is_traced_again(change):
    losses = []
    for place in (2, 3):
        model, _, _, _ = run = training()
        optimizer = run[1]
        optimizer.param_groups[0]["momentum"] = 0.9
        for step in range(7):
            if step == 4:
                torch.manual_seed(2)
                change(model, optimizer)
            losses.append(run[place](*batch(seed=step)).item())
    np.testing.assert_allclose(losses[7:], losses[:7], rtol=1e-6)


def test_globals_and_attributes_may_be_exchanged_as_by_a_cell_that_runs_again(monkeypatch):
    def scaled(x):
        return LAYER(x) * SCALE

    static, x = compile(scaled), torch.tensor([-1.0, 1.0])
    assert static(x).tolist() == scaled(x).tolist() == pytest.approx([-0.2, 2])
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert static(x).tolist() == pytest.approx([-0.3, 3])
    monkeypatch.setitem(globals(), "LAYER", nn.LeakyReLU(0.2))
    assert static(x).tolist() == pytest.approx([-0.6, 3])
    LAYER.negative_slope = 0.5
    assert static(x).tolist() == pytest.approx([-1.5, 3])
    offset, rates = 1.0, [1.0]
    static = compile(lambda x: (x + offset) * rates[0])
    assert static(x).tolist() == [0, 2]
    offset, rates[0] = 2.0, 3.0
    assert static(x).tolist() == [3, 9]
    settings, array = {"beta": 1.0}, np.ones(2, np.float32)

    def helped(x):
        return x * settings["beta"] + torch.from_numpy(array)

    static = compile(lambda x: helped(x))
    assert static(x).tolist() == [0, 2]
    settings["beta"], array[:] = 2.0, 3
    assert static(x).tolist() == [1, 5]


def test_a_method_can_be_compiled_and_a_module_keeps_its_attributes():
    class Scaled(nn.Module):
        scale, seen = 2.0, 0

        @compile
        def forward(self, x):
            return x * self.scale

        @compile
        def counted(self, x):
            self.seen += 1
            return x

    model = torch.compile(Scaled(), backend="autokit")
    assert model.eval().training is False and model(torch.ones(2)).tolist() == [2, 2]
    model.function.scale = 3.0
    assert model(torch.ones(2)).tolist() == [3, 3]
    with pytest.raises(StaticError, match="the function changes seen"):
        model.counted(torch.ones(2))


OUTSIDE = {
    "copied": (torch.ones(3), lambda x, w: torch.zeros(3).copy_(w) + x),
    "written": (torch.ones(3), lambda x, w: x.clone().index_put_((torch.tensor([0]),), w[:1])),
    "places": (torch.tensor([0, 1]), lambda x, places: x[places]),
    "mask": (torch.tensor([1, 0, 1]), lambda x, mask: x.masked_fill(mask.bool(), 0.0)),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_tensor_from_outside_is_read_in_each_run_however_it_takes_part(name):
    held, function = [OUTSIDE[name][0]], OUTSIDE[name][1]
    static, x = compile(lambda x: function(x, held[0])), torch.arange(3.0)
    for _ in range(3):
        np.testing.assert_allclose(static(x), function(x, held[0]))
        held[0].copy_((held[0] + 1) % 3)
    refused = compile(lambda x: x * held[0][0].item())
    with pytest.raises(Untraceable, match="ask for its number outside"):
        refused(x)


def test_a_view_of_a_constant_sees_what_is_written_to_it():
    def written(x):
        y = torch.zeros(2, 2)
        same = y.squeeze(0)
        y[0] = x
        return same * 1

    static = compile(written)
    for number in (1.0, 2.0):
        assert static(torch.full((2,), number)).tolist() == [[number, number], [0, 0]]


def test_a_hook_is_refused_whenever_it_comes():
    model, _, _, static = training()
    for _ in range(2):
        static(*batch())
        handle = model[0].register_forward_hook(print)
        with pytest.raises(StaticError, match="a hook runs in Python"):
            static(*batch())
        handle.remove()


def test_an_optimizer_that_replaces_its_state_is_refused():
    class Momentum(torch.optim.Optimizer):
        def step(self):
            for param in self.param_groups[0]["params"]:
                old = self.state[param].get("velocity", torch.zeros(2))
                self.state[param]["velocity"] = old * 0.9 + param.grad
                param.data -= 0.1 * self.state[param]["velocity"]

    weight = torch.ones(2, requires_grad=True)
    optimizer = Momentum([weight], {})

    @compile
    def step(x):
        optimizer.zero_grad()
        (weight * x).sum().backward()
        optimizer.step()

    step(torch.ones(2))
    velocity = optimizer.state[weight]["velocity"]
    with pytest.raises(StaticError, match="change them in place"):
        step(torch.ones(2))
    assert optimizer.state[weight]["velocity"] is velocity and velocity.tolist() == [1, 1]


def test_an_optimizer_of_ones_own_may_multiply_its_rate_with_tensors():
    class Descent(torch.optim.Optimizer):
        @torch.no_grad()
        def step(self):
            for param in self.param_groups[0]["params"]:
                rate = self.param_groups[0]["lr"]
                param.sub_(rate * param.grad).mul_(1 - rate / 4)

    def trained(change):
        weight = torch.ones(2, requires_grad=True)
        optimizer = Descent([weight], {"lr": 0.5})

        def step(x):
            optimizer.zero_grad()
            (weight * x).sum().backward()
            optimizer.step()

        run = change(step)
        for rate in (0.5, 0.25, 0.125):
            optimizer.param_groups[0]["lr"] = rate
            run(torch.tensor([1.0, -2.0]))
        return weight.tolist()

    assert trained(compile) == trained(lambda step: step)


def test_draws_go_on_with_the_stream_of_the_eager_run():
    def noise(x, n):
        return x + torch.rand(3), torch.randn(n), torch.randint(0, 9, (2,)), torch.bernoulli(x), F.dropout(x)

    static, x = compile(noise), torch.full((3,), 0.5)
    torch.manual_seed(3)
    wanted = [noise(x, 5) for _ in range(3)]
    torch.manual_seed(3)
    found = [static(x, 5) for _ in range(3)]
    for one, other in zip(wanted, found):
        assert all(map(torch.equal, one, other))


def test_an_eager_graph_notices_that_a_compiled_step_changed_its_parameters():
    model, _, _, static = training()
    x, t = batch()
    static(x, t)
    loss = model(x).square().sum()
    static(x, t)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_globals_and_buffers_are_states():
    count, total = torch.zeros(()), torch.zeros(3)

    @compile
    def f(x):
        total.add_(x)
        count[...] = count + 1
        total[0] = 10.0
        return total / count

    results = [f(torch.full((3,), float(n))).tolist() for n in (1, 2, 3)]
    np.testing.assert_allclose(results, [[10, 1, 1], [5, 1.5, 1.5], [10 / 3, 2, 2]], rtol=1e-6)
    assert count.item() == 3 and total.tolist() == [10, 6, 6]


WAYS = {
    "hybridize": lambda model: model.hybridize(),
    "torch.compile": lambda model: torch.compile(model, backend="autokit"),
    "compile": compile,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_compiled_module_learns_by_a_backward_pass_outside(way):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 3))
    twin = copy.deepcopy(model)
    run = WAYS[way](twin)
    losses = []
    for net, forward in ((model, model), (twin, run)):
        optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
        torch.manual_seed(1)
        for _ in range(5):
            x = torch.randn(6, 4, requires_grad=True)
            loss = F.cross_entropy(forward(x), torch.tensor([0, 1, 2, 0, 1, 2]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append((loss.item(), x.grad.sum().item()))
    np.testing.assert_allclose(losses[5:], losses[:5], rtol=1e-6)
    if way == "hybridize":
        assert "forward" not in copy.deepcopy(twin).hybridize(False).__dict__


def test_torch_compile_returns_the_function_unless_it_is_asked_for():
    assert torch.compile(torch.sin) is torch.sin and torch.compile()(torch.sin) is torch.sin
    assert torch.compile(torch.sin, backend="autokit")(torch.zeros(2)).tolist() == [0, 0]


# ---------------------------------------------------------------- what it shows


def test_check_compares_with_eager_and_leaves_all_as_it_was():
    model, _, _, static = training(layers=[nn.Linear(4, 3), nn.Dropout(0.5)])
    static(*batch())
    example = batch(seed=5)
    before, stream = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    static.check(*example)
    assert all([torch.equal(value, before[key]) for key, value in model.state_dict().items()])
    assert torch.equal(torch.get_rng_state(), stream)
    right = static.last.run
    static.last.run = lambda *arrays: tuple([each + 1 for each in right(*arrays)])
    with pytest.raises(StaticError, match="the code that is made of them is wrong"):
        static.check(*batch(seed=6))


def test_check_names_the_line_at_which_a_fixed_number_has_changed():
    scale = ([2.0],)
    static = compile(lambda x: (torch.sin(x) * scale[0][0]).sum())
    static(torch.ones(3))
    scale[0][0] = 3.0
    words = r"scale\[0\]\[0\]\)\.sum\(\)\)\n .*multiply, is the first node that differs"
    with pytest.raises(StaticError, match=words):
        static.check(torch.ones(3))
    removed, added = static.passes[0].before.diff(static.graph).split("\n")[:2]
    assert removed[0] == "-" and added[0] in "-+"


def test_explain_lists_signatures_passes_times_and_fixed_numbers():
    weights = np.ones(4, np.float32)
    static = compile(lambda x: (x * torch.from_numpy(weights) * 2.5).sum())
    static(torch.ones(2, 4))
    text = static.explain()
    assert "built for [2, 4]" in text and "tracing:" in text and "fixed: float32[4]" in text
    assert "fixed: 2.5, test_step.py" in text
    assert "dead code" in text and "def " in static.source


def test_steps_yield_each_node_with_its_value():
    static = compile(lambda x: (x * 2).sum())
    static(torch.ones(3))
    values = [value for _, value in static.steps(torch.arange(3.0))]
    assert float(values[-1]) == 6


def test_a_variable_of_an_outer_function_may_be_called_training():
    training = True

    @compile
    def step(x):
        nonlocal training
        training = False
        return x + 1

    with pytest.raises(StaticError, match="the function changes training"):
        step(torch.ones(2))
