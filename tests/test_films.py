"""Films of `reinfors record`: what they show, what they take in memory, and what an error leaves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence

import reinfors as rf
from reinfors.cli import choice, film, record

pytest.importorskip("imageio_ffmpeg")

MEMORY = Path(__file__).with_name("memory_alone.py")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's account of memory")
@pytest.mark.parametrize("suffix", film.FORMATS)
def test_a_film_takes_the_memory_of_a_few_frames_however_long_it_is(suffix: str, tmp_path: Path) -> None:
    command = [sys.executable, str(MEMORY), "film", str(tmp_path / f"x{suffix}"), "100"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    told = json.loads(run.stdout)
    assert told["steps"] == 100
    assert told["peak_growth"] < 10 * (600 * 400 * 3)


def frames_of(n: int) -> list[np.ndarray]:
    """Pictures of a game that differ from each other."""
    env = rf.VecEnv(choice.game("CarRacing", []), 1, 1, seed=0)
    env.reset()
    frames = []
    for _ in range(n):
        env.step([3])
        frames.append(env.render(0, (200, 301)))
    return frames


def test_a_gif_shows_the_frames_in_their_time(tmp_path: Path) -> None:
    frames = frames_of(9)
    with film.Film(tmp_path / "x.gif", 25) as gif:
        for frame in frames:
            gif.add(frame)
    with Image.open(tmp_path / "x.gif") as shown:
        assert shown.info["loop"] == 0
        seen = [(image.info["duration"], np.asarray(image.convert("RGB"))) for image in ImageSequence.Iterator(shown)]
    assert [duration for duration, _ in seen] == [40] * 9
    for (_, picture), frame in zip(seen, frames, strict=True):
        assert np.abs(picture.astype(int) - frame).mean() < 0.1, "256 colours are nearly enough"
    assert (frames[0] != frames[-1]).mean() > 0.1


def test_a_gif_leaves_out_what_is_too_quick_for_it(tmp_path: Path) -> None:
    with film.Film(tmp_path / "x.gif", 120) as gif:
        for frame in frames_of(9):
            gif.add(frame)
    with Image.open(tmp_path / "x.gif") as shown:
        durations = [image.info["duration"] for image in ImageSequence.Iterator(shown)]
    assert len(durations) == 3
    assert sum(durations) == pytest.approx(9 / 120 * 1000, abs=10)


def test_an_error_leaves_the_film_that_was_there_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "x.gif"
    out.write_bytes(b"an older film")
    calls = 0

    def tiring(obs: np.ndarray) -> np.ndarray:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise ArithmeticError("of the policy")
        return np.zeros(len(obs), np.int64)

    game = choice.game("CarRacing", [])
    with pytest.raises(ArithmeticError, match="of the policy"):
        record.record(game, tiring, out, seed=0, most=9, width=64, fps=None)
    assert out.read_bytes() == b"an older film"
    assert list(tmp_path.iterdir()) == [out]
    assert record.record(game, tiring, out, seed=0, most=3, width=64, fps=None)["steps"] == 3
    assert out.read_bytes().startswith(b"GIF89a")


def test_a_place_without_room_beside_it_is_refused(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    with pytest.raises(OSError, match="file"):
        film.check_place(blocked / "x.gif")
