"""Lesson 13, dynamic graphs."""

from tests.lessons import Answers

ONE_WALK = """def embed(tree):
    if tree in ("yes", "no"):
        return words[tree]
    if tree[0] == "not":
        return rules["not"](embed(tree[1]))
    left, right = embed(tree[1]), embed(tree[2])
    return rules[tree[0]](torch.cat((left, right), dim=-1))"""
SHORT = """def embed(t):
    return words[t] if isinstance(t, str) else rules[t[0]](torch.hstack([embed(part) for part in t[1:]]))"""
LAMBDA = "embed = lambda t: words[t] if t in words else rules[t[0]](torch.cat([*map(embed, t[1:])]))"

ANSWERS = {
    "guess": Answers(
        right=['first_guess = "a"', "first_guess = 'A'", 'first_guess = ["a"]'],
        wrong={
            'first_guess = "b"': "could mix 20 with 30",
            'first_guess = "c"': "in which the jump would have to be recorded",
            'first_guess = "20"': "none of the options",
        },
    ),
    "exercise-1": Answers(
        right=[
            "at_the_kink, of_round = 2, 0",
            'at_the_kink, of_round = "2", [0.0]',
            "at_the_kink, of_round = torch.tensor(2.0), -0.0",
        ],
        wrong={
            "at_the_kink, of_round = 3.5, 0": "the mean of both sides",
            "at_the_kink, of_round = 0.5, 0": "That halves something",
            "at_the_kink, of_round = 7, 0": "How many pieces ran?",
            "at_the_kink, of_round = 5, 0": "Is 0 > 0?",
            "at_the_kink, of_round = 0, 0": "That is the value. How fast",
            'at_the_kink, of_round = "undefined", 0': "but the program ran, and left a record",
            'at_the_kink, of_round = float("nan"), 0': "but the program ran, and left a record",
            "at_the_kink, of_round = 2, 1": "What happens if 2.7 moves by 0.01?",
            "at_the_kink, of_round = 2, 3": "That is the value.",
            "at_the_kink, of_round = 2, 0.3": "how far 3 is",
            'at_the_kink, of_round = 2, "undefined"': "Where are we?",
        },
    ),
    "exercise-2": Answers(
        right=['rounds = "c"', 'rounds = "(C)"', 'rounds = ["c"]'],
        wrong={
            'rounds = "a"': "which box has an arrow",
            'rounds = "b"': "How many numbers of rounds did the engine see?",
            'rounds = "d"': "Compare the two columns",
        },
    ),
    "exercise-3": Answers(
        right=[ONE_WALK, SHORT, LAMBDA],
        wrong={
            SHORT.replace("rules[t[0]]", 'rules["not" if t[0] == "not" else "and"]'): "a network of its own",
            SHORT.replace("rules[t[0]]", 'rules["and"]'): "a network of its own",
            SHORT.replace("torch.hstack([embed(part) for part in t[1:]])", "sum(map(embed, t[1:]))"): (
                "in a sum nobody can tell which was left"
            ),
            SHORT.replace("t[1:]", "t[:0:-1]"): "The parts changed places",
            SHORT.replace("embed(part) for", "embed(part).detach() for"): "lost its record on the way up",
            SHORT.replace("embed(part) for", "torch.tensor(embed(part).tolist()) for"): "lost its record",
            SHORT.replace("embed(part) for", "embed(part).item() for"): "raises RuntimeError",
            SHORT.replace("t[1:]", "t"): "does a rule with two parts need?",
            LAMBDA.replace("t[1:]", "t[1:2]"): "takes all its parts",
            "def embed(tree):\n    return words[tree]": "does a rule with two parts need?",
            "def embed(tree):\n    print(words[tree])": "write return in place of print",
        },
    ),
    "again": Answers(
        right=['second_guess = "c"', 'second_guess = "C"', "second_guess = 'c '"],
        wrong={
            'second_guess = "a"': "what another parameter receives",
            'second_guess = "b"': "an arrow that leaves up",
            "second_guess = None": "Not answered yet",
        },
    ),
}
