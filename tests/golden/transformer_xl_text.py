"""Makes the golden ids of Transformer-XL's tokenizer: what transformers 4.35.2 makes of texts with a small vocabulary.

Today's transformers does not have the family, so the ids are kept. This is run by hand, in the environment that
`transformer_xl.py` here describes, with sacremoses beside it:

    /tmp/transformer-xl/bin/pip install sacremoses==0.2.0
    /tmp/transformer-xl/bin/python tests/golden/transformer_xl_text.py

Each folder in the one that bears this file's name is a tokenizer: `vocab.txt` has a word on each line, the likeliest
that its own tokenizer finds in the texts. `expected.json` maps each text to its ids.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

from transformers import TransfoXLTokenizer

HERE = Path(__file__).with_suffix("")
sys.path.insert(0, str(HERE.parents[1] / "text"))

from scripts import fuzzed, texts  # noqa: E402

FRONT = ("<eos>", "<unk>", "<formula>")
CASES = {"plain": {}, "lowercase": {"lower_case": True}}


def tokenizer(folder: Path, words: list[str], settings: dict[str, bool]) -> TransfoXLTokenizer:
    """A tokenizer that knows these words, from files as a user keeps them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps({"model_type": "transfo-xl"}) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings) + "\n")
    return TransfoXLTokenizer.from_pretrained(folder, **settings)


def write(name: str) -> None:
    """A case's folder, made anew."""
    settings, lines = CASES[name], [*texts(), *fuzzed(300, seed=35)]
    with tempfile.TemporaryDirectory() as room:
        bare = tokenizer(Path(room), list(FRONT), settings)
        counts = Counter(word for line in lines for word in bare.tokenize(line))
    known = [word for word, _ in counts.most_common(400) if word not in FRONT and word.split() == [word]]
    ours = tokenizer(HERE / name, [*FRONT, *known], settings)
    expected = {line: ours.encode(line) for line in lines}
    content = json.dumps(expected, indent=0).replace(",\n", ",").replace("],", "],\n")
    (HERE / name / "expected.json").write_text(content + "\n")


if __name__ == "__main__":
    for case in CASES:
        write(case)
