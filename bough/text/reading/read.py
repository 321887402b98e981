"""From the files that lie in a folder to its tokenizer: tokenizer.json as it is, or else a vocabulary and a form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bough.errors import ArtefactError, BoughError
from bough.families import FAMILIES
from bough.families.forms import Form
from bough.files.folder import Folder, small_files
from bough.text.opened import opened
from bough.text.reading import layouts
from bough.text.reading.said import Said, said
from bough.text.tokenizer import Tokenizer

WHOLE = "tokenizer.json"
PICKLED = ("vocab.pkl", "vocab.bin")
"""What older tools kept a Transformer-XL's words in."""


def tokenizer_of(files: Mapping[str, bytes], where: str, form: Form | None = None) -> Tokenizer | None:
    """The tokenizer in the files of a folder, by name; None where there is none that is known.

    `form` is that of the model's family; what the files say themselves goes before it.
    """
    found = said(files, where)
    form = _form(files, found, form)
    if WHOLE in files:
        place = f"{where}/{WHOLE}"
        return layouts.finished(opened(files[WHOLE], place), found, form, place)
    return layouts.read(files, found, found.form(form)) if form else None


def open_tokenizer(path: str | Path) -> Tokenizer:
    """The tokenizer of a model's folder, of a folder of its own, or of a tokenizer.json."""
    path = Path(path)
    if path.is_file():
        return Tokenizer.from_json(Folder(path.parent).bytes(path.name), str(path))
    if not path.is_dir():
        raise BoughError(f"{path}: there is no such folder, and no such {WHOLE}")
    folder = Folder(path)
    kind = folder.json("config.json").get("model_type") if folder.has("config.json") else None
    form = next((one.text for one in FAMILIES.values() if one.model_type == kind), None)
    found = tokenizer_of(small_files(folder), str(path), form)
    if found:
        return found
    for name in PICKLED:
        if folder.has(name):
            raise ArtefactError(
                f"{path / name}: refused, because reading a pickle can run programs; put its words beside it "
                f"as {layouts.WORDS}, one to a line, in the order of their ids"
            )
    raise BoughError(f"{path}: has no tokenizer that is known here; put its {WHOLE} there")


def _form(files: Mapping[str, bytes], found: Said, form: Form | None) -> Form | None:
    """The form that the folder's settings name, or else the family's, or what the files look like."""
    if found.class_name:
        forms = [one.text for one in FAMILIES.values() if one.text]
        return next((one for one in forms if found.class_name in one.classes), None)
    return form or _likely(files)


def _likely(files: Mapping[str, bytes]) -> Form | None:
    """The form that files are likeliest of, where nothing is said of them."""
    suffixed = b"</w>" in files.get(layouts.NUMBERED, b"")
    looks = {layouts.SOURCE: "transformer", layouts.PIECES[1]: "xlm-roberta", layouts.WORDS: "bert",
             layouts.MERGES: "gpt" if suffixed else "gpt2"}  # fmt: skip
    return next((FAMILIES[family].text for name, family in looks.items() if name in files), None)
