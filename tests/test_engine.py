"""`Engine.collect`: the main job's batch field by field, what `infer` may return, what it may not, and what follows."""

from __future__ import annotations

import time
import traceback
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import reinfors as rf

if TYPE_CHECKING:
    from collections.abc import Callable

Outputs = tuple[np.ndarray, np.ndarray]


def features(obs: np.ndarray) -> np.ndarray:
    """Some numbers in [0, 1] that differ between frames, (rows, 16), float64."""
    return obs[:, :, 10::24, 40:80:10].reshape(len(obs), -1)[:, :16] / 255


def values_of(obs: np.ndarray) -> np.ndarray:
    return np.asarray(features(obs) @ np.linspace(-1, 1, 16)).astype(np.float32)


def params_of(obs: np.ndarray, n_params: int) -> np.ndarray:
    return np.asarray(np.sin(features(obs) @ np.arange(16 * n_params).reshape(16, n_params))).astype(np.float32)


def engine_of(
    n_games: int = 3,
    *,
    n_threads: int = 1,
    seed: int | None = 0,
    distribution: Any = None,
    reward: rf.Reward | None = None,
    **options: Any,
) -> rf.Engine:
    options.setdefault("max_steps", 4)
    return rf.Engine(
        game=rf.games.make("CarRacing", **options),
        reward=reward,
        policy=rf.policies.Ppo(distribution),
        learner=rf.learners.Ppo(gamma=0.9, lam=0.8),
        n_games=n_games,
        n_threads=n_threads,
        seed=seed,
    )


def infer_of(engine: rf.Engine) -> Any:
    n_params = engine.n_params
    return lambda obs: (params_of(obs, n_params), values_of(obs))


def fields(batch: rf.Records) -> dict[str, np.ndarray]:
    names = ["obs", "actions", "behavior_log_probs", "values", "rewards", "advantages", "returns"]
    names += ["terminated", "truncated", "policy_version", "slot", "step"]
    return {name: getattr(batch, name) for name in names}


def content(batch: rf.Batch) -> dict[str, bytes]:
    return {name: field.tobytes() for name, field in {**fields(batch), "last_obs": batch.last_obs}.items()}


@pytest.mark.parametrize("continuous", [False, True])
def test_the_main_job(continuous: bool) -> None:
    engine = rf.Engine(
        game=rf.games.CarRacing(continuous=continuous),
        reward=rf.Reward(tile=1000.0, step=-0.1, off_playfield=-100.0),
        policy=rf.policies.Ppo(),
        learner=rf.learners.Ppo(gamma=0.99, lam=0.95),
        n_games=4,
        n_threads=2,
    )
    seen = []

    def infer(obs: np.ndarray) -> Outputs:
        assert (obs.dtype, obs.shape[1:]) == (np.uint8, (3, 96, 96))
        assert not obs.flags.writeable
        seen.append(len(obs))
        return params_of(obs, engine.n_params), values_of(obs)

    with engine.collect_stream(collect_size=30, infer=infer) as stream:
        for update in range(3):
            batch = next(stream)
            assert engine.weights_updated() == update + 1
    assert (len(batch), batch.n_steps, batch.n_slots) == (32, 8, 4)
    actions = batch.actions
    assert (actions.dtype, actions.shape) == ((np.float32, (32, 3)) if continuous else (np.int64, (32,)))
    types = {name: (field.dtype.name, field.shape) for name, field in fields(batch).items() if name != "actions"}
    floats = ["behavior_log_probs", "values", "rewards", "advantages", "returns"]
    assert types == {
        "obs": ("uint8", (32, 3, 96, 96)),
        **dict.fromkeys(floats, ("float32", (32,))),
        "terminated": ("bool", (32,)),
        "truncated": ("bool", (32,)),
        "policy_version": ("int64", (32,)),
        "slot": ("int32", (32,)),
        "step": ("int32", (32,)),
    }
    assert (batch.last_obs.shape, batch.last_values.dtype, batch.last_values.shape) == (
        (4, 3, 96, 96),
        np.float32,
        (4,),
    )
    assert all(np.isfinite(field).all() for field in fields(batch).values())
    assert np.array_equal(batch.step, np.repeat(np.arange(16, 24), 4))
    assert batch.time_major("slot").tolist() == [[0, 1, 2, 3]] * 8
    assert sum(seen) >= 3 * 32


