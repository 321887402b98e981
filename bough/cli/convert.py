"""`bough convert`: a checkpoint from one layout into another, its numbers untouched."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table
from rich.text import Text

from bough.cli import terminal
from bough.cli.options import AllowPickle, FamilyName, Ignore, Json
from bough.errors import BoughError
from bough.families import FAMILIES


def convert(
    source: Annotated[str, typer.Argument(metavar="SRC", help="A checkpoint's folder or hub id.", show_default=False)],
    target: Annotated[Path, typer.Argument(metavar="DST", help="The folder to write.", show_default=False)],
    to: Annotated[Literal["hf"], typer.Option(help="The layout to write: the one that other tools read.")] = "hf",
    family: FamilyName = None,
    allow_pickle: AllowPickle = False,
    ignore: Ignore = None,
    new_head: Annotated[
        str | None, typer.Option("--new-head", help="Add this head, its weights new.", metavar="HEAD")
    ] = None,
    labels: Annotated[str, typer.Option(help="The new head's labels, with commas between.")] = "",
    seed: Annotated[int, typer.Option(help="What the new head's weights are drawn from.")] = 0,
    json: Json = False,
) -> None:
    """Rewrite a checkpoint: one safetensors file, the names of today, every number as it was.

    It reads sharded files, old spellings, and with --allow-pickle pytorch_model.bin; each tensor keeps its type.
    """
    _check_target(target)
    from bough import checkpoints
    from bough.files.folder import small_files

    found = checkpoints.load(
        source,
        family_name=family,
        allow_pickle=allow_pickle,
        ignore=ignore or (),
        new_head=new_head,
        labels=[one.strip() for one in labels.split(",") if one.strip()],
        seed=seed,
    )
    with terminal.working("writing"):
        files = small_files(found.folder)
        checkpoints.save(target, found.spec, found.tensors, found.extras, files, found.tokenizer)
    report = {
        "source": source,
        "target": str(target),
        "layout": to,
        "family": found.spec.family,
        "heads": list(found.spec.outputs.present()),
        "new_head": new_head,
        "parameters": found.spec.parameters,
        "types": sorted({str(one.dtype).removeprefix("torch.") for one in found.tensors.values()}),
        "bytes": (target / "model.safetensors").stat().st_size,
    }
    if json:
        terminal.document(report)
    else:
        terminal.show(_said(report))


def _check_target(target: Path) -> None:
    """A folder that holds something else is not ours to write into."""
    if target.is_dir() and any(target.iterdir()) and not (target / "config.json").exists():
        raise BoughError(f"{target}: holds something that is no checkpoint; name a new folder, or an empty one")


def _said(report: dict[str, Any]) -> Table:
    heads = ", ".join(report["heads"]) or "none"
    fresh = f" ({report['new_head']} is new, and untrained)" if report["new_head"] else ""
    held = f"{FAMILIES[report['family']].title}, {report['parameters']:,} parameters in {' and '.join(report['types'])}"
    table = Table.grid(padding=(0, 1))
    table.add_row(Text("read", "bold"), Text(f"{report['source']}: {held}; heads: {heads}{fresh}"))
    table.add_row(
        Text("wrote", "bold"), Text(f"{report['target']}: {report['bytes'] / 2**20:,.1f} MiB of tensors, and the rest")
    )
    return table
