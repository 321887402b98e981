"""The handle a user holds: a net, its tokenizer and what its heads can do; it delegates, and holds no logic."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from bough import checkpoints
from bough.core import Net, Stack, empty
from bough.core.outputs import READS
from bough.errors import BoughError
from bough.families import family as kin_of
from bough.files.folder import small_files
from bough.packed import Ids, Inputs, Packed, behind_start, by_length
from bough.spec import SentenceVector, Spec
from bough.text import Tokenizer
from bough.text.reading.read import tokenizer_of

log = logging.getLogger("bough")

Precision = Literal["auto", "fp32", "bf16"]
Pooling = Literal["mean", "first", "last", "max"]
Read = Sequence[Any] | Tensor
"""Sequences of ids; or pictures as tensors for those that look at them, and one tensor for many of one size."""
TOKENS_AT_ONCE = 4096
"""Enough to keep the matrix products busy, few enough for their results to stay near the processor."""


class Model:
    """A model to ask. Sequences may have any lengths: answers come in the order given, each as if it were alone."""

    def __init__(
        self,
        spec: Spec,
        net: Net,
        tokenizer: Tokenizer | None = None,
        extras: Mapping[str, Any] | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        self.spec = spec
        self.net = net.eval()
        self._tokenizer = tokenizer
        self.extras = dict(extras or {})
        """Keys of its config.json that change no number."""
        self.files = dict(files or {})
        """What lies beside the weights in its folder and is saved with them, by name."""

    @property
    def tokenizer(self) -> Tokenizer:
        """Its tokenizer; an error where its folder had none."""
        if self.spec.embedding.patches:
            raise BoughError(
                "tokenizer: the model sees pictures and reads no text; ask for hidden or scores of pictures"
            )
        if self._tokenizer is None:
            raise BoughError(
                "tokenizer: the model's folder has none that is known here; put its tokenizer.json there, or give ids"
            )
        return self._tokenizer

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the folder that `load` and other tools read, whole or not at all."""
        files, fingerprint = self.files, None
        if self._tokenizer:
            files = files or {"tokenizer.json": self._tokenizer.to_json().encode()}
            fingerprint = self._tokenizer.fingerprint
        checkpoints.save(path, self.spec, self.net.state_dict(), self.extras, files, fingerprint)

    def hidden(
        self,
        ids: Read,
        layer: int = -1,
        segments: Sequence[Ids] | None = None,
        languages: Sequence[int] | None = None,
        targets: Sequence[Ids] | None = None,
    ) -> list[Tensor]:
        """The states of each sequence after a layer, (length, width); layer 0 is the embedding.

        Of an architecture of two sides these are the encoder's, or with `targets` those of what is written.
        """
        side = self.net.reader if targets is None else self.net
        number = self._layer(layer, side)
        given = Inputs(self.spec, list(ids), segments, languages, targets)
        return self._asked(lambda batch: batch.split(side.state(batch, number)), given)

    def logits(
        self,
        ids: Read,
        targets: Sequence[Ids] | None = None,
        *,
        segments: Sequence[Ids] | None = None,
        languages: Sequence[int] | None = None,
    ) -> list[Tensor]:
        """A score for every word at every position of each sequence, (length, vocabulary).

        Of an architecture of two sides: of each target, read as it is given; without targets it says its source again.
        """
        return self._each_token("words", ids, segments, languages, targets)

    def scores(
        self, ids: Read, segments: Sequence[Ids] | None = None, languages: Sequence[int] | None = None
    ) -> Tensor:
        """The classification head's score of each sequence for each label, (n, labels)."""
        return self._each("classify", ids, segments, languages)

    def pair_scores(
        self, ids: Read, segments: Sequence[Ids] | None = None, languages: Sequence[int] | None = None
    ) -> Tensor:
        """Scores for two sentences belonging together, or being in order, and for their not, (n, 2)."""
        return self._each("pair", ids, segments, languages)

    def token_scores(
        self, ids: Read, segments: Sequence[Ids] | None = None, languages: Sequence[int] | None = None
    ) -> list[Tensor]:
        """The tagging head's scores of each token, (length, labels)."""
        return self._each_token("tag", ids, segments, languages)

    def span_scores(
        self, ids: Read, segments: Sequence[Ids] | None = None, languages: Sequence[int] | None = None
    ) -> list[Tensor]:
        """Scores of each token for an answer starting and ending there, (length, 2)."""
        return self._each_token("span", ids, segments, languages)

    def embed(
        self, texts: Sequence[str], pooling: Pooling | None = None, layer: int = -1, normalize: bool | None = None
    ) -> Tensor:
        """A vector for each text, (n, width); what is not said is as the folder has it, or else the normalised mean."""
        vector = self.spec.vector or SentenceVector()
        side = self.net.reader
        read, number = READS[pooling or vector.pooling], self._layer(layer, side)
        encodings = self.tokenizer.encode_all(texts, vector.limit or self.spec.limit)
        cut = sum(bool(one.cut) for one in encodings)
        if cut:
            log.warning("%d of %d texts were cut to %s tokens", cut, len(texts), vector.limit or self.spec.limit)
        _check_not_empty([one.ids for one in encodings])
        segments = [one.segments for one in encodings] if self.spec.embedding.segments else None
        pooled = self._asked(
            lambda batch: read(side.state(batch, number), batch).unbind(),
            Inputs(self.spec, [one.ids for one in encodings], segments),
        )
        vectors = torch.stack(pooled) if pooled else torch.zeros(0, self.spec.width)
        wanted = vector.normalize if normalize is None else normalize
        return torch.nn.functional.normalize(vectors.float(), dim=1) if wanted else vectors.float()

    def _layer(self, layer: int, side: Stack) -> int:
        count = len(side.order) + 1
        if not -count <= layer < count:
            raise BoughError(f"layer: must be from {-count} to {count - 1}, not {layer}; 0 is the embedding")
        return layer % count

    def _head(self, head: str, batch: Packed) -> Tensor:
        if head not in self.net.outputs:
            has = ", ".join(self.net.outputs) or "none"
            raise BoughError(
                f"{head}: the model has no such head (it has {has}); load it with new_head={head!r} and train it"
            )
        return self.net.outputs[head](self.net(batch), batch)

    def _each_token(
        self,
        head: str,
        ids: Read,
        segments: Sequence[Ids] | None,
        languages: Sequence[int] | None,
        targets: Sequence[Ids] | None = None,
    ) -> list[Tensor]:
        given = self._written(ids, segments, languages, targets)
        return self._asked(lambda batch: batch.split(self._head(head, batch)), given)

    def _each(self, head: str, ids: Read, segments: Sequence[Ids] | None, languages: Sequence[int] | None) -> Tensor:
        given = self._written(ids, segments, languages)
        given.check()
        _check_not_empty(ids)
        scores = self._asked(lambda batch: self._head(head, batch).unbind(), given)
        return torch.stack(scores) if scores else torch.zeros(0, 0)

    def _written(
        self,
        ids: Read,
        segments: Sequence[Ids] | None,
        languages: Sequence[int] | None,
        targets: Sequence[Ids] | None = None,
    ) -> Inputs:
        """What is read for a head: of two sides, the second says the first again where nothing is said of it."""
        read: list[Any] = list(ids)
        again = behind_start(self.spec, read) if self.spec.encoder and targets is None else targets
        return Inputs(self.spec, read, segments, languages, again)

    def _asked(self, ask: Callable[[Packed], Sequence[Tensor]], given: Inputs) -> list[Tensor]:
        """Ask batch by batch, like lengths together, and put the answers back in order."""
        given.check()
        device = next(self.net.parameters()).device
        answers: list[Tensor] = [torch.empty(0)] * len(given.sequences)
        with torch.inference_mode():
            for numbers in by_length(given.lengths(), TOKENS_AT_ONCE):
                for number, answer in zip(numbers, ask(given.batch(numbers, device)), strict=True):
                    answers[number] = answer
        return answers


