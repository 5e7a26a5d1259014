"""`gymnasium.vector.VectorEnv` on a `VecEnv`: what `SyncVectorEnv` of the reference returns, stepped by native threads.

What differs is listed in the class. Its arguments come by `gymnasium.make_vec(id, num_envs, **arguments)`: Gymnasium
refuses `vector_kwargs` for every environment that has a vector of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from reinfors import games
from reinfors._arguments import integer
from reinfors._reinfors import VecEnv
from reinfors.adapters.flags import known_flags
from reinfors.adapters.gymnasium import (
    RENDER_MODES,
    Action,
    Observation,
    check_render_size,
    game_of,
    metadata_of,
    observed_pixels,
    warn_of_no_render_mode,
)
from reinfors.adapters.spaces import action_space, observation_space

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from reinfors._reinfors import Game

NO_LIMIT = -1  # Gymnasium's word for it
MOST_ENVS = 65536  # that a VecEnv has, which calls them n_envs


class GymnasiumVectorEnv(VectorEnv[Observation, Action, "NDArray[Any]"]):
    """Many environments of any game in one, as Gymnasium's own vectors behave.

    Observations, rewards (`float64`), flags (`bool`) and infos are those of `gymnasium.vector.SyncVectorEnv` over as
    many `GymnasiumEnv`, in each mode of automatic reset. Every array is the caller's to keep. Where it differs:
    `options` of `reset` are left as they are, where Gymnasium takes `"reset_mask"` out of them; `render` returns `None`
    without a render mode; there is no `call`, `get_attr` or `set_attr`, for there are no single environments inside.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": list(RENDER_MODES),
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        game: str | Game,
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        n_threads: int | None = None,
        render_mode: str | None = None,
        render_fps: int = 30,
        render_size: tuple[int, int] | None = None,
        verbose: bool = False,
        **options: Any,  # noqa: ANN401
    ) -> None:
        """Makes the environments; `reset` starts their first episodes.

        Args:
            game: A game as it is, or the public name of one, as `GymnasiumEnv` takes them.
            num_envs: Number of environments, 1 to 65536.
            max_episode_steps: Steps after which an episode is truncated, at least 1; `None` or -1 for no limit.
            autoreset_mode: What happens after an episode's end: a Gymnasium constant or its value, `"NextStep"`,
                `"SameStep"` or `"Disabled"`.
            n_threads: Threads that step them; `None` for all cores.
            render_mode: What `render` returns of each: `"rgb_array"` the picture for people, `"state_pixels"` the
                observation, `None` nothing.
            render_fps: Steps per second of simulated time, for whoever plays recordings.
            render_size: Height and width of `"rgb_array"` pictures, as `VecEnv.render` takes them; `None` for the
                reference's own.
            verbose: `False`: nothing is printed here.
            **options: Those of a game by name.

        Raises:
            TypeError: An argument or option has the wrong type, or there are options beside a game that has its own.
            ValueError: There is no such game, option or mode, or a value is not allowed.
        """
        self.game = game_of(game, options, verbose=verbose)
        if (limit := _limit(max_episode_steps)) is not None:
            self.game = _limited(self.game, limit)
        mode = _mode(autoreset_mode)
        num_envs = integer("num_envs", num_envs, 1, MOST_ENVS)
        self.metadata = {**metadata_of(self.game, render_mode, render_fps), "autoreset_mode": mode}  # type: ignore[misc]
        self.render_mode = render_mode
        self._render_size = render_size
        self._env = VecEnv(self.game, num_envs, n_threads, autoreset=mode)
        check_render_size(self._env, render_size)
        self._is_over = np.zeros(num_envs, np.bool_)
        self.num_envs = num_envs
        self.single_action_space = action_space(self.game)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.single_observation_space = observation_space(self.game)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts episodes, in all environments or in those that a mask marks.

        Args:
            seed: An integer `s` gives environment `i` the seed `s + i`; a list gives each its own; `None`, also inside
                the list, continues the environment's random stream.
            options: `"reset_mask"`, a bool array (num_envs,) of the environments to reset, and values of the game's
                reset flags; anything else is ignored, as in the reference.

        Returns:
            Observations (num_envs, ...) and infos.

        Raises:
            TypeError: A seed or the mask has the wrong type.
            ValueError: A negative seed, a list or mask of another length, a mask that marks nothing.
            RuntimeError: The mask leaves out an environment that was never reset, or this is closed.
        """
        native: dict[str, Any] = known_flags(self.game, options)
        mask = options.get("reset_mask") if isinstance(options, dict) else None
        if mask is not None:
            native["reset_mask"] = mask
        returned = self._env.reset(seed, native)
        self._is_over[slice(None) if mask is None else np.asarray(mask)] = False
        return returned

    def step(
        self, actions: Action
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Steps every environment once.

        Args:
            actions: Integers (num_envs,) or real numbers (num_envs, D).

        Returns:
            Observations, rewards, terminations, truncations and infos, one row per environment. Under
            `AutoresetMode.SAME_STEP` the observations after an end are the next episode's first, and
            `infos["final_obs"]` and `infos["final_info"]` have what was last seen of the old one.

        Raises:
            TypeError: The actions have the wrong type.
            ValueError: The actions have the wrong shape, are outside the numbered ones or not finite.
            RuntimeError: An environment was never reset, or under `AutoresetMode.DISABLED` not since its end, or this
                is closed.
        """
        if self._is_over.any():
            raise RuntimeError(
                f"environments {np.flatnonzero(self._is_over).tolist()} are over and are not reset automatically: "
                "reset them first, with a mask of them as options={'reset_mask': ...}"
            )
        returned = self._env.step(actions)
        if self._env.autoreset == "disabled":
            self._is_over = returned[2] | returned[3]
        return returned

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """The pictures that `render_mode` asks for.

        Returns:
            One `uint8` (height, width, 3) per environment, or `None` without a render mode.

        Raises:
            RuntimeError: An environment was never reset, or this is closed.
        """
        if self.render_mode is None:
            warn_of_no_render_mode()
            return None
        if self.render_mode == "state_pixels":
            return tuple(observed_pixels(self._env))
        return tuple(self._env.render(i, self._render_size) for i in range(self.num_envs))

    def close_extras(self, **_kwargs: Any) -> None:  # noqa: ANN401
        """Ends the threads; called by `close`."""
        self._env.close()

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """The seed each environment's random stream began with, or will begin with at its first reset."""
        seeds = enumerate(self._env.seeds)
        return tuple(self._env.seed + i if seed is None else seed for i, seed in seeds)


