"""Where autokit and PyTorch part on purpose: each difference with its reason, held to still occur."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass
class Difference:
    """A known difference: whose (a pattern of names), its kind, how its words or its call look, and why."""

    names: str
    kind: str
    words: str
    reason: str
    seen: list[str] = field(default_factory=list)

    def covers(self, name: str, kind: str, words: str, call: str) -> bool:
        return bool(
            re.fullmatch(self.names, name)
            and re.fullmatch(self.kind, kind)
            and (re.search(self.words, words) or re.search(self.words, call))
        )


def _d(names: str, kind: str, words: str, reason: str) -> Difference:
    return Difference(names, kind, words, reason)


DIFFERENCES = [
    _d(
        "kthvalue|sort|argsort|topk|median|nanmedian|mode",
        "result|gradient",
        "",
        "which of equal elements is free",
    ),
    _d("bincount", "result", "requires_grad False", "PyTorch marks a result that it cannot differentiate"),
    _d(
        "var_mean|std_mean|var|std",
        "result|gradient",
        "inf",
        "PyTorch's running mean makes nan of an infinite mean",
    ),
    _d(
        "ldexp_?", "result|gradient", "", "PyTorch takes the power of 2 in the exponent's own, coarser, dtype"
    ),
    _d(
        "(linalg_)?cholesky_(inverse|solve)",
        "gradient",
        "",
        "PyTorch's depends on the triangle that is not read",
    ),
    _d("cholesky_ex", "result", "", "ours fills a matrix that failed with nan; PyTorch leaves it half done"),
    _d("inv_ex|solve_ex", "result|gradient", "nan", "ours fills a matrix that failed with nan"),
    _d("eig|eigvals", "result", "complex", "autokit has no complex numbers: it refuses complex eigenvalues"),
    _d(
        "eigh|svd|qr|lu|lstsq",
        "result|gradient",
        "",
        "signs of vectors, and what of rank or residuals is left free",
    ),
    _d(
        "cummax|cummin|trapezoid|trapz|vander|lu_unpack",
        "result|gradient",
        "requires_grad",
        "where nothing learns",
    ),
    _d("unique_consecutive", "result", "", "PyTorch takes its second positional argument for return_counts"),
    _d("adaptive_max_pool\\dd|max_pool\\dd", "result|gradient", "nan|inf", "which of several nan is free"),
    _d("pixel_unshuffle|pixel_shuffle", "result", "0", "PyTorch leaves images without channels as they are"),
    _d("bucketize|searchsorted", "result", "", "boundaries that are not sorted have no answer"),
    _d("(feature_)?alpha_dropout", "refused", "", "of integers, PyTorch's gives noise without its fractions"),
    _d("multilabel_margin_loss", "result", r"\(0,", "PyTorch gives what was in memory for an empty batch"),
    _d("local_response_norm", "result", "int|bool", "PyTorch divides integers without their fractions"),
    _d("batch_norm|instance_norm", "operand", "nan", "running statistics of an empty batch"),
]
"""What stays different, and why."""
