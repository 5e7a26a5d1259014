"""Records episodes and tracks of Gymnasium's CarRacing-v3 as golden files for the Rust tests.

Run with `gymnasium[box2d]==1.4.0` installed: `python scripts/make_golden.py`. An episode file holds the actions, so
that it can be driven again without Python, and every `EVERY` steps a hash over *all* numbers of all steps so far
(see `row`), with a few of them in clear to see where a difference begins. The tests hash the same numbers.
"""

import math
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

import numpy as np
from gymnasium.envs.box2d.car_racing import CarRacing

GOLDEN = Path(__file__).parent.parent / "crates/reinfors-games/src/car_racing/golden"
EVERY = 50
HEADER = "# Recorded from Gymnasium 1.4.0, Box2D 2.3.10, x86-64 Linux by scripts/make_golden.py.\n"

Control = tuple[float, ...]  # steering, gas, brake
NOBODY: Control = (0.0, 0.0, 0.0)
Driver = Callable[[CarRacing, int], Control]


class Hash:
    """FNV-1a over the little-endian bytes of what it is fed."""

    def __init__(self) -> None:
        self.value = 0xCBF29CE484222325

    def feed(self, data: bytes) -> None:
        """Takes more bytes in."""
        for byte in data:
            self.value = (self.value ^ byte) * 0x100000001B3 % 2**64


class Reference(CarRacing):
    """CarRacing without its drawing, which moves nothing, and with its attempts at a track counted."""

    attempts = 0

    def _render(self, mode: str) -> None:
        """Draws nothing."""

    def _create_track(self) -> bool:
        self.attempts += 1
        return super()._create_track()


def row(env: CarRacing, reward: float, end: float) -> list[float]:
    """All numbers of a step, as `row` in `race/tests.rs` lists them."""
    hull = env.car.hull
    numbers = [reward, end, env.reward, env.tile_visited_count, env.t, hull.awake]
    numbers += [*hull.position, hull.angle, *hull.linearVelocity, hull.angularVelocity]
    for wheel in env.car.wheels:
        numbers += [*wheel.position, wheel.angle, *wheel.linearVelocity, wheel.angularVelocity]
        numbers += [wheel.omega, wheel.phase, wheel.gas, wheel.joint.angle, wheel.joint.motorSpeed]
        numbers += [sum((tile.idx + 1) ** 2 for tile in wheel.tiles)]
    plain = [tile.idx for tile in env.road if (tile.color == env.road_color).all()]
    numbers += [sum((index + 1) ** 2 for index in plain)]
    for particle in env.car.particles:
        numbers += [particle.grass, len(particle.poly), *particle.poly[0], *particle.poly[-1]]
    return [float(number) for number in numbers]


def record(name: str, seed: int, driver: Driver, steps: int, *, resets: int = 1, randomize: bool = False) -> None:
    """Writes one episode: the last of `resets` resets, of which only the first is seeded."""
    env = Reference(domain_randomize=randomize)
    for index in range(resets):
        env.reset(seed=seed if index == 0 else None)
    lines = [f"seed {seed}", f"resets {resets}", f"randomize {str(randomize).lower()}"]
    digest, held, count = Hash(), NOBODY, 0
    digest.feed(struct.pack(f"<{len(row(env, 0, -1))}d", *row(env, 0, -1)))
    for step in range(1, steps + 1):
        control = driver(env, step - 1)
        if control != held and count:
            lines.append("drive {} {!r} {!r} {!r}".format(count, *held))
            count = 0
        held, count = control, count + 1
        _, reward, terminated, _, info = env.step(np.array(control, np.float64))
        numbers = row(env, reward, float(info.get("lap_finished", -1)))
        digest.feed(struct.pack(f"<{len(numbers)}d", *numbers))
        ended = terminated and info["lap_finished"]
        if step % EVERY == 0 or step == steps or ended:
            lines.append("drive {} {!r} {!r} {!r}".format(count, *held))
            lines.append(f"state {digest.value} {numbers[0]!r} {numbers[3]!r} {numbers[6]!r} {numbers[7]!r}")
            count = 0
        if ended:
            break
    (GOLDEN / f"{name}.txt").write_text(HEADER + "\n".join(lines) + "\n")