def test_rows_of_all_fields_belong_together() -> None:
    engine = engine_of(5)
    infer = infer_of(engine)
    first, second = (engine.collect(35, infer) for _ in range(2))
    for batch in (first, second):
        assert np.array_equal(batch.values, values_of(batch.obs))
        logits = params_of(batch.obs, engine.n_params).astype(np.float64)
        log_probs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        chosen = log_probs[np.arange(len(batch)), batch.actions]
        np.testing.assert_allclose(batch.behavior_log_probs, chosen, rtol=1e-6, atol=1e-6)
    assert np.array_equal(first.last_obs, second.obs[:5])
    assert np.array_equal(first.last_values, second.values[:5])


@pytest.mark.parametrize("continuous", [False, True])
def test_every_finished_episode_can_be_replayed_from_its_seed(continuous: bool) -> None:
    engine = engine_of(3, continuous=continuous)
    batch = engine.collect(24, infer_of(engine))
    env = rf.VecEnv(rf.games.CarRacing(max_steps=4, continuous=continuous), 1, 1)
    episodes = batch.telemetry["episodes"]
    assert [(episode["length"], episode["ended"]) for episode in episodes] == [(4, "max_steps")] * 6
    for slot in range(3):
        rows = np.flatnonzero(batch.slot == slot)
        for number, episode in enumerate(one for one in episodes if one["slot"] == slot):
            obs = env.reset(seed=[episode["seed"]])[0]
            total = 0.0
            for row in rows[4 * number : 4 * number + 4]:
                assert np.array_equal(obs[0], batch.obs[row])
                obs, rewards, terminated, truncated, _ = env.step(batch.actions[row : row + 1])
                assert np.float32(rewards[0]) == batch.rewards[row]
                assert (terminated[0], truncated[0]) == (batch.terminated[row], batch.truncated[row])
                total += rewards[0]
            assert episode["return"] == pytest.approx(total)


