"""Lesson 18, an elective: more processors."""

from tests.lessons import Answers

BY_SIZES = """def averaged(shares):
    count = sum(len(labels) for pixels, labels in shares)
    return sum(len(share[1]) * worker(0, *share) for share in shares) / count"""
STACKED = """def averaged(pairs):
    sizes = torch.tensor([float(len(labels)) for _, labels in pairs]).double()
    gradients = torch.stack([worker(0, pixels, labels) for pixels, labels in pairs])
    return sizes / sizes.sum() @ gradients"""
LOOP = """def averaged(shares):
    total, count = torch.zeros(10, dtype=torch.float64), 0
    for pixels, labels in shares:
        total += worker(seed=0, pixels=pixels, labels=labels) * labels.numel()
        count += labels.shape[0]
    return (total / count).numpy()"""
MEAN = """def averaged(shares):
    return sum(worker(0, *share) for share in shares) / len(shares)"""
RING = "exchanges, bytes_at_once, bytes_in_all = 14, 500_000, 7_000_000"


def seeded(answer: str) -> str:
    """The answer with another network for each worker."""
    return answer.replace("0, *share) for share in shares", "k, *share) for k, share in enumerate(shares)")


ANSWERS = {
    "guess": Answers(
        right=['first_guess = "b"', 'first_guess = "B"', "first_guess = ['b']"],
        wrong={
            'first_guess = "a"': "what the two have to do that one alone has not",
            'first_guess = "c"': "done faster than by halves",
        },
    ),
    "exercise-1": Answers(
        right=[BY_SIZES, STACKED, LOOP],
        wrong={
            MEAN.replace(" / len(shares)", ""): "Is a sum of means a mean?",
            MEAN: "Should the 4 digits of one count as much as the 32 of another?",
            BY_SIZES.replace(" / count", ""): "By what is it too large?",
            MEAN.replace("len(shares)", "64"): "the mean of its share already",
            seeded(MEAN): "Did all workers begin with the same network?",
            seeded(BY_SIZES): "Did all workers begin with the same network?",
            "def averaged(shares):\n    return worker(0, *shares[0])": "How many digits does each gradient",
            MEAN.replace("return ", "print(") + ")": "write return in place of print",
            MEAN.replace("len(shares)", "len(share)"): "raises NameError",
        },
    ),
    "exercise-2": Answers(
        right=[
            RING,
            'exchanges, bytes_at_once, bytes_in_all = "14", 5e5, [7e6]',
            "exchanges = 2 * 7\nbytes_at_once = torch.tensor(4e6) / 8\nbytes_in_all = exchanges * 500_000.0",
        ],
        wrong={
            RING.replace("14", "8"): "Was it 4?",
            RING.replace("14", "64"): "All send at once",
            RING.replace("14", "7"): "Who has all of them?",
            RING.replace("14", "16"): "Count the exchanges of the picture",
            RING.replace(" 500_000", " 4_000_000"): "Which part of it travels?",
            RING.replace(" 500_000", " 125_000"): "So many numbers. And bytes?",
            RING.replace(" 500_000", " 1_000_000"): "A quarter is right for four workers",
            RING.replace("7_000_000", "3_500_000"): "That is the first half",
            RING.replace("7_000_000", "4_000_000"): "And the finished sums?",
            RING.replace("7_000_000", "8_000_000"): "Near. How many exchanges are there?",
            RING.replace("7_000_000", "56_000_000"): "all eight send together",
            RING.replace("7_000_000", "1_750_000"): "So many numbers. And bytes?",
        },
    ),
    "exercise-3": Answers(
        right=['timed = "c"', 'timed = "C"', "timed = ['c']"],
        wrong={
            'timed = "a"': "Does the program stand still meanwhile?",
            'timed = "b"': "What does the clock of the program see of them?",
            "timed = 50": "none of the options",
        },
    ),
    "exercise-4": Answers(
        right=['equal = "c"', 'equal = "C"', "equal = ['c']"],
        wrong={
            'equal = "a"': "What does batch norm subtract?",
            'equal = "b"': "Is a digit's loss still the same in another share?",
        },
    ),
    "again": Answers(
        right=['second_guess = "b"', 'second_guess = "B"', "second_guess = ['b']"],
        wrong={
            'second_guess = "a"': "Does a ring of twelve send for half as long",
            'second_guess = "c"': "Among how many now?",
        },
    ),
}
