"""What reading costs: hardly more time than the tensors' own library takes, and hardly more memory than the file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import bough
from bough.model import Model

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

MEASURE = """
import json, os, re, sys, time
from safetensors.torch import load_file
import bough, bough.model

def highest():
    with open("/proc/self/status") as file:
        return int(re.search(r"VmHWM:\\s+(\\d+)", file.read())[1]) * 1024

def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start

folder = sys.argv[1]
path = os.path.join(folder, "model.safetensors")
start = highest()
model = bough.load(folder)
for weight in model.net.parameters():
    weight.sum()
memory = (highest() - start) / os.path.getsize(path)
pairs = [(seconds(lambda: bough.load(folder)), seconds(lambda: load_file(path))) for _ in range(9)]
ours, theirs = (min(times) for times in zip(*pairs))
print(json.dumps({"memory": memory, "ours": ours, "theirs": theirs}))
"""
"""Memory is the most that was ever resident, pages of the mapped file among them, once every weight has been read."""


def test_a_file_of_gpt2s_size_is_read_in_little_more_time_and_memory_than_it_takes(tmp_path: Path) -> None:
    spec = bough.spec("gpt2")
    Model(spec, bough.build(spec)).save(tmp_path)
    done = subprocess.run([sys.executable, "-c", MEASURE, str(tmp_path)], capture_output=True, text=True, check=True)
    cost = json.loads(done.stdout)
    assert cost["ours"] - cost["theirs"] < 0.2, cost
    assert cost["memory"] < 1.2, cost