def _mode(given: object) -> AutoresetMode:
    """The mode by its constant or its value."""
    wanted = f"autoreset_mode must be an AutoresetMode or {', '.join(repr(mode.value) for mode in AutoresetMode)}"
    if not isinstance(given, (str, AutoresetMode)):
        raise TypeError(f"{wanted}, got {given!r:.80} ({type(given).__name__})")
    if given not in [*AutoresetMode, *(mode.value for mode in AutoresetMode)]:
        raise ValueError(f"{wanted}, got {given!r:.80}")
    return AutoresetMode(given)


def _limited(game: Game, limit: int) -> Game:
    """The same game with episodes of at most so many steps of the vector."""
    if "max_steps" not in game.options:
        raise ValueError(
            f"max_episode_steps must be None or -1 for {game.name}, whose worlds keep their own time limit, got {limit}"
        )
    # A step of the vector is `frame_skip` steps of the simulator, in which `max_steps` is counted.
    steps = limit * game.options.get("frame_skip", 1)
    return games.make(game.name, **{**game.options, "max_steps": min(steps, game.max_steps or steps)})


def _limit(max_episode_steps: object) -> int | None:
    """The time limit in steps of the vector."""
    if max_episode_steps is None:
        return None
    if isinstance(max_episode_steps, bool) or not isinstance(max_episode_steps, (int, np.integer)):
        raise TypeError(f"max_episode_steps must be an integer, None or -1, got {max_episode_steps!r}")
    if max_episode_steps == NO_LIMIT:
        return None
    if max_episode_steps < 1:
        raise ValueError(f"max_episode_steps must be at least 1, or None or -1 for none, got {max_episode_steps}")
    return int(max_episode_steps)
