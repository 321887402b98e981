"""What a net can be asked besides its hidden states: words, whether two sentences belong together, labels, answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from bough.core.embed import Table, WordClusters
from bough.core.feed import Elementwise
from bough.packed import Packed

Stream = Float[Tensor, "tokens width"]
Vectors = Float[Tensor, "sequences width"]
Scores = Float[Tensor, "..."]
Read = Callable[[Stream, Packed], Vectors]


def first(x_TW: Stream, batch: Packed) -> Vectors:
    """The state of each sequence's first token."""
    return x_TW[batch.offsets[:-1]]


def last(x_TW: Stream, batch: Packed) -> Vectors:
    """The state of each sequence's last token."""
    return x_TW[batch.offsets[1:] - 1]


def mean(x_TW: Stream, batch: Packed) -> Vectors:
    """The mean state of each sequence."""
    sums = x_TW.new_zeros(len(batch.lengths), x_TW.shape[1]).index_add(0, batch.sequences, x_TW)
    return sums / batch.offsets.diff()[:, None]


def largest(x_TW: Stream, batch: Packed) -> Vectors:
    """The largest value of each column over each sequence."""
    rows = batch.sequences[:, None].expand_as(x_TW)
    return x_TW.new_zeros(len(batch.lengths), x_TW.shape[1]).scatter_reduce(0, rows, x_TW, "amax", include_self=False)


READS: dict[str, Read] = {"mean": mean, "first": first, "last": last, "max": largest}
"""The readings that a sentence encoder may have, by name."""


class Pooler(nn.Module):
    """The first token's state, through a linear layer and tanh."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dense = nn.Linear(width, width)

    def forward(self, x_TW: Stream, batch: Packed) -> Vectors:
        return torch.tanh(self.dense(first(x_TW, batch)))


class Hidden(nn.Linear):
    """A linear layer between the trunk and the scores: dropout before, activation behind."""

    def __init__(self, inputs: int, outputs: int, activation: Elementwise, dropout: float = 0.0) -> None:
        super().__init__(inputs, outputs)
        self.dropout = nn.Dropout(dropout)
        self.activation = activation

    def forward(self, input: Float[Tensor, "rows inputs"]) -> Float[Tensor, "rows outputs"]:  # noqa: A002  # torch's name for it
        return self.activation(super().forward(self.dropout(input)))


class Scoring(nn.Module):
    """A score for every word at every position, by a table and what is added to it."""

    def __init__(self, transform: nn.Module, norm: nn.Module, scale: float, shifted: int) -> None:
        super().__init__()
        self.transform = transform
        self.norm = norm
        self.scale = scale
        self.shift: Tensor | None
        self.register_buffer("shift", torch.empty(1, shifted) if shifted else None)

    def table(self) -> tuple[Tensor, Tensor | None]:
        """The vector of every word, and its bias where there is one."""
        raise NotImplementedError

    def forward(self, x_TW: Stream, batch: Packed) -> Scores:
        weight_VW, bias_V = self.table()
        states_TW = self.norm(self.transform(x_TW)) * self.scale
        return F.linear(states_TW, weight_VW, bias_V if self.shift is None else self.shift[0])


class TiedWords(Scoring):
    """By the table that embeds the words."""

    def __init__(
        self, transform: nn.Module, norm: nn.Module, table: Table, bias: nn.Parameter | None, scale: float, shifted: int
    ) -> None:
        super().__init__(transform, norm, scale, shifted)
        # In a tuple, torch does not register the table a second time: files know it by one name.
        self.tables = (table,)
        self.bias = bias

    def table(self) -> tuple[Tensor, Tensor | None]:
        return self.tables[0].weight, self.bias


class UntiedWords(Scoring):
    """By a table of their own."""

    def __init__(self, transform: nn.Module, norm: nn.Module, project: nn.Linear, shifted: int) -> None:
        super().__init__(transform, norm, 1.0, shifted)
        self.project = project

    def table(self) -> tuple[Tensor, Tensor | None]:
        return self.project.weight, self.project.bias


class AdaptiveWords(nn.Module):
    """The log-probability of every word at every position, rare words' from clusters behind narrower projections."""

    def __init__(self, transform: nn.Module, norm: nn.Module, adaptive: nn.AdaptiveLogSoftmaxWithLoss) -> None:
        super().__init__()
        self.transform = transform
        self.norm = norm
        self.adaptive = adaptive

    def forward(self, x_TW: Stream, batch: Packed) -> Scores:
        return self.adaptive.log_prob(self.norm(self.transform(x_TW)))


