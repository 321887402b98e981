"""How each difference between two architectures is said in words, as data.

Every path of a Spec has, for each value or variant it may hold, two phrases: one that stands alone behind a name, and
a short one for what the other does instead. Together they make a sentence: "GPT-2 puts the norms in front of each
sublayer where GPT puts them behind." `{}` stands for the value, `{percent}` for a share of one in hundredths.
"""

from __future__ import annotations

from typing import Any, cast

from bough.record import Difference, show
from bough.spec import (
    Adaptive,
    Causal,
    Classify,
    First,
    Full,
    Groups,
    Last,
    LayerNorm,
    Learned,
    Mean,
    Pair,
    Pooled,
    Pooler,
    PostNorm,
    PreNorm,
    RMSNorm,
    SentenceVector,
    Separate,
    Sinusoid,
    Span,
    Tag,
    Tied,
    Transform,
    Untied,
    Words,
)

Phrases = dict[Any, tuple[str, str]]
"""What is said of a value, by the value itself or by its type."""

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


def sentence(difference: Difference, ours: str, theirs: str) -> str:
    """What the second architecture does where the first does something else."""
    path, a, b = difference
    said, instead = _phrases(path, b), _phrases(path, a)
    if not said or not instead:
        return f"{path}: {show(a)} -> {show(b)}"
    return f"{theirs} {_filled(said[0], b)} where {ours} {_filled(instead[1], a)}."


def phrase(path: str, value: Any) -> str:
    """What an architecture with this value does; empty for a part that only holds others."""
    said = _phrases(path, value)
    return _filled(said[0], value) if said else ""


def _phrases(path: str, value: Any) -> tuple[str, str] | None:
    known = PHRASES.get(path, {})
    return known.get(value) or known.get(type(value))


def _filled(text: str, value: Any) -> str:
    percent = f"{100 * value:g}%" if isinstance(value, float) else ""
    return text.format(_said(value), percent=percent)


def _said(value: Any) -> str:
    if isinstance(value, tuple):
        items = [_said(one) for one in cast("tuple[Any, ...]", value)]
        return ", ".join(items) if len(items) <= 6 else f"{', '.join(items[:4])} … {items[-1]} ({len(items)} in all)"
    return f"{value:,}" if isinstance(value, int) else show(value)


def _dropped(what: str) -> Phrases:
    return {
        0.0: (f"drops none of {what}", "drops none"),
        float: (f"drops {{percent}} of {what} in training", "drops {percent}"),
    }


def _normed(what: str) -> Phrases:
    return {
        LayerNorm: (f"normalises {what} by layer norm", "does so by layer norm"),
        RMSNorm: (f"normalises {what} by RMS norm", "does so by RMS norm"),
        None: (f"does not normalise {what}", "does not"),
    }


def _activated(what: str) -> Phrases:
    return {name: (f"activates {what} with {said}", f"uses {said}") for name, said in ACTIVATIONS.items()}


def _steadied(what: str) -> Phrases:
    return {float: (f"steadies {what} with an epsilon of {{}}", "uses {}")}


def _biased(what: str) -> Phrases:
    return {True: (f"gives {what} a bias", "gives one"), False: (f"gives {what} no bias", "gives none")}


def _headed(noun: str, kind: type) -> Phrases:
    return {kind: (f"has a {noun}", "has one"), None: (f"has no {noun}", "has none")}


def _read(what: str) -> Phrases:
    return {
        Pooled: (f"reads {what} off the pooler's vector", "reads off the pooler's vector"),
        First: (f"reads {what} off the first token", "reads off the first"),
        Last: (f"reads {what} off the last token", "reads off the last"),
        Mean: (f"reads {what} off the mean of all tokens", "reads off the mean of all"),
    }


