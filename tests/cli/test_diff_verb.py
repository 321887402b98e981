"""`bough diff`: what differs, in sentences; and that there are words for all that can."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
from running import Run

import bough
from bough.cli import terminal
from bough.cli.diff import ORDER, place, told
from bough.cli.phrases import PHRASES
from bough.cli.words import phrase, sentence
from bough.families import FAMILIES
from bough.model import Model
from bough.record import Difference, Record, _kinds, _options, plain
from bough.spec import (
    Causal,
    Embedding,
    Encoder,
    LayerNorm,
    Learned,
    Outputs,
    Patches,
    Sinusoid,
    Spec,
    Strided,
    Window,
    Words,
)

SAMPLES = {int: 7, float: 0.25, str: "bert", bool: True, type(None): None}


def values(kind: Any) -> Iterator[Any]:
    """A value of each sort that a field may hold."""
    for option in _options(kind):
        if get_origin(option) is Annotated:
            yield from values(get_args(option)[0])
        elif get_origin(option) is Literal:
            yield from get_args(option)
        elif get_origin(option) is tuple:
            yield tuple(values(get_args(option)[0]))
        elif option is bool:
            yield from (True, False)
        else:
            yield option() if issubclass(option, Record) else SAMPLES[option]


def paths(record: type[Record], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every path that a record of this kind may have, with each sort of value there."""
    for name, kind in _kinds(record).items():
        found = list(values(kind))
        for value in found:
            if len(found) > 1 or not isinstance(value, Record):
                yield prefix + name, value
            if isinstance(value, Record):
                yield from paths(type(value), f"{prefix}{name}.")


@pytest.mark.parametrize(("path", "value"), list(dict.fromkeys(paths(Spec))), ids=str)
def test_there_are_words_for_every_value_of_every_path(path: str, value: Any) -> None:
    said = phrase(path, value)
    assert said
    assert "{" not in said
    assert sentence(Difference(path, value, value), "A", "B").startswith(f"B {said} where A ")


def test_no_words_are_left_over_for_paths_that_are_no_more() -> None:
    assert set(PHRASES) == {path for path, _ in paths(Spec)}


def test_every_path_has_its_place_and_no_place_is_left_over() -> None:
    used = {ORDER[place(path)] for path, _ in paths(Spec)}
    assert used == set(ORDER)


@pytest.mark.parametrize("a", FAMILIES)
@pytest.mark.parametrize("b", FAMILIES)
def test_any_two_families_can_be_compared_in_sentences(run: Run, a: str, b: str) -> None:
    differences = run("diff", a, b, "--json").document
    assert [one["path"] for one in differences] == [
        one.path for one in FAMILIES[a].published.diff(FAMILIES[b].published)
    ]
    assert all(one["says"].endswith(".") for one in differences)


def test_it_reads_like_a_textbook(run: Run) -> None:
    assert (
        "GPT-2 puts the norms in front of each sublayer where GPT puts them behind." in run("diff", "gpt", "gpt2").out
    )


def test_sizes_of_one_family_are_called_by_their_own_names(run: Run) -> None:
    assert run("diff", "bert-base", "bert-large").out == (
        "bert-base and bert-large are encoders: each token sees the whole sequence.\n"
        "bert-large has 335,174,458 parameters where bert-base has 109,514,298.\n"
        "\n"
        "Sizes\n"
        "• bert-large is 1,024 wide where bert-base is 768.\n"
        "• bert-large is 24 layers deep where bert-base is 12.\n"
        "• bert-large has 16 attention heads in each layer where bert-base has 12.\n"
    )


