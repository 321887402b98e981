"""What importing costs: `import bough` is quick, and the rooms that hold only data load no torch."""

from __future__ import annotations

import subprocess
import sys

import pytest

LIGHT = ("bough", "bough.errors", "bough.record", "bough.spec", "bough.keymap", "bough.settings", "bough.families")


def run(program: str) -> str:
    """What a program of its own prints."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("module", LIGHT)
def test_what_holds_only_data_loads_no_torch(module: str) -> None:
    assert run(f"import sys, {module}; print('torch' in sys.modules)") == "False"


def test_asking_for_families_and_presets_loads_no_torch() -> None:
    ask = "bough.families(), bough.spec('gpt2-xl').parameters, bough.Spec.from_json(bough.spec('gpt').to_json())"
    assert run(f"import sys, bough; {ask}; print('torch' in sys.modules)") == "False"


def test_importing_takes_less_than_three_tenths_of_a_second() -> None:
    program = "import time; start = time.perf_counter(); import bough; print(time.perf_counter() - start)"
    assert min(float(run(program)) for _ in range(5)) < 0.3


def test_every_public_name_is_there() -> None:
    assert run("import bough; print([name for name in bough.__all__ if not hasattr(bough, name)])") == "[]"


def test_a_room_that_shares_its_name_with_a_function_does_not_take_it_back() -> None:
    assert run(
        "import bough, bough.spec, bough.families; print(bough.spec('gpt2').family, len(bough.families()) > 7)"
    ) == ("gpt2 True")


def test_a_name_that_is_not_there_is_said_plainly() -> None:
    program = "import bough\ntry:\n    bough.wings\nexcept AttributeError as error:\n    print(error)"
    assert run(program) == "module 'bough' has no attribute 'wings'"
