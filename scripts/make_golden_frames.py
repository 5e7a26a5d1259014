"""Record a few of Gymnasium's CarRacing frames with everything they show, for machines without Gymnasium.

    SDL_VIDEODRIVER=dummy python scripts/make_golden_frames.py      # needs gymnasium[box2d]==1.4.0

Writes `car_racing/golden/frames.bin`, read by `car_racing/view/tests.rs`. Little-endian throughout:

    episodes u32, then for each:
        quads u32, 8 f64 each; background 3 f64; grass 3 f64; frames u32, then for each:
            time, score f64; hull and four wheels: x, y, sin, cos f32; angle, velocity x, y, angular velocity f32
            wheel speeds 4 f64; wheel phases 4 f64; steering f64; one colour (3 bytes) per quad
            skid marks u32, each: points u32, colour 3 bytes, 2 f64 a point
            observation 96x96, then `rgb_array` 600x400 or nothing, each as bytes u32 and runs (length, r, g, b)
"""

import itertools
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from gymnasium.envs.box2d.car_racing import CarRacing

OUT = Path(__file__).parents[1] / "crates/reinfors-games/src/car_racing/golden/frames.bin"

Action = np.ndarray


class Recorder(CarRacing):
    """CarRacing that remembers the score its last observation shows."""

    drawn_score = 0.0

    def _render(self, mode: str) -> np.ndarray | None:
        self.drawn_score = self.reward
        return super()._render(mode)


def follow(env: Recorder, _step: int) -> Action:
    """Drive along the track, at times too fast."""
    x, y = env.car.hull.position
    nearest = int(np.argmin([(t[2] - x) ** 2 + (t[3] - y) ** 2 for t in env.track]))
    ahead = env.track[(nearest + 5) % len(env.track)]
    turn = math.atan2(x - ahead[2], ahead[3] - y) - env.car.hull.angle
    turn = (turn + math.pi) % (2 * math.pi) - math.pi
    speed = math.hypot(*env.car.hull.linearVelocity)
    return np.array([np.clip(-1.5 * turn, -1, 1), 0.6 * (speed < 60), 0.3 * (speed > 75)], np.float32)


def skid(_env: Recorder, step: int) -> Action:
    """Full gas, steering hard from side to side."""
    return np.array([(-1) ** (step // 25 + 1), 1.0, 0.2 * ((step // 25) % 4 == 2)], np.float32)


def straight(_env: Recorder, _step: int) -> Action:
    """Full gas until the playfield ends, and beyond."""
    return np.array([0.0, 1.0, 0.0], np.float32)


@dataclass(frozen=True)
class Episode:
    """What to drive, and the steps at which to record."""

    seed: int
    drive: Callable[[Recorder, int], Action]
    steps: list[int]
    randomize: bool = False
    picture_steps: list[int] = field(default_factory=list)


EPISODES = [
    Episode(3, follow, [0, 20, 60, 200, 330]),
    Episode(52, skid, [0, 35, 90], randomize=True, picture_steps=[90]),
    Episode(31, straight, [280, 420]),
]


def runs(picture: np.ndarray) -> bytes:
    """A picture's pixels, row by row, as runs of at most 255."""
    pixels = picture.reshape(-1, 3)
    ends = np.flatnonzero((pixels[1:] != pixels[:-1]).any(axis=1)) + 1
    starts = [0, *ends.tolist(), len(pixels)]
    parts = [
        bytes([min(255, end - at), *pixels[start].tolist()])
        for start, end in itertools.pairwise(starts)
        for at in range(start, end, 255)
    ]
    packed = b"".join(parts)
    return struct.pack("<I", len(packed)) + packed


def frame(env: Recorder, observation: np.ndarray, picture: np.ndarray | None) -> bytes:
    """One frame's record."""
    car, hull = env.car, env.car.hull
    parts = [struct.pack("<2d", env.t, env.drawn_score)]
    for body in [hull, *car.wheels]:
        at, turn = body.transform.position, body.transform.q
        parts.append(struct.pack("<4f", at[0], at[1], turn.s, turn.c))
    parts.append(struct.pack("<4f", hull.angle, *hull.linearVelocity, hull.angularVelocity))
    parts.append(struct.pack("<8d", *[w.omega for w in car.wheels], *[w.phase for w in car.wheels]))
    parts.append(struct.pack("<d", car.wheels[0].joint.angle))
    parts += [bytes(int(channel) for channel in colour) for _, colour in env.road_poly]
    parts.append(struct.pack("<I", len(car.particles)))
    for mark in car.particles:
        parts.append(struct.pack("<I3B", len(mark.poly), *mark.color))
        parts += [struct.pack("<2d", *point) for point in mark.poly]
    parts += [runs(observation), struct.pack("<I", 0) if picture is None else runs(picture)]
    return b"".join(parts)


def record(episode: Episode) -> bytes:
    """One episode's record."""
    env = Recorder(domain_randomize=episode.randomize, render_mode="rgb_array")
    observation, _ = env.reset(seed=episode.seed)
    parts = [struct.pack("<I", len(env.road_poly))]
    parts += [struct.pack("<8d", *[float(v) for corner in quad for v in corner[:2]]) for quad, _ in env.road_poly]
    parts.append(struct.pack("<6d", *[float(v) for v in (*env.bg_color, *env.grass_color)]))
    parts.append(struct.pack("<I", len(episode.steps)))
    for step in range(max(episode.steps) + 1):
        if step > 0:
            observation, *_ = env.step(episode.drive(env, step))
        if step in episode.steps:
            picture = None
            if step in episode.picture_steps:
                # The picture must show the observation's score, not the one after the step's penalty.
                after, env.reward = env.reward, env.drawn_score
                picture = env.render()
                env.reward = after
            parts.append(frame(env, observation, picture))
    return b"".join(parts)


def main() -> None:
    """Record every episode."""
    packed = struct.pack("<I", len(EPISODES)) + b"".join(map(record, EPISODES))
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_bytes(packed)
    print(f"{OUT.name}: {len(packed)} bytes")


if __name__ == "__main__":
    main()