def test_advantages_are_those_of_a_plain_loop() -> None:
    engine = engine_of(3, max_steps=5)
    asked: list[tuple[np.ndarray, np.ndarray]] = []

    def infer(obs: np.ndarray) -> Outputs:
        values = values_of(obs)
        asked.append((np.array(obs), values))
        return params_of(obs, engine.n_params), values

    batch = engine.collect(36, infer)
    expected = np.zeros((12, 3))
    rewards, values, truncated = (batch.time_major(name) for name in ("rewards", "values", "truncated"))
    env = rf.VecEnv(rf.games.CarRacing(max_steps=5), 1, 1)
    seeds = {
        (one["slot"], at): one["seed"]
        for slot in range(3)
        for at, one in enumerate([one for one in batch.telemetry["episodes"] if one["slot"] == slot])
    }
    actions = batch.time_major("actions")
    for slot in range(3):
        following, advantage = float(batch.last_values[slot]), 0.0
        for t in reversed(range(12)):
            if truncated[t, slot]:
                env.reset(seed=[seeds[slot, t // 5]])
                for at in range(t - 4, t + 1):
                    final = env.step([actions[at, slot]])[0]
                following, advantage = float(values_of(final)[0]), 0.0
            delta = float(rewards[t, slot]) + 0.9 * following - float(values[t, slot])
            advantage = delta + 0.9 * 0.8 * advantage
            following = float(values[t, slot])
            expected[t, slot] = advantage
    np.testing.assert_allclose(batch.time_major("advantages"), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(batch.returns, batch.advantages + batch.values, rtol=1e-6, atol=1e-6)
    assert len({obs.tobytes() for obs, _ in asked}) == len(asked)


def test_the_raw_sample_is_recorded_and_the_clipped_one_driven() -> None:
    engine = engine_of(2, continuous=True, distribution="gaussian")
    mean, log_std = np.array([3.0, 3.0, -3.0]), np.zeros(3)

    def infer(obs: np.ndarray) -> Outputs:
        return np.tile(np.concatenate([mean, log_std]), (len(obs), 1)), np.zeros(len(obs))

    batch = engine.collect(8, infer)
    raw = batch.actions.astype(np.float64)
    assert (raw[:, 0] > 1).any()
    density = (-0.5 * (raw - mean) ** 2 - 0.5 * np.log(2 * np.pi)).sum(axis=1)
    np.testing.assert_allclose(batch.behavior_log_probs, density, rtol=1e-5)
    clipped = np.clip(batch.actions, [-1, 0, 0], [1, 1, 1])
    env = rf.VecEnv(rf.games.CarRacing(continuous=True, max_steps=4), 1, 1)
    for episode in batch.telemetry["episodes"]:
        env.reset(seed=[episode["seed"]])
        rows = np.flatnonzero(batch.slot == episode["slot"])
        assert [np.float32(env.step(clipped[row : row + 1])[1][0]) for row in rows] == batch.rewards[rows].tolist()


def test_beta_samples_lie_inside_the_bounds() -> None:
    engine = engine_of(2, continuous=True, distribution="beta")
    batch = engine.collect(20, lambda obs: (np.full((len(obs), 6), 1.5), np.zeros(len(obs))))
    assert (np.abs(batch.actions[:, 0]) <= 1).all()
    assert ((batch.actions[:, 1:] >= 0) & (batch.actions[:, 1:] <= 1)).all()


@pytest.mark.parametrize("n_threads", [2, 8])
def test_batches_do_not_depend_on_threads_nor_on_streaming(n_threads: int) -> None:
    one, other, streaming = engine_of(5), engine_of(5, n_threads=n_threads), engine_of(5, n_threads=n_threads)
    expected = [content(one.collect(20, infer_of(one))) for _ in range(3)]
    assert [content(other.collect(20, infer_of(other))) for _ in range(3)] == expected
    with streaming.collect_stream(20, infer_of(streaming), depth=2) as stream:
        assert [content(next(stream)) for _ in range(3)] == expected
    differing = engine_of(5, seed=1)
    assert content(differing.collect(20, infer_of(differing))) != expected[0]


def test_versions_are_those_that_acted() -> None:
    engine = engine_of()
    infer = infer_of(engine)
    assert engine.policy_version == 0
    assert engine.weights_updated() == 1
    assert engine.collect(3, infer).policy_version.tolist() == [1, 1, 1]
    assert engine.weights_updated(40) == 40
    assert engine.weights_updated() == 41
    batch = engine.collect(3, infer)
    assert batch.policy_version.tolist() == [41, 41, 41]
    assert batch.telemetry["lag"] == {"min": 0, "mean": 0.0, "max": 0, "histogram": {0: 3}}


def test_lag_is_negative_where_a_lower_version_follows() -> None:
    engine = engine_of()
    engine.weights_updated(100)
    with engine.collect_stream(3, infer_of(engine)) as stream:
        while stream.pending() == 0:
            time.sleep(0.01)
        engine.weights_updated(5)
        assert next(stream).telemetry["lag"]["min"] == -95


def test_telemetry_says_where_the_time_went() -> None:
    engine = engine_of()
    telemetry = engine.collect(12, infer_of(engine)).telemetry
    assert set(telemetry["seconds"]) == {"step", "render", "infer", "wait", "total", "queue", "learner_wait"}
    assert telemetry["steps_per_second"] > 0
    assert telemetry["bottleneck"] in {"sampler", "inference", "learner"}
    assert telemetry["advice"].strip()


def test_observations_outlive_everything() -> None:
    engine = engine_of()
    kept = []

    def infer(obs: np.ndarray) -> Outputs:
        kept.append((obs, obs.copy()))
        with pytest.raises(ValueError, match="read-only"):
            obs[:] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            obs.flags.writeable = True
        return params_of(obs, 5), values_of(obs)

    batches = [engine.collect(9, infer) for _ in range(4)]
    copies = [batch.obs.copy() for batch in batches]
    views = [batch.obs for batch in batches]
    del engine, batches
    assert all(np.array_equal(*pair) for pair in kept)
    assert all(np.array_equal(view, copy) for view, copy in zip(views, copies, strict=True))


def test_minibatches_hold_every_record_once() -> None:
    engine = engine_of()
    batch = engine.collect(20, infer_of(engine))
    parts = list(batch.minibatches(8, seed=3))
    assert [len(part) for part in parts] == [8, 8, 5]
    order = np.random.default_rng(3).permutation(len(batch))
    for name, field in fields(batch).items():
        assert np.array_equal(np.concatenate([getattr(part, name) for part in parts]), field[order]), name
    assert len(list(batch.minibatches(1000))) == 1
    for size, error in ((0, ValueError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(error, match="size"):
            batch.minibatches(size)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="behavior_log_probs"):
        batch.time_major("last_obs")


class Tensor:
    """Behaves as a torch tensor does: only one detached and on the CPU lets NumPy in."""

    def __init__(self, array: np.ndarray, *, requires_grad: bool = True, device: str = "cuda") -> None:
        self.array, self.requires_grad = array, requires_grad
        self.device = type("Device", (), {"type": device})()

    def detach(self) -> Tensor:
        return Tensor(self.array, requires_grad=False, device=self.device.type)

    def cpu(self) -> Tensor:
        return Tensor(self.array, requires_grad=self.requires_grad, device="cpu")

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        del dtype, copy
        if self.requires_grad or self.device.type != "cpu":
            raise RuntimeError("cannot be converted")
        return self.array


class Dlpack:
    """Nothing but the protocol."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **arguments: Any) -> Any:
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def misaligned(array: np.ndarray) -> np.ndarray:
    held = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    held[...] = array
    assert not held.flags.aligned
    return held


def field_of_records(array: np.ndarray) -> np.ndarray:
    records = np.zeros(array.shape, [("pad", "u1"), ("number", array.dtype)])
    records["number"] = array
    return records["number"]


def read_only(array: np.ndarray) -> np.ndarray:
    copy = array.copy()
    copy.flags.writeable = False
    return copy


ACCEPTED: dict[str, Callable[[np.ndarray], Any]] = {
    "float64": lambda array: array.astype(np.float64),
    "transposed": lambda array: array.T.copy().T,
    "reversed": lambda array: array[::-1].copy()[::-1],
    "every other": lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
    "Fortran": np.asfortranarray,
    "read-only": read_only,
    "misaligned": misaligned,
    "a field": field_of_records,
    "a tensor": Tensor,
    "DLPack": Dlpack,
}


@pytest.mark.parametrize("kind", ACCEPTED)
def test_outputs_of_any_layout_give_the_same_batch(kind: str) -> None:
    plain, other = engine_of(), engine_of()
    expected = plain.collect(12, infer_of(plain))
    batch = other.collect(12, lambda obs: tuple(ACCEPTED[kind](output) for output in infer_of(other)(obs)))
    assert content(batch) == content(expected)


def test_broadcast_outputs_are_read_as_they_look() -> None:
    one, other = engine_of(), engine_of()
    row = np.array([0.1, 0.2, 0.3, 0.4, 0.5], np.float32)
    expected = one.collect(9, lambda obs: (np.tile(row, (len(obs), 1)), np.zeros(len(obs))))
    batch = other.collect(9, lambda obs: (np.broadcast_to(row, (len(obs), 5)), np.broadcast_to(0.0, len(obs))))
    assert content(batch) == content(expected)


def refused(outputs: Any, error: type[Exception], match: str) -> None:
    """The outputs are refused, and the engine then does what one does that never met them."""
    engine, untouched = engine_of(), engine_of()
    good = infer_of(engine)
    for _ in range(2):
        with pytest.raises(error, match=match):
            engine.collect(9, lambda obs: outputs(*good(obs)))
    assert content(engine.collect(9, good)) == content(untouched.collect(9, good))


@pytest.mark.parametrize("dtype", ["float16", "int64", "bool", "object", "complex64", "U3", "longdouble", ">f4"])
def test_outputs_of_another_type_are_refused(dtype: str) -> None:
    refused(lambda params, values: (params.astype(dtype), values), TypeError, "params as float32 or float64.*dtype")
    refused(lambda params, values: (params, values.astype(dtype)), TypeError, "values as float32 or float64.*dtype")


@pytest.mark.parametrize(
    "outputs",
    [
        lambda params, values: params,
        lambda params, values: (params, values, values),
        lambda params, values: None,
        lambda params, values: (params.tolist(), values),
        lambda params, values: (params, None),
        lambda params, values: (params, 1.0),
        lambda params, values: {"params": params, "values": values},
    ],
)
def test_what_is_no_pair_of_arrays_is_refused(outputs: Any) -> None:
    refused(outputs, TypeError, r"pair \(params, values\)|as float32 or float64")


@pytest.mark.parametrize(
    "change",
    [
        lambda array: array[:-1],
        lambda array: np.concatenate([array, array[:1]]),
        lambda array: array[:0],
        lambda array: array[:1],
        lambda array: array[None],
        lambda array: array[..., None],
    ],
)
def test_outputs_of_another_shape_are_refused_with_both_shapes(change: Any) -> None:
    refused(lambda params, values: (change(params), values), ValueError, r"params of shape \(.*needed is \(\d, 5\)")
    refused(lambda params, values: (params, change(values)), ValueError, r"values of shape \(.*needed is \(\d,\)")


def test_masked_arrays_are_refused() -> None:
    refused(lambda params, values: (np.ma.masked_array(params), values), TypeError, "params .* got a masked array")
    refused(lambda params, values: (params, np.ma.masked_array(values)), TypeError, "values .* got a masked array")


class Odd(np.ndarray):
    """An array whose copy is none."""

    def copy(self, order: str = "C") -> Any:  # type: ignore[override]
        return 7


def test_an_array_whose_copy_is_none_is_refused_in_words() -> None:
    def outputs(params: np.ndarray, values: np.ndarray) -> Outputs:
        return params, np.repeat(values, 2)[::2].view(Odd)

    refused(outputs, TypeError, r"copy\(\) of an array must be one, got 7")


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_inside_a_conversion_passes(raised: type[BaseException]) -> None:
    class Interrupted(Dlpack):
        def __dlpack__(self, **arguments: Any) -> Any:
            raise raised

        def __array__(self, *arguments: Any, **more: Any) -> np.ndarray:
            return self.array

    engine = engine_of()
    with pytest.raises(raised):
        engine.collect(3, lambda obs: (Interrupted(np.zeros((len(obs), 5))), np.zeros(len(obs))))


def test_large_numbers_are_short_in_messages() -> None:
    refused(lambda params, values: (params, np.full(len(values), 1e308)), ValueError, r"values with 1e308 in row 0")


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_outputs_that_are_not_finite_are_refused_with_their_row(number: float) -> None:
    def spoiled(array: np.ndarray) -> np.ndarray:
        array = array.copy()
        array[(len(array) - 1, *[2] * (array.ndim - 1))] = number
        return array

    refused(
        lambda params, values: (spoiled(params), values), ValueError, r"params with -?(NaN|inf) in row \d, column 2"
    )
    refused(lambda params, values: (params, spoiled(values)), ValueError, r"values with -?(NaN|inf) in row \d")


class OddError(Exception):
    """The caller's own."""


@pytest.mark.parametrize("call", [1, 5])
@pytest.mark.parametrize("error", [ValueError("x"), OddError("y"), KeyboardInterrupt(), SystemExit(3)])
def test_an_exception_of_infer_is_raised_as_itself(error: BaseException, call: int) -> None:
    engine, untouched = engine_of(), engine_of()
    good = infer_of(engine)
    calls = 0

    def raising(obs: np.ndarray) -> Outputs:
        nonlocal calls
        calls += 1
        if calls == call:
            raise error
        return good(obs)

    with pytest.raises(type(error)) as caught:
        engine.collect(30, raising)
    assert caught.value is error
    assert "raising" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert content(engine.collect(9, good)) == content(untouched.collect(9, good))


def test_an_end_of_iteration_inside_infer_is_an_error() -> None:
    engine = engine_of()

    def infer(obs: np.ndarray) -> Outputs:
        del obs
        return next(iter(()))

    with pytest.raises(RuntimeError, match="StopIteration") as caught:
        engine.collect(3, infer)
    assert isinstance(caught.value.__cause__, StopIteration)


def test_using_the_engine_from_inside_infer_is_an_error_at_once() -> None:
    engine = engine_of()
    good = infer_of(engine)

    def infer(obs: np.ndarray) -> Outputs:
        assert engine.n_games == 3
        assert engine.resolved_config()["n_games"] == 3
        for call in (lambda: engine.collect(3, good), lambda: engine.collect_stream(3, good), engine.snapshot):
            with pytest.raises(RuntimeError, match="engine is collecting"):
                call()
        return good(obs)

    assert len(engine.collect(3, infer)) == 3


def test_an_engine_continues_exactly_from_a_snapshot() -> None:
    engine, other = engine_of(), engine_of(n_threads=2)
    infer = infer_of(engine)
    engine.collect(10, infer)
    engine.weights_updated(7)
    saved = engine.snapshot()
    expected = content(engine.collect(10, infer))
    other.restore(saved)
    assert content(other.collect(10, infer)) == expected
    assert other.policy_version == 7


def test_a_snapshot_of_another_configuration_is_refused_by_name() -> None:
    engine = engine_of()
    saved = engine.snapshot()
    for other, name in ((engine_of(2), "n_games"), (engine_of(max_steps=5), "max_steps"), (engine_of(seed=1), "seed")):
        with pytest.raises(ValueError, match=name):
            other.restore(saved)
    for damaged in (b"", b"x" * 100, saved[:-1]):
        with pytest.raises(ValueError, match=r"saved state|snapshot"):
            engine.restore(damaged)
    with pytest.raises(TypeError, match="bytes"):
        engine.restore(None)  # type: ignore[arg-type]


def test_a_policy_that_does_not_fit_the_actions_is_refused() -> None:
    for continuous, distribution in ((False, "gaussian"), (False, "beta"), (True, "categorical")):
        with pytest.raises(ValueError, match=distribution):
            engine_of(continuous=continuous, distribution=distribution)


@pytest.mark.parametrize("n_records", [0, -1, True, 1.5, "3", None, 2**40, 2**70])
def test_a_number_of_records_that_cannot_be_is_refused(n_records: Any) -> None:
    engine = engine_of()
    infer = infer_of(engine)
    with pytest.raises((TypeError, ValueError), match="n_records"):
        engine.collect(n_records, infer)
    with pytest.raises(TypeError, match="infer must be callable"):
        engine.collect(3, None)  # type: ignore[arg-type]
    assert len(engine.collect(3, infer)) == 3


def test_a_reward_weight_that_float32_cannot_hold_is_refused_with_the_keys() -> None:
    with pytest.raises(ValueError, match="float32 can hold, got 1e308; the keys of CarRacing are tile, step"):
        engine_of(reward=rf.Reward(step=1e308))


def test_a_batch_that_float32_cannot_hold_is_refused_and_its_window_taken_back() -> None:
    engine, undisturbed = engine_of(), engine_of()
    good = infer_of(engine)

    def huge(obs: np.ndarray) -> Outputs:
        params, values = good(obs)
        return params, np.where(np.arange(len(values)) % 2, np.float32(3e38), np.float32(-3e38)) * (-1) ** calls.pop()

    calls = list(range(100))
    with pytest.raises(ValueError, match="advantages"):
        engine.collect(30, huge)
    assert content(engine.collect(30, good)) == content(undisturbed.collect(30, infer_of(undisturbed)))
