"""Make the table of digits that CarRacing's score is drawn from, and check it against whole strings.

The reference writes the score with pygame's default font, `freesansbold.ttf` at 42 px. That file is GNU FreeFont's
FreeSansBold of 2002, "granted subject to GNU General Public License"; this repository holds neither the font nor any
part of its outlines. What is stored is what the font *draws*: grey pictures of eleven characters ("0" to "9" and "-")
at one size, and the measured distances between pairs of them.

Digits cannot be put side by side at whole distances: pairs are kerned in 64ths of a pixel and the pen is cut down to a
whole pixel at each character. The distances are found by measuring long strings, so that fractions show, and then
every string the score can be from -12000 to 12000, and thousands of longer ones, is compared with pygame's own.

    python scripts/make_score_text.py            # writes it; needs pygame-ce 2.5
    python scripts/make_score_text.py --check    # fails when what is written differs

Format (read by `reinfors_render::Strike::parse`), little-endian: "STR1", height, number of characters (bytes); the pen
advances in 64ths of a pixel (16 bits, a row per first character); for each character: code, width, empty rows above,
rows, and those rows' greys.
"""

import random
import struct
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pygame

CHARACTERS = "0123456789-"
SIZE_PX = 42
TABLE = Path(__file__).parents[1] / "crates/reinfors-games/src/car_racing/text/digits-42.bin"
UNIT = 64

Picture = np.ndarray
Advances = dict[tuple[str, str], int]


def rendered(font: pygame.font.Font, text: str) -> Picture:
    """The text as the reference draws it, white on black: uint8 (height, width)."""
    surface = font.render(text, True, (255, 255, 255), (0, 0, 0))
    channels = pygame.surfarray.array3d(surface)
    assert (channels == channels[..., :1]).all(), "the text is grey"
    return channels[..., 0].T


def measured_advances(font: pygame.font.Font, glyphs: dict[str, Picture]) -> Advances:
    """Pen advance from each character to each other one, in 64ths of a pixel.

    A string's width tells the sum of its advances cut down to a pixel, which bounds each advance by the bounds of the
    others. Runs of one digit settle its own pair; random strings then close in on the rest.
    """
    digits = CHARACTERS.replace("-", "")
    low = {(a, b): 0 for a in CHARACTERS for b in digits}
    high = dict.fromkeys(low, UNIT * 60)
    rng = random.Random(0)

    def texts() -> Iterator[str]:
        yield from (digit * count for digit in digits for count in range(2, 80))
        while any(low[pair] != high[pair] for pair in low):
            runs = (rng.choice(digits) * rng.randint(1, 6) for _ in range(rng.randint(1, 8)))
            yield rng.choice(["", "-"]) + "".join(runs)

    for text in texts():
        pen = UNIT * (rendered(font, text).shape[1] - glyphs[text[-1]].shape[1])
        pairs = list(pairwise(text))
        least, most = sum(low[pair] for pair in pairs), sum(high[pair] for pair in pairs)
        for pair in set(pairs):
            count = pairs.count(pair)
            others = least - count * low[pair], most - count * high[pair]
            low[pair], high[pair] = (
                max(low[pair], -((others[1] - pen) // count)),
                min(high[pair], (pen + UNIT - 1 - others[0]) // count),
            )
            least, most = others[0] + count * low[pair], others[1] + count * high[pair]
    # A sign never follows a digit; the table is square all the same.
    return low | {(c, "-"): UNIT * glyphs[c].shape[1] for c in CHARACTERS}


def composed(glyphs: dict[str, Picture], advances: Advances, text: str) -> Picture:
    """The text put together from the table, as the Rust side does it."""
    pens = [0]
    for first, second in pairwise(text):
        pens.append(pens[-1] + advances[first, second])
    starts = [pen // UNIT for pen in pens]
    width = max(start + glyphs[c].shape[1] for start, c in zip(starts, text, strict=True))
    picture = np.zeros((glyphs["0"].shape[0], width), np.uint8)
    for start, c in zip(starts, text, strict=True):
        part = picture[:, start : start + glyphs[c].shape[1]]
        np.maximum(part, glyphs[c], out=part)
    return picture


def check(font: pygame.font.Font, glyphs: dict[str, Picture], advances: Advances) -> int:
    """Compare composed strings with the font's own; return how many."""
    rng = random.Random(0)
    texts = [f"{value:04.0f}" for value in range(-12000, 12001)] + ["-000"]
    texts += [f"{rng.uniform(-1, 1) * 10 ** rng.randint(3, 12):04.0f}" for _ in range(20000)]
    for text in texts:
        assert np.array_equal(rendered(font, text), composed(glyphs, advances, text)), text
    return len(texts)


def table(glyphs: dict[str, Picture], advances: Advances) -> bytes:
    """The table's bytes."""
    parts = [b"STR1", struct.pack("<BB", glyphs["0"].shape[0], len(CHARACTERS))]
    parts += [struct.pack("<H", advances[a, b]) for a in CHARACTERS for b in CHARACTERS]
    for c in CHARACTERS:
        rows = np.flatnonzero(glyphs[c].any(axis=1))
        above, count = rows[0], rows[-1] + 1 - rows[0]
        parts.append(struct.pack("<BBBB", ord(c), glyphs[c].shape[1], above, count))
        parts.append(glyphs[c][above : above + count].tobytes())
    return b"".join(parts)


def main() -> None:
    """Writes the table, or with --check tells whether it is out of date."""
    pygame.font.init()
    font = pygame.font.Font(pygame.font.get_default_font(), SIZE_PX)
    glyphs = {c: rendered(font, c) for c in CHARACTERS}
    advances = measured_advances(font, glyphs)
    checked = check(font, glyphs, advances)
    content = table(glyphs, advances)
    if "--check" in sys.argv[1:]:
        if TABLE.read_bytes() != content:
            sys.exit(f"{TABLE.name} is out of date: run `python scripts/make_score_text.py`")
        return
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_bytes(content)
    print(f"{TABLE.name}: {len(content)} bytes; {checked} strings equal to pygame {pygame.version.ver}'s")


if __name__ == "__main__":
    main()