class Biased(nn.Module):
    """A number for each word of a table, and the table where it is not the embedding's."""

    def __init__(self, words: int, width: int, tied: bool) -> None:
        super().__init__()
        self.weight = None if tied else nn.Parameter(torch.empty(words, width))
        self.bias = nn.Parameter(torch.empty(words))


class ClusteredWords(nn.Module):
    """The log-probability of every word at every position: of frequent words and of clusters, then within clusters."""

    def __init__(
        self, cutoffs: Sequence[int], tables: Sequence[Biased], projects: Mapping[int, Table], clusters: nn.Module,
        embedding: WordClusters,
    ) -> None:  # fmt: skip
        super().__init__()
        self.cutoffs = tuple(cutoffs)
        self.tables = nn.ModuleList(tables)
        self.projects = nn.ModuleDict({str(i): table for i, table in projects.items()})
        self.clusters = clusters
        # In a tuple, torch does not register what the embedding has a second time: files know it by one name.
        self.embeddings = (embedding,)

    def forward(self, x_TW: Stream, batch: Packed) -> Scores:
        parts = self.scored(x_TW)
        frequent = F.log_softmax(next(parts), -1)
        shortlist = frequent.shape[1] - len(self.cutoffs)
        within = (F.log_softmax(part, -1) + frequent[:, shortlist + i, None] for i, part in enumerate(parts))
        return torch.cat((frequent[:, :shortlist], *within), -1)

    def scored(self, x_TW: Stream) -> Iterator[Scores]:
        """The scores of frequent words with those of the clusters behind them; then of each cluster's words."""
        for i, (weight, bias) in enumerate(self.weighed()):
            projected = self.projected(x_TW, i)
            words = F.linear(projected, weight, bias)
            yield torch.cat((words, self.clusters(projected)), -1) if i == 0 and self.cutoffs else words

    def weighed(self) -> Iterator[tuple[Tensor, Tensor]]:
        """The vectors and biases of each cluster's words, in tables of their own or stretches of the one there is."""
        own, shared = cast("list[Biased]", list(self.tables)), self.embeddings[0].vectors()
        vectors = [both if one.weight is None else one.weight for one, both in zip(own, shared, strict=True)]
        biases = [one.bias for one in own]
        if len(own) > 1:
            yield from zip(vectors, biases, strict=True)
            return
        starts, ends = (0, *self.cutoffs), (*self.cutoffs, len(biases[0]))
        yield from ((vectors[0][a:b], biases[0][a:b]) for a, b in zip(starts, ends, strict=True))

    def projected(self, x_TW: Stream, cluster: int) -> Float[Tensor, "tokens narrow"]:
        """States in the width of a cluster's vectors."""
        if str(cluster) in self.projects:
            return x_TW @ cast("Table", self.projects[str(cluster)]).weight
        shared = self.embeddings[0].projects
        project = shared[min(cluster, len(shared) - 1)]
        return x_TW @ project.weight if isinstance(project, nn.Linear) else x_TW


class EachSequence(nn.Module):
    """Scores of each sequence: one for each label, or for its two sentences belonging together or not."""

    def __init__(self, read: Read, hidden: nn.Module, dropout: float, out: nn.Linear, activation: Elementwise) -> None:
        super().__init__()
        self.read = read
        self.hidden = hidden
        self.dropout = nn.Dropout(dropout)
        self.out = out
        self.activation = activation

    def forward(self, x_TW: Stream, batch: Packed) -> Scores:
        return self.activation(self.out(self.dropout(self.hidden(self.read(x_TW, batch)))))


class EachToken(nn.Module):
    """Scores of each token: one for each label, or for an answer starting and ending there."""

    def __init__(self, dropout: float, out: nn.Linear) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.out = out

    def forward(self, x_TW: Stream, batch: Packed) -> Scores:
        return self.out(self.dropout(x_TW))
