"""Make the picture of frames: the reference's, exact ones, fast ones, and the difference of these two times 16.

python scripts/make_contact_sheet.py            # writes docs/assets/car_racing-fast.png
python scripts/make_contact_sheet.py --check    # fails when the picture differs
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import gymnasium
import numpy as np
from numpy.typing import NDArray
from PIL import Image

import reinfors as rf

SHEET = Path(__file__).resolve().parent.parent / "docs" / "assets" / "car_racing-fast.png"

SEED = 4
MOMENTS = (12, 60, 150, 290)  # steps: in the opening second, then at full zoom
HOLD = 8  # steps between two actions
ACTIONS = (3, 3, 1, 3, 2, 3, 4, 3)  # gas between some steering and braking
SCALE = 3  # screen pixels to a pixel
GAP = 6  # screen pixels between frames
CONTRAST = 16

Picture = NDArray[np.uint8]


def reference() -> list[Picture]:
    """Gymnasium's own frames of the moments, each (96, 96, 3)."""
    env = gymnasium.make("CarRacing-v3", continuous=False)
    env.reset(seed=SEED)
    pictures = []
    for step in range(max(MOMENTS) + 1):
        observation = env.step(ACTIONS[step // HOLD % len(ACTIONS)])[0]
        if step in MOMENTS:
            pictures.append(observation)
    return pictures


def frames(kind: Literal["exact", "fast"]) -> list[Picture]:
    """The frames of the moments, each (96, 96, 3)."""
    env = rf.VecEnv(rf.games.CarRacing(frames=kind, layout="hwc"), n_envs=1, n_threads=1, seed=SEED)
    env.reset()
    pictures = []
    for step in range(max(MOMENTS) + 1):
        observations = env.step(np.array([ACTIONS[step // HOLD % len(ACTIONS)]]))[0]
        if step in MOMENTS:
            pictures.append(observations[0].copy())
    return pictures


def row(theirs: Picture, exact: Picture, fast: Picture) -> Picture:
    """All and what is between the last two, side by side: (96 * SCALE, 4 * (96 * SCALE + GAP) - GAP, 3)."""
    difference = np.abs(exact.astype(int) - fast.astype(int)) * CONTRAST
    pictures = [theirs, exact, fast, np.minimum(difference, 255).astype(np.uint8)]
    large = [picture.repeat(SCALE, axis=0).repeat(SCALE, axis=1) for picture in pictures]
    gap = np.full((large[0].shape[0], GAP, 3), 255, np.uint8)
    return np.concatenate([part for picture in large for part in (picture, gap)][:-1], axis=1)


def sheet() -> Picture:
    """A row for each moment."""
    rows = [row(*pictures) for pictures in zip(reference(), frames("exact"), frames("fast"), strict=True)]
    gap = np.full((GAP, rows[0].shape[1], 3), 255, np.uint8)
    return np.concatenate([part for line in rows for part in (line, gap)][:-1])


def main() -> None:
    """Writes the picture, or with --check tells whether it is out of date."""
    picture = sheet()
    if "--check" in sys.argv[1:]:
        if not SHEET.exists() or not np.array_equal(np.asarray(Image.open(SHEET)), picture):
            sys.exit(f"out of date, run `python scripts/make_contact_sheet.py`: {SHEET.name}")
        return
    Image.fromarray(picture).save(SHEET, optimize=True)
    print(SHEET.name)


if __name__ == "__main__":
    main()
