"""Lesson 7, a network that reads digits."""

from tests.lessons import Answers

PARTS = "def in_parts(network, optimizer, images, labels):\n    optimizer.zero_grad()\n"
LOOP = PARTS + "    for part in range(4):\n        few = slice(8 * part, 8 * part + 8)\n"
LOSS = "        loss = loss_function(network(images[few]), labels[few])\n"

ANSWERS = {
    "guess": Answers(
        right=['guess = "c"', 'guess = "C"', 'guess = ["c"]'],
        wrong={
            'guess = "a"': "Look at what each line has changed",
            'guess = "b"': "before and after that line",
            'guess = "d"': "Which part would be whose?",
        },
    ),
    "exercise-1": Answers(
        right=[
            "loss_at_the_start = 2.3",
            'loss_at_the_start = "2.30"',
            "loss_at_the_start = torch.tensor(10.0).log()",
            "import numpy as np\nloss_at_the_start = -np.log([0.1])",
        ],
        wrong={
            "loss_at_the_start = 0.1": "What does it cost?",
            "import math\nloss_at_the_start = -math.log(1 / 64)": "64 is the number of pixels",
            "import math\nloss_at_the_start = math.log10(10)": "the logarithm to base 10",
            "loss_at_the_start = 0.9": "the probability of a wrong answer",
            "import math\nloss_at_the_start = math.log(0.1)": "look again",
        },
    ),
    "exercise-2": Answers(
        right=[
            'order = "d c e a b"',
            'order = ["c", "d", "e", "a", "b"]',
            'order = "C, E, D, A, B"',
            'order = "ceabd"',
        ],
        wrong={
            'order = "c e a d b"': "What is left for step() to act on",
            'order = "d c e b a"': "What would step() act on",
            'order = "b c e a d"': "What would step() act on",
            'order = "d a c e b"': "One line needs what a later one computes",
            'order = "d e c a b"': "One line needs what a later one computes",
            'order = "c e a b"': "Use each of the five letters once",
            "order = None": "Use each of the five letters once",
        },
    ),
    "exercise-3": Answers(
        right=[
            LOOP + LOSS + "        (loss / 4).backward()",
            LOOP + LOSS + "        loss.backward(torch.tensor(0.25))",
            "def in_parts(net, o, x, y):\n    for a, b in zip(x.split(8), y.split(8)):\n"
            "        (0.25 * loss_function(net(a), b)).backward()",
            PARTS + "    total = 0\n    for few in (slice(i, i + 8) for i in range(0, 32, 8)):\n"
            "        total = total + loss_function(network(images[few]), labels[few]) / 4\n"
            "    total.backward()",
        ],
        wrong={
            LOOP + LOSS + "        loss.backward()": "the average of four averages",
            LOOP + LOSS + "        (loss / 32).backward()": "the average of four averages",
            LOOP + LOSS + "        (loss / 8).backward()": "The 8 is in each average already",
            LOOP
            + "        optimizer.zero_grad()\n"
            + LOSS
            + "        (loss / 4).backward()": "Only the last",
            LOOP + "        optimizer.zero_grad()\n" + LOSS + "        loss.backward()": "Only the last",
            LOOP + LOSS + "        (loss / 4).backward()\n        optimizer.step()": "The weights moved",
            LOOP + LOSS + "        loss.backward()\n        optimizer.step()": "The weights moved",
            PARTS + "    loss_function(network(images), labels).backward()": "saw 32 images at once",
            LOOP + LOSS: "nothing is given",
            LOOP + "        pass": "What did the network see, and when?",
            LOOP + "        loss = loss_function(network(images), labels[few])\n": "raises ValueError",
        },
    ),
    "exercise-4": Answers(
        right=['overfits = "b"', 'overfits = "(B)"', 'overfits = ("b",)'],
        wrong={
            'overfits = "a"': "What would be known by heart?",
            'overfits = "c"': "the first time?",
            'overfits = "d"': "on the network's own images",
        },
    ),
    "again": Answers(
        right=['again = "b"', 'again = "(b)"', 'again = ["B"]'],
        wrong={
            'again = "a"': "Which line applies them?",
            'again = "c"': "when nobody clears it?",
            'again = "d"': "without a step?",
        },
    ),
}
