"""Snapshots: continuing equals never having stopped, also elsewhere; bytes that do not fit are refused, never believed.

Bytes are damaged in two ways. As a disk or a network would: every layer's checksum notices. And as a forger would, who
seals every layer anew: what the decoders and the games then make of it is an error or a game, never a panic.
"""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reinfors as rf

GAMES = rf.games.registered()
CHECKSUM_BYTES = 4


def infer_of(engine: rf.Engine) -> Any:
    n_params = engine.n_params

    def infer(obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        sums = np.cos(obs.reshape(len(obs), -1)[:, :: 1 + obs[0].size // 50].astype(np.float64)).sum(axis=1)
        return np.sin(sums[:, None] * np.arange(1, n_params + 1)), sums

    return infer


def engine_of(name: str, n_threads: int = 1, *, learner: Any = None, reward: Any = None, **settings: Any) -> rf.Engine:
    n_games, seed = settings.pop("n_games", 3), settings.pop("seed", 5)
    game = rf.games.make(name, **{"max_steps": 7, **settings})
    return rf.Engine(game, reward, rf.policies.Ppo(), learner or rf.learners.Ppo(), n_games, n_threads, seed)


def content(batch: rf.Batch) -> bytes:
    fields = (batch.obs, batch.actions, batch.behavior_log_probs, batch.rewards, batch.advantages, batch.last_values)
    return b"".join(field.tobytes() for field in fields) + repr(batch.telemetry["episodes"]).encode()


def used(name: str) -> rf.Engine:
    """An engine in the middle of its episodes."""
    engine = engine_of(name)
    engine.collect(15, infer_of(engine))
    engine.weights_updated(9)
    return engine


ELSEWHERE = """
    import sys
    from pathlib import Path
    import test_snapshots as here
    engine = here.engine_of(sys.argv[1], 3)
    engine.restore(Path(sys.argv[2]).read_bytes())
    infer = here.infer_of(engine)
    batches = [engine.collect(12, infer) for _ in range(2)]
    with engine.collect_stream(12, infer) as stream:
        batches += [next(stream) for _ in range(2)]
    print(engine.policy_version, *[here.zlib.crc32(here.content(batch)) for batch in batches])
    """


@pytest.mark.conformance
@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize("name", GAMES)
def test_another_process_with_other_threads_goes_on_exactly_there(name: str, is_streamed: bool, tmp_path: Path) -> None:
    engine = used(name)
    infer = infer_of(engine)
    if is_streamed:
        stream = engine.collect_stream(12, infer, depth=2)
        next(stream)
        stream.pause()
    (tmp_path / "snapshot").write_bytes(engine.snapshot())
    expected = [zlib.crc32(content(engine.collect(12, infer))) for _ in range(4)]
    assert len(set(expected)) == 4
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(ELSEWHERE), name, tmp_path / "snapshot"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert [int(word) for word in done.stdout.split()] == [9, *expected]


@pytest.mark.conformance
@pytest.mark.parametrize("name", GAMES)
def test_truncated_and_damaged_bytes_are_refused_and_change_nothing(name: str) -> None:
    engine = used(name)
    snapshot, expected = engine.snapshot(), content(used(name).collect(12, infer_of(engine)))
    rng = random.Random(0)
    lengths = {0, 1, 2, 3, 4, 5, len(snapshot) - 1} | {rng.randrange(len(snapshot)) for _ in range(100)}
    for length in lengths:
        with pytest.raises(ValueError, match="truncated"):
            engine.restore(snapshot[:length])
    for _ in range(200):
        damaged = bytearray(snapshot)
        for at in rng.sample(range(len(snapshot)), rng.choice([1, 1, 2, 9])):
            damaged[at] ^= 1 << rng.randrange(8)
        with pytest.raises(ValueError, match="checksum"):
            engine.restore(bytes(damaged))
    for longer in (snapshot + b"\x00", snapshot * 2, b"\xff" * len(snapshot)):
        with pytest.raises(ValueError, match="checksum"):
            engine.restore(longer)
    assert content(engine.collect(12, infer_of(engine))) == expected


def seals(data: bytes) -> list[tuple[int, int]]:
    """Where the layers lie that end with their own checksum, the innermost first."""
    found = {(0, len(data))}
    for at in range(len(data) - CHECKSUM_BYTES):
        length = shift = 0
        for start, byte in enumerate(data[at : at + 5], at + 1):
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                end = start + length
                if length > CHECKSUM_BYTES and end <= len(data) and sealed(data[start:end]) == data[start:end]:
                    found.add((start, end))
                break
    return sorted(found, key=lambda seal: seal[1] - seal[0])


def sealed(layer: bytes) -> bytes:
    body = layer[:-CHECKSUM_BYTES]
    return body + zlib.crc32(body).to_bytes(CHECKSUM_BYTES, "little")


def forged(data: bytes, layers: list[tuple[int, int]], rng: random.Random) -> bytes:
    """Bytes with some changed and every layer sealed anew."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        changed[rng.randrange(len(data))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
    for start, end in layers:
        changed[start:end] = sealed(bytes(changed[start:end]))
    return bytes(changed)


@pytest.mark.conformance
@pytest.mark.parametrize("name", GAMES)
def test_forged_bytes_are_refused_or_are_a_game_and_never_a_panic(name: str) -> None:
    engine = used(name)
    snapshot = engine.snapshot()
    layers = seals(snapshot)
    assert len(layers) >= 2 + 2 * engine.n_games, "the snapshot, its contents, and each world with its state"
    rng = random.Random(1)
    refused = 0
    for _ in range(150):
        try:
            engine.restore(forged(snapshot, layers, rng))
            engine.collect(6, infer_of(engine))
        except ValueError:
            refused += 1
    assert refused
    engine.restore(snapshot)
    assert content(engine.collect(12, infer_of(engine))) == content(used(name).collect(12, infer_of(engine)))


@pytest.mark.conformance
@pytest.mark.parametrize("name", GAMES)
def test_a_forged_environment_is_refused_or_is_one(name: str) -> None:
    env = rf.VecEnv(rf.games.make(name), 1, 1)
    env.reset(seed=3)
    n_agents = env.game.n_agents
    env.step([1] * n_agents)
    saved = env.save(0)
    layers, rng = seals(saved), random.Random(2)
    for _ in range(300):
        try:
            env.load(0, forged(saved, layers, rng))
        except ValueError:
            continue
        for _ in range(3):
            env.step([0] * n_agents)
        env.observe()
        env.render(0)
        env.inspect(0)


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=300))
def test_any_other_bytes_are_no_snapshot(data: bytes) -> None:
    engine = engine_of(GAMES[-1])
    for body in (data, data + zlib.crc32(data).to_bytes(CHECKSUM_BYTES, "little")):
        with pytest.raises(ValueError, match=r"saved state|snapshot"):
            engine.restore(body)


def test_a_snapshot_of_another_format_is_refused_by_its_number() -> None:
    engine = engine_of(GAMES[0])
    snapshot = bytearray(engine.snapshot())
    snapshot[0] += 1  # the first number is the format
    with pytest.raises(ValueError, match=rf"its format is {snapshot[0]}, this version reads {snapshot[0] - 1}"):
        engine.restore(sealed(bytes(snapshot)))


def test_every_setting_that_differs_is_named() -> None:
    name = GAMES[0]
    snapshot = engine_of(name).snapshot()
    key, weight = next(iter(rf.games.make(name).reward_keys.items()))
    others = {
        "n_games": engine_of(name, n_games=4),
        "seed": engine_of(name, seed=6),
        "max_steps": engine_of(name, max_steps=8),
        "gamma": engine_of(name, learner=rf.learners.Ppo(gamma=0.5)),
        "lam": engine_of(name, learner=rf.learners.Ppo(lam=0.5)),
        f"reward {key}": engine_of(name, reward=rf.Reward(**{key: weight + 1})),
        "game": engine_of(GAMES[1]),
    }
    for setting, other in others.items():
        with pytest.raises(ValueError, match=f"cannot restore the snapshot: its {setting}|option {setting}"):
            other.restore(snapshot)
