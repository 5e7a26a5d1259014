"""Every policy with every learner that it allows, from Python: fields, ends, states, sequences, refusals."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest

import reinfors as rf

POLICIES: dict[str, Any] = {
    "Ppo": rf.policies.Ppo,
    "Gaussian": lambda **given: rf.policies.Ppo("gaussian", **given),
    "Beta": lambda **given: rf.policies.Ppo("beta", **given),
    "EpsilonGreedy": lambda **given: rf.policies.EpsilonGreedy(0.3, **given),
    "Direct": rf.policies.Direct,
    "Direct vectors": rf.policies.Direct,
}
LEARNERS: dict[str, Any] = {
    "Ppo": rf.learners.Ppo(gamma=0.9, lam=0.8),
    "Vtrace": rf.learners.Vtrace(gamma=0.9),
    "Transitions": rf.learners.Transitions(n_step=3, gamma=0.9),
}
REFUSED = {("EpsilonGreedy", "Ppo"), *itertools.product(["Direct", "Direct vectors"], ["Ppo", "Vtrace"])}
PAIRS = [pair for pair in itertools.product(POLICIES, LEARNERS) if pair not in REFUSED]
STATES = [None, (2,)]
VECTORS = {"Gaussian", "Beta", "Direct vectors"}


def engine_of(policy: str, learner: str, state_shape: Any = None, *, n_threads: int = 1, seed: int = 0) -> rf.Engine:
    """Five poles cut off after nine steps, observed as numbers; or cars, where actions are vectors."""
    game = rf.games.make("CartPole", max_steps=9)
    if policy in VECTORS:
        game = rf.games.make("CarRacing", continuous=True, max_steps=4, size=(8, 8), gray=True)
    chosen = POLICIES[policy](state_shape=state_shape)
    return rf.Engine(game, None, chosen, LEARNERS[learner], n_games=5, n_threads=n_threads, seed=seed)


def summed(obs: np.ndarray) -> np.ndarray:
    """A number in [0, 1] for each observation, float64."""
    return (np.asarray(obs, np.float64).reshape(len(obs), -1) * 0.7).sum(axis=1) % 1


class Network:
    """Answers by the observation alone, or with a state that counts the steps of the episode and mixes what was seen.

    It says so at once where a state is not that of the row's own episode: the count has to be zero at a start and only
    there, and every answer depends on the mix.
    """

    def __init__(self, policy: str, engine: rf.Engine, *, has_values: bool) -> None:
        self.policy, self.n_params, self.has_values = policy, engine.n_params, has_values

    def __call__(self, obs: np.ndarray, state: Any = None, starts: Any = None) -> Any:
        mixed = summed(obs)
        if state is not None:
            assert (state.dtype, state.shape, starts.dtype, starts.shape) == (
                np.float32,
                (len(obs), 2),
                np.bool_,
                (len(obs),),
            )
            assert np.array_equal(state[:, 0] == 0, starts)
            assert not state[starts].any()
            mixed = mixed + 0.5 * state[:, 1]
        columns = np.sin(mixed[:, None] * np.arange(1, self.n_params + 1))
        if self.policy == "Beta":
            columns = columns + 1.5
        decision = (columns[:, 0] > 0).astype(np.int64) if self.policy == "Direct" else columns
        outputs = [decision]
        if self.has_values:
            outputs.append(mixed)
        if state is not None:
            outputs.append(np.stack([state[:, 0] + 1, mixed], axis=1))
        return tuple(outputs) if len(outputs) > 1 else decision


def network_of(policy: str, learner: str, engine: rf.Engine) -> Network:
    return Network(policy, engine, has_values=learner == "Ppo")


def content(batch: rf.Batch) -> dict[str, bytes]:
    whole = ["last_obs", "last_values", "last_states", "final_rows", "final_obs", "final_states"]
    return {name: getattr(batch, name).tobytes() for name in [*batch.fields, *whole] if hasattr(batch, name)}


COMMON = {"obs", "actions", "rewards", "terminated", "truncated", "policy_version", "slot", "step"}
OF_LEARNER = {
    "Ppo": {"behavior_log_probs", "values", "advantages", "returns"},
    "Vtrace": {"behavior_log_probs", "discounts"},
    "Transitions": {"discounts", "next_obs"},
}


@pytest.mark.parametrize("state_shape", STATES)
@pytest.mark.parametrize(("policy", "learner"), PAIRS)
def test_a_batch_has_the_fields_of_its_learner_and_what_it_promises(
    policy: str, learner: str, state_shape: Any
) -> None:
    engine = engine_of(policy, learner, state_shape)
    infer = network_of(policy, learner, engine)
    batches = [engine.collect(50, infer) for _ in range(3)]
    expected = COMMON | OF_LEARNER[learner]
    if state_shape:
        expected |= {"states", "next_states"} if learner == "Transitions" else {"states"}
    assert set(batches[0].fields) == expected
    assert all(len(getattr(batches[0], name)) == 50 for name in batches[0].fields)
    for name in {"next_obs", "advantages", "states"} - expected:
        with pytest.raises(AttributeError, match=f"a batch of {learner} has no {name}; its fields are obs, actions"):
            getattr(batches[0], name)

    threads = engine_of(policy, learner, state_shape, n_threads=3)
    assert [content(threads.collect(50, infer)) for _ in range(3)] == [content(batch) for batch in batches]
    streaming = engine_of(policy, learner, state_shape, n_threads=2)
    with streaming.collect_stream(50, infer) as stream:
        assert [content(next(stream)) for _ in range(3)] == [content(batch) for batch in batches]
    other = engine_of(policy, learner, state_shape, seed=1)
    assert content(other.collect(50, infer)) != content(batches[0])

    config = json.loads(json.dumps(engine.resolved_config()))
    twin = rf.engine_from_config(config)
    assert twin.resolved_config() == engine.resolved_config()
    twin.restore(engine.snapshot())
    assert content(twin.collect(50, infer)) == content(engine.collect(50, infer))


@pytest.mark.parametrize(("policy", "learner"), PAIRS)
def test_a_failed_window_leaves_no_trace(policy: str, learner: str) -> None:
    engine, untouched = (engine_of(policy, learner, (2,)) for _ in range(2))
    good = network_of(policy, learner, engine)
    calls = itertools.count()

    def failing(*given: Any) -> Any:
        if next(calls) == 6:
            raise KeyError("boom")
        return good(*given)

    with pytest.raises(KeyError, match="boom"):
        engine.collect(50, failing)
    assert content(engine.collect(50, good)) == content(untouched.collect(50, good))


@pytest.mark.parametrize(("policy", "learner"), sorted(REFUSED))
def test_what_does_not_fit_together_is_refused_with_what_would(policy: str, learner: str) -> None:
    with pytest.raises(ValueError, match=f"^learner must be .*Transitions.* for the policy .*, got {learner}$"):
        engine_of(policy, learner)


def test_numbered_actions_are_needed_for_a_greedy_choice() -> None:
    game = rf.games.make("CarRacing", continuous=True)
    with pytest.raises(ValueError, match="policy must be Ppo or Direct for a game of continuous actions"):
        rf.Engine(game, None, rf.policies.EpsilonGreedy(0.1), rf.learners.Transitions(), n_games=1)


def test_transitions_are_those_of_the_environment_and_end_with_its_final_observation() -> None:
    engine = engine_of("Direct", "Transitions")
    batch = engine.collect(100, network_of("Direct", "Transitions", engine))
    env = rf.VecEnv(rf.games.make("CartPole", max_steps=9), 1, 1, autoreset="disabled")
    assert batch.next_obs.dtype == np.float32
    ends = {"terminated": 0, "max_steps": 0}
    for slot in range(5):
        rows = iter(np.flatnonzero(batch.slot == slot))
        for episode in (one for one in batch.telemetry["episodes"] if one["slot"] == slot):
            seen = [env.reset(seed=[episode["seed"]])[0][0]]
            own = [next(rows) for _ in range(episode["length"])]
            rewards = []
            for row in own:
                obs, reward, *_ = env.step(batch.actions[row : row + 1])
                seen.append(obs[0])
                rewards.append(float(reward[0]))
            for at, row in enumerate(own):
                last = min(at + 3, len(own))
                assert np.array_equal(batch.obs[row], seen[at])
                assert np.array_equal(batch.next_obs[row], seen[last])
                total = sum(0.9**step * reward for step, reward in enumerate(rewards[at:last]))
                assert batch.rewards[row] == pytest.approx(total)
                is_last = last == len(own)
                terminated = is_last and episode["ended"] != "max_steps"
                assert batch.terminated[row] == terminated
                assert batch.truncated[row] == (is_last and episode["length"] == 9)
                assert batch.discounts[row] == pytest.approx(0 if terminated else 0.9 ** (last - at))
            ends["max_steps" if episode["ended"] == "max_steps" else "terminated"] += 1
    assert ends["max_steps"] > 3, ends


def test_a_window_s_end_cuts_transitions_short_and_is_seen_next() -> None:
    engine = engine_of("Direct", "Transitions")
    batch = engine.collect(5 * 2, network_of("Direct", "Transitions", engine))
    assert np.array_equal(batch.next_obs, np.concatenate([batch.last_obs, batch.last_obs]))
    assert batch.discounts.tolist() == [pytest.approx(0.81)] * 5 + [pytest.approx(0.9)] * 5


def test_minibatches_of_transitions_hold_their_own_next_observations() -> None:
    engine = engine_of("EpsilonGreedy", "Transitions", (2,))
    batch = engine.collect(60, network_of("EpsilonGreedy", "Transitions", engine))
    order = np.random.default_rng(3).permutation(60)
    parts = list(batch.minibatches(16, seed=3))
    for name in batch.fields:
        whole = np.concatenate([getattr(part, name) for part in parts])
        assert np.array_equal(whole, getattr(batch, name)[order]), name
    assert np.array_equal(batch.time_major("next_obs").reshape(60, 4), batch.next_obs)


@pytest.mark.parametrize("length", [None, 4])
def test_sequences_are_consecutive_steps_of_one_slot(length: int | None) -> None:
    engine = engine_of("Ppo", "Vtrace", (2,))
    batch = engine.collect(5 * 12, network_of("Ppo", "Vtrace", engine))
    steps = length or 12
    parts = list(batch.sequences(2, length, seed=1))
    assert sum(part.rewards.shape[1] for part in parts) == 5 * 12 // steps
    assert sum(len(part) for part in parts) == 60
    seen = set()
    for part in parts:
        assert part.obs.shape == (steps, part.slot.shape[1], 4)
        assert part.states.shape == (steps, part.slot.shape[1], 2)
        assert (part.slot == part.slot[0]).all()
        following = np.where(part.step[1:] == 0, 0, part.step[:-1] + 1)
        assert np.array_equal(part.step[1:], following)
        assert np.array_equal(part.states[..., 0], part.step)
        # What is remembered follows from the first state of the sequence and from what is seen.
        mixed = part.states[0, :, 1].astype(np.float64)
        for step in range(steps):
            mixed = np.where(part.step[step] == 0, 0, mixed)
            np.testing.assert_allclose(part.states[step, :, 1], mixed, atol=1e-5)
            mixed = summed(part.obs[step]) + 0.5 * mixed
        seen |= {(int(slot), obs.tobytes()) for slot, obs in zip(part.slot[0], part.obs[0], strict=True)}
    assert len(seen) == 5 * 12 // steps
    assert [part.slot.tolist() for part in batch.sequences(2, length, seed=1)] == [part.slot.tolist() for part in parts]
    with pytest.raises(ValueError, match="length must be a divisor of the 12 steps, got 5"):
        batch.sequences(2, 5)
    for size, error in ((0, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match="size"):
            batch.sequences(size)  # type: ignore[arg-type]


def test_epsilon_is_a_number_that_can_be_assigned_and_is_told() -> None:
    engine = engine_of("EpsilonGreedy", "Transitions")
    infer = network_of("EpsilonGreedy", "Transitions", engine)

    def share_of_greedy(batch: rf.Batch) -> float:
        return float((batch.actions == np.asarray(infer(batch.obs)).argmax(axis=1)).mean())

    assert engine.epsilon == 0.3
    engine.epsilon = 0
    batch = engine.collect(100, infer)
    assert (share_of_greedy(batch), batch.telemetry["epsilon"]) == (1.0, 0.0)
    engine.epsilon = 1.0
    batch = engine.collect(1000, infer)
    assert share_of_greedy(batch) == pytest.approx(0.5, abs=0.1)
    assert engine.resolved_config()["policy"]["epsilon"] == batch.telemetry["epsilon"] == 1.0
    for bad, error in (
        (1.5, ValueError),
        (np.nan, ValueError),
        ("0.5", TypeError),
        (None, TypeError),
        (True, TypeError),
    ):
        with pytest.raises(error, match="epsilon must be"):
            engine.epsilon = bad  # type: ignore[assignment]
    other = engine_of("Direct", "Transitions")
    assert other.epsilon is None
    assert "epsilon" not in other.collect(5, network_of("Direct", "Transitions", other)).telemetry
    with pytest.raises(ValueError, match="the policy Direct has none"):
        other.epsilon = 0.5
    with pytest.raises(AttributeError):
        del other.epsilon


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "uint64"])
def test_direct_actions_of_any_integer_type_are_taken(dtype: str) -> None:
    engine, other = (engine_of("Direct", "Transitions") for _ in range(2))
    infer = network_of("Direct", "Transitions", engine)
    expected = engine.collect(20, infer)
    batch = other.collect(20, lambda obs: infer(obs).astype(dtype))
    assert content(batch) == content(expected)
    assert batch.actions.dtype == np.int64


@pytest.mark.parametrize(
    ("answer", "error", "match"),
    [
        (np.zeros, TypeError, "actions as integers.*float64"),
        (lambda rows: np.zeros(rows, bool), TypeError, "actions as integers.*bool"),
        (lambda rows: np.zeros((rows, 1), int), ValueError, r"actions of shape \(5, 1\) for 5 rows; needed is \(5,\)"),
        (lambda rows: np.full(rows, 2), ValueError, "actions whose row 0: 2 is no action; needed are integers from 0"),
        (lambda rows: np.full(rows, -1), ValueError, "actions whose row 0: -1 is no action"),
        (lambda rows: np.full(rows, 2**64 - 1, np.uint64), ValueError, "is no action"),
        (lambda rows: (np.zeros(rows, int), np.zeros(rows)), TypeError, "what infer returns must be actions alone"),
        (lambda rows: [0] * rows, TypeError, "what infer returns must be actions alone"),
        (lambda rows: None, TypeError, "actions as integers.*got None"),
    ],
)
def test_direct_actions_that_are_none_are_refused(answer: Any, error: type[Exception], match: str) -> None:
    engine, untouched = (engine_of("Direct", "Transitions") for _ in range(2))
    with pytest.raises(error, match=match):
        engine.collect(20, lambda obs: answer(len(obs)))
    infer = network_of("Direct", "Transitions", engine)
    assert content(engine.collect(20, infer)) == content(untouched.collect(20, infer))


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        (lambda params, values, state: (params, values), TypeError, r"a triple \(params, values, state\)"),
        (lambda params, values, state: (params, values, state[:, :1]), ValueError, r"state of shape \(5, 1\)"),
        (lambda params, values, state: (params, values, state[:-1]), ValueError, r"needed is \(5, 2\)"),
        (
            lambda params, values, state: (params, values, state * np.nan),
            ValueError,
            "state with NaN in row 0, column 0",
        ),
        (lambda params, values, state: (params, values, state + 1e300), ValueError, "state with 1e300 in row 0"),
        (lambda params, values, state: (params, values, state.astype(int)), TypeError, "state as float32 or float64"),
    ],
)
def test_a_state_that_does_not_fit_is_refused_before_anything_moves(
    change: Any, error: type[Exception], match: str
) -> None:
    engine, untouched = (engine_of("Ppo", "Ppo", (2,)) for _ in range(2))
    good = network_of("Ppo", "Ppo", engine)
    with pytest.raises(error, match=match):
        engine.collect(20, lambda *given: change(*good(*given)))
    assert content(engine.collect(20, good)) == content(untouched.collect(20, good))


@pytest.mark.parametrize("policy", [rf.policies.Ppo, rf.policies.EpsilonGreedy, rf.policies.Direct])
@pytest.mark.parametrize(
    ("state_shape", "error"),
    [((), ValueError), ((0,), ValueError), ((2.0,), TypeError), (2, TypeError), ("2", TypeError)],
)
def test_a_shape_that_is_none_is_refused(policy: Any, state_shape: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"state_shape.* must be"):
        policy(state_shape=state_shape)


def test_a_state_of_many_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="state_shape must be sizes of at least 1 whose product is at most"):
        engine_of("Ppo", "Ppo", (2**20, 2))
    policy = rf.policies.Ppo(state_shape=(2**20,))
    many = r"state_shape must be so small that all games remember at most 268435456 numbers, got .* of 257 games"
    with pytest.raises(ValueError, match=many):
        rf.Engine(rf.games.CartPole(), None, policy, rf.learners.Ppo(), n_games=257)
    with pytest.raises(ValueError, match=many):
        rf.evaluate(rf.games.CartPole(), lambda *given: given, 300, policy=policy, n_games=257)


@pytest.mark.parametrize("policy", ["Ppo", "EpsilonGreedy", "Direct"])
@pytest.mark.parametrize("state_shape", STATES)
def test_evaluation_takes_the_infer_of_training(policy: str, state_shape: Any) -> None:
    game = rf.games.make("CartPole", max_steps=9)
    engine = engine_of(policy, "Transitions", state_shape)
    chosen = POLICIES[policy](state_shape=state_shape)
    one, other = (
        rf.evaluate(game, Network(policy, engine, has_values=has_values), 6, policy=chosen, n_threads=1)
        for has_values in (False, True)
    )
    assert one == other
