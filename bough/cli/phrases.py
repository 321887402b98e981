"""What is said of each value that an architecture may have at each path, as data.

Every path of a Spec has, for each value or variant it may hold, two phrases: one that stands alone behind a name, and
a short one for what the other does instead. Together they make a sentence: "GPT-2 puts the norms in front of each
sublayer where GPT puts them behind." In a phrase, `{}` stands for the value, `{percent}` for a share of one in
hundredths, `{by}` for lengths in several directions, `{which}` for the clusters that something is true of, and the name
of a record's field for what it holds. Where the same is said of several places, `{what}` stands for the place, so that
one sentence can say it of all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from bough.spec import (
    Adaptive,
    BatchNorm,
    Causal,
    Classify,
    Clustered,
    Clusters,
    Encoder,
    Factored,
    First,
    Fixed,
    Full,
    Groups,
    Last,
    LayerNorm,
    Learned,
    LinearBias,
    Mean,
    Pair,
    Patches,
    Pooled,
    Pooler,
    PostNorm,
    PreNorm,
    Recurrence,
    RelativeBias,
    RelativeKeys,
    RelativeTerms,
    RMSNorm,
    Rotary,
    SentenceVector,
    Separate,
    Sinusoid,
    Span,
    Strided,
    Tag,
    Tied,
    Transform,
    Untied,
    Window,
    Words,
)

Phrases: TypeAlias = Mapping[Any, tuple[str, str]]
"""What is said of a value, by the value itself or by its type."""


class Of(NamedTuple):
    """Phrases that fit several places, and the place that they are said of."""

    said: Phrases
    what: str


ACTIVATIONS = {
    "relu": "ReLU",
    "gelu": "the exact GELU",
    "gelu_tanh": "the tanh form of GELU",
    "gelu_sigmoid": "the sigmoid form of GELU",
    "silu": "SiLU",
    "tanh": "tanh",
    "sigmoid": "the sigmoid",
    "mish": "Mish",
    "relu_squared": "the square of ReLU",
    "identity": "nothing",
}
DROPPED: Phrases = {
    0.0: ("drops none of {what}", "drops none"),
    float: ("drops {percent} of {what} in training", "drops {percent}"),
}
NORMED: Phrases = {
    LayerNorm: ("normalises {what} by layer norm", "does so by layer norm"),
    RMSNorm: ("normalises {what} by RMS norm", "does so by RMS norm"),
    BatchNorm: ("normalises {what} by batch norm", "does so by batch norm"),
    None: ("does not normalise {what}", "does not"),
}
ACTIVATED: Phrases = {name: (f"activates {{what}} with {said}", f"uses {said}") for name, said in ACTIVATIONS.items()}
STEADIED: Phrases = {float: ("steadies {what} with an epsilon of {}", "uses {}")}
MOVED: Phrases = {float: ("moves the averages of {what} by {percent} with each batch", "moves them by {percent}")}
BIASED: Phrases = {True: ("puts a bias on {what}", "puts one"), False: ("puts no bias on {what}", "puts none")}


def _headed(noun: str, kind: type) -> Phrases:
    return {kind: (f"has a {noun}", "has one"), None: (f"has no {noun}", "has none")}


PHRASES: dict[str, Phrases | Of] = {
    "family": {str: ("is saved in the format of {}", "is in that of {}")},
    "vocabulary": {0: ("has no vocabulary", "has none"), int: ("has a vocabulary of {}", "has one of {}")},
    "width": {int: ("is {} wide", "is {}")},
    "depth": {1: ("is one layer deep", "is one"), int: ("is {} layers deep", "is {}")},
    "heads": {
        1: ("has one attention head in each layer", "has one"),
        int: ("has {} attention heads in each layer", "has {}"),
    },
    # What a token is before the first layer
    "embedding.positions": {
        Learned: ("learns a vector for each position", "learns them"),
        Sinusoid: (
            "computes a vector for each position from sines and cosines",
            "computes them from sines and cosines",
        ),
        Factored: ("learns a vector for each coordinate of a position", "learns one for each coordinate"),
        None: ("has no vectors for positions", "has none"),
    },
    "embedding.positions.size": {int: ("has a table of {} positions", "has one of {}")},
    "embedding.positions.sizes": {tuple: ("counts positions in coordinates of {by}", "counts them in {by}")},
    "embedding.positions.offset": {int: ("counts positions from row {} of their table", "counts from row {}")},
    "embedding.positions.layout": {
        "interleaved": ("puts the sines and cosines of a position in turn", "puts them in turn"),
        "halves": ("puts the sines of a position before all its cosines", "puts all sines first"),
    },
    "embedding.segments": {
        0: ("has no vectors for segments", "has none"),
        1: ("has one segment vector for all tokens", "has one"),
        int: ("has vectors for {} kinds of segment", "has {}"),
    },
    "embedding.languages": {
        0: ("has no vectors for languages", "has none"),
        1: ("has one language vector for all tokens", "has one"),
        int: ("has vectors for {} languages", "has {}"),
    },
    "embedding.norm": Of(NORMED, "the embedding"),
    "embedding.norm.epsilon": Of(STEADIED, "the embedding's norm"),
    "embedding.norm.momentum": Of(MOVED, "the embedding's norm"),
    "embedding.dropout": Of(DROPPED, "the embedding"),
    "embedding.width": {
        int: ("embeds in tables {} wide and projects from there to the trunk", "embeds in tables {} wide"),
        None: ("embeds straight into the trunk's width", "embeds straight into the trunk's width"),
    },
    "embedding.scaled": {
        True: ("multiplies words' vectors by the root of the width", "multiplies them by the root of the width"),
        False: ("takes words' vectors as they are", "takes them as they are"),
    },
    "embedding.clusters": {
        Clusters: ("embeds words in clusters by how rare they are", "embeds them in clusters by how rare they are"),
        None: ("embeds common words and rare ones alike", "embeds common and rare ones alike"),
    },
    "embedding.clusters.cutoffs": {tuple: ("ends its clusters of embedded words at {}", "ends them at {}")},
    "embedding.clusters.factor": {
        1: ("embeds all clusters of words in one table", "embeds them in one"),
        int: ("embeds each cluster of words in a table {} times narrower than the last", "makes it {} times narrower"),
    },
    "embedding.patches": {
        Patches: ("reads pictures in pieces of {shape}", "reads pictures"),
        None: ("reads words", "reads words"),
    },
    "embedding.patches.shape": {tuple: ("cuts pictures into pieces of {by}", "cuts them into pieces of {by}")},
    "embedding.patches.grid": {tuple: ("learns positions for a grid of {by} pieces", "learns them for one of {by}")},
    "embedding.patches.channels": {
        1: ("reads one channel of each picture", "reads one"),
        int: ("reads {} channels of each picture", "reads {}"),
    },
    # How tokens look at each other
    "attention.mask": {
        Full: ("lets each token see its whole sequence", "lets it see the whole sequence"),
        Causal: (
            "lets each token see only itself and what came before",
            "lets it see only itself and what came before",
        ),
        Window: (
            "lets each token see only the last {size} tokens up to itself",
            "lets it see only the last {size} tokens up to itself",
        ),
        Strided: (
            "lets each token see the {stride} before it and one in {stride} further back",
            "lets it see the {stride} before it and one in {stride} further back",
        ),
        Fixed: (
            "lets each token see its own stretch of {stride} up to itself and the last {summary} of every earlier one",
            "lets it see its own stretch of {stride} up to itself and the last {summary} of every earlier one",
        ),
    },
    "attention.mask.size": {
        1: ("lets each token see itself alone", "lets it see itself alone"),
        int: ("lets each token see the last {} tokens up to itself", "lets it see the last {}"),
    },
    "attention.mask.stride": {
        int: ("divides what came before into stretches of {}", "divides it into stretches of {}")
    },
    "attention.mask.summary": {
        1: ("lets only the last token of a stretch be seen from afar", "lets only the last be seen"),
        int: ("lets the last {} tokens of a stretch be seen from afar", "lets the last {} be seen"),
    },
    "attention.mask.over": {
        "heads": ("looks near with half of its heads and far with the others", "does so with half of its heads each"),
        "layers": ("looks near and far in alternate layers", "does so in alternate layers"),
        "union": ("looks near and far with every head of every layer", "does so with every head of every layer"),
    },
    "attention.scale.root": {
        True: ("divides attention scores by the root of a head's width", "does"),
        False: ("does not divide attention scores by the root of a head's width", "does not"),
    },
    "attention.scale.by_layer": {
        True: ("divides attention scores by the layer's number", "does"),
        False: ("does not divide attention scores by the layer's number", "does not"),
    },
    "attention.relative": {
        RelativeBias: (
            "tells attention of distance by a learned number for each head",
            "tells it by a learned number for each head",
        ),
        LinearBias: (
            "tells attention of distance by a penalty that grows with it",
            "tells it by a penalty that grows with it",
        ),
        RelativeKeys: (
            "tells attention of distance by learned vectors added to the keys",
            "tells it by learned vectors added to the keys",
        ),
        RelativeTerms: (
            "tells attention of distance by scores apart from those of content",
            "tells it by scores apart from those of content",
        ),
        Rotary: (
            "tells attention of distance by turning queries and keys",
            "tells it by turning queries and keys",
        ),
        None: ("tells attention nothing of distance", "tells it nothing"),
    },
    "attention.relative.buckets": {int: ("learns numbers for {} stretches of distance", "learns {}")},
    "attention.relative.distance": {int: ("tells distances apart up to {}", "tells them apart up to {}")},
    "attention.relative.clamp": {
        0: ("tells all distances apart", "tells all apart"),
        int: ("tells distances apart up to {}", "tells them apart up to {}"),
    },
    "attention.relative.tied": {
        True: ("shares the biases of content and distance between layers", "shares them"),
        False: ("has biases of content and distance in each layer", "has them in each"),
    },
    "attention.relative.base": {float: ("turns queries and keys on a base of {}", "turns them on one of {}")},
    "attention.width": {
        int: ("makes each attention head {} wide", "makes it {} wide"),
        None: ("shares its width out among its attention heads", "shares its width out among them"),
    },
    "attention.key_width": {
        int: ("makes queries and keys {} wide", "makes them {} wide"),
        None: ("makes queries and keys as wide as values", "makes them as wide as values"),
    },
    "attention.projected": {
        True: ("projects tokens on the way into attention and out of it", "projects them"),
        False: ("takes tokens into attention as they are", "takes them as they are"),
    },
    "attention.bias": Of(BIASED, "the projections into attention"),
    "attention.out_bias": Of(BIASED, "the projection out of attention"),
    "attention.weights_dropout": Of(DROPPED, "the attention weights"),
    "attention.dropout": Of(DROPPED, "what attention adds to the stream"),
    # What each token does on its own
    "feed.inner": {
        int: ("widens to {} inside its feed-forward", "widens to {}"),
        None: ("widens to four times the trunk inside its feed-forward", "widens to four times the trunk"),
    },
    "feed.activation": Of(ACTIVATED, "its feed-forward"),
    "feed.gated": {
        True: ("gates its feed-forward with a second projection", "does"),
        False: ("does not gate its feed-forward", "does not"),
    },
    "feed.bias": Of(BIASED, "the feed-forward"),
    "feed.inner_dropout": Of(DROPPED, "what is inside the feed-forward"),
    "feed.dropout": Of(DROPPED, "what the feed-forward adds to the stream"),
    # How layers are put together
    "norm": Of(NORMED, "each sublayer"),
    "norm.epsilon": Of(STEADIED, "the layers' norms"),
    "norm.momentum": Of(MOVED, "the layers' norms"),
    "placement": {
        PostNorm: ("puts the norms behind each sublayer", "puts them behind"),
        PreNorm: ("puts the norms in front of each sublayer", "puts them in front"),
    },
    "placement.last": {
        True: ("puts one more norm behind the last layer", "puts one there"),
        False: ("puts no norm behind the last layer", "puts none there"),
    },
    "sharing": {
        Separate: ("has a block of its own at every depth", "has one for each"),
        Groups: ("shares its blocks between depths", "shares its blocks between depths"),
    },
    "sharing.groups": {
        1: ("has one group of layers that share their blocks", "has one"),
        int: ("has {} groups of layers that share their blocks", "has {}"),
    },
    "sharing.inner": {
        1: ("runs one block in each group", "runs one"),
        int: ("runs {} blocks in each group one after the other", "runs {}"),
    },
    "dropout": Of(DROPPED, "the last states"),
    # What is beside it, and what it keeps
    "encoder": {
        Encoder: ("looks at an encoder that reads the source", "looks at one"),
        None: ("looks at no encoder", "looks at none"),
    },
    "encoder.depth": {
        1: ("has an encoder of one layer", "has one of one layer"),
        int: ("has an encoder of {} layers", "has one of {} layers"),
        None: ("has an encoder as deep as its decoder", "has one as deep as its decoder"),
    },
    "encoder.heads": {
        1: ("gives its encoder one attention head in each layer", "gives it one"),
        int: ("gives its encoder {} attention heads in each layer", "gives it {}"),
        None: ("gives its encoder as many attention heads as its decoder", "gives it as many as its decoder"),
    },
    "encoder.inner": {
        int: ("widens to {} inside its encoder's feed-forward", "widens to {} there"),
        None: ("widens as much inside its encoder's feed-forward as in its decoder's", "widens as in its decoder"),
    },
    "encoder.vocabulary": {
        int: ("reads the source in a vocabulary of {} of its own", "reads it in one of {} of its own"),
        None: ("reads the source in the vocabulary that it writes in", "reads it in the one it writes in"),
    },
    "encoder.start": {int: ("reads word {} before the first that it writes", "reads word {}")},
    "recurrence": {
        Recurrence(0): ("remembers no states when it reads on unless it is asked to", "remembers none unless asked to"),
        Recurrence: (
            "remembers the states of the last {length} tokens when it reads on",
            "remembers the states of the last {length} tokens",
        ),
        None: ("remembers no states when it reads on", "remembers none"),
    },
    "recurrence.length": {
        0: ("keeps the states of no token unless it is asked to", "keeps none unless asked to"),
        int: ("keeps the states of the last {} tokens", "keeps those of the last {}"),
    },
    # How training begins
    "initial.std": {float: ("draws new weights with a deviation of {}", "draws them with {}")},
    "initial.tables": {
        float: ("draws new tables with a deviation of {}", "draws them with {}"),
        None: ("draws new tables as it draws the other weights", "draws them as it draws the other weights"),
    },
    "initial.residual": {
        True: ("draws weights that write to the stream smaller in deeper nets", "draws them smaller in deeper nets"),
        False: ("draws weights that write to the stream like all others", "draws them like all others"),
    },
    "initial.fan": {
        True: ("draws weights smaller where more numbers are summed", "draws them smaller where more are summed"),
        False: ("draws weights alike however many numbers are summed", "draws them alike however many are summed"),
    },
    # What it can be asked
    "outputs.pooler": _headed("pooler", Pooler),
    "outputs.words": _headed("head that scores words", Words),
    "outputs.words.transform": {
        Transform: ("transforms a state before it scores words", "transforms it first"),
        None: ("scores words by a state as it is", "scores by it as it is"),
    },
    "outputs.words.transform.activation": Of(ACTIVATED, "the transform before its words"),
    "outputs.words.transform.norm": Of(NORMED, "the transform before its words"),
    "outputs.words.transform.norm.epsilon": Of(STEADIED, "the norm before its words"),
    "outputs.words.transform.norm.momentum": Of(MOVED, "the norm before its words"),
    "outputs.words.projection": {
        Tied: ("scores words by the table that embeds them", "does so by the table that embeds them"),
        Untied: ("scores words by a table of their own", "does so by a table of their own"),
        Adaptive: ("scores words by an adaptive softmax", "does so by an adaptive softmax"),
        Clustered: (
            "scores words by an adaptive softmax over its clusters",
            "does so by an adaptive softmax over its clusters",
        ),
    },
    "outputs.words.projection.bias": Of(BIASED, "the scores of words"),
    "outputs.words.projection.shift": {
        True: ("adds a fixed number to each word's score", "adds one"),
        False: ("adds no fixed number to words' scores", "adds none"),
    },
    "outputs.words.projection.scaled": {
        True: ("divides states by the root of the width before it scores words", "divides them first"),
        False: ("scores words by states as large as they are", "scores by them as they are"),
    },
    "outputs.words.projection.tied": {
        True: (
            "scores the words of each cluster by the table that embeds them",
            "does so by the table that embeds them",
        ),
        False: ("scores the words of each cluster by a table of their own", "does so by a table of their own"),
    },
    "outputs.words.projection.projects": {
        tuple: ("takes the projections of {which} from the embedding", "takes those of {which}")
    },
    "outputs.words.projection.cutoffs": {tuple: ("ends its clusters of scored words at {}", "ends them at {}")},
    "outputs.words.projection.factor": {
        float: ("makes each cluster of scored words {} times narrower", "makes it {} times narrower")
    },
    "outputs.pair": _headed("head for pairs of sentences", Pair),
    "outputs.pair.dropout": Of(DROPPED, "what its head for pairs reads"),
    "outputs.classify": _headed("head that labels sequences", Classify),
    "outputs.classify.labels": {tuple: ("labels sequences {}", "labels them {}")},
    "outputs.classify.task": {
        "single": ("gives each sequence one label", "gives it one"),
        "multi": ("gives each sequence any number of labels", "gives it any number"),
        "regression": ("gives each sequence numbers in place of labels", "gives it numbers"),
    },
    "outputs.classify.reads": {
        Pooled: ("reads a sequence's label off the pooler's vector", "reads off the pooler's vector"),
        First: ("reads a sequence's label off the first token", "reads off the first"),
        Last: ("reads a sequence's label off the last token", "reads off the last"),
        Mean: ("reads a sequence's label off the mean of all tokens", "reads off the mean of all"),
    },
    "outputs.classify.hidden": {
        **{
            name: (f"puts a layer with {said} before its labels", f"puts one with {said}")
            for name, said in ACTIVATIONS.items()
        },
        None: ("puts no layer before its labels", "puts none"),
    },
    "outputs.classify.hidden_dropout": Of(DROPPED, "what enters the layer before its labels"),
    "outputs.classify.dropout": Of(DROPPED, "what its labels are scored by"),
    "outputs.classify.bias": Of(BIASED, "the scores of labels"),
    "outputs.classify.activation": Of(ACTIVATED, "the scores of labels"),
    "outputs.tag": _headed("head that labels tokens", Tag),
    "outputs.tag.labels": {tuple: ("labels tokens {}", "labels them {}")},
    "outputs.tag.dropout": Of(DROPPED, "what tokens are labelled by"),
    "outputs.span": _headed("head that marks answers", Span),
    "outputs.span.dropout": Of(DROPPED, "what answers are marked by"),
    # How a text becomes one vector
    "vector": {
        SentenceVector: ("was trained to give a vector for each text", "was"),
        None: ("was not trained to give a vector for each text", "was not"),
    },
    "vector.pooling": {
        "mean": ("takes the mean of the tokens as a text's vector", "takes the mean"),
        "first": ("takes the first token as a text's vector", "takes the first token"),
        "last": ("takes the last token as a text's vector", "takes the last token"),
        "max": ("takes each column's largest value as a text's vector", "takes each column's largest value"),
    },
    "vector.normalize": {
        True: ("brings a text's vector to length one", "brings it to length one"),
        False: ("leaves a text's vector at its own length", "leaves it"),
    },
    "vector.limit": {
        int: ("cuts texts to {} tokens", "cuts them to {}"),
        None: ("reads texts as long as its positions last", "reads them as long as its positions last"),
    },
}
