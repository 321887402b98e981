"""The files that turn an encoder into a sentence encoder: which pooling, how long a text, of length one or not."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

from bough.errors import ArtefactError, FieldError
from bough.files.folder import Folder
from bough.record import brief
from bough.spec import SentenceVector, Spec

MODULES = "modules.json"
LENGTHS = "sentence_bert_config.json"
POOLINGS = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "first",
    "pooling_mode_lasttoken": "last",
    "pooling_mode_max_tokens": "max",
}
MODES = {"mean": "mean", "cls": "first", "lasttoken": "last", "max": "max"}
"""How newer files say the same in one word."""


def trunk_folder(folder: Folder, ignore: Collection[str]) -> Folder:
    """Where the transformer itself lies: beside the list of modules, or in a folder that the list names."""
    path = _modules(folder, ignore).get("Transformer", "")
    return folder / path if path else folder


def sentence_vector(folder: Folder, ignore: Collection[str]) -> SentenceVector | None:
    """How token states become one vector, where the folder says so."""
    modules = _modules(folder, ignore)
    if not modules:
        return None
    pooling = _pooling(folder / modules["Pooling"]) if "Pooling" in modules else "mean"
    vector = SentenceVector(pooling, "Normalize" in modules)
    limits = trunk_folder(folder, ignore)
    if not limits.has(LENGTHS):
        return vector
    try:
        return vector.but(limit=limits.json(LENGTHS).get("max_seq_length"))
    except FieldError as error:
        raise ArtefactError(f"{limits.path / LENGTHS}: max_seq_length: {error.problem}") from None


def sentence_files(spec: Spec) -> dict[str, Any]:
    """The same files as JSON, by name; none where the spec has no sentence vector."""
    vector = spec.vector
    if not vector:
        return {}
    kinds = ["Transformer", "Pooling", *(["Normalize"] if vector.normalize else [])]
    modules = [
        {
            "idx": i,
            "name": str(i),
            "path": "" if kind == "Transformer" else f"{i}_{kind}",
            "type": f"sentence_transformers.models.{kind}",
        }
        for i, kind in enumerate(kinds)
    ]
    modes = {key: ours == vector.pooling for key, ours in POOLINGS.items()}
    return {
        MODULES: modules,
        LENGTHS: {"max_seq_length": vector.limit, "do_lower_case": False},
        "1_Pooling/config.json": {"word_embedding_dimension": spec.width, **modes},
    }


def _modules(folder: Folder, ignore: Collection[str]) -> dict[str, str]:
    """The folder of each module, by the kind of the module; empty where this is no sentence encoder."""
    if MODULES in ignore or not folder.has(MODULES):
        return {}
    where = folder.path / MODULES
    modules: dict[str, str] = {}
    for entry in folder.json_list(MODULES):
        module = cast("dict[str, Any]", entry if isinstance(entry, dict) else {})
        kind, path = str(module.get("type", "")).rsplit(".", 1)[-1], module.get("path", "")
        if kind not in ("Transformer", "Pooling", "Normalize") or not isinstance(path, str):
            remedy = f"pass over the file with ignore=['{MODULES}'] (--ignore {MODULES})"
            raise ArtefactError(f"{where}: a module of type {brief(module.get('type'))} is not known here; {remedy}")
        modules[kind] = path
    return modules


def _pooling(folder: Folder) -> Any:
    config, where = folder.json("config.json"), folder.path / "config.json"
    said = config.get("pooling_mode")
    chosen = {MODES.get(str(said), str(said))} if said is not None else set[str]()
    chosen |= {POOLINGS.get(key, key) for key, on in config.items() if key.startswith("pooling_mode_") and on is True}
    if len(chosen) != 1 or not chosen <= set(POOLINGS.values()):
        raise ArtefactError(
            f"{where}: pools by {', '.join(sorted(chosen)) or 'nothing'}; one of mean, first, last, max is known here"
        )
    return chosen.pop()
