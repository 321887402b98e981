"""The room of batches: sequences of any lengths laid end to end; the only place that packs, unpacks and pads."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from bough.errors import BoughError
from bough.record import brief
from bough.spec import Patches, Spec

Ids = Sequence[int]


@dataclass(frozen=True, eq=False)
class Packed:
    """Sequences end to end, with their lengths; everything else about their layout derives from those, once."""

    ids: Int[Tensor, " tokens"]
    lengths: tuple[int, ...]
    segments: Int[Tensor, " tokens"]
    """Which segment each token is of; zeros where nobody said."""
    languages: Int[Tensor, " tokens"] | None = None
    """Which language each token is in, where somebody said."""
    source: Packed | None = None
    """What each sequence is written from, where somebody said."""
    pieces: Float[Tensor, "pieces numbers"] | None = None
    """What pictures are made of; each is led by a token that is none of its pieces."""
    grids: tuple[tuple[int, ...], ...] = ()
    """How many pieces each picture has in each direction."""
    before: tuple[int, ...] = ()
    """How many tokens of each sequence were read earlier; none where nothing is said."""
    places: Int[Tensor, " tokens"] | None = None
    """Where each token is, where that is not where it lies: positions may begin again within a sequence."""

    @classmethod
    def of(
        cls,
        sequences: Sequence[Ids],
        segments: Sequence[Ids] | None = None,
        languages: Sequence[int] | None = None,
        device: torch.device | str = "cpu",
    ) -> Packed:
        """Lay sequences end to end. `segments` has a number for each token, `languages` one for each sequence."""
        lengths = tuple(len(one) for one in sequences)
        if segments is not None and tuple(len(one) for one in segments) != lengths:
            raise BoughError("segments: there must be one number for each id of each sequence")
        ids = _flat(sequences, device)
        kinds = torch.zeros_like(ids) if segments is None else _flat(segments, device)
        tongues = None
        if languages is not None:
            counts = torch.tensor(lengths, dtype=torch.long, device=device)
            tongues = torch.tensor(languages, dtype=torch.long, device=device).repeat_interleave(counts)
        return cls(ids, lengths, kinds, tongues)

    @classmethod
    def of_pictures(
        cls, pictures: Sequence[Tensor], shape: Sequence[int], device: torch.device | str = "cpu"
    ) -> Packed:
        """Cut pictures, (channels, rows, columns) or (frames, channels, rows, columns), into pieces of this shape."""
        cut = [_cut(one.to(device) if len(shape) == 2 else one.to(device).transpose(0, 1), shape) for one in pictures]
        lengths = tuple(1 + len(pieces) for pieces, _ in cut)
        ids = torch.zeros(sum(lengths), dtype=torch.long, device=device)
        pieces = torch.cat([pieces for pieces, _ in cut]) if cut else None
        return cls(ids, lengths, ids, pieces=pieces, grids=tuple(grid for _, grid in cut))

    @functools.cached_property
    def offsets(self) -> Int[Tensor, " bounds"]:
        """Where each sequence starts, and after them where the last one ends."""
        total = torch.tensor((0, *self.lengths), device=self.ids.device)
        return total.cumsum(0)

    @functools.cached_property
    def sequences(self) -> Int[Tensor, " tokens"]:
        """Which sequence each token is in."""
        lengths = torch.tensor(self.lengths, dtype=torch.long, device=self.ids.device)
        return torch.arange(len(self.lengths), device=self.ids.device).repeat_interleave(lengths)

    @functools.cached_property
    def positions(self) -> Int[Tensor, " tokens"]:
        """Where in its sequence each token is; who may look at whom goes by where it lies in any case."""
        if self.places is not None:
            return self.places
        firsts = torch.tensor(self.firsts, dtype=torch.long, device=self.ids.device) - self.offsets[:-1]
        return torch.arange(len(self.ids), device=self.ids.device) + firsts[self.sequences]

    @property
    def firsts(self) -> tuple[int, ...]:
        """The position of each sequence's first token."""
        return self.before or (0,) * len(self.lengths)

    @property
    def read(self) -> Packed:
        """What each sequence is written from; itself where nobody said."""
        return self.source or self

    def after(self, before: Sequence[int]) -> Packed:
        """The same tokens, so many behind the beginning of each sequence."""
        return dataclasses.replace(self, before=tuple(before))

    def split(self, values: Tensor) -> tuple[Tensor, ...]:
        """Values of one per token, as one tensor for each sequence."""
        return torch.split(values, list(self.lengths))

    def padded(self, fill: int = 0) -> tuple[Int[Tensor, "batch longest"], Bool[Tensor, "batch longest"]]:
        """The rectangle that other tools read: ids with `fill` behind the short ones, and which cells are tokens."""
        longest = max(self.lengths)
        cells = torch.arange(longest, device=self.ids.device) < self.offsets.diff()[:, None]
        ids = torch.full((len(self.lengths), longest), fill, device=self.ids.device)
        ids[cells] = self.ids
        return ids, cells


