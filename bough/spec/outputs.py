"""What a net can be asked for besides its hidden states: its heads, and how a sequence becomes one vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from bough.record import Range, Record
from bough.spec.layers import LayerNorm, Norm
from bough.spec.parts import Activation, Rate, Size, Tensors, linear

if TYPE_CHECKING:
    from bough.spec.spec import Spec


@dataclass(frozen=True)
class Pooled(Record):
    """The pooler's vector."""


@dataclass(frozen=True)
class First(Record):
    """The first token's state."""


@dataclass(frozen=True)
class Last(Record):
    """The last token's state."""


@dataclass(frozen=True)
class Mean(Record):
    """The mean of all states."""


Reading: TypeAlias = Pooled | First | Last | Mean


@dataclass(frozen=True)
class Pooler(Record):
    """The first token's state through a square linear layer and tanh; next-sentence and classification read it."""

    def tensors(self, name: str, spec: Spec) -> Tensors:
        yield from linear(f"{name}.dense", spec.width, spec.width)


@dataclass(frozen=True)
class Tied(Record):
    """Words are scored with the table that embeds them."""

    bias: bool = False
    shift: bool = False
    """Add a number to each word's score that is kept in files and never trained (BART, Marian)."""
    scaled: bool = False
    """Divide states by the root of the width before they are scored (T5)."""

    def tensors(self, name: str, spec: Spec) -> Tensors:
        if self.bias:
            yield f"{name}.bias", (spec.vocabulary,)
        if self.shift:
            yield f"{name}.shift", (1, spec.vocabulary)


@dataclass(frozen=True)
class Untied(Record):
    """Words are scored with a table of their own."""

    bias: bool = False
    shift: bool = False
    """Add a number to each word's score that is kept in files and never trained (Marian)."""

    def tensors(self, name: str, spec: Spec) -> Tensors:
        yield from linear(f"{name}.project", spec.table_width, spec.vocabulary, self.bias)
        if self.shift:
            yield f"{name}.shift", (1, spec.vocabulary)


