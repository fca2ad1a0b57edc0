"""A softmax over very many classes that computes few of them: rare classes stand in clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from autokit.nn import functional
from autokit.nn.container import ModuleList, Sequential
from autokit.nn.linear import Linear
from autokit.nn.module import Module
from autokit.ops.filled import zeros
from autokit.ops.join import cat
from autokit.tensor import Tensor


class ASMoutput(NamedTuple):
    """The log-probability of each target, and the mean loss."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The log-probabilities of many classes, sorted by how often they come.

    The head decides among the most frequent classes and the clusters of the others; a cluster is looked into
    only for targets inside of it, and the rarer its classes, the narrower it is.

    Parameters
    ----------
    in_features, n_classes : int
    cutoffs : sequence of int
        Where clusters begin: the classes below the first one are in the head.
    div_value : float
        How many times narrower each cluster is than the one before.
    head_bias : bool
        Whether the head has a bias.
    device, dtype : optional
        Of the parameters.

    References
    ----------
    E. Grave et al., "Efficient softmax approximation for GPUs", ICML 2017.

    Examples
    --------
    >>> import autokit as torch
    >>> layer = AdaptiveLogSoftmaxWithLoss(8, 20, cutoffs=[5, 10])
    >>> output, loss = layer(torch.randn(4, 8), torch.tensor([0, 4, 7, 19]))
    >>> output.shape, layer.log_prob(torch.randn(4, 8)).shape
    (torch.Size([4]), torch.Size([4, 20]))
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if len(cutoffs) == 0:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(cutoffs)
            or min(cutoffs) <= 0
            or max(cutoffs) > n_classes - 1
            or len(set(cutoffs)) != len(cutoffs)
            or any(int(each) != each for each in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                "where each value is between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for place in range(self.n_clusters):
            width = int(in_features // (div_value ** (place + 1)))
            size = self.cutoffs[place + 1] - self.cutoffs[place]
            self.tail.append(
                Sequential(
                    Linear(in_features, width, False, device, dtype),
                    Linear(width, size, False, device, dtype),
                )
            )

    def reset_parameters(self) -> None:
        """Draw new first values."""
        self.head.reset_parameters()
        for narrow, classes in self.tail:  # type: ignore[misc]
            narrow.reset_parameters()
            classes.reset_parameters()

    def forward(self, input: Tensor, target: Tensor) -> ASMoutput:
        """The log-probability of each target, and the mean of the losses.

        Parameters
        ----------
        input : Tensor
            Of shape (N, in_features) or (in_features,).
        target : Tensor
            Classes, of shape (N,) or ().
        """
        if target.dim() not in (0, 1):
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        batched = target.dim() > 0
        if batched and input.shape[0] != target.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input.dim() != 1 + batched:
            words = "2D" if batched else "1D"
            raise RuntimeError(
                f"{int(batched)}D target tensor expects {words} input tensors, but found inputs with size "
                f"{input.shape}"
            )
        if not batched:
            input, target = input.unsqueeze(0), target.unsqueeze(0)
        low, high = (int(target.min()), int(target.max())) if target.numel() else (0, 0)
        if low < 0 or high >= self.n_classes:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{low}, {high}] "
                "were found. "
            )
        head = functional.log_softmax(self.head(input), 1)
        # In the head a rare class is its cluster.
        in_head = target.clone()
        rows, parts = [], []
        for place, cluster in enumerate(self.tail):
            start, end = self.cutoffs[place], self.cutoffs[place + 1]
            inside = (target.ge(start) & target.lt(end)).nonzero().squeeze(1)
            if inside.numel():
                in_head[inside] = self.shortlist_size + place
                within = functional.log_softmax(cluster(input[inside]), 1)
                rows.append(inside)
                parts.append(within.gather(1, (target[inside] - start).unsqueeze(1)).squeeze(1))
        output = head.gather(1, in_head.unsqueeze(1)).squeeze(1)
        if rows:
            found = zeros(len(target), dtype=output.dtype, device=output.device)
            output = output + found.index_put((cat(rows),), cat(parts))
        loss = (-output).mean()
        return ASMoutput(output if batched else output.squeeze(0), loss)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes, of shape (N, n_classes)."""
        return self._of_all(input, self.head(input))

    def _of_all(self, input: Tensor, head_output: Tensor) -> Tensor:
        head = functional.log_softmax(head_output, 1)
        parts = [head[:, : self.shortlist_size]]
        for place, cluster in enumerate(self.tail):
            of_cluster = head[:, self.shortlist_size + place].unsqueeze(1)
            parts.append(functional.log_softmax(cluster(input), 1) + of_cluster)
        return cat(parts, 1)

    def predict(self, input: Tensor) -> Tensor:
        """The likeliest class of each sample; clusters are looked into only where the head says so."""
        head_output = self.head(input)
        output = head_output.argmax(1)
        rare = (output >= self.shortlist_size).nonzero().squeeze(1)
        if rare.numel():
            output[rare] = self._of_all(input[rare], head_output[rare]).argmax(1)
        return output
