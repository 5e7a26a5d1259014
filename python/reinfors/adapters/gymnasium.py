"""`gymnasium.Env` on a single environment; importing this module registers the public ids with Gymnasium.

`gymnasium.make("reinfors/<id>")` then stands in for the reference's `gymnasium.make("<id>")`, and
`gymnasium.make_vec` makes the native vector of them.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import logger
from gymnasium.utils import seeding

from reinfors import games
from reinfors._reinfors import Game, VecEnv
from reinfors.adapters.flags import known_flags
from reinfors.adapters.single import RowOfOne, batch_of_one, check_single, first, first_info
from reinfors.adapters.spaces import action_space, observation_space
from reinfors.envs import PUBLIC_ENVS

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAMESPACE = "reinfors"
RENDER_MODES = ("rgb_array", "state_pixels")

Observation = Any  # an array, or a dictionary of arrays by part, as the observation space says
Action = Any  # an index or a vector, as the action space says


class GymnasiumEnv(RowOfOne, gymnasium.Env[Observation, Action]):
    """One environment of any game, as Gymnasium's own environments behave.

    Observations are `uint8` of shape (height, width, channels), or what the game's options make of them; several parts
    are a dictionary in a `Dict` space. Rewards are Python floats, flags Python bools. Options of
    `reset` that the game does not know are ignored. Stepping on after the end goes on simulating. Copies and
    pickles continue exactly where the original stands; they are refused where a game's worlds live outside reinfors
    (`rf.games.Gymnasium`, `rf.games.Batch`). The environment holds nothing but memory: `close` has nothing to do.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES)}  # type: ignore[misc]

    def __init__(
        self,
        game: str | Game,
        render_mode: str | None = None,
        render_fps: int = 30,
        render_size: tuple[int, int] | None = None,
        verbose: bool = False,  # noqa: FBT001, FBT002  the reference's
        **options: Any,  # noqa: ANN401
    ) -> None:
        """Makes the environment; `reset` starts its first episode.

        Args:
            game: A game as it is, with all its options, or the public name of one, which is played with channels last
                and no limit of its own unless the options say otherwise.
            render_mode: What `render` returns: `"rgb_array"` the picture for people, `"state_pixels"` the
                observation, `None` nothing.
            render_fps: Steps per second of simulated time, for whoever plays recordings.
            render_size: Height and width of `"rgb_array"` pictures, as `VecEnv.render` takes them; `None` for the
                reference's own.
            verbose: `False`. The reference prints how it makes its tracks with `True`; nothing is printed here.
            **options: Those of a game by name. The time limit is Gymnasium's (`max_episode_steps` of `make`) unless
                `max_steps` is given.

        Raises:
            TypeError: An option has the wrong type, or there are options beside a game that has its own.
            ValueError: There is no such game, option or render mode, a value is not allowed, or pixels are to be
                rendered that are not observed.
        """
        self.game = game_of(game, options, verbose=verbose)
        self.metadata = metadata_of(self.game, render_mode, render_fps)  # type: ignore[misc]
        self.render_mode = render_mode
        self._render_size = render_size
        self.action_space = action_space(self.game)
        self.observation_space = observation_space(self.game)
        self._env = VecEnv(self.game, 1, 1, autoreset="disabled")
        check_render_size(self._env, render_size)
        self._np_random, self._np_random_seed = seeding.np_random(self._env.seed)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts an episode.

        Args:
            seed: A non-negative Python integer of any size, or `None` to continue the random stream.
            options: Values of the game's reset flags; anything else is ignored, as in the reference.

        Returns:
            The first observation, and an empty `info`.

        Raises:
            gymnasium.error.Error: The seed is negative or no Python integer.
        """
        super().reset(seed=seed)
        flags = known_flags(self.game, options)
        observations, infos = self._env.reset(seed=None if seed is None else [seed], options=flags)
        return first(observations), first_info(infos)

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Advances by one step.

        Args:
            action: An integer (Python's, NumPy's or an array without dimensions), or a vector of finite numbers
                (array, list or tuple); `float32` and `float64` are each taken as they are.

        Returns:
            Observation, reward, whether the episode ended, whether it was cut off, and what the game reports.

        Raises:
            TypeError: The action has the wrong type.
            ValueError: The action has the wrong shape, is outside the numbered ones or not finite.
            RuntimeError: The environment was never reset.
        """
        observations, rewards, terminated, truncated, infos = self._env.step(batch_of_one(action))
        return first(observations), float(rewards[0]), bool(terminated[0]), bool(truncated[0]), first_info(infos)

    def render(self) -> NDArray[np.uint8] | None:
        """The picture that `render_mode` asks for.

        Returns:
            `uint8` (height, width, 3), or `None` without a render mode.

        Raises:
            RuntimeError: The environment was never reset.
        """
        if self.render_mode is None:
            warn_of_no_render_mode()
            return None
        if self.render_mode == "state_pixels":
            pixels: NDArray[np.uint8] = observed_pixels(self._env)[0]
            return pixels
        return self._env.render(0, self._render_size)


