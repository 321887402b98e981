"""What a branch of the tree is: its place, presets, settings and names, as data. One file here for each family."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from bough.families.forms import Form
from bough.keymap import Written
from bough.record import brief
from bough.settings import Choice, OrSoFar, Refused, Setting, Where
from bough.spec import Outputs, Spec

Branch = Literal["encoder", "decoder", "encoder-decoder"]


@dataclass(frozen=True)
class Preset:
    """A published size: how it differs from its family's base, how many parameters that comes to, and who says so."""

    changes: Mapping[str, Any]
    parameters: int
    source: str = "made here, for trials"
    """The checkpoint whose config it is, or where the paper states it."""


def as_its_config_says(spec: Spec, names: Collection[str]) -> Spec:
    """The architecture of a file, whatever the names of its tensors."""
    return spec


@dataclass(frozen=True)
class Family:
    """A branch of the tree."""

    name: str
    title: str
    year: int
    paper: str
    parent: str | None
    """The family it grew from."""
    branch: Branch
    adds: str
    """What it changed."""
    model_type: str
    """What its config.json calls it."""
    base: Spec
    """What a config.json that says nothing more means."""
    presets: Mapping[str, Preset]
    outputs: Outputs
    """Every head that its checkpoints may carry, in this family's form."""
    architectures: tuple[tuple[str, tuple[str, ...]], ...]
    """Their class names and the heads each one has, the plainest first."""
    settings: tuple[Setting | Refused, ...]
    prefix: str
    """What stands before the trunk's names in a checkpoint that has a head."""
    trunk: tuple[Written, ...]
    """The names of the trunk and the pooler, without the prefix."""
    heads: tuple[Written, ...]
    """The names of the other heads."""
    harmless: frozenset[str] = frozenset()
    """Keys of its config.json that change no number, besides those that every family may have."""
    tells: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Settings by which its config is known from that of a family with the same tensor names."""
    settles: Callable[[Spec, Collection[str]], Spec] = field(default=as_its_config_says)
    """The architecture of a file, by what its config says and the names of its tensors."""
    text: Form | None = None
    """How it writes text; none for those that see pictures."""

    @property
    def rules(self) -> tuple[Setting | Refused, ...]:
        """All that its config.json may say of the net."""
        return (*self.settings, *COMMON, TWO_STACKS if self.base.encoder else ONE_STACK)

    def preset(self, name: str) -> Spec:
        """The Spec of one of its presets."""
        return self.base.but(**self.presets[name].changes)

    @property
    def published(self) -> Spec:
        """The first of its published sizes; the one before it is for trials."""
        return self.preset(list(self.presets)[1])

    @functools.cached_property
    def whole(self) -> Spec:
        """Its base with every head at once: all the tensors one of its checkpoints may hold."""
        return self.base.but(outputs=self.outputs)

    def architecture(self, outputs: Outputs, said: object = None) -> str:
        """Their class that loads these heads: the one that knows most of them; of equals, the one `said` lists."""
        present, listed = set(outputs.present()), cast("list[Any]", said) if isinstance(said, list) else []
        fits = [(name, heads) for name, heads in self.architectures if set(heads) <= present]
        return max(fits, key=lambda fit: (len(fit[1]), fit[0] in listed))[0]


def grown(parent: Family, **changes: Any) -> Family:
    """A family that is another one but for what is said."""
    return dataclasses.replace(parent, parent=parent.name, **changes)


ACTIVATIONS = Choice(
    (
        ("gelu", "gelu"),
        ("gelu_python", "gelu"),
        ("gelu_new", "gelu_tanh"),
        ("gelu_pytorch_tanh", "gelu_tanh"),
        ("gelu_python_tanh", "gelu_tanh"),
        ("gelu_fast", "gelu_tanh"),
        ("gelu_accurate", "gelu_tanh"),
        ("quick_gelu", "gelu_sigmoid"),
        ("relu", "relu"),
        ("relu2", "relu_squared"),
        ("silu", "silu"),
        ("swish", "silu"),
        ("tanh", "tanh"),
        ("sigmoid", "sigmoid"),
        ("mish", "mish"),
        ("linear", "identity"),
    )
)
"""Activation names as config files spell them; of the spellings of one function, the first is written."""


def _labels(theirs: Any, current: tuple[str, ...]) -> tuple[str, ...]:
    names = cast("dict[Any, Any]", theirs) if isinstance(theirs, dict) else {}
    if not names or not all(str(key).isdecimal() for key in names):
        raise ValueError("must map label numbers to names")
    named = {int(key): str(name) for key, name in names.items()}
    if sorted(named) != list(range(len(named))):
        raise ValueError(f"must name labels 0 to {len(named) - 1}, each once")
    return tuple(named[i] for i in range(len(named)))


def _counted(theirs: Any, current: tuple[str, ...]) -> tuple[str, ...]:
    if not isinstance(theirs, int) or isinstance(theirs, bool) or not 1 <= theirs <= 2**20:
        raise ValueError(f"must be a whole number from 1 up, not {brief(theirs)}")
    return current if theirs == len(current) else tuple(f"LABEL_{i}" for i in range(theirs))


TASKS = Choice(
    (
        ("single_label_classification", "single"),
        ("multi_label_classification", "multi"),
        ("regression", "regression"),
    )
)
LABELS = (
    Setting(
        "id2label",
        "outputs.classify.labels",
        "outputs.tag.labels",
        codec=Where(_labels, lambda labels: {str(i): name for i, name in enumerate(labels)}),
    ),
    Setting("num_labels", "outputs.classify.labels", "outputs.tag.labels", codec=Where(_counted, len)),
    Setting("problem_type", "outputs.classify.task", codec=OrSoFar(TASKS)),
)
"""Label names and task, which every family with a classification head says alike."""

ONE_STACK = Refused("is_encoder_decoder", (False, None), "this family has one stack")
TWO_STACKS = Refused("is_encoder_decoder", (True, None), "this family has two stacks")
COMMON = (
    Refused(
        "pruned_heads", ({}, None), "every layer has all its heads here; prune the weights themselves to zero instead"
    ),
    Refused("quantization_config", (None,), "only files that hold the numbers themselves are read"),
)
"""What every family's config may ask for and none can have."""
HARMLESS = frozenset(
    """
    architectures bad_words_ids begin_suppress_tokens bos_token_id chunk_size_feed_forward cross_attention_hidden_size
    decoder_start_token_id diversity_penalty do_sample dtype early_stopping
    encoder_no_repeat_ngram_size eos_token_id exponential_decay_length_penalty finetuning_task forced_bos_token_id
    forced_eos_token_id gradient_checkpointing label2id length_penalty max_length min_length model_type name_or_path
    no_repeat_ngram_size num_beam_groups num_beams num_return_sequences output_attentions output_hidden_states
    output_past output_scores pad_token_id prefix remove_invalid_values repetition_penalty return_dict
    return_dict_in_generate sep_token_id suppress_tokens task_specific_params temperature tf_legacy_loss
    tie_encoder_decoder tokenizer_class top_k top_p torch_dtype torchscript transformers_version typical_p use_bfloat16
    use_cache
    """.split()  # noqa: SIM905  # a list of fifty strings would fill a screen
)
"""Keys of any family's config.json that change no number of the net."""
TRUST = frozenset(["auto_map", "code_revision", "custom_pipelines", "trust_remote_code"])
"""Keys by which a file asks other tools to run programs; read past here, and never passed on."""
