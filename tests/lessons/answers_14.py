"""Lesson 14, static graphs."""

from tests.lessons import Answers

SAFE = """def bend(x):
    up = x.sum() > 0
    return torch.where(up, torch.where(up, x, torch.ones_like(x)).sqrt(), -x)"""
CLAMPED = "bend = lambda x: torch.where(x.sum() > 0, x.clamp(min=1e-3) ** 0.5, -x)"
ABSOLUTE = "def bend(values):\n    return torch.where(values.sum() > 0, values.abs().sqrt(), 0 - values)"

WATCHED = """culprit = "logs"
def watched(x):
    shares = x / tf.reduce_sum(x)
    logs = tf.Print(tf.log(shares), [tf.log(shares)], "logs: ")
    return -tf.reduce_sum(shares * logs)"""
UNUSED = """culprit = "logs"
def watched(x):
    shares = x / tf.reduce_sum(x)
    logs = tf.log(shares)
    tf.Print(logs, [logs], "logs: ")
    return -tf.reduce_sum(shares * logs)"""
TIED = UNUSED.replace("    tf.Print", "    said = tf.Print").replace("shares * logs", "shares * said")
GATED = TIED.replace(
    "    return", "    with tf.control_dependencies([said]):\n        logs = tf.identity(logs)\n    return"
)

FOLD = """def fold(graph):
    folded = graph.copy()
    for node in folded.nodes:
        if node.kind == "call" and all(each.kind == "const" for each in node.args):
            node.value = node.function(*[each.value for each in node.args])
            node.kind, node.args = "const", ()
    folded.nodes = folded.needed(folded.roots())
    return folded"""
IN_PLACE = FOLD.replace("graph.copy()", "graph")
BY_NAMES = """def fold(graph):
    new = graph.copy()
    known = {node: node.value for node in new.nodes if node.kind == "const"}
    for node in new.nodes:
        if node.kind == "call" and set(node.args) <= set(known):
            known[node] = node.value = node.function(*map(known.get, node.args))
            node.kind, node.args = "const", ()
    keep = new.needed(new.roots())
    new.nodes = [node for node in new.nodes if node in keep]
    return new"""
CONST = 'each.kind == "const"'

ANSWERS = {
    "guess": Answers(
        right=['first_guess = "c"', 'first_guess = "C"', "first_guess = ['c']"],
        wrong={
            'first_guess = "a"': "count the lines there",
            'first_guess = "b"': "what a value is while a graph is built",
            'first_guess = "d"': "who runs the function",
        },
    ),
    "exercise-1": Answers(
        right=["times = 1", 'times = "1"', "times = np.array([1.0])"],
        wrong={
            "times = 10": "Does it call define?",
            "times = 0": "is it Python that goes through its lines?",
            "times = 11": "Who calls define?",
        },
    ),
    "exercise-2": Answers(
        right=[SAFE, CLAMPED, ABSOLUTE],
        wrong={
            "bend = lambda x: torch.where(x.sum() > 0, x.sqrt(), -x)": "through it is 0 · NaN",
            "def bend(x):\n    return x.sqrt() if x.sum() > 0 else -x": "raises Untraceable",
            "def bend(x):\n    return x.sqrt()": "That is one side for all feeds",
            "def bend(x):\n    return -x": "That is one side for all feeds",
            "bend = lambda x: torch.where(x.sum() > 0, x.abs().sqrt(), x)": "Which sign has the other side?",
            "bend = lambda x: (x.sum() > 0) * x.abs().sqrt() - (x.sum() <= 0) * x": "the graph has no where",
            "bend = lambda x: torch.where(x.sum() > 0, x.detach().abs().sqrt(), -x)": "the gradient",
        },
    ),
    "exercise-3": Answers(
        right=[WATCHED, TIED, GATED],
        wrong={
            UNUSED: "No run needs the result of your Print",
            UNUSED.replace('tf.Print(logs, [logs], "logs: ")', "print(logs)"): "Python's print spoke while",
            TIED.replace("[logs]", "[shares]"): "Who reads the result of your Print, and what does it print?",
            TIED.replace("shares * said", "said"): "in the result, the value differs",
            TIED.replace('"logs"\n', '"shares"\n'): "are 0.25, 0 and 0.75 ordinary numbers?",
            TIED.replace('"logs"\n', '"terms"\n'): "Where did −inf come from?",
            TIED.replace('"logs"\n', '"result"\n'): "Look further up",
            TIED.replace("log(", "logarithm("): "raises AttributeError",
        },
    ),
    "exercise-4": Answers(
        right=[FOLD, IN_PLACE, BY_NAMES],
        wrong={
            FOLD.replace(CONST, 'each.kind in ("const", "input")'): "An input's value is an example",
            FOLD.replace(CONST, 'each.kind in ("const", "draw")'): "A draw differs in each run",
            FOLD.replace(CONST, "each.value is not None"): "An input's value is an example",
            FOLD.replace(
                'node.kind == "call"', 'node.kind in ("call", "draw")'
            ): "A draw differs in each run",
            FOLD.replace(
                'node.kind == "call" and all', 'node.kind == "draw" or node.kind == "call" and all'
            ): ("A draw differs in each run"),
            FOLD.replace("    folded.nodes = folded.needed(folded.roots())\n", ""): "Who reads 2 and 3 now?",
            "def fold(graph):\n    return graph": "Is 2 * 3 a call still?",
            FOLD.replace("    return folded", ""): "does it end with return?",
        },
    ),
    "exercise-5": Answers(
        right=['built = "bc"', 'built = ["c", "b"]', 'built = "b and c"', 'built = ("B", "C")'],
        wrong={
            'built = "a"': "Are they in the signature?",
            'built = "b"': "a branch that was never traced",
            'built = "c"': "arrays that were planned for three numbers",
            'built = "ab"': "what a placeholder is for",
            'built = "ac"': "what a placeholder is for",
            'built = "abc"': "when would one be used again?",
            'built = "none"': "Is a graph for three numbers fit for two?",
        },
    ),
    "again": Answers(
        right=['second_guess = "b"', 'second_guess = "(b)"', "second_guess = ['B']"],
        wrong={
            'second_guess = "a"': "Who would ask whether epoch > 30",
            'second_guess = "c"': "The graph knows of no epoch",
        },
    ),
}
