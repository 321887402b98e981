"""The machine: what it says of itself, and the most that it was seen to do."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Callable, Iterable
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch.profiler import ProfilerActivity, profile

from bough.bench.document import Limits, Machine, Version
from bough.errors import BoughError

FLAGS = (
    *("avx2", "avx512f", "avx_vnni", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_bf16", "amx_int8"),
    *("asimd", "asimddp", "sve", "bf16", "i8mm", "sme"),
)
"""Of a processor's many, those that decide how fast a net can run; x86 has the first line, Arm the second."""

LARGE = {"cpu": (2048, 2**26), "cuda": (8192, 2**28)}
"""The side of a matrix whose product takes long enough to time, and how many numbers are too many for any cache."""


def check(device: str) -> None:
    """An error where a device is not there."""
    if device.startswith("cuda") and (torch.device(device).index or 0) >= torch.cuda.device_count():
        raise BoughError(f"device: torch finds no {device!r} here; there are {torch.cuda.device_count()} GPUs")


def machine(device: str, packages: Iterable[str], limits: Limits) -> Machine:
    """The machine as it is now, with the versions of what took part."""
    facts = _cpuinfo()
    processor = facts.get("model name") or platform.processor() or platform.machine()
    said = f"{facts.get('flags', '')} {facts.get('Features', '')}".split()
    return Machine(
        processor=processor,
        device=torch.cuda.get_device_name(device) if device.startswith("cuda") else processor,
        cores=os.cpu_count() or 1,
        threads=torch.get_num_threads(),
        flags=tuple(flag for flag in FLAGS if flag in said),
        limits=limits,
        versions=(
            Version("python", platform.python_version()),
            *(Version(one, importlib.metadata.version(one)) for one in packages),
        ),
    )


def measured_limits(device: str, large: tuple[int, int] | None = None, tries: int = 5) -> Limits:
    """The best of a few tries at square matrix products, and at copying an array."""
    side, numbers = large or LARGE[torch.device(device).type]
    source, target = torch.ones(numbers, device=device), torch.empty(numbers, device=device)
    copy = best(lambda: target.copy_(source), tries)
    return Limits(
        fp32=_product(device, torch.float32, side, tries),
        bf16=_product(device, torch.bfloat16, side, tries),
        memory=2 * source.nbytes / copy / 1e9,
    )


def timed(run: Callable[[], object]) -> float:
    """How many seconds a call takes, until its device is done too."""
    start = time.perf_counter()
    run()
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return time.perf_counter() - start


def best(run: Callable[[], object], tries: int) -> float:
    """The seconds of the quickest of a few calls, after one that warms up."""
    timed(run)
    return min(timed(run) for _ in range(tries))


def peak(run: Callable[[], object]) -> int:
    """The most bytes that torch had given out at once in a call, beyond what it had before; what it freed is not in."""
    if torch.cuda.is_initialized():
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        timed(run)
        return torch.cuda.max_memory_allocated() - before
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # or else the profiler tells whenever it starts and stops
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        run()
    with TemporaryDirectory(prefix="bough-bench-") as folder:
        trace = Path(folder, "trace.json")
        seen.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    moves = sorted((event["ts"], event["args"]["Bytes"]) for event in events if event["name"] == "[memory]")
    return max(accumulate((size for _, size in moves), initial=0))


def _product(device: str, dtype: torch.dtype, side: int, tries: int) -> float:
    # Random, for a processor draws less power from equal numbers, and may run faster than it ever would at work.
    matrix = torch.randn(side, side, device=device).to(dtype)
    return 2 * side**3 / best(lambda: matrix @ matrix, tries) / 1e9


def _cpuinfo() -> dict[str, str]:
    """What Linux tells of the first core; nothing elsewhere."""
    path = Path("/proc/cpuinfo")
    text = path.read_text(errors="replace") if path.exists() else ""
    pairs = (line.split(":", 1) for line in text.split("\n\n", 1)[0].splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}
