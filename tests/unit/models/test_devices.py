"""One network trained by several processes together."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from torch import nn

from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext, no_progress
from emoscope.models.torch import launch
from emoscope.models.torch.checkpoint import Epoch
from emoscope.models.torch.data_parallel import Replica
from emoscope.models.torch.losses import ClassLoss
from emoscope.models.torch.training import NetworkTrainer, Training
from emoscope.systems import SYSTEMS
from kits.corpus_command import run
from kits.emocontext_files import make_corpus
from kits.team_accidents import Killed, fail_in_the_second
from kits.tiny_systems import examples_of, tiny
from kits.toy_network import data, toy, weights


def trained(
    devices: int,
    plan: Training,
    *,
    dropout: float = 0.0,
    kept: Path | None = None,
    progress: Callable[[str, float], None] = no_progress,
    on_progress: Callable[[nn.Module, float], None] | None = None,
) -> tuple[torch.Tensor, list[Epoch]]:
    items, targets = data()
    network = toy()
    network.dropout.p = dropout
    loss = ClassLoss(torch.tensor([1.0, 3.0]))  # a weighted mean is not the mean of the shares' weighted means
    fit_context = FitContext(seed=1, device="cpu", devices=devices, checkpoints=kept, progress=progress)
    curve = NetworkTrainer(network, items, targets, loss, plan, fit_context, on_progress=on_progress).train()
    return weights(network), curve


@pytest.mark.e2e
def test_two_processes_learn_what_one_does() -> None:
    # 160 rows to learn from: the last batch has one row, and nothing for the second process.
    plan = Training(epochs=4, batch_size=53, learning_rate=0.01, validation_fraction=0.2, patience=3)
    said = []
    alone, curve = trained(1, plan)
    together, same = trained(2, plan, progress=lambda message, done: said.append((message, done)))
    assert torch.allclose(alone, together, atol=1e-5)
    assert [epoch.loss for epoch in same] == pytest.approx([epoch.loss for epoch in curve], abs=1e-5)
    assert [epoch.held_out for epoch in same] == pytest.approx([epoch.held_out for epoch in curve], abs=1e-5)
    assert len(said) == 4 * 4  # once a step, by one of them
    assert said[-1][0].startswith("epoch 4/4")


@pytest.mark.e2e
def test_dead_process_ends_the_run_which_resumes_to_the_same_weights(tmp_path: Path) -> None:
    plan = Training(epochs=4, batch_size=16, learning_rate=0.01, ema_decay=0.9)
    whole, _ = trained(2, plan, dropout=0.3)
    with pytest.raises(EmoscopeError) as caught:
        trained(2, plan, dropout=0.3, kept=tmp_path / "kept", on_progress=Killed(tmp_path / "killed"))
    assert str(caught.value) == (
        "training on 2 devices: process 2 was killed (signal 9; is there too little memory?); "
        "finished epochs are kept, and the same command resumes from them"
    )
    # Not torch's half an hour of waiting for the other; on a busy machine it may take a while.
    assert time.time() - (tmp_path / "killed").stat().st_mtime < 600
    assert (tmp_path / "kept" / "epoch-2.safetensors").is_file()
    again, curve = trained(2, plan, dropout=0.3, kept=tmp_path / "kept", on_progress=Killed(tmp_path / "killed"))
    assert len(curve) == 4
    assert torch.equal(whole, again)


def test_killed_process_is_named_before_one_that_aborted_because_of_it() -> None:
    team = [Mock(exitcode=-signal.SIGABRT), Mock(exitcode=-signal.SIGKILL)]
    assert "process 2 was killed (signal 9;" in launch._failure_message(team, [], FitContext(devices=2))
    team = [Mock(exitcode=-signal.SIGABRT), Mock(exitcode=1)]
    assert "process 1 was killed (signal 6)" in launch._failure_message(team, [], FitContext(devices=2))


@pytest.mark.e2e
def test_errors_in_a_process_are_one_line() -> None:
    with pytest.raises(EmoscopeError, match=r"^200 examples are too few to hold out 100%$"):
        trained(2, Training(epochs=1, validation_fraction=1.0))
    with pytest.raises(EmoscopeError) as caught:
        trained(2, Training(epochs=1), on_progress=fail_in_the_second)
    assert str(caught.value) == "training on 2 devices: process 2 failed (ArithmeticError: one and one)"


def test_impossible_options_are_refused_before_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(system: str, *options: str) -> str:
        code, _, line = run("train", system, "-t", "emocontext", "-o", tmp_path / "run", "--data", tmp_path, *options)
        assert code == 2
        return line

    assert refused("nano", "--devices", "2") == "nano trains no neural network, so it cannot use --devices 2"
    assert "give one of them" in refused("emocontext-baseline", "--devices", "2", "--workers", "2")
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert (
        refused("emocontext-baseline", "--device", "cpu", "--devices", "3")
        == "--devices 3: this machine has 2 CPU cores"
    )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert refused("emocontext-baseline", "--devices", "2") == "--devices 2: this machine has 1 GPU"
    assert "names one device; use cuda" in refused("emocontext-baseline", "--device", "cuda:0", "--devices", "2")


@pytest.mark.parametrize("name", list(SYSTEMS))
def test_every_system_with_a_network_can_send_it_to_other_processes(
    name: str, encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = []

    def here(work: Callable[..., Any], fit_context: FitContext) -> Any:
        file = io.BytesIO()
        torch.save(work, file)
        file.seek(0)
        sent.append(torch.load(file, weights_only=False))
        return sent[-1](fit_context=replace(fit_context, devices=1), replica=Replica())

    monkeypatch.setattr(launch, "on_devices", here)
    examples = examples_of(SYSTEMS[name].metadata.tasks[0])
    tiny(name, encoder).fit(examples, FitContext(device="cpu", devices=2))
    assert bool(sent) == SYSTEMS[name].metadata.networks


def children(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.e2e
def test_killed_command_leaves_no_process_and_resumes(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path)
    settings = {"epochs": 40, "patience": 0, "vectors": "random", "batch_size": 8, "dropout": 0.1}
    command = [sys.executable, "-m", "emoscope", "train", "emocontext-baseline", "-t", "emocontext", "--device", "cpu"]
    command += ["-o", str(tmp_path / "run"), "--data", str(corpus), "--devices", "2", "--json"]
    command += [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    kept = tmp_path / ".run.checkpoints"
    try:
        deadline = time.monotonic() + 300
        while not list(kept.rglob("epoch-*.safetensors")) and time.monotonic() < deadline:
            time.sleep(0.01)
        team = children(driver.pid)
    finally:
        driver.kill()
        driver.wait()
    assert len(team) >= 2
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in team) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in team if Path(f"/proc/{pid}").exists()]
    assert not (tmp_path / "run").exists()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["devices"] == 2
    assert len(json.loads((tmp_path / "run" / "model" / "curve.json").read_text())) == 40
    assert not kept.exists()
