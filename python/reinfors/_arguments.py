"""Arguments of the Python classes, refused by name where they do not fit; the native ones do this themselves."""

from __future__ import annotations

import math
import operator
from numbers import Real

MOST_SHOWN = 80  # characters


def number(name: str, value: object, low: float = -math.inf, high: float = math.inf) -> float:
    """A finite number from `low` to `high`; truth values are no numbers here.

    Raises:
        TypeError: `value` is no number.
        ValueError: It is not finite or outside the bounds.
    """
    allowed = "a finite number" if math.isinf(low) else f"a number from {low:g} to {high:g}"
    given = f"{shown(value)} ({type(value).__name__})"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be {allowed}, got {given}")
    try:
        converted = float(value)
    except OverflowError:
        converted = math.inf
    if not (math.isfinite(converted) and low <= converted <= high):
        raise ValueError(f"{name} must be {allowed}, got {given}")
    return converted


def integer(name: str, value: object, low: int = 0, high: int | None = None) -> int:
    """An integer of Python or NumPy from `low` to `high`; truth values are none here.

    Raises:
        TypeError: `value` is no integer.
        ValueError: It is outside the bounds.
    """
    allowed = "a non-negative integer" if high is None else f"an integer from {low} to {high}"
    is_integer = hasattr(value, "__index__") and not isinstance(value, bool) and getattr(value, "ndim", 0) == 0
    if not is_integer:
        raise TypeError(f"{name} must be {allowed}, got {shown(value)} ({type(value).__name__})")
    converted = operator.index(value)  # type: ignore[arg-type]
    if converted < low or (high is not None and converted > high):
        raise ValueError(f"{name} must be {allowed}, got {shown(value)}")
    return converted


def shape(name: str, value: object) -> tuple[int, ...] | None:
    """A tuple of sizes of at least 1, or `None`.

    Raises:
        TypeError: `value` is neither a list nor a tuple of integers.
        ValueError: It is empty, or a size is below 1.
    """
    if value is None:
        return None
    allowed = "a tuple of sizes of at least 1, or None"
    if not isinstance(value, list | tuple):
        raise TypeError(f"{name} must be {allowed}, got {shown(value)} ({type(value).__name__})")
    if not value:
        raise ValueError(f"{name} must be {allowed}, got {shown(value)}")
    return tuple(integer(f"{name}[{at}]", size, 1, 2**32 - 1) for at, size in enumerate(value))


def choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuses what is none of `choices`.

    Raises:
        TypeError: `value` is no str.
        ValueError: It is another one.
    """
    allowed = " or ".join(repr(choice) for choice in choices)
    if not isinstance(value, str):
        raise TypeError(f"{name} must be {allowed}, got {shown(value)} ({type(value).__name__})")
    if value not in choices:
        raise ValueError(f"{name} must be {allowed}, got {shown(value)}")


def shown(value: object) -> str:
    """A value's text, of which a message has room for the beginning."""
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python writes
        return "a number of very many digits"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."