def game_of(game: str | Game, options: dict[str, Any], *, verbose: bool) -> Game:
    """A game as it is, or by its name under what Gymnasium's users expect: channels last, no time limit of its own."""
    if verbose is not False:
        raise ValueError(f"verbose must be False, since nothing is printed here, got {verbose!r}")
    if isinstance(game, Game):
        if options:
            given = ", ".join(options)
            raise TypeError(f"{game.name} has its options already: make it with {given}, or give its name")
    else:
        declared = {option["name"] for option in games.describe(game)["options"]}
        usual = {key: value for key, value in (("layout", "hwc"), ("max_steps", None)) if key in declared}
        game = games.make(game, **{**usual, **options})
    check_single(game, "a Gymnasium environment")
    return game


def metadata_of(game: Game, render_mode: object, render_fps: int) -> dict[str, Any]:
    """Gymnasium's metadata, if the game can be rendered as `render_mode` says."""
    if render_mode is not None and not (isinstance(render_mode, str) and render_mode in RENDER_MODES):
        raise ValueError(
            f"render_mode must be None, 'rgb_array' or 'state_pixels', got {render_mode!r}; for a window use "
            "gymnasium.make(..., render_mode='human') or gymnasium.wrappers.HumanRendering over 'rgb_array', "
            "both of which need pygame"
        )
    has_pixels = "pixels" in game.obs_dtype if isinstance(game.obs_dtype, dict) else game.obs_dtype == np.uint8
    modes = [mode for mode in RENDER_MODES if mode != "state_pixels" or has_pixels]
    if render_mode is not None and render_mode not in modes:
        raise ValueError("render_mode='state_pixels' needs observations with pixels, got a game that has none")
    return {"render_modes": modes, "render_fps": render_fps}


def observed_pixels(env: VecEnv) -> NDArray[np.uint8]:
    """What all environments observe in pixels, one row each."""
    observations = env.observe()
    pixels: NDArray[np.uint8] = observations["pixels"] if isinstance(observations, dict) else observations
    return pixels


def check_render_size(envs: VecEnv, size: tuple[int, int] | None) -> None:
    """Refuses a size of pictures when environments are made, not when the first one is drawn.

    Raises:
        TypeError: It is no (height, width).
        ValueError: It cannot be drawn.
    """
    with contextlib.suppress(RuntimeError):  # the size is fine; nothing was reset yet that could be drawn
        envs.render(0, size)


def warn_of_no_render_mode() -> None:
    """Says why `render` returns nothing."""
    logger.warn("render() returns nothing without a render mode: give one to make(), e.g. render_mode='rgb_array'")


for _env in PUBLIC_ENVS:
    if _env.in_gymnasium and (_id := f"{NAMESPACE}/{_env.id}") not in gymnasium.registry:
        gymnasium.register(
            id=_id,
            entry_point=f"{__name__}:{GymnasiumEnv.__name__}",
            vector_entry_point=f"{__name__}_vector:GymnasiumVectorEnv",
            max_episode_steps=_env.max_episode_steps,
            reward_threshold=_env.reward_threshold,
            kwargs={"game": _env.game, "render_fps": _env.render_fps, **_env.options},
        )
