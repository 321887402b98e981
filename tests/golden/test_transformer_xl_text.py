"""Transformer-XL's words against the ids that transformers 4.35.2 gave; see `transformer_xl_text.py` here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bough.text.reading.read import open_tokenizer

FOLDERS = sorted(path for path in (Path(__file__).parent / "transformer_xl_text").iterdir() if path.is_dir())


@pytest.fixture(params=FOLDERS, ids=lambda path: path.name)
def folder(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_every_text_has_their_ids(folder: Path) -> None:
    tokenizer = open_tokenizer(folder)
    expected = json.loads((folder / "expected.json").read_text())
    assert len(expected) > 400
    found = {text: one.ids for text, one in zip(expected, tokenizer.encode_all(list(expected)), strict=True)}
    assert found == expected


def test_offsets_say_where_words_and_the_marks_in_numbers_stand(folder: Path) -> None:
    text = "It  cost 1,250.75 – a well-known “price” indeed…"
    found = open_tokenizer(folder).encode(text)
    assert [text[start:end] for start, end in found.offsets] == [
        *("It", "cost", "1", ",", "250", ".", "75", "–", "a", "well", "-", "known", "“", "price", "”", "indeed", "…")
    ]
    assert found.words == list(range(17))


def test_ids_come_back_with_numbers_and_hyphens_whole() -> None:
    tokenizer = open_tokenizer(FOLDERS[-1])
    assert tokenizer.decode(tokenizer.encode("late by 1,250.75 s").ids) == "late by 1,250.75 s"