PHRASES: dict[str, Phrases] = {
    "family": {str: ("is saved in the format of {}", "is in that of {}")},
    "vocabulary": {int: ("has a vocabulary of {}", "has one of {}")},
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
        None: ("has no vectors for positions", "has none"),
    },
    "embedding.positions.size": {int: ("has a table of {} positions", "has one of {}")},
    "embedding.positions.offset": {int: ("counts positions from row {} of their table", "counts from row {}")},
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
    "embedding.norm": _normed("the embedding"),
    "embedding.norm.epsilon": _steadied("the embedding's norm"),
    "embedding.dropout": _dropped("the embedding"),
    "embedding.width": {
        int: ("embeds in tables {} wide and projects from there to the trunk", "embeds in tables {} wide"),
        None: ("embeds straight into the trunk's width", "embeds straight into the trunk's width"),
    },
    # How tokens look at each other
    "attention.mask": {
        Full: ("lets each token see its whole sequence", "lets it see the whole sequence"),
        Causal: (
            "lets each token see only itself and what came before",
            "lets it see only itself and what came before",
        ),
    },
    "attention.scale.root": {
        True: ("divides attention scores by the root of a head's width", "does"),
        False: ("does not divide attention scores by the root of a head's width", "does not"),
    },
    "attention.scale.by_layer": {
        True: ("divides attention scores by the layer's number", "does"),
        False: ("does not divide attention scores by the layer's number", "does not"),
    },
    "attention.bias": _biased("attention's projections"),
    "attention.weights_dropout": _dropped("the attention weights"),
    "attention.dropout": _dropped("what attention adds to the stream"),
    # What each token does on its own
    "feed.inner": {
        int: ("widens to {} inside its feed-forward", "widens to {}"),
        None: ("widens to four times the trunk inside its feed-forward", "widens to four times the trunk"),
    },
    "feed.activation": _activated("its feed-forward"),
    "feed.gated": {
        True: ("gates its feed-forward with a second projection", "does"),
        False: ("does not gate its feed-forward", "does not"),
    },
    "feed.bias": _biased("the feed-forward"),
    "feed.dropout": _dropped("what the feed-forward adds to the stream"),
    # How layers are put together
    "norm": _normed("each sublayer"),
    "norm.epsilon": _steadied("the layers' norms"),
    "placement": {
        PostNorm: ("puts the norms behind each sublayer", "puts them behind"),
        PreNorm: ("puts the norms in front of each sublayer", "puts them in front"),
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
    # What it can be asked
    "outputs.pooler": _headed("pooler", Pooler),
    "outputs.words": _headed("head that scores words", Words),
    "outputs.words.transform": {
        Transform: ("transforms a state before it scores words", "transforms it first"),
        None: ("scores words by a state as it is", "scores by it as it is"),
    },
    "outputs.words.transform.activation": _activated("the transform before its words"),
    "outputs.words.transform.norm": _normed("the transform before its words"),
    "outputs.words.transform.norm.epsilon": _steadied("the norm before its words"),
    "outputs.words.projection": {
        Tied: ("scores words by the table that embeds them", "does so by the table that embeds them"),
        Untied: ("scores words by a table of their own", "does so by a table of their own"),
        Adaptive: ("scores words by an adaptive softmax", "does so by an adaptive softmax"),
    },
    "outputs.words.projection.bias": _biased("the scores of words"),
    "outputs.words.projection.cutoffs": {tuple: ("ends its clusters of rare words at {}", "ends them at {}")},
    "outputs.words.projection.factor": {
        float: ("makes each cluster of rare words {} times narrower", "makes it {} times narrower")
    },
    "outputs.pair": _headed("head for pairs of sentences", Pair),
    "outputs.pair.dropout": _dropped("what its head for pairs reads"),
    "outputs.classify": _headed("head that labels sequences", Classify),
    "outputs.classify.labels": {tuple: ("labels sequences {}", "labels them {}")},
    "outputs.classify.task": {
        "single": ("gives each sequence one label", "gives it one"),
        "multi": ("gives each sequence any number of labels", "gives it any number"),
        "regression": ("gives each sequence numbers in place of labels", "gives it numbers"),
    },
    "outputs.classify.reads": _read("a sequence's label"),
    "outputs.classify.hidden": {
        **{
            name: (f"puts a layer with {said} before its labels", f"puts one with {said}")
            for name, said in ACTIVATIONS.items()
        },
        None: ("puts no layer before its labels", "puts none"),
    },
    "outputs.classify.hidden_dropout": _dropped("what enters the layer before its labels"),
    "outputs.classify.dropout": _dropped("what its labels are scored by"),
    "outputs.classify.bias": _biased("the scores of labels"),
    "outputs.classify.activation": _activated("the scores of labels"),
    "outputs.tag": _headed("head that labels tokens", Tag),
    "outputs.tag.labels": {tuple: ("labels tokens {}", "labels them {}")},
    "outputs.tag.dropout": _dropped("what tokens are labelled by"),
    "outputs.span": _headed("head that marks answers", Span),
    "outputs.span.dropout": _dropped("what answers are marked by"),
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