def by_length(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Sequence numbers in batches of at most `budget` tokens, the longest first; equal lengths stay together."""
    batch: list[int] = []
    held = 0
    for number in sorted(range(len(lengths)), key=lambda one: -lengths[one]):
        if batch and held + lengths[number] > budget:
            yield batch
            batch, held = [], 0
        batch.append(number)
        held += lengths[number]
    if batch:
        yield batch


@dataclass(frozen=True)
class Inputs:
    """What a net is given: sequences of ids or pictures, and what may be said besides of each."""

    spec: Spec
    sequences: Sequence[Any]
    """Of ids, or tensors for those that look at pictures."""
    segments: Sequence[Ids] | None = None
    languages: Sequence[int] | None = None
    targets: Sequence[Ids] | None = None
    """What is written of each sequence, for an architecture of two sides."""

    def check(self) -> None:
        """Raise where they ask for what the architecture does not have."""
        if self.targets is not None and not self.spec.encoder:
            raise BoughError("targets: this architecture has one side; give what it reads as ids")
        if self.spec.embedding.patches:
            _check_pictures(self.spec.embedding.patches, self.sequences)
            _check_nothing_beside(self.segments, self.languages)
        else:
            check(self.spec.source, self.sequences, self.segments, self.languages)
        if self.targets is not None:
            check(self.spec, self.targets, None, None)
            _check_count("targets", self.targets, self.sequences)

    def lengths(self) -> list[int]:
        """How many tokens each takes."""
        patches = self.spec.embedding.patches
        if patches:
            return [1 + math.prod(_grid(one, patches.shape)) for one in self.sequences]
        written = [0] * len(self.sequences) if self.targets is None else [len(one) for one in self.targets]
        return [len(one) + more for one, more in zip(self.sequences, written, strict=True)]

    def batch(self, numbers: Sequence[int], device: torch.device) -> Packed:
        """Some of them, laid end to end."""
        if self.spec.embedding.patches:
            return Packed.of_pictures([self.sequences[n] for n in numbers], self.spec.embedding.patches.shape, device)
        batch = Packed.of(
            [self.sequences[n] for n in numbers],
            [self.segments[n] for n in numbers] if self.segments else None,
            [self.languages[n] for n in numbers] if self.languages else None,
            device,
        )
        if self.targets is None:
            return batch
        return dataclasses.replace(Packed.of([self.targets[n] for n in numbers], device=device), source=batch)


def behind_start(spec: Spec, sequences: Sequence[Ids]) -> list[list[int]]:
    """What a decoder reads to say these sequences, word for word: the word it starts with, then all but the last."""
    start = spec.encoder.start if spec.encoder else 0
    return [[start, *one[:-1]] if len(one) else [] for one in sequences]


def check(
    spec: Spec, sequences: Sequence[Any], segments: Sequence[Ids] | None, languages: Sequence[int] | None
) -> None:
    """Raise where sequences ask for a row that none of the architecture's tables has."""
    for number, one in enumerate(sequences):
        _check_no_picture(f"ids: sequence {number}", one)
        _check_rows(f"ids: sequence {number}", one, spec.vocabulary)
        if spec.limit is not None and len(one) > spec.limit:
            raise BoughError(
                f"ids: sequence {number} has {len(one):,}; the model reads {spec.limit:,} at once, so cut it"
            )
    for number, one in enumerate(segments or []):
        _check_rows(f"segments: sequence {number}", one, spec.embedding.segments or 1)
    _check_rows("languages", languages or [], spec.embedding.languages or 1)
    for name, beside in (("segments", segments), ("languages", languages)):
        if beside:
            _check_count(name, beside, sequences)


def _check_count(name: str, beside: Sequence[object], sequences: Sequence[object]) -> None:
    if len(beside) != len(sequences):
        raise BoughError(f"{name}: there are {len(beside)} for {len(sequences)} sequences; give one for each")


def _check_pictures(patches: Patches, pictures: Sequence[Any]) -> None:
    shape, kind = patches.shape, "picture" if len(patches.shape) == 2 else "video"
    axes = (
        f"({patches.channels}, rows, columns)" if kind == "picture" else f"(frames, {patches.channels}, rows, columns)"
    )
    for number, one in enumerate(pictures):
        where = f"{kind} {number}"
        if not isinstance(one, Tensor):
            raise BoughError(f"{where}: must be a tensor, {axes}, not {brief(one)}; the model sees {kind}s, not words")
        if one.dim() != len(shape) + 1 or one.shape[len(shape) - 2] != patches.channels:
            raise BoughError(f"{where}: has the shape {tuple(one.shape)}; it must be {axes}")
        if not one.is_floating_point():
            raise BoughError(f"{where}: is of {one.dtype}; it must be floating-point, scaled as the model was trained")
        sizes = _sizes(one, shape)
        if any(size < piece or size % piece for size, piece in zip(sizes, shape, strict=True)):
            raise BoughError(
                f"{where}: {_by(sizes)} cannot be cut into whole pieces of {_by(shape)}; resize it or cut off the rest"
            )


def _check_no_picture(where: str, one: Any) -> None:
    if isinstance(one, Tensor) and (one.dim() != 1 or one.is_floating_point()):
        raise BoughError(f"{where}: must be whole numbers in a row; the model reads words, not pictures")


def _check_nothing_beside(segments: Sequence[Ids] | None, languages: Sequence[int] | None) -> None:
    for name, beside in (("segments", segments), ("languages", languages)):
        if beside is not None:
            raise BoughError(f"{name}: the model sees pictures, which have none; leave them out")


def _by(sizes: Sequence[int]) -> str:
    """Sizes in several directions, in words."""
    return " by ".join(map(str, sizes))


def _sizes(picture: Tensor, shape: Sequence[int]) -> tuple[int, ...]:
    """Frames where there are any, rows, columns."""
    return tuple(size for axis, size in enumerate(picture.shape) if axis != len(shape) - 2)


def _grid(picture: Tensor, shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(size // piece for size, piece in zip(_sizes(picture, shape), shape, strict=True))


def _cut(picture: Tensor, shape: Sequence[int]) -> tuple[Float[Tensor, "pieces numbers"], tuple[int, ...]]:
    """A picture, channels first, as rows of numbers, one for each piece, and how many there are in each direction."""
    grid = tuple(size // piece for size, piece in zip(picture.shape[1:], shape, strict=True))
    parts = [number for pair in zip(grid, shape, strict=True) for number in pair]
    apart = picture.reshape(picture.shape[0], *parts)
    directions = range(len(shape))
    order = [*(1 + 2 * n for n in directions), 0, *(2 + 2 * n for n in directions)]
    return apart.permute(order).flatten(len(shape)).flatten(0, len(shape) - 1), grid


def _check_rows(where: str, numbers: Ids, rows: int) -> None:
    if len(numbers) and not 0 <= min(numbers) <= max(numbers) < rows:
        wrong = next(number for number in numbers if not 0 <= number < rows)
        raise BoughError(f"{where}: {wrong} is out of range; the model knows 0 to {rows - 1:,}")


def _flat(sequences: Sequence[Ids], device: torch.device | str) -> Int[Tensor, " tokens"]:
    return torch.tensor([one for sequence in sequences for one in sequence], dtype=torch.long, device=device)
