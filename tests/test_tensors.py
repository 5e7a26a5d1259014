"""Observations and batches in torch and JAX: without a copy where there need be none, and the same numbers."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import reinfors as rf

torch = pytest.importorskip("torch")


def engine_of(game: Any = None, **arguments: Any) -> rf.Engine:
    arguments = {"policy": rf.policies.Ppo(), "learner": rf.learners.Ppo(), **arguments}
    return rf.Engine(game or rf.games.CarRacing(max_steps=5), None, n_games=4, n_threads=1, seed=0, **arguments)


def params_of(obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers that depend on what is seen."""
    seen = obs.reshape(len(obs), -1)[:, ::997].astype(np.float32)
    return seen[:, :5] / 255, seen.mean(1)


def infer(obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return params_of(obs)


def as_bytes(batch: Any) -> list[bytes]:
    return [np.ascontiguousarray(getattr(batch, name)).tobytes() for name in batch.fields]


def test_a_batch_on_the_cpu_is_the_batch_itself() -> None:
    batch = engine_of().collect(40, infer)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tensors = batch.torch()
    assert len(tensors) == len(batch) == 40
    for name in (*batch.fields, "last_obs", "last_values"):
        array, tensor = getattr(batch, name), getattr(tensors, name)
        assert np.array_equal(tensor.numpy(), array), name
        assert str(tensor.dtype) == f"torch.{array.dtype}", name
        assert tensor.data_ptr() == array.ctypes.data, name
    assert tensors.obs.dtype == torch.uint8
    with pytest.raises(AttributeError, match="no nonsense; the fields are obs, actions"):
        tensors.nonsense  # noqa: B018


def test_what_is_seen_lives_as_long_as_its_tensor() -> None:
    engine = engine_of()
    batch = engine.collect(40, infer)
    copy, kept = batch.obs.copy(), batch.torch().obs
    del batch
    for _ in range(6):
        engine.collect(40, infer)
    del engine
    assert np.array_equal(kept.numpy(), copy)


def test_the_device_gets_bytes() -> None:
    batch = engine_of().collect(20, infer)
    moved: list[tuple[Any, Any]] = []

    class Device:
        """Where tensors would go; torch takes its word."""

    original = torch.Tensor.to

    def to(tensor: Any, device: Any) -> Any:
        moved.append((tensor.dtype, device))
        return original(tensor, "cpu")

    device = Device()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.Tensor, "to", to)
        batch.torch(device)
    assert moved[0] == (torch.uint8, device)
    assert {where for _, where in moved} == {device}
    meta = batch.torch("meta")
    assert (meta.obs.device.type, meta.obs.dtype, meta.obs.shape) == ("meta", torch.uint8, batch.obs.shape)
    with pytest.raises(RuntimeError, match="nowhere"):
        batch.torch("nowhere")


def test_minibatches_of_tensors_are_those_of_the_batch() -> None:
    batch = engine_of().collect(40, infer)
    ours, theirs = list(batch.torch().minibatches(16, seed=3)), list(batch.minibatches(16, seed=3))
    assert [len(part) for part in ours] == [16, 16, 8]
    for mine, expected in zip(ours, theirs, strict=True):
        converted = expected.torch()
        for name in batch.fields:
            assert np.array_equal(getattr(mine, name).numpy(), getattr(expected, name))
            assert torch.equal(getattr(converted, name), getattr(mine, name))
    assert not torch.equal(next(batch.torch().minibatches(16, seed=4)).actions, ours[0].actions)
    with pytest.raises(ValueError, match="size must be at least 1"):
        next(batch.torch().minibatches(0))


