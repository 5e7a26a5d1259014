"""What a policy is worth: the episodes of a fixed list of seeds, each played once and to its end."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reinfors import policies
from reinfors._arguments import integer, number, shown
from reinfors._reinfors import play_episodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from reinfors._reinfors import Game
    from reinfors._reinfors.evaluate import _EpisodeRow
    from reinfors.reward import Reward

MAX_EPISODES = 2**20


@dataclass(frozen=True)
class EpisodeStats:
    """What the episodes of an evaluation came to.

    Attributes:
        episodes: One dict per seed, in the order of the seeds: `seed`, `return` (undiscounted), `length` in decisions,
            and `ended`, one of the game's end reasons or `"max_steps"`.
    """

    episodes: list[_EpisodeRow]

    @property
    def returns(self) -> NDArray[np.float64]:
        """Undiscounted returns, (episodes,)."""
        return np.array([episode["return"] for episode in self.episodes])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Decisions of each episode, (episodes,)."""
        return np.array([episode["length"] for episode in self.episodes], np.int64)

    @property
    def mean(self) -> float:
        """Mean return."""
        return math.fsum(episode["return"] for episode in self.episodes) / len(self.episodes)

    @property
    def std(self) -> float:
        """Standard deviation of the returns, of the sample: NaN for a single episode."""
        return float(self.returns.std(ddof=1)) if len(self.episodes) > 1 else math.nan

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The confidence interval of the mean return, by Student's distribution.

        Args:
            confidence: Its probability, from 0 to 0.999999.

        Returns:
            Its ends; of a single episode they are infinite.

        Raises:
            TypeError: `confidence` is no number.
            ValueError: It is outside its range.
        """
        confidence = number("confidence", confidence, 0, 0.999999)
        n = len(self.episodes)
        if n == 1:
            return -math.inf, math.inf
        half = student_quantile(confidence, n - 1) * self.std / math.sqrt(n)
        return self.mean - half, self.mean + half

    def table(self) -> str:
        """One line of text per seed, under a head: seed, return, length, and how the episode ended."""
        rows = [("seed", "return", "length", "ended")]
        rows += [(str(one["seed"]), f"{one['return']:.3f}", str(one["length"]), one["ended"]) for one in self.episodes]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join([*(cell.rjust(width) for cell, width in zip(row[:3], widths, strict=False)), row[3]])
            for row in rows
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        low, high = self.interval()
        return (
            f"EpisodeStats({len(self.episodes)} episodes: return {self.mean:.2f}, 95 % interval {low:.2f} to "
            f"{high:.2f}, std {self.std:.2f}; length {self.lengths.mean():.1f})"
        )


def evaluate(
    game: Game,
    infer: Callable[..., Any],
    episodes: int | None = None,
    seeds: int | Iterable[int] = 0,
    *,
    deterministic: bool = True,
    policy: policies.Policy | None = None,
    reward: Reward | None = None,
    n_games: int | None = None,
    n_threads: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> EpisodeStats:
    """Plays exactly the episodes of a fixed list of seeds, in parallel, each once and to its end.

    A game that has ended takes the next seed, and what was begun is finished: short episodes count no more often than
    long ones. Where `infer` answers each row by itself, the episodes do not depend on `n_games`, on `n_threads` or on
    the order of the seeds. A game without `max_steps` may play for ever; an interrupt ends that.

    Args:
        game: What is played; training may have another time limit or reward.
        infer: As for `Engine.collect`, for the rows that are still playing. Values are not needed: they may be left
            out, and are not looked at.
        episodes: How many; as many as there are seeds where these are a list.
        seeds: A list of non-negative integers of any size, or the first of consecutive ones. `env.reset(seed=seed)`
            starts the same episode anywhere.
        deterministic: Whether to take the most probable action (the largest logit, the mean, the mode of Beta, the
            action valued highest) instead of a sample. Samples come from a stream of the episode's own seed, another
            one where a seed is repeated.
        policy: How actions are chosen; `None` is `policies.Ppo()`, which suits the game.
        reward: Weights, or `None` for the game's defaults.
        n_games: Games played at once, at most one per episode; `None` for 64.
        n_threads: Threads that step and draw them; `None` for all cores.
        progress: Called as `progress(done, total)` on this thread whenever episodes have ended.

    Returns:
        Return, length and end of every seed, and their statistics.

    Raises:
        TypeError: An argument has the wrong type, or `infer` returns another type than accepted.
        ValueError: A value is not allowed, the numbers of episodes and seeds differ, or `infer` returns another shape
            or a number that is not finite. What `infer` and `progress` raise is raised as itself.
    """
    return EpisodeStats(
        play_episodes(
            game,
            infer,
            _list_of_seeds(episodes, seeds),
            policies.Ppo() if policy is None else policy,
            reward,
            deterministic,
            n_games,
            n_threads,
            progress,
        )
    )


def _list_of_seeds(episodes: int | None, seeds: int | Iterable[int]) -> list[int]:
    """The seed of every episode."""
    wanted = None if episodes is None else integer("episodes", episodes, 1, MAX_EPISODES)
    if isinstance(seeds, (str, bytes)) or not hasattr(seeds, "__iter__") or getattr(seeds, "ndim", 1) == 0:
        first = integer("seeds", seeds)
        if wanted is None:
            raise ValueError("episodes must be given where seeds is the first one of them, got None")
        return list(range(first, first + wanted))
    if isinstance(seeds, (set, frozenset, dict)):
        raise TypeError(f"seeds must have an order, got {shown(seeds)}")
    limit = MAX_EPISODES if wanted is None else wanted
    given = list(itertools.islice(seeds, limit + 1))
    if wanted is not None and len(given) != wanted:
        count = "more" if len(given) > wanted else str(len(given))
        raise ValueError(f"seeds must be one per episode: {wanted} of them, got {count}")
    if not 1 <= len(given) <= MAX_EPISODES:
        count = "more" if given else "none"
        raise ValueError(f"seeds must be from 1 to {MAX_EPISODES} of them, got {count}")
    return [integer(f"seeds[{at}]", seed) for at, seed in enumerate(given)]


def student_quantile(confidence: float, dof: int) -> float:
    """The `t` within which, to both sides, Student's distribution of `dof` degrees of freedom has `confidence`.

    Found by bisection of the finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    low, high = 0.0, 1.0
    while _student_within(high, dof) < confidence:
        low, high = high, 2 * high
    while low < (middle := 0.5 * (low + high)) < high:
        if _student_within(middle, dof) < confidence:
            low = middle
        else:
            high = middle
    return high


def _student_within(t: float, dof: int) -> float:
    """The probability of a number from `-t` to `t`."""
    angle = math.atan2(t, math.sqrt(dof))
    sine, cosine = math.sin(angle), math.cos(angle)
    steps = np.arange(1, dof // 2)
    if dof % 2 == 0:
        return sine * (1 + float(np.cumprod((2 * steps - 1) / (2 * steps) * cosine**2).sum()))
    if dof == 1:
        return 2 * angle / math.pi
    series = 1 + float(np.cumprod(2 * steps / (2 * steps + 1) * cosine**2).sum())
    return 2 / math.pi * (angle + sine * cosine * series)
