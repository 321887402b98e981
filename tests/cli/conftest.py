"""What the tests of the command share: running it as a pipe would see it, and a small model with a tokenizer."""

from __future__ import annotations

from pathlib import Path

import pytest
import tokenizers
from running import Ran, Run
from tokenizers import models, pre_tokenizers, processors

import bough
from bough.cli import main
from bough.families import FAMILIES
from bough.model import Model

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "river", "bank", "lent", "money", "flooded"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command in this process, as if its output were piped."""
    for name in ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)

    def ran(*arguments: object) -> Ran:
        code = main([str(one) for one in arguments])
        return Ran(code, *capsys.readouterr())

    return ran


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small BERT with a pooler and a tokenizer of ten words."""
    family = FAMILIES["bert"]
    spec = family.base.but(
        vocabulary=len(WORDS),
        width=16,
        depth=2,
        heads=2,
        outputs=family.outputs.only("pooler"),
        **{"embedding.positions.size": 12},
    )
    folder = tmp_path_factory.mktemp("encoder") / "model"
    Model(spec, bough.build(spec), files={"tokenizer.json": _tokenizer().encode()}).save(folder)
    return folder


def _tokenizer() -> str:
    inner = tokenizers.Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return inner.to_str()