def fixed(plan: Callable[[int], Control]) -> Driver:
    """A driver who does not look."""
    return lambda _env, step: plan(step)


def drawn(seed: int, hold: int, draw: Callable[[np.random.Generator], Control]) -> Driver:
    """A driver who draws a control every `hold` steps."""
    rng, held = np.random.default_rng(seed), [NOBODY]

    def drive(_env: CarRacing, step: int) -> Control:
        if step % hold == 0:
            held[0] = draw(rng)
        return held[0]

    return drive


def follower(top_speed: float, hold: int, slide_every: int | None = None) -> Driver:
    """A driver who aims at the road ahead and, if told so, throws the car into a slide now and then."""
    held = [NOBODY]

    def drive(env: CarRacing, step: int) -> Control:
        if step % hold:
            return held[0]
        hull = env.car.hull
        x, y = hull.position
        speed = math.hypot(*hull.linearVelocity)
        nearest = min(range(len(env.track)), key=lambda i: math.hypot(env.track[i][2] - x, env.track[i][3] - y))
        _, _, aim_x, aim_y = env.track[(nearest + 3 + int(speed * 0.09)) % len(env.track)]
        off = (math.atan2(x - aim_x, aim_y - y) - hull.angle + math.pi) % (2 * math.pi) - math.pi
        steer = max(-1.0, min(1.0, round(-off * 2 * 16) / 16))
        if slide_every and step % slide_every > slide_every - 15:
            held[0] = (1.0 if step // slide_every % 2 else -1.0, 1.0, 0.0)
        else:
            held[0] = (steer, 1.0 if speed < top_speed else 0.0, 0.4 if speed > top_speed + 10 else 0.0)
        return held[0]

    return drive


def uniform(rng: np.random.Generator) -> Control:
    """Any control, rounded to float32 as a policy's would be."""
    return tuple(float(np.float32(rng.uniform(low, 1))) for low in (-1, 0, 0))


DISCRETE = [(0.0, 0.0, 0.0), (0.6, 0.0, 0.0), (-0.6, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.8)]


def record_episodes() -> None:
    """Writes every episode file."""
    record("held", 3, drawn(1003, 15, uniform), 1000)
    record("skids", 5, follower(60, 2, slide_every=160), 1000)
    record("discrete", 8, drawn(1008, 8, lambda rng: DISCRETE[rng.choice(5, p=[0.1, 0.2, 0.2, 0.45, 0.05])]), 1000)
    record("lap", 1, follower(45, 4), 2500)
    record("asleep", 4, fixed(lambda step: (0.0, 1.0, 0.0) if step < 25 else (0.0, 0.0, 0.8)), 250)
    record("off_playfield", 0, fixed(lambda _step: (0.0, 0.3, 0.0)), 350)
    record("wild", 6, drawn(1006, 10, lambda rng: tuple(float(x) for x in rng.normal(0, 2, 3))), 500)
    record("unseeded", 2**64, follower(60, 5), 200, resets=3)
    record("randomized", 2**128 + 1, follower(60, 5), 200, resets=2, randomize=True)


def tracks() -> Iterator[str]:
    """Yields a line per track: seed, reset, attempts, tiles, and a hash of tiles' corners in float32 and of kerbs."""
    for seed in [*range(40), 2**31, 2**32, 2**63, 2**64, 2**128]:
        env = Reference(domain_randomize=seed % 2 == 1)
        for reset in range(2):
            env.attempts = 0
            env.reset(seed=seed if reset == 0 else None)
            digest, tile = Hash(), -1
            for corners, colour in env.road_poly:
                is_kerb = isinstance(colour, tuple)
                tile += not is_kerb
                digest.feed(struct.pack("<I", tile))
                if not is_kerb:
                    digest.feed(np.array(corners, "<f4").tobytes())
            colours = [*env.road_color, *env.bg_color, *env.grass_color]
            digest.feed(struct.pack("<9d", *colours))
            yield f"{seed} {reset} {env.attempts} {len(env.track)} {digest.value}\n"


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    record_episodes()
    (GOLDEN / "tracks.txt").write_text(HEADER + "".join(tracks()))
