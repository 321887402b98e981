"""The peers: small random models of `transformers` in which each setting of a family comes up, and what they answer."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, groupby, islice
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor
from transformers.models.albert.modeling_albert import AlbertLayer

from bough.families import FAMILIES
from bough.families.family import ACTIVATIONS, Family
from bough.packed import Packed, behind_start
from bough.settings import Setting
from bough.spec import Patches, Spec

COUNT = 16
"""The least number of configs of a family; no column of settings below is longer."""
VOCABULARY = 61
FIRST_WORD = 7
"""Padding ids lie below it: a peer neither embeds nor trains what it takes for padding."""

Settings = Mapping[str, Any]
PEERED = {name: one for name, one in FAMILIES.items() if hasattr(transformers, one.architectures[0][0])}
"""The families that the peer has too."""


def each(key: str, *values: Any) -> list[Settings]:
    """A column of the grid: one key with each of its values in turn."""
    return [{key: value} for value in values]


def spelled(key: str) -> list[Settings]:
    """A column of the grid: an activation in all its spellings."""
    return each(key, *(name for name, _ in ACTIVATIONS.pairs))


def sizes(width: str, depth: str, heads: str) -> list[list[Settings]]:
    """The columns of a trunk's sizes."""
    return [
        [{width: w, heads: h} for w, h in ((16, 1), (24, 3), (32, 4), (48, 2), (64, 8))],
        each(depth, 1, 2, 3, 4),
    ]


