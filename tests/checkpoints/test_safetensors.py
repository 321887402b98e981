"""Damaged and hostile safetensors files: refused by name, at once, before anything is allocated."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import torch
from crafted import complaint, safetensors, tensor
from safetensors.torch import load_file, save_file

import bough
from bough import ArtefactError

ONE = tensor([2], 0, 8)
HEADER = "Error while deserializing header: "
DAMAGED = {
    "overlap": (safetensors({"a": ONE, "b": tensor([2], 4, 12)}, 12), HEADER + "invalid offset for tensor `b`"),
    "hole": (safetensors({"a": ONE, "b": tensor([2], 12, 20)}, 20), HEADER + "invalid offset for tensor `b`"),
    "backwards": (safetensors({"a": tensor([2], 8, 0)}, 8), HEADER + "invalid offset for tensor `a`"),
    "overflowed shape": (
        safetensors({"a": tensor([2**40, 2**40], 0, 8)}, 8),
        HEADER + "overflow computing buffer size from shape and/or element type",
    ),
    "shape beyond its bytes": (
        safetensors({"a": tensor([3], 0, 8)}, 8),
        HEADER + "invalid shape, data type, or offset for tensor",
    ),
    "side no torch can have": (
        safetensors({"a": tensor([2**63, 0], 0, 0)}, 0),
        (
            "reshape(): argument 'shape' failed to unpack the object at pos 1 with error "
            '"Overflow when unpacking long long'
        ),
    ),
    "trailing bytes": (safetensors({"a": ONE}, 12), HEADER + "incomplete metadata, file not fully covered"),
    "truncated": (safetensors({"a": ONE}, 4), HEADER + "incomplete metadata, file not fully covered"),
    "one name twice": (
        safetensors(b'{"a":%b,"a":%b}' % ((b'{"dtype":"F32","shape":[2],"data_offsets":[0,8]}',) * 2), 8),
        "'a' is there twice",
    ),
    "header of 100 MB": (safetensors(b" " * 10**8, 0), "a header of 100,000,000 bytes"),
    "header said to be endless": (b"\xff" * 8 + b"{}", f"a header of {2**64 - 1:,} bytes"),
    "header longer than the file": ((1000).to_bytes(8, "little") + b"{}", HEADER + "invalid header length"),
    "no header": (b"", HEADER + "header too small"),
    "not JSON": (safetensors(b"weights", 0), HEADER + "invalid JSON in header: expected value at line 1 column 1"),
    "no UTF-8": (
        safetensors(b'{"\xff": 1}', 0),
        HEADER + "invalid UTF-8 in header: invalid utf-8 sequence of 1 bytes from index 2",
    ),
}


@pytest.mark.parametrize(("content", "said"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_refused_by_name_within_a_second(folder: Path, content: bytes, said: str) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(content)
    start = time.perf_counter()
    with pytest.raises(ArtefactError) as error:
        bough.load(folder)
    assert time.perf_counter() - start < 1
    assert complaint(error) == f"{path}: is not a sound safetensors file ({said}); fetch or write it again"
    assert error.value.exit_code == 3


def test_a_file_cut_anywhere_is_refused(folder: Path) -> None:
    path = folder / "model.safetensors"
    whole = path.read_bytes()
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        with pytest.raises(ArtefactError, match="is not a sound safetensors file"):
            bough.load(folder)


def test_numbers_that_are_not_floating_point_are_no_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path)
    name = "cls.predictions.bias"
    save_file({**tensors, name: torch.zeros(11, dtype=torch.int64)}, path)
    with pytest.raises(ArtefactError, match=rf"1 misshaped: {name} is torch\.int64 and should be floating-point;"):
        bough.load(folder)


def test_a_head_that_claims_endless_labels_and_holds_none_is_refused(folder: Path) -> None:
    path = folder / "model.safetensors"
    save_file({**load_file(path), "classifier.weight": torch.empty(2**40, 0), "classifier.bias": torch.zeros(2)}, path)
    with pytest.raises(ArtefactError, match=r"classifier\.weight is \(1099511627776, 0\) and should be \(2, 8\)"):
        bough.load(folder)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_weights_of_any_width_are_read_and_computed_in_full_precision(folder: Path, dtype: torch.dtype) -> None:
    path = folder / "model.safetensors"
    narrow = {name: one.to(dtype) for name, one in load_file(path).items()}
    save_file(narrow, path)
    model = bough.load(folder)
    assert {one.dtype for one in model.net.parameters()} == {torch.float32}
    table = model.net.state_dict()["embed.tokens.weight"]
    assert torch.equal(table, narrow["bert.embeddings.word_embeddings.weight"].float())
