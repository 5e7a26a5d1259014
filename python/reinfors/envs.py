"""The public environment ids: which game each is, under which options, and what the reference says of it.

The only Python file that names a game.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class PublicEnv:
    """One environment id.

    Attributes:
        id: Name and version, without a namespace; of a game of several agents, what PettingZoo calls it.
        game: The game's public name.
        options: Options under which the game equals the reference, where they differ from the game's defaults.
        max_episode_steps: Steps after which the reference's time limit cuts an episode off.
        reward_threshold: Return at which the reference calls the task solved.
        render_fps: Steps per second of simulated time.
        keys: What a held key does in `reinfors play` under `options`, by its name; "" is no key.
        in_gymnasium: Whether Gymnasium is told of the id.
        demo: Options under which `reinfors demo` learns it in a minute; `None` where there is no such demo.
    """

    id: str
    game: str
    options: dict[str, object] = field(default_factory=dict)
    max_episode_steps: int | None = None
    reward_threshold: float | None = None
    render_fps: int = 30
    keys: dict[str, object] | None = None
    in_gymnasium: bool = True
    demo: dict[str, object] | None = None


PUBLIC_ENVS = (
    PublicEnv(
        id="CarRacing-v3",
        game="CarRacing",
        options={"continuous": True},
        max_episode_steps=1000,
        reward_threshold=900.0,
        render_fps=50,
        keys={"left": (-1, 0, 0), "right": (1, 0, 0), "up": (0, 1, 0), "down": (0, 0, 0.8)},
        # A beginner soon leaves the road and finds nothing to learn on the grass, so that short episodes teach more.
        demo={
            "max_steps": 400,
            "size": (48, 48),
            "gray": True,
            "frame_stack": 2,
            "frame_skip": 4,
            "frames": "fast",
        },
    ),
    PublicEnv(
        id="CartPole-v1",
        game="CartPole",
        max_episode_steps=500,
        reward_threshold=475.0,
        render_fps=50,
        keys={"left": 0, "right": 1},
    ),
    PublicEnv(id="simple_spread_v3", game="SimpleSpread", max_episode_steps=25, render_fps=10, in_gymnasium=False),
)