BERT = bough.spec("bert-base")
TRANSFORMER = BERT.but(
    encoder=Encoder(),
    vocabulary=37000,
    width=512,
    depth=6,
    heads=8,
    outputs=Outputs(words=Words()),
    **{
        "attention.mask": Causal(),
        "attention.weights_dropout": 0.0,
        "embedding.positions": Sinusoid(512, layout="halves"),
        "embedding.segments": 0,
        "embedding.scaled": True,
        "embedding.norm": None,
        "feed.activation": "relu",
        "norm.epsilon": 1e-5,
    },
)
PICTURES = BERT.but(
    vocabulary=0, outputs=Outputs(), embedding=Embedding(Learned(197), patches=Patches(), norm=LayerNorm(1e-12))
)
FROM_THE_TRANSFORMER_TO_BERT = """\
Transformer is an encoder and a decoder, of 6 layers each: one reads the source
whole, the other looks at it and writes from left to right.
BERT is an encoder: each token sees the whole sequence.
BERT has 109,514,298 parameters where Transformer has 63,606,784.

Positions
• BERT learns a vector for each position where Transformer computes them from
  sines and cosines.
Layers
• BERT activates its feed-forward with the exact GELU where Transformer uses
  ReLU.
• BERT steadies the layers' norms with an epsilon of 1e-12 where Transformer
  uses 1e-05.
Sizes
• BERT is 768 wide where Transformer is 512.
• BERT is 12 layers deep where Transformer is 6.
• BERT has 12 attention heads in each layer where Transformer has 8.
• BERT has a vocabulary of 30,522 where Transformer has one of 37,000.
Embedding
• BERT has vectors for 2 kinds of segment where Transformer has none.
• BERT normalises the embedding by layer norm where Transformer does not.
• BERT takes words' vectors as they are where Transformer multiplies them by the
  root of the width.
Outputs
• BERT transforms a state before it scores words where Transformer scores by it
  as it is.
• BERT puts a bias on the scores of words where Transformer puts none.
Training
• BERT drops 10% of the attention weights in training where Transformer drops
  none.
"""


@pytest.fixture
def tell(run: Run, capsys: pytest.CaptureFixture[str]) -> Callable[[Spec, Spec], str]:
    """What the verb writes of two architectures that are in no registry, called A and B."""

    def written(ours: Spec, theirs: Spec, ours_called: str = "A", theirs_called: str = "B") -> str:
        terminal.show(*told(ours, theirs, ours_called, theirs_called))
        return capsys.readouterr().out

    return written


def test_it_tells_the_large_before_the_small(tell: Callable[..., str]) -> None:
    assert tell(TRANSFORMER, BERT, "Transformer", "BERT") == FROM_THE_TRANSFORMER_TO_BERT


KINDS = {
    "A is an encoder: each token sees the whole sequence.": BERT,
    "A is a decoder: no token sees what follows it.": BERT.but(**{"attention.mask": Window(8)}),
    "A is an encoder of 1 layer and a decoder of 6 layers: one reads the source": TRANSFORMER.but(encoder=Encoder(1)),
    "A is an encoder of pictures in pieces of 16 by 16: each piece sees the whole\npicture.": PICTURES,
    "A is an encoder of videos in pieces of 2 by 8 by 8: each piece sees the whole\nvideo.": PICTURES.but(
        **{"embedding.patches": Patches((2, 8, 8), (1, 14, 14))}
    ),
}


@pytest.mark.parametrize("says", KINDS)
def test_the_head_says_what_kind_of_machine_each_is(tell: Callable[..., str], says: str) -> None:
    spec = KINDS[says]
    assert tell(spec, TRANSFORMER if spec is BERT else BERT).startswith(says)


def test_two_of_a_kind_are_said_to_be_at_once(tell: Callable[..., str]) -> None:
    assert tell(TRANSFORMER, TRANSFORMER.but(depth=3)).startswith("A and B are an encoder and a decoder each: one")


def test_what_follows_from_the_kind_is_not_said_again(tell: Callable[..., str]) -> None:
    assert tell(BERT, BERT.but(**{"attention.mask": Causal()})) == (
        "A is an encoder: each token sees the whole sequence.\n"
        "B is a decoder: no token sees what follows it.\n"
        "Each has 109,514,298 parameters.\n"
        "\n"
        "Nothing else differs but what follows from that.\n"
    )
    assert tell(BERT, PICTURES).partition("\n\n")[2] == (
        "Sizes\n• B has a table of 197 positions where A has one of 512.\n"
    )