@dataclass(frozen=True)
class Adaptive(Record):
    """An adaptive softmax: rare words in clusters behind narrower projections. Its scores are log-probabilities."""

    cutoffs: tuple[Size, ...] = (8000, 20000)
    """Where the shortlist and each cluster end; the vocabulary ends the last."""
    factor: Annotated[float, Range(1, 1024)] = 4.0
    """How many times narrower each cluster's projection is than the one before."""

    def tensors(self, name: str, spec: Spec) -> Tensors:
        shortlist, ends = self.cutoffs[0], (*self.cutoffs[1:], spec.vocabulary)
        yield from linear(f"{name}.adaptive.head", spec.table_width, shortlist + len(self.cutoffs))
        for i, (start, end) in enumerate(zip(self.cutoffs, ends, strict=True)):
            narrow = int(spec.table_width // self.factor ** (i + 1))
            yield f"{name}.adaptive.tail.{i}.0.weight", (narrow, spec.table_width)
            yield f"{name}.adaptive.tail.{i}.1.weight", (end - start, narrow)


@dataclass(frozen=True)
class Clustered(Record):
    """Log-probabilities by the embedding's clusters: of frequent words and of clusters, then of words within each."""

    tied: bool = True
    """Words are scored with the tables that embed them."""
    projects: tuple[bool, ...] = ()
    """For each cluster, whether it is projected as its words are in the embedding; those not said project anew."""

    def tensors(self, name: str, spec: Spec) -> Tensors:
        clusters, table = spec.embedding.clusters, spec.table_width
        if not clusters:
            return
        if clusters.cutoffs:
            yield from linear(f"{name}.clusters", table, len(clusters.cutoffs))
        for i, (start, end) in enumerate(clusters.bounds(spec.vocabulary)):
            if not self.tied:
                yield f"{name}.tables.{i}.weight", (end - start, table // clusters.factor**i)
            yield f"{name}.tables.{i}.bias", (end - start,)
        for i in self.own_projects(spec):
            yield f"{name}.projects.{i}.weight", (spec.width, table // clusters.factor**i)

    def own_projects(self, spec: Spec) -> list[int]:
        """The clusters that project anew."""
        clusters = spec.embedding.clusters
        if not clusters or (clusters.factor == 1 and spec.table_width == spec.width):
            return []
        count = len(clusters.cutoffs) + 1
        return [i for i in range(count) if not (i < len(self.projects) and self.projects[i])]


@dataclass(frozen=True)
class Transform(Record):
    """What BERT's masked-word output puts before the projection: linear, activation, norm."""

    activation: Activation = "gelu"
    norm: Norm = LayerNorm(1e-12)


@dataclass(frozen=True)
class Words(Record):
    """A score for every word at every position: masked or causal language modelling, as the mask has it."""

    transform: Transform | None = None
    projection: Tied | Untied | Adaptive | Clustered = Tied()

    def tensors(self, name: str, spec: Spec) -> Tensors:
        if self.transform:
            yield from linear(f"{name}.transform", spec.width, spec.table_width)
            yield from self.transform.norm.tensors(f"{name}.norm", spec.table_width)
        yield from self.projection.tensors(name, spec)


@dataclass(frozen=True)
class Pair(Record):
    """Whether one sentence follows another: next-sentence (BERT) or sentence-order (ALBERT) prediction."""

    dropout: Rate = 0.0

    def tensors(self, name: str, spec: Spec) -> Tensors:
        yield from linear(f"{name}.out", spec.width, 2)


@dataclass(frozen=True)
class Classify(Record):
    """A score for each label of the whole sequence."""

    labels: tuple[str, ...] = ("LABEL_0", "LABEL_1")
    task: Literal["single", "multi", "regression"] = "single"
    reads: Reading = Pooled()
    hidden: Activation | None = None
    """The activation of a square layer before the scores, where there is one (RoBERTa, DistilBERT)."""
    hidden_dropout: Rate = 0.0
    """Before that layer."""
    dropout: Rate = 0.1
    """Before the scores."""
    bias: bool = True
    activation: Activation = "identity"
    """On the scores themselves (a setting of XLM)."""

    def tensors(self, name: str, spec: Spec) -> Tensors:
        if self.hidden:
            yield from linear(f"{name}.hidden", spec.width, spec.width)
        yield from linear(f"{name}.out", spec.width, len(self.labels), self.bias)


@dataclass(frozen=True)
class Tag(Record):
    """A score for each label of every token."""

    labels: tuple[str, ...] = ("LABEL_0", "LABEL_1")
    dropout: Rate = 0.1

    def tensors(self, name: str, spec: Spec) -> Tensors:
        yield from linear(f"{name}.out", spec.width, len(self.labels))


@dataclass(frozen=True)
class Span(Record):
    """Two scores for every token: that an answer starts there, and that it ends there."""

    dropout: Rate = 0.0

    def tensors(self, name: str, spec: Spec) -> Tensors:
        yield from linear(f"{name}.out", spec.width, 2)


@dataclass(frozen=True)
class Outputs(Record):
    """The heads of a net; what is absent is None."""

    pooler: Pooler | None = None
    words: Words | None = None
    pair: Pair | None = None
    classify: Classify | None = None
    tag: Tag | None = None
    span: Span | None = None

    def present(self) -> dict[str, Pooler | Words | Pair | Classify | Tag | Span]:
        """The heads that are there, by name."""
        parts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: part for name, part in parts.items() if part is not None}

    def only(self, *names: str) -> Outputs:
        """The same outputs with just these kept, and the pooler where one of them reads it."""
        kept = {name: part for name, part in self.present().items() if name in names}
        reads = [getattr(part, "reads", Pooled() if isinstance(part, Pair) else None) for part in kept.values()]
        if self.pooler and Pooled() in reads:
            kept["pooler"] = self.pooler
        return Outputs(**kept)  # type: ignore[arg-type]  # each name goes back to the field it came from


@dataclass(frozen=True)
class SentenceVector(Record):
    """How token states become one vector for a text, as a sentence-transformers folder says."""

    pooling: Literal["mean", "first", "last", "max"] = "mean"
    normalize: bool = True
    limit: Size | None = None
    """Longer texts were cut to this many tokens when the encoder was trained."""
