"""Makes the golden numbers of Transformer-XL: small random models of transformers 4.35.2, and what they answer.

Today's transformers does not have the family, so the numbers are kept. This is run by hand, in its own environment:

    python3.11 -m venv /tmp/transformer-xl
    /tmp/transformer-xl/bin/pip install torch==2.13.0 transformers==4.35.2 'numpy<2'
    OMP_NUM_THREADS=1 /tmp/transformer-xl/bin/python tests/golden/transformer_xl.py

Each model is a folder in the one that bears this file's name. `config.json` and `model.safetensors` are as
`save_pretrained` writes them, where tensors that share storage stand once. `expected.safetensors` is what the model
says of three successive segments of two rows, in float32 without dropout; SEGMENT counts from 0:

    ids.SEGMENT             (row, token)          the words; each segment goes on from the one before
    memory.SEGMENT.LAYER    (token, row, width)   what the layer is given to remember, oldest first: its own past inputs
    hidden.SEGMENT.LAYER    (row, token, width)   0 is the embedding, after its scale; then the state after each layer,
                                                  the last of which the head reads
    scores.SEGMENT          (row, token, word)    the log-probability of every word
    losses.SEGMENT          (row, token - 1)      minus the log-probability of each next word, in an odd order: laid
                                                  flat, the next words of the first cluster, then those of the second
    weighting               (row, token, word)    random numbers, of the last segment's shape
    gradient.NAME           as the weight         of sum(weighting * scores) of the last segment, by each weight

SEGMENT 3 of the memory is what is left after the last. The first segment is given `mem_len` zeros, which take part in
the attention as any other state does: so the model itself begins. Where the memory grows it is given none, and keeps
what there is up to `mem_len`; the shape of the first memory tells the two apart. A `mem_len` of 0 leaves no memory at
all. Losses are left out of a segment of one word, which has no next.

No gradient passes from a segment to the one before. A weight that several names share has the sum of its gradients, and
the name that it has in `model.safetensors`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor
from transformers import TransfoXLConfig, TransfoXLLMHeadModel

VOCABULARY = 61
ROWS = 2
STIR = 0.25
"""Enough for every setting to show: attention that prefers, norms that stretch, clusters that differ."""

PLAIN: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "d_model": 16,
    "d_embed": 16,
    "n_head": 2,
    "d_head": 8,
    "d_inner": 24,
    "n_layer": 2,
    "cutoffs": [],
    "div_val": 1,
    "mem_len": 6,
    "clamp_len": -1,
    "same_length": False,
    "dropout": 0.0,
    "dropatt": 0.0,
}


@dataclass(frozen=True)
class Case:
    """One model: how it differs from the plain one, how long its segments are, and whether its memory grows."""

    settings: Mapping[str, Any]
    lengths: tuple[int, int, int] = (7, 5, 11)
    grows: bool = False


CASES = {
    "plain": Case({"mem_len": 16}),
    "shared-biases": Case(
        {
            "d_model": 24, "d_embed": 24, "n_head": 3, "d_head": 5, "d_inner": 17, "n_layer": 3, "mem_len": 5,
            "clamp_len": 4, "untie_r": False, "tie_word_embeddings": False,
        },
    ),
    "no-memory": Case({"mem_len": 0, "cutoffs": [13, 40], "pre_lnorm": True, "n_head": 4, "d_head": 4, "clamp_len": 3}),
    "published-settings": Case(
        {"mem_len": 5, "clamp_len": 3, "same_length": True, "cutoffs": [13, 40], "div_val": 2},
    ),
    "one-table-projected": Case(
        {
            "d_embed": 12, "mem_len": 16, "same_length": True, "cutoffs": [13, 40], "pre_lnorm": True,
            "untie_r": False, "layer_norm_epsilon": 1e-3,
        },
    ),
    "own-words": Case(
        {
            "d_embed": 22, "n_layer": 1, "d_head": 11, "cutoffs": [13, 40], "div_val": 2, "layer_norm_epsilon": 1e-12,
            "tie_word_embeddings": False, "tie_projs": [True, False, True],
        },
    ),
    "own-projections": Case(
        {
            "d_embed": 20, "n_head": 1, "d_head": 6, "mem_len": 9, "same_length": True, "cutoffs": [13, 40],
            "div_val": 2, "proj_share_all_but_first": False,
        },
        lengths=(3, 4, 7),
        grows=True,
    ),
    "word-by-word": Case(
        {
            "d_embed": 32, "d_head": 10, "d_inner": 40, "n_layer": 3, "mem_len": 7, "clamp_len": 5, "cutoffs": [20],
            "div_val": 4, "adaptive": False,
        },
        lengths=(7, 1, 1),
    ),
    "one-cluster": Case(
        {"d_model": 32, "d_embed": 32, "n_layer": 1, "same_length": True, "div_val": 2, "tie_projs": [True]},
        lengths=(2, 6, 3),
    ),
    "growing": Case(
        {
            "d_embed": 10, "n_head": 3, "clamp_len": 0, "pre_lnorm": True, "untie_r": False,
            "tie_word_embeddings": False, "tie_projs": [True],
        },
        lengths=(4, 1, 8),
        grows=True,
    ),
}  # fmt: skip


def model(case: Case) -> TransfoXLLMHeadModel:
    """A random model, its biases and gains drawn too, so that each of them counts."""
    net = TransfoXLLMHeadModel(TransfoXLConfig(**{**PLAIN, **case.settings})).eval()
    with torch.no_grad():
        for weight in net.parameters():
            weight.add_(STIR * torch.randn_like(weight))
    return net


def beginning(net: TransfoXLLMHeadModel, case: Case) -> list[Tensor] | None:
    """What the first segment remembers."""
    zeros: list[Tensor] | None = net.init_mems(ROWS)
    return [state[:0] for state in zeros] if zeros and case.grows else zeros


def remembered(memory: list[Tensor] | None, segment: int) -> dict[str, Tensor]:
    """What a segment is given of those before it, by name."""
    return {f"memory.{segment}.{layer}": state.clone() for layer, state in enumerate(memory or ())}


def answers(net: TransfoXLLMHeadModel, case: Case) -> dict[str, Tensor]:
    """All that the model says of its segments, by name."""
    memory = beginning(net, case)
    found = remembered(memory, 0)
    for segment, length in enumerate(case.lengths):
        ids = torch.randint(VOCABULARY, (ROWS, length))
        said = net(ids, mems=memory, output_hidden_states=True)
        found[f"ids.{segment}"] = ids
        found[f"scores.{segment}"] = said.prediction_scores
        found.update({f"hidden.{segment}.{layer}": state for layer, state in enumerate(said.hidden_states)})
        if length > 1:
            found[f"losses.{segment}"] = net(ids, mems=memory, labels=ids.clone()).losses
        memory = said.mems
        found.update(remembered(memory, segment + 1))
    scores = found[f"scores.{len(case.lengths) - 1}"]
    found["weighting"] = weighting = torch.randn_like(scores)
    (weighting * scores).sum().backward()
    # What no word of the last segment reads has no gradient, which is one of zeros.
    for name, weight in net.named_parameters():
        found[f"gradient.{name}"] = torch.zeros_like(weight) if weight.grad is None else weight.grad
    return {name: tensor.detach().contiguous() for name, tensor in found.items()}


def write(name: str, seed: int) -> None:
    """A case's folder, made anew."""
    case, folder = CASES[name], Path(__file__).with_suffix("") / name
    torch.manual_seed(seed)
    net = model(case)
    net.save_pretrained(folder, safe_serialization=True)
    (folder / "generation_config.json").unlink()
    save_file(answers(net, case), folder / "expected.safetensors")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for number, one in enumerate(CASES):
        write(one, number)