def test_a_sparse_mask_is_said_though_both_are_decoders(tell: Callable[..., str]) -> None:
    causal = BERT.but(**{"attention.mask": Causal()})
    assert (
        "What it sees\n• B lets each token see the 64 before it and one in 64 further back where A lets\n"
        "  it see only itself and what came before.\n"
    ) in tell(causal, BERT.but(**{"attention.mask": Strided(64)}))


def test_the_same_in_several_places_is_one_sentence(tell: Callable[..., str]) -> None:
    dropped = {
        "attention.dropout": 0.0,
        "feed.dropout": 0.0,
        "embedding.dropout": 0.0,
        "attention.weights_dropout": 0.5,
    }
    assert tell(BERT, BERT.but(**dropped)).partition("\n\n")[2] == (
        "Training\n"
        "• B drops none of the embedding, what attention adds to the stream and what the\n"
        "  feed-forward adds to the stream where A drops 10%.\n"
        "• B drops 50% of the attention weights in training where A drops 10%.\n"
    )


def test_how_it_is_saved_is_said_only_where_the_names_do_not(run: Run, tell: Callable[..., str]) -> None:
    assert "saved" not in run("diff", "gpt", "gpt2").out
    assert "• B is saved in the format of gpt where A is in that of bert.\n" in tell(BERT, BERT.but(family="gpt"))


def test_names_are_written_as_they_are(tell: Callable[..., str]) -> None:
    assert "[red] has one" in tell(BERT, BERT.but(vocabulary=9), "[red]", "[b]")


def test_json_has_path_both_values_and_the_sentence(run: Run) -> None:
    assert {
        "path": "embedding.positions.size",
        "a": 512,
        "b": 1024,
        "says": "GPT-2 has a table of 1,024 positions where GPT has one of 512.",
    } in run("diff", "gpt", "gpt2", "--json").document


def test_equal_architectures_differ_in_nothing(run: Run) -> None:
    assert "nothing differs" in run("diff", "bert", "bert-base").out
    assert run("diff", "bert", "bert-base", "--json").document == []


def test_a_checkpoint_is_compared_by_what_it_holds(run: Run, tmp_path: Path) -> None:
    family = FAMILIES["gpt2"]
    spec = family.preset("gpt2-tiny").but(vocabulary=50, depth=1, outputs=family.outputs.only("tag"))
    Model(spec, bough.build(spec)).save(tmp_path / "mine")
    differences = run("diff", tmp_path / "mine", "gpt2-tiny", "--json").document
    assert [(one["path"], one["a"], one["b"]) for one in differences] == [
        (one.path, plain(one.ours), plain(one.theirs)) for one in spec.diff(bough.spec("gpt2-tiny"))
    ]
    assert "gpt2-tiny has a vocabulary of 50,257 where mine has one of 50." in [one["says"] for one in differences]


@pytest.mark.parametrize(
    ("projects", "says"),
    [((), "no cluster"), ((True,), "cluster 1"), ((False, True, True, True), "clusters 2, 3 and 4")],
)
def test_clusters_are_said_by_their_numbers(projects: tuple[bool, ...], says: str) -> None:
    said = phrase("outputs.words.projection.projects", projects)
    assert said == f"takes the projections of {says} from the embedding"


def test_labels_that_are_many_are_not_all_said() -> None:
    many = Difference("outputs.tag.labels", ("yes", "no"), tuple(f"LABEL_{i}" for i in range(1000)))
    assert sentence(many, "A", "B") == (
        "B labels tokens LABEL_0, LABEL_1, LABEL_2, LABEL_3 … LABEL_999 (1000 in all) where A labels them yes, no."
    )
