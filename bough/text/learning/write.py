"""The files of a vocabulary that was learnt, as other tools read them; what comes in is the vocabulary and its form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tokenizers import models

from bough.errors import BoughError
from bough.families.forms import Form, Suffixed, Whole
from bough.families.words import MosesWords, XlmWords
from bough.files.atomic import replaced, write
from bough.files.folder import BESIDE
from bough.text.assemble import assembled
from bough.text.guard import guarded
from bough.text.reading.layouts import MERGES, NUMBERED, WORDS
from bough.text.reading.read import WHOLE
from bough.text.reading.said import CONFIG

ANY_KIND = "PreTrainedTokenizerFast"
"""What other tools call a tokenizer of which its tokenizer.json says everything."""
OTHERS = ("generation_config.json", "preprocessor_config.json")
"""What lies beside a model's weights and is of no tokenizer."""


def files(
    form: Form, ids: Mapping[str, int], model: models.Model, pairs: Sequence[tuple[str, str]]
) -> dict[str, bytes]:
    """What is to lie in its folder, by name."""
    ranked = sorted(ids, key=ids.__getitem__)
    match form.vocabulary:
        case Suffixed(XlmWords(bare)):
            said = {"tokenizer_class": form.classes[0], "do_lowercase_and_remove_accent": bare}
            vocabulary = {
                NUMBERED: json.dumps({token: ids[token] for token in ranked}, ensure_ascii=False, indent=0),
                MERGES: "".join(f"{first} {second}\n" for first, second in pairs),
            }
        case Whole(MosesWords(lowercase, language)):
            said = {"tokenizer_class": form.classes[0], "lower_case": lowercase, "language": language}
            vocabulary = {WORDS: "".join(f"{token}\n" for token in ranked)}
        case _:
            said = {"tokenizer_class": ANY_KIND, "clean_up_tokenization_spaces": False}
            inner = assembled(form, model)
            vocabulary = {WHOLE: guarded(lambda: inner.to_str(pretty=True), "training", BoughError)}
    return {name: text.encode() for name, text in {**vocabulary, CONFIG: _config(form, said)}.items()}


def save(folder: Path, content: Mapping[str, bytes]) -> None:
    """Put a tokenizer's files into a folder, all of them or none; what is of another tokenizer goes, the rest stays."""
    with replaced(folder) as aside:
        for name in BESIDE:
            if name not in OTHERS:
                (aside / name).unlink(missing_ok=True)
        for name, data in content.items():
            write(aside / name, data)


def _config(form: Form, said: dict[str, Any]) -> str:
    """The settings that other tools read beside a vocabulary."""
    roles = {f"{role}_token": token for role, token in form.roles.items() if role != "language"}
    further: dict[str, Any] = {"additional_special_tokens": list(form.further)} if form.further else {}
    return json.dumps({**said, **roles, **further}, ensure_ascii=False, indent=2) + "\n"