def test_several_parts_are_a_dictionary_of_tensors() -> None:
    def infer_parts(obs: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        return params_of(obs["pixels"])

    batch = engine_of(rf.games.CarRacing(obs="both")).collect(20, infer_parts)
    tensors = batch.torch()
    assert (tensors.obs["pixels"].dtype, tensors.obs["state"].dtype) == (torch.uint8, torch.float32)
    part = next(tensors.minibatches(8, seed=0))
    assert np.array_equal(part.obs["state"].numpy(), next(batch.minibatches(8, seed=0)).obs["state"])


def test_numpy_that_has_no_word_for_read_only_memory_costs_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_array: Any) -> Any:
        raise BufferError("Cannot export readonly array since signalling readonly is unsupported by DLPack")

    batch = engine_of().collect(20, infer)
    monkeypatch.setattr(torch, "from_dlpack", refuse)
    tensors = batch.torch()
    assert np.array_equal(tensors.obs.numpy(), batch.obs)
    assert tensors.obs.data_ptr() != batch.obs.ctypes.data


def test_infer_may_see_and_answer_in_torch() -> None:
    weight = torch.ones((), requires_grad=True)

    def infer_torch(obs: np.ndarray) -> tuple[Any, Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            seen = torch.from_dlpack(obs)
        assert seen.data_ptr() == obs.ctypes.data
        params, values = params_of(seen.numpy())
        return torch.from_numpy(params) * weight, torch.from_numpy(values) * weight

    assert as_bytes(engine_of().collect(40, infer_torch)) == as_bytes(engine_of().collect(40, infer))

    def in_double(obs: np.ndarray) -> tuple[Any, Any]:
        params, values = infer_torch(obs)
        return params.double(), values.double()

    assert as_bytes(engine_of().collect(40, in_double)) == as_bytes(engine_of().collect(40, infer))

    def other(obs: np.ndarray) -> tuple[Any, Any]:
        params, values = infer_torch(obs)
        return params + 1, values + 1

    assert as_bytes(engine_of().collect(40, other)) != as_bytes(engine_of().collect(40, infer))

    def in_halves(obs: np.ndarray) -> tuple[Any, Any]:
        params, values = infer_torch(obs)
        return params.half(), values

    with pytest.raises(TypeError, match="infer must return params as float32 or float64"):
        engine_of().collect(40, in_halves)


def test_infer_may_see_and_answer_in_jax() -> None:
    jax = pytest.importorskip("jax")

    def infer_jax(obs: np.ndarray) -> tuple[Any, Any]:
        seen = jax.device_put(obs)
        assert seen.unsafe_buffer_pointer() == obs.ctypes.data
        params, values = params_of(np.asarray(seen))
        return jax.numpy.asarray(params), jax.numpy.asarray(values)

    batch = engine_of().collect(40, infer_jax)
    assert as_bytes(batch) == as_bytes(engine_of().collect(40, infer))
    assert jax.device_put(batch.obs).unsafe_buffer_pointer() == batch.obs.ctypes.data


def test_what_a_vector_observes_is_a_tensor_without_a_copy() -> None:
    obs, _ = rf.VecEnv(rf.games.CarRacing(), 2, 1).reset(seed=0)
    tensor = torch.from_dlpack(obs)
    assert tensor.data_ptr() == obs.ctypes.data
    tensor[:] = 7  # it is the caller's
    assert (obs == 7).all()


def run(script: str) -> str:
    prelude = (
        "import sys, numpy as np, reinfors as rf\n"
        "engine = rf.Engine(rf.games.make(rf.games.registered()[0]), None, rf.policies.Ppo(), rf.learners.Ppo(), 1)\n"
        "batch = engine.collect(4, lambda obs: (np.zeros((len(obs), engine.n_params)), np.zeros(len(obs))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", prelude + script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_neither_library_is_imported_before_it_is_asked_for() -> None:
    assert run("print({'torch', 'jax'} & sys.modules.keys() or None, len(batch.torch()))") == "None 4"


def test_a_missing_torch_is_named() -> None:
    script = "sys.modules['torch'] = None\ntry: batch.torch()\nexcept ModuleNotFoundError as error: print(error)"
    assert run(script) == "torch() needs torch: pip install 'reinfors[torch]'"