def load(
    source: str | os.PathLike[str],
    precision: Precision = "auto",
    device: str = "auto",
    allow_pickle: bool = False,
    *,
    family: str | None = None,
    ignore: Collection[str] = (),
    new_head: str | None = None,
    labels: Sequence[str] = (),
    seed: int = 0,
) -> Model:
    """A model from a folder or a hub id, strictly: whatever is missing, unexpected or not known is one error.

    `family` says what a bare file does not; `ignore` passes over config keys, tensors or heads by name, or over the
    "tokenizer" being another than it was saved with; `new_head` and its `labels` are drawn afresh from the seed.
    """
    found = checkpoints.load(
        source,
        family_name=family,
        allow_pickle=allow_pickle,
        ignore=ignore,
        new_head=new_head,
        labels=labels,
        seed=seed,
    )
    net = empty(found.spec)
    net.load_state_dict(found.tensors, assign=True)
    files = small_files(found.folder)
    tokenizer = tokenizer_of(files, str(found.folder.path), kin_of(found.spec.family).text)
    if tokenizer and "tokenizer" not in ignore:
        spec = found.spec
        tokenizer.check((spec.encoder and spec.encoder.vocabulary) or spec.vocabulary, found.tokenizer)
        tokenizer.target.check(spec.vocabulary, None)
    return Model(found.spec, net.to(_device(device), _dtype(precision)), tokenizer, found.extras, files)


def _check_not_empty(ids: Read) -> None:
    """What is one answer for a whole sequence needs a token to come from; tokenizers may make none of an empty text."""
    number = next((number for number, one in enumerate(ids) if not len(one)), None)
    if number is not None:
        raise BoughError(f"sequence {number} has no tokens, so there is nothing in it to read; leave it out")


def _dtype(precision: Precision) -> torch.dtype:
    dtypes = {"auto": torch.float32, "fp32": torch.float32, "bf16": torch.bfloat16}
    if precision not in dtypes:
        raise BoughError(f"precision: must be one of {', '.join(dtypes)}, not {precision!r}")
    return dtypes[precision]


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise BoughError(f"device: must be auto, cpu or cuda, not {name!r}") from None
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise BoughError(f"device: torch finds no {name!r} here; there are {torch.cuda.device_count()} GPUs")
    return device
