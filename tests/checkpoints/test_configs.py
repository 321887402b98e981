"""What a config.json may hold: a value that cannot be is refused by file and key, before anything is allocated."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crafted import complaint, rewrite

import bough
from bough import ArtefactError
from bough.families import FAMILIES
from bough.families.family import ACTIVATIONS
from bough.record import show

SIZE = "must be a whole number from 1 to 16,777,216, not "
WRONG = {
    "a negative width": ({"hidden_size": -8}, f"hidden_size: {SIZE}-8"),
    "a width of nothing": ({"hidden_size": 0}, f"hidden_size: {SIZE}0"),
    "a huge width": ({"hidden_size": 2**40}, f"hidden_size: {SIZE}1099511627776"),
    "a width of four hundred digits": ({"hidden_size": 10**400}, f"hidden_size: {SIZE}{'1' + '0' * 17}...{'0' * 19}"),
    "a huge vocabulary": ({"vocab_size": 2**62}, f"vocab_size: {SIZE.replace('1', '0', 1)}4611686018427387904"),
    "a width in words": ({"hidden_size": "eight"}, f"hidden_size: {SIZE}'eight'"),
    "half a width": ({"hidden_size": 8.5}, f"hidden_size: {SIZE}8.5"),
    "a width of true": ({"hidden_size": True}, f"hidden_size: {SIZE}True"),
    "a list of widths": ({"hidden_size": [8]}, f"hidden_size: {SIZE}[8]"),
    "a deep list": ({"hidden_size": [[[[[[[[8]]]]]]]]}, f"hidden_size: {SIZE}[[[[[[[...]]]]]]]"),
    "a long text": ({"hidden_size": "8" * 10**6}, f"hidden_size: {SIZE}'{'8' * 27}...{'8' * 28}'"),
    "too many layers": (
        {"num_hidden_layers": 10**9},
        "num_hidden_layers: must be a whole number from 1 to 4,096, not 1000000000",
    ),
    "heads that do not divide the width": (
        {"num_attention_heads": 3},
        "num_attention_heads: 3 heads do not divide a width of 8",
    ),
    "an epsilon of NaN": (
        {"layer_norm_eps": float("nan")},
        "layer_norm_eps: must be a finite number from 0 to 1, not nan",
    ),
    "an infinite epsilon": (
        {"layer_norm_eps": float("inf")},
        "layer_norm_eps: must be a finite number from 0 to 1, not inf",
    ),
    "an epsilon of four hundred digits": (
        {"layer_norm_eps": 10**400},
        f"layer_norm_eps: must be a finite number from 0 to 1, not {'1' + '0' * 17}...{'0' * 19}",
    ),
    "a rate above one": (
        {"hidden_dropout_prob": 1.5},
        "hidden_dropout_prob: must be a finite number from 0 to 1, not 1.5",
    ),
    "an unknown activation": (
        {"hidden_act": ["gelu"]},
        f"hidden_act: must be one of {', '.join(show(name) for name, _ in ACTIVATIONS.pairs)}, not ['gelu']",
    ),
    "a switch that is a number": (
        {"tie_word_embeddings": 1},
        "tie_word_embeddings: must be true or false, not 1",
    ),
    "what the trunk cannot do": (
        {"add_cross_attention": True},
        "add_cross_attention: True is refused: this family has no encoder to look at",
    ),
    "a family that is not known": (
        {"model_type": "bertt"},
        (
            f"model_type: there is no family 'bertt'; did you mean 'bert'?; there are {', '.join(FAMILIES)}; "
            "another is said with family= (--family)"
        ),
    ),
    "a setting that nobody knows": (
        {"hidden_sizes": 8, "wings": 2},
        (
            "hidden_sizes, wings: not a setting that BERT has here; if it changes no number, "
            "pass over it with ignore=['hidden_sizes', 'wings'] (--ignore hidden_sizes)"
        ),
    ),
}

AGAIN = "; fetch or write the file again"
TOO_DEEP = "refused, because it is nested more than 64 deep"
TOO_LONG = (
    "Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits; "
    "use sys.set_int_max_str_digits() to increase the limit"
)
OF_TWO_SIDES = {
    "no positions": (
        "bart-tiny",
        {"max_position_embeddings": 0},
        f"max_position_embeddings: {SIZE}0",
    ),
    "positions in words": (
        "bart-tiny",
        {"max_position_embeddings": "all"},
        f"max_position_embeddings: {SIZE}'all'",
    ),
    "a table shared by a number": (
        "bart-tiny",
        {"tie_word_embeddings": 0},
        "tie_word_embeddings: must be true or false, not 0",
    ),
    "a start that is no word": (
        "bart-tiny",
        {"decoder_start_token_id": 11},
        "decoder_start_token_id: 11 is none of 11 words",
    ),
    "heads that do not divide the source's width": (
        "bart-tiny",
        {"encoder_attention_heads": 3},
        "encoder_attention_heads: 3 heads do not divide a width of 8",
    ),
    "layers left out": (
        "bart-tiny",
        {"decoder_layerdrop": 0.1},
        "decoder_layerdrop: 0.1 is refused: every layer runs at every step",
    ),
    "a decoder alone": (
        "bart-tiny",
        {"is_encoder_decoder": False},
        "is_encoder_decoder: False is refused: this family has two stacks",
    ),
    "norms in another place": (
        "bart-tiny",
        {"normalize_before": True},
        "normalize_before: True is refused: norms stand behind each sum here; those of mBART stand in front",
    ),
    "a text turned about": (
        "mbart-tiny",
        {"architectures": ["MBartForSequenceClassification"]},
        (
            "architectures: ['MBartForSequenceClassification'] is refused: its other heads read a text whose last word "
            "is moved to the front, which is not done here"
        ),
    ),
}
UNSOUND = {
    "cut": (b'{"hidden_size": 8', f"not JSON (Expecting ',' delimiter: line 1 column 18 (char 17)){AGAIN}"),
    "no UTF-8": (
        b"\xff{}",
        f"not JSON ('utf-8' codec can't decode byte 0xff in position 0: invalid start byte){AGAIN}",
    ),
    "a list": (b"[]", "must hold a JSON object"),
    "a deep bomb": (b'{"a": ' + b"[" * 100_000, TOO_DEEP),
    "a deep list": (b'{"a": ' + b"[" * 500 + b"]" * 500 + b"}", TOO_DEEP),
    "a long bomb": (b'{"a": "' + b" " * 2**22 + b'"}', "refused, because no such file has more than 4 MiB"),
    "a long number": (b'{"a": ' + b"9" * 5000 + b"}", f"not JSON ({TOO_LONG}){AGAIN}"),
}


@pytest.fixture
def little_memory() -> Iterator[None]:
    """A process that may take no more than a quarter gigabyte beyond what it has."""
    with open("/proc/self/statm") as file:  # noqa: PTH123
        held = int(file.read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (held + 2**28, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.usefixtures("little_memory", "as_for_users")
@pytest.mark.parametrize(("changes", "said"), WRONG.values(), ids=WRONG)
def test_a_value_that_cannot_be_is_refused_by_its_key(folder: Path, changes: dict[str, Any], said: str) -> None:
    rewrite(folder / "config.json", **changes)
    with pytest.raises(ArtefactError) as error:
        bough.load(folder)
    assert complaint(error) == f"{folder / 'config.json'}: {said}"
    assert error.value.exit_code == 3


@pytest.mark.usefixtures("as_for_users")
@pytest.mark.parametrize(("preset", "changes", "said"), OF_TWO_SIDES.values(), ids=OF_TWO_SIDES)
def test_of_two_sides_too_a_value_that_cannot_be_is_refused_by_its_key(
    tmp_path: Path, preset: str, changes: dict[str, Any], said: str
) -> None:
    spec = bough.spec(preset).but(vocabulary=11, width=8, depth=1, heads=2)
    bough.model.Model(spec, bough.build(spec)).save(tmp_path)
    rewrite(tmp_path / "config.json", **changes)
    with pytest.raises(ArtefactError) as error:
        bough.load(tmp_path)
    assert complaint(error) == f"{tmp_path / 'config.json'}: {said}"


@pytest.mark.usefixtures("little_memory", "as_for_users")
@pytest.mark.parametrize(
    "changes",
    [{"hidden_size": 2**24}, {"vocab_size": 2**24}, {"intermediate_size": 2**24}, {"num_hidden_layers": 4096}],
)
def test_a_config_of_a_larger_net_than_the_file_holds_allocates_nothing(folder: Path, changes: dict[str, int]) -> None:
    rewrite(folder / "config.json", **changes)
    start = time.perf_counter()
    with pytest.raises(ArtefactError, match="its tensors are not those of BERT as its config has it"):
        bough.load(folder)
    assert time.perf_counter() - start < 10


def test_blocks_in_groups_of_groups_are_bounded() -> None:
    with pytest.raises(bough.FieldError) as error:
        bough.spec("albert-tiny").but(
            depth=4096, sharing=bough.spec("albert-tiny").sharing.but(groups=4096, inner=4096)
        )
    assert str(error.value) == "sharing.inner: 4096 blocks at each depth make 16,777,216 layers of 4,096"


@pytest.mark.parametrize(("content", "said"), UNSOUND.values(), ids=UNSOUND)
def test_a_config_that_is_no_sound_json_is_refused(folder: Path, content: bytes, said: str) -> None:
    (folder / "config.json").write_bytes(content)
    with pytest.raises(ArtefactError) as error:
        bough.load(folder)
    assert complaint(error) == f"{folder / 'config.json'}: {said}"


@pytest.mark.usefixtures("little_memory", "as_for_users")
def test_a_bomb_of_empty_lists_is_read_in_bounded_memory(folder: Path) -> None:
    (folder / "config.json").write_bytes(b'{"model_type": "bert", "a": [' + b"[]," * (2**20) + b"[]]}")
    with pytest.raises(ArtefactError, match=r"a: not a setting that BERT has here"):
        bough.load(folder)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"0": "no", "2": "yes"}, "id2label: must name labels 0 to 1, each once"),
        ({"no": 0}, "id2label: must map label numbers to names"),
        (["no", "yes"], "id2label: must map label numbers to names"),
    ],
)
def test_labels_that_are_no_list_of_names_are_refused(
    tmp_path: Path, small: bough.Spec, labels: Any, said: str
) -> None:
    spec = small.but(outputs=bough.families()["bert"].outputs.only("classify"))
    bough.model.Model(spec, bough.build(spec)).save(tmp_path / "labels")
    rewrite(tmp_path / "labels" / "config.json", id2label=labels)
    with pytest.raises(ArtefactError) as error:
        bough.load(tmp_path / "labels")
    assert complaint(error) == f"{tmp_path / 'labels' / 'config.json'}: {said}"


def test_a_sentence_encoders_limit_that_cannot_be_is_refused_by_its_file(folder: Path) -> None:
    (folder / "modules.json").write_text('[{"type": "x.Transformer", "path": ""}]')
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": -1}')
    with pytest.raises(ArtefactError) as error:
        bough.load(folder)
    where = folder / "sentence_bert_config.json"
    assert complaint(error) == f"{where}: max_seq_length: {SIZE.removesuffix(', not ')} or none, not -1"


def test_half_a_surrogate_pair_in_a_label_is_kept(tmp_path: Path, small: bough.Spec) -> None:
    spec = small.but(outputs=bough.families()["bert"].outputs.only("classify"))
    bough.model.Model(spec, bough.build(spec)).save(tmp_path / "labels")
    rewrite(tmp_path / "labels" / "config.json", id2label={"0": "\ud800", "1": "é"}, label2id=None)
    bough.load(tmp_path / "labels").save(tmp_path / "again")
    assert json.loads((tmp_path / "again" / "config.json").read_text())["id2label"] == {"0": "\ud800", "1": "é"}
