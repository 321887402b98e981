"""The pretrained encoder against the tools that its publishers use: the same states, and the same sentence vectors."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch
import transformers
from sentence_transformers import SentenceTransformer

import bough
from bough import samples
from bough.model import Model

SUBJECTS = ("The old bridge", "A grey heron", "Nobody's computer", "Ĉu ŝi", "Die Straßenbahn", "他", "🙂 She")
DEEDS = ("waits", "was painted twice", "refuses, again and again, to start", "sold 1,024 tickets")
ENDS = (".", " in the rain!", " before the market closes at five, although it had opened only at noon" * 3 + "?")
TEXTS = [f"{subject} {deed}{end}" for subject, deed, end in itertools.product(SUBJECTS, DEEDS, ENDS)] + ["", "x" * 999]


@pytest.fixture(scope="module")
def folder() -> Path:
    return samples.encoder()


@pytest.fixture(scope="module")
def model(folder: Path) -> Model:
    return bough.load(folder)


def test_the_states_after_every_layer_are_those_of_transformers(folder: Path, model: Model) -> None:
    theirs = transformers.AutoModel.from_pretrained(folder).eval()
    ids = [model.tokenizer.encode(text).ids for text in TEXTS]
    ours = [model.hidden(ids, layer) for layer in range(len(model.spec.order) + 1)]
    for number, one in enumerate(ids):
        with torch.no_grad():
            states = theirs(input_ids=torch.tensor([one]), output_hidden_states=True).hidden_states
        for layer, state in enumerate(states):
            torch.testing.assert_close(ours[layer][number], state[0], rtol=0, atol=2e-5)


def test_the_vectors_of_sentences_are_those_of_sentence_transformers(folder: Path, model: Model) -> None:
    theirs = SentenceTransformer(str(folder), device="cpu").encode(TEXTS, convert_to_tensor=True)
    torch.testing.assert_close(model.embed(TEXTS), theirs, rtol=0, atol=1e-5)