NAMES = ("no", "maybe", "yes", "never")
LABELS: list[Settings] = [
    {},
    {"num_labels": 3, "problem_type": "multi_label_classification"},
    {"num_labels": 1, "problem_type": "regression"},
    {"id2label": dict(enumerate(NAMES)), "label2id": {name: i for i, name in enumerate(NAMES)}},
]
EPSILON = (1e-12, 1e-5, 1e-3)
BERT = [
    *sizes("hidden_size", "num_hidden_layers", "num_attention_heads"),
    spelled("hidden_act"),
    each("intermediate_size", 17, 64, 128),
    each("layer_norm_eps", *EPSILON),
    each("type_vocab_size", 1, 2, 5),
]
GPT = [
    *sizes("n_embd", "n_layer", "n_head"),
    each("n_positions", 64, 80),
    each("layer_norm_epsilon", *EPSILON),
    each("pad_token_id", 3),
]
DECODERS = each("is_decoder", False, False, True)
GRIDS: dict[str, list[list[Settings]]] = {
    "bert": [*BERT, DECODERS, each("max_position_embeddings", 64, 80)],
    "roberta": [
        *BERT,
        DECODERS,
        [{"pad_token_id": pad, "max_position_embeddings": 65 + pad + more} for pad, more in ((1, 0), (0, 9), (5, 3))],
    ],
    "albert": [
        *BERT,
        each("max_position_embeddings", 64, 80),
        [
            {"num_hidden_layers": depth, "num_hidden_groups": groups, "inner_group_num": inner}
            for depth, groups, inner in ((3, 1, 1), (4, 2, 1), (3, 2, 1), (2, 1, 2), (4, 2, 3), (18, 14, 1))
        ],
        each("embedding_size", 8, 16, 32, 40),
    ],
    "distilbert": [
        *sizes("dim", "n_layers", "n_heads"),
        spelled("activation"),
        each("hidden_dim", 17, 64, 128),
        each("sinusoidal_pos_embds", False, True),
        each("max_position_embeddings", 64, 80),
    ],
    "gpt": [*GPT, each("afn", "gelu", "relu", "silu", "swish")],
    "gpt2": [
        *GPT,
        spelled("activation_function"),
        each("n_inner", None, 17, 64),
        each("scale_attn_weights", True, False),
        each("scale_attn_by_inverse_layer_idx", False, True),
        each("reorder_and_upcast_attn", False, True),
    ],
    "xlm": [
        *sizes("emb_dim", "n_layers", "n_heads"),
        each("causal", False, True),
        each("sinusoidal_embeddings", False, True),
        each("gelu_activation", True, False),
        [{"n_langs": count, "use_lang_emb": used} for count, used in ((1, True), (3, True), (3, False))],
        each("layer_norm_eps", *EPSILON),
        each("max_position_embeddings", 64, 80),
    ],
}
TIES: list[Settings] = each("tie_word_embeddings", True, False)
HEADS: dict[str, list[list[Settings]]] = {"words": [TIES], "classify": [LABELS], "tag": [LABELS]}
"""What a head has settings of its own for, in any family."""
XLM_HEADS: dict[str, list[list[Settings]]] = {
    **HEADS,
    "words": [[*TIES, {"asm": True, "tie_word_embeddings": False, "asm_cutoffs": [13, 40], "asm_div_value": 2.0}]],
    "classify": [
        LABELS,
        each("summary_type", "first", "last", "mean", "cls_index"),
        each("summary_activation", None, "tanh", "relu", "gelu"),
    ],
}
OWN_HEADS: dict[str, dict[str, list[list[Settings]]]] = {
    "xlm": XLM_HEADS,
    "t5": {"words": [[*TIES, {"scale_decoder_outputs": False}]]},
}
SIDES = [
    [
        {"d_model": w, "encoder_attention_heads": a, "decoder_attention_heads": b}
        for w, a, b in ((16, 1, 2), (24, 3, 1), (32, 4, 8), (48, 2, 4))
    ],
    [{"encoder_layers": a, "decoder_layers": b} for a, b in ((1, 2), (2, 2), (3, 1), (2, 3))],
    [{"encoder_ffn_dim": a, "decoder_ffn_dim": b} for a, b in ((17, 64), (64, 64), (128, 33))],
    spelled("activation_function"),
    each("scale_embedding", False, True),
    each("max_position_embeddings", 64, 80),
]
STARTS = {
    "decoder_start_token_id": 2,
    "pad_token_id": 1,
    "eos_token_id": 2,
    "bos_token_id": 0,
    "forced_eos_token_id": 2,
}
GRIDS["transformer"] = [
    *SIDES,
    [STARTS],
    [{}, {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": 53}],
]
GRIDS["bart"] = [*SIDES, each("decoder_start_token_id", 2, 5), each("pad_token_id", 1, 3)]
GRIDS["mbart"] = [*SIDES, each("decoder_start_token_id", None, 2)]
SEEING = [
    *sizes("hidden_size", "num_hidden_layers", "num_attention_heads"),
    spelled("hidden_act"),
    each("intermediate_size", 17, 64, 128),
    each("layer_norm_eps", *EPSILON),
    each("qkv_bias", True, False),
    each("num_channels", 3, 1, 4),
]
GRIDS["vit"] = [
    *SEEING,
    [
        {"image_size": size, "patch_size": patch}
        for size, patch in ((12, 4), (8, 2), ([8, 12], 4), (15, 5), ([6, 12], [3, 4]), (4, 4), ([9, 9], 3))
    ],
]
GRIDS["vivit"] = [
    *SEEING,
    [
        {"num_frames": frames, "image_size": size, "tubelet_size": tubelet}
        for frames, size, tubelet in (
            (4, 8, [2, 4, 4]),
            (3, 9, [1, 3, 3]),
            (4, [8, 12], [4, 4, 4]),
            (6, [6, 12], [2, 3, 4]),
            (2, 4, [2, 4, 4]),
        )
    ],
]
GRIDS["t5"] = [
    [
        {"d_model": w, "num_heads": h, "d_kv": k}
        for w, h, k in ((16, 2, 4), (24, 3, 8), (32, 4, 16), (48, 2, 10), (64, 8, 8))
    ],
    [{"num_layers": 2}, *({"num_layers": a, "num_decoder_layers": b} for a, b in ((1, 2), (3, 1), (2, 3), (4, 4)))],
    each("d_ff", 17, 64, 128),
    each(
        "feed_forward_proj",
        *("relu", "gated-gelu", "gelu", "gated-silu", "gelu_new", "gated-gelu_python", "gated-relu", "gated-gelu_new"),
    ),
    [
        {"relative_attention_num_buckets": n, "relative_attention_max_distance": d}
        for n, d in ((32, 128), (8, 20), (7, 30), (4, 3), (16, 64))
    ],
    each("layer_norm_epsilon", 1e-6, 1e-5, 1e-3),
    each("decoder_start_token_id", 0, 2),
    each("initializer_factor", 0.5, 0.2),
]
GRIDS["xlm-roberta"] = GRIDS["roberta"]

PLAIN: dict[str, Settings] = {
    name: {key: value for column in columns for key, value in column[0].items()} for name, columns in GRIDS.items()
}
"""Each family's smallest sizes, and its most usual settings."""

BASE_POSITIONS = {"max_position_embeddings": 514, "type_vocab_size": 1, "layer_norm_eps": 1e-5}
LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
XLARGE = {"hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 8192}
DROPPING = {"attention_dropout": 0.1, "activation_dropout": 0.1}
NEWER = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
PUBLISHED: dict[str, Settings] = {
    "bert-base": {},
    "bert-large": LARGE,
    "distilbert-base": {},
    "roberta-base": BASE_POSITIONS,
    "roberta-large": {**BASE_POSITIONS, **LARGE},
    "xlmr-base": {**BASE_POSITIONS, "vocab_size": 250002},
    "xlmr-large": {**BASE_POSITIONS, **LARGE, "vocab_size": 250002},
    "albert-base": {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072},
    "albert-large": LARGE,
    "albert-xlarge": XLARGE,
    "albert-xxlarge": {},
    "gpt": {},
    "gpt2": {},
    "gpt2-medium": {"n_embd": 1024, "n_layer": 24, "n_head": 16},
    "gpt2-large": {"n_embd": 1280, "n_layer": 36, "n_head": 20},
    "gpt2-xl": {"n_embd": 1600, "n_layer": 48, "n_head": 25},
    "xlm-mlm-en-2048": {},
    "xlm-mlm-100-1280": {
        "vocab_size": 200000, "emb_dim": 1280, "n_layers": 16, "n_langs": 100, "use_lang_emb": False,
    },
    "bart-base": {
        "d_model": 768, "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 12,
        "decoder_attention_heads": 12, "encoder_ffn_dim": 3072, "decoder_ffn_dim": 3072, **DROPPING,
    },
    "bart-large": DROPPING,
    "mbart-large": {"vocab_size": 250027, "scale_embedding": True},
    "t5-small": {},
    "t5-base": {"d_model": 768, "d_ff": 3072, "num_layers": 12, "num_heads": 12},
    "t5-large": {"d_model": 1024, "d_ff": 4096, "num_layers": 24, "num_heads": 16},
    "t5-v1.1-small": {**NEWER, "d_ff": 1024, "num_layers": 8, "num_decoder_layers": 8, "num_heads": 6},
    "t5-v1.1-base": {
        **NEWER, "d_model": 768, "d_ff": 2048, "num_layers": 12, "num_decoder_layers": 12, "num_heads": 12,
    },
    "vit-base": {"num_labels": 1000},
    "vit-large": {**LARGE, "num_labels": 1000},
    "vit-huge": {
        "hidden_size": 1280, "num_hidden_layers": 32, "num_attention_heads": 16, "intermediate_size": 5120,
        "patch_size": 14,
    },
    "vivit-base": {"num_labels": 400},
}  # fmt: skip
"""What the published configs say that their config classes do not."""

ANSWERS = {
    "prediction_logits": "words",
    "seq_relationship_logits": "pair",
    "sop_logits": "pair",
    "pooler_output": "pooler",
}
"""Whose answer an output of theirs is, where the class has several; one that has one head calls it `logits`."""
READ_AGAIN = {"classify", "span"}
"""Heads for which a decoder of theirs reads the source again, without being told to."""


@dataclass(frozen=True, eq=False)
class Pictures(Packed):
    """A batch of pictures, and they themselves for the peer to see."""

    whole: tuple[Tensor, ...] = ()


@dataclass(frozen=True)
class Case:
    """One model of the grid."""

    family: Family
    architecture: str
    number: int
    settings: Settings

    def __str__(self) -> str:
        return f"{self.family.name}-{self.number}-{self.architecture}"


@dataclass
class Answers:
    """What a model says of each sequence: its states after every layer, and its heads' outputs by name."""

    hidden: list[list[Tensor]] = field(default_factory=list[list[Tensor]])
    heads: dict[str, list[Tensor]] = field(default_factory=dict[str, list[Tensor]])

    def loss(self) -> Tensor:
        """One number that every head's every answer weighs in, each with a weight of its own."""
        draw = torch.Generator().manual_seed(1)
        answers = [one for name in sorted(self.heads) for one in self.heads[name]] or [self.hidden[-1][0]]
        return torch.stack([(one * torch.randn(one.shape, generator=draw)).sum() for one in answers]).sum()


def grid(family: Family) -> Iterator[Case]:
    """The family's cases: every value of every setting, in company that the seed decides."""
    classes = dict(family.architectures)
    own = [(name, settings) for name, heads in classes.items() for settings in of_heads(family, heads)]
    own = list(islice(cycle(own), max(COUNT, len(own))))
    shared = [
        shuffled([column[i % len(column)] for i in range(len(own))], f"{family.name} {column[0]}")
        for column in GRIDS[family.name]
    ]
    for number, ((name, settings), *others) in enumerate(zip(own, *shared, strict=True)):
        together = {key: value for one in others for key, value in one.items()}
        yield Case(family, name, number, {**together, **settings})


def of_heads(family: Family, heads: Sequence[str]) -> list[Settings]:
    """The settings of these heads, in as few rows as hold every value; without any, two rows."""
    tables = OWN_HEADS.get(family.name, HEADS)
    columns = [column for head in heads for column in tables.get(head, ())]
    rows = max(2, *(len(column) for column in columns)) if columns else 2
    return [{key: value for one in columns for key, value in one[i % len(one)].items()} for i in range(rows)]


def cases() -> list[Case]:
    """The grids of every family."""
    return [case for family in PEERED.values() for case in grid(family)]


def headed_cases() -> list[Case]:
    """As many of each family's cases of its most usual head as that head has rows of settings."""
    found: list[Case] = []
    for family in PEERED.values():
        name = headed(family)
        rows = len(of_heads(family, dict(family.architectures)[name]))
        found += islice((case for case in grid(family) if case.architecture == name), rows)
    return found


def rates() -> list[tuple[Family, Setting]]:
    """Every setting of every family that is a dropout rate."""
    return [
        (family, rule)
        for family in PEERED.values()
        for rule in family.settings
        if isinstance(rule, Setting) and any("dropout" in path for path in rule.paths)
    ]


def named(part: Family | Setting) -> str:
    """What a test calls one of these."""
    return part.name if isinstance(part, Family) else part.key


def shuffled(items: list[Any], seed: str) -> list[Any]:
    """The items in another order, always the same."""
    random.Random(seed).shuffle(items)
    return items


def model(architecture: str, settings: Settings, seed: int = 0) -> transformers.PreTrainedModel:
    """A random model of theirs, its biases and gains drawn too, so that each of them counts."""
    kind = getattr(transformers, architecture)
    torch.manual_seed(seed)
    words = {"vocab_size": VOCABULARY} if hasattr(kind.config_class(), "vocab_size") else {}
    net = kind(kind.config_class(**words, **settings)).eval()
    if settings.get("tie_word_embeddings") is False:
        untie(net)
    with torch.no_grad():
        for weight in net.parameters():
            if weight.requires_grad:
                weight.add_(0.1 * torch.randn_like(weight))
    return net


def headed(family: Family) -> str:
    """The class of theirs with the head that a family's files have most often, of those that give names a prefix."""
    return family.architecture(family.outputs.only("words" if family.outputs.words else "classify"))


def untie(net: transformers.PreTrainedModel) -> None:
    """Give words' scores a table of their own. T5's class takes the setting for one of scale, and always ties.

    From a file that holds both tables it reads both, and so its published files of version 1.1.
    """
    out = net.get_output_embeddings()
    if out is not None and getattr(out, "weight", None) is net.get_input_embeddings().weight:
        out.weight = torch.nn.Parameter(torch.randn_like(out.weight))


def dropping_as_published(net: transformers.PreTrainedModel) -> transformers.PreTrainedModel:
    """ALBERT's authors drop what the feed-forward adds. The peer's layer makes that dropout and never calls it."""
    for layer in net.modules():
        if isinstance(layer, AlbertLayer):
            layer.ffn_output.register_forward_hook(lambda _layer, _inputs, added, drop=layer.dropout: drop(added))
    return net


def written(net: transformers.PreTrainedModel, folder: Path) -> Path:
    """The folder that their own tool writes."""
    net.save_pretrained(folder)
    return folder


def batch(net: transformers.PreTrainedModel, seed: int, spec: Spec) -> Packed:
    """A ragged batch of lengths 1 to 64, with segments or languages where the model has them; or of pictures."""
    draw, config = random.Random(seed), net.config
    if spec.embedding.patches:
        return pictures(spec.embedding.patches, draw)
    lengths = [1, 64, draw.randint(2, 63), draw.randint(2, 63)]
    if config.is_encoder_decoder:
        words = getattr(config, "decoder_vocab_size", config.vocab_size)
        sources = [[draw.randrange(FIRST_WORD, config.vocab_size) for _ in range(n)] for n in lengths]
        targets = [[draw.randrange(FIRST_WORD, words) for _ in range(n)] for n in (5, *lengths[:-1])]
        if READ_AGAIN & spec.outputs.present().keys():
            # Their classifier looks for the one token that ends a text.
            sources = [[*one[:-1], config.eos_token_id] for one in sources]
            targets = behind_start(spec, sources)
        return dataclasses.replace(Packed.of(targets), source=Packed.of(sources))
    segments, languages = getattr(config, "type_vocab_size", 0), getattr(config, "n_langs", 1)
    return Packed.of(
        [[draw.randrange(FIRST_WORD, config.vocab_size) for _ in range(n)] for n in lengths],
        [[draw.randrange(segments) for _ in range(n)] for n in lengths] if segments else None,
        [draw.randrange(languages) for _ in lengths] if languages > 1 else None,
    )


def pictures(patches: Patches, draw: random.Random) -> Pictures:
    """Two pictures of the trained size, and others where theirs takes them: its grid is a square of squares, in 2D."""
    grids = [patches.grid] * 2
    if len(patches.grid) == 2 and len({*patches.grid}) == len({*patches.shape}) == 1:
        grids += [(1, patches.count), (draw.randint(1, 6), draw.randint(1, 6)), (draw.randint(1, 6), 1)]
    whole: list[Tensor] = []
    for number, grid in enumerate(grids):
        size = [n * piece for n, piece in zip(grid, patches.shape, strict=True)]
        chance = torch.Generator().manual_seed(draw.randrange(2**32) + number)
        whole.append(torch.randn(*size[:-2], patches.channels, *size[-2:], generator=chance))
    return dataclasses.replace(Pictures.of_pictures(whole, patches.shape), whole=tuple(whole))


def answers(net: transformers.PreTrainedModel, packed: Packed, heads: Sequence[str]) -> Answers:
    """What their model says of a batch, padded and masked; in XLM's summaries padding counts, so there one by one."""
    if isinstance(packed, Pictures):
        return _merged([_looked(net, list(same), heads) for _, same in groupby(packed.whole, lambda one: one.shape)])
    alone = packed.lengths if "XLMForSequenceClassification" in type(net).__name__ else ()
    if not alone:
        return _padded(net, packed, heads)
    return _merged([_padded(net, one, heads) for one in _singles(packed)])


def _padded(net: transformers.PreTrainedModel, packed: Packed, heads: Sequence[str]) -> Answers:
    pad = net.config.pad_token_id
    ids, mask = packed.padded(pad)
    inputs = {"input_ids": ids, "attention_mask": mask.long()}
    if getattr(net.config, "type_vocab_size", 0):
        inputs["token_type_ids"] = _like(packed, packed.segments)
    if packed.languages is not None:
        inputs["langs"] = _like(packed, packed.languages)
    if packed.source is not None:
        ids, mask = packed.source.padded(pad)
        inputs = {"input_ids": ids, "attention_mask": mask.long()}
        if not READ_AGAIN & set(heads):
            inputs["decoder_input_ids"] = packed.padded(pad)[0]
    adaptive = getattr(net.config, "asm", False) and "words" in heads
    # Their adaptive softmax cannot score a rectangle: it is asked for the tokens laid end to end.
    out = (net.transformer if adaptive else net)(**inputs, output_hidden_states=True)
    if packed.source is None:
        found = Answers([_cut(state, packed) for state in out.hidden_states])
    else:
        read = [_cut(state, packed.source) for state in out.encoder_hidden_states]
        found = Answers([*read, *(_cut(state, packed) for state in out.decoder_hidden_states)])
    if adaptive:
        flat = torch.cat(found.hidden[-1])
        found.heads["words"] = list(packed.split(net.pred_layer.proj.log_prob(flat)))
    for name, value in out.items():
        if name == "logits" or name in ANSWERS:
            own = ANSWERS.get(name) or next(head for head in heads if head != "pooler")
            found.heads[own] = _cut(value, packed) if value.dim() == 3 else list(value)
    if "start_logits" in out:
        found.heads["span"] = _cut(torch.stack((out.start_logits, out.end_logits), -1), packed)
    return found


def _looked(net: transformers.PreTrainedModel, same: Sequence[Tensor], heads: Sequence[str]) -> Answers:
    """What theirs says of pictures of one size. Of the last states it reports only those in front of the norm."""
    size = net.config.image_size
    other = tuple(same[0].shape[-2:]) != (tuple(size) if isinstance(size, list) else (size, size))
    kept: list[Tensor] = []
    hook = net.base_model.register_forward_hook(lambda _net, _given, out: kept.append(out.last_hidden_state))
    out = net(pixel_values=torch.stack([*same]), interpolate_pos_encoding=other, output_hidden_states=True)
    hook.remove()
    found = Answers([list(state) for state in (*out.hidden_states[:-1], kept[0])])
    found.heads |= {head: list(out["pooler_output" if head == "pooler" else "logits"]) for head in heads}
    return found


def _like(packed: Packed, values: Tensor) -> Tensor:
    """Values of one per token, padded as the ids are."""
    return Packed(values, packed.lengths, values).padded()[0]


def _cut(values: Tensor, packed: Packed) -> list[Tensor]:
    """A rectangle's rows without what is padding."""
    return [row[:length] for row, length in zip(values, packed.lengths, strict=True)]


def _singles(packed: Packed) -> Iterator[Packed]:
    """Each sequence of a batch as a batch of its own."""
    languages = [None] * len(packed.lengths) if packed.languages is None else packed.split(packed.languages)
    for ids, segments, tongue in zip(packed.split(packed.ids), packed.split(packed.segments), languages, strict=True):
        yield Packed(ids, (len(ids),), segments, tongue)


def _merged(parts: Sequence[Answers]) -> Answers:
    layers = zip(*(part.hidden for part in parts), strict=True)
    return Answers(
        [[state for one in layer for state in one] for layer in layers],
        {name: [value for part in parts for value in part.heads[name]] for name in parts[0].heads},
    )
