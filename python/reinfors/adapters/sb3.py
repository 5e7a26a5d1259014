"""Stable-Baselines3's `VecEnv` on a native one: what `DummyVecEnv` returns, stepped by native threads.

`step_async` is `VecEnv.send`, so that the step runs in the background until `step_wait`.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnv as Sb3VecEnv

from reinfors import _reinfors
from reinfors.adapters.flags import known_flags
from reinfors.adapters.gymnasium import check_render_size
from reinfors.adapters.single import check_single
from reinfors.adapters.spaces import action_space, observation_space

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from reinfors._reinfors import Game
    from reinfors.reward import Reward

RENDER_MODE = "rgb_array"


class VecEnv(Sb3VecEnv):
    """Many environments of one game for Stable-Baselines3's algorithms and wrappers.

    Observations, rewards (`float32`), dones and infos are those of `DummyVecEnv` over as many `rf.gym.Env`: an
    environment that is over is reset at once, `infos[i]["terminal_observation"]` is what was last seen of it, and
    `infos[i]["TimeLimit.truncated"]` says that a time limit ended it and nothing else. Every array is the caller's
    to keep. Images may stay channels first, which spares SB3 a transposition.

    `get_attr`, `set_attr` and `env_method` reach one `Single` per environment.
    """

    def __init__(
        self,
        game: Game,
        n_envs: int,
        *,
        n_threads: int | None = None,
        seed: int | None = None,
        reward: Reward | None = None,
        render_mode: str | None = None,
        render_size: tuple[int, int] | None = None,
    ) -> None:
        """Makes the environments; `reset` starts their first episodes.

        Args:
            game: What is played; its `max_steps` is the time limit.
            n_envs: Number of environments, 1 to 65536.
            n_threads: Threads that step them; `None` for all cores.
            seed: Environment `i` takes `seed + i` at the first reset, unless `seed()` was called; `None` for fresh
                entropy.
            reward: Weights, or `None` for the game's defaults.
            render_mode: `"rgb_array"` for pictures, or `None`.
            render_size: Height and width of the pictures, as `rf.VecEnv.render` takes them; `None` for the reference's
                own.

        Raises:
            TypeError: An argument has the wrong type.
            ValueError: A value is not allowed, a reward key is not the game's, or the game has several agents.
        """
        given: object = render_mode
        if given is not None and not (isinstance(given, str) and given == RENDER_MODE):
            raise ValueError(f"render_mode must be None or {RENDER_MODE!r}, got {render_mode!r}")
        check_single(game, "Stable-Baselines3's VecEnv")
        self.game = game
        self._env = _reinfors.VecEnv(game, n_envs, n_threads, seed, reward, autoreset="same_step")
        check_render_size(self._env, render_size)
        self.render_size = render_size
        self._is_stepping = False
        self._flags: dict[str, bool] = {}
        self.envs = [Single(self, i, render_mode) for i in range(n_envs)]
        super().__init__(n_envs, observation_space(game), action_space(game))

    def reset(self) -> Any:  # noqa: ANN401
        """Starts new episodes everywhere, under the seeds and options set before, which are then used up.

        A step that is under way is waited for and discarded.

        Returns:
            Observations (n_envs, ...); what the games report is in `reset_infos`.
        """
        if self._is_stepping:
            self.step_wait()
        observations, infos = self._env.reset(self._seeds, self._flags)
        self.reset_infos = _by_env(infos, self.num_envs)
        self._reset_seeds()
        self._reset_options()
        self._flags = {}
        return observations

    def set_options(self, options: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        """Values of the game's reset flags for the next reset; what the game does not know is ignored.

        Args:
            options: One dict for all environments, or a list of one each, which must say the same.

        Raises:
            ValueError: The environments are to be reset under different flags, or the list has another length.
        """
        super().set_options(options)
        if len(self._options) != self.num_envs:
            raise ValueError(f"options must be a dict or a list of {self.num_envs} of them, got {len(self._options)}")
        each = [known_flags(self.game, given) for given in self._options]
        if each.count(each[0]) < len(each):
            raise ValueError(
                f"options must set {', '.join(self.game.reset_flags)} alike in all environments, got {each}"
            )
        self._flags = each[0]

    def step_async(self, actions: NDArray[Any]) -> None:
        """Starts a step of every environment with actions (n_envs,) or (n_envs, D).

        Raises:
            TypeError: The actions have the wrong type.
            ValueError: The actions have the wrong shape, are outside the numbered ones or not finite.
            RuntimeError: A step is under way, or there was no reset.
        """
        self._env.send(actions)
        self._is_stepping = True

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Waits for the step and returns observations, rewards, dones and infos, one each per environment."""
        observations, rewards, terminated, truncated, columns = self._env.recv()
        self._is_stepping = False
        finals, final_columns = columns.pop("final_obs", None), columns.pop("final_info", {})
        dones = terminated | truncated
        infos = _by_env(columns, self.num_envs)
        last_infos = _by_env(final_columns, self.num_envs)
        for i in np.flatnonzero(dones):
            self.reset_infos[i], infos[i] = infos[i], last_infos[i]
            infos[i]["terminal_observation"] = finals[i]
        for info, is_cut in zip(infos, (truncated & ~terminated).tolist(), strict=True):
            info["TimeLimit.truncated"] = is_cut
        return observations, rewards.astype(np.float32), dones, infos

    def close(self) -> None:
        """Ends the threads; a second call does nothing."""
        self._env.close()

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """The picture for people of every environment, `uint8` (height, width, 3); `None` without a render mode."""
        if self.render_mode != RENDER_MODE:
            warnings.warn(f"there are no images without render_mode={RENDER_MODE!r}", stacklevel=2)
        return [env.render() for env in self.envs]

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """The attribute of each chosen environment's `Single`."""
        return [getattr(env, attr_name) for env in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:  # noqa: ANN401
        """Sets an attribute of each chosen environment's `Single`, where `get_attr` finds it; nothing else reads it."""
        for env in self._chosen(indices):
            setattr(env, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,  # noqa: ANN401
        indices: int | Iterable[int] | None = None,
        **method_kwargs: Any,  # noqa: ANN401
    ) -> list[Any]:
        """What the method of each chosen environment's `Single` returns: `render`, `inspect`, `save` or `load`."""
        return [getattr(env, method_name)(*method_args, **method_kwargs) for env in self._chosen(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: int | Iterable[int] | None = None) -> list[bool]:
        """`False` for each chosen environment: there are no wrappers inside. Wrap this, in `VecMonitor` for one."""
        del wrapper_class
        return [False for _ in self._chosen(indices)]

    def _chosen(self, indices: int | Iterable[int] | None) -> list[Single]:
        return [self.envs[i] for i in self._get_indices(indices)]


class Single:
    """One environment of a `VecEnv`, as `get_attr`, `set_attr` and `env_method` see it."""

    def __init__(self, vector: VecEnv, i: int, render_mode: str | None) -> None:
        """The environment `i` of `vector`."""
        self._vector, self._i, self._render_mode = vector, i, render_mode

    @property
    def game(self) -> Game:
        """What is played."""
        return self._vector.game

    @property
    def render_mode(self) -> str | None:
        """What `render` returns."""
        return self._render_mode

    @property
    def observation_space(self) -> Any:  # noqa: ANN401
        """The space of one observation."""
        return self._vector.observation_space

    @property
    def action_space(self) -> Any:  # noqa: ANN401
        """The space of one action."""
        return self._vector.action_space

    def render(self) -> NDArray[np.uint8] | None:
        """The picture for people, `uint8` (height, width, 3), or `None` without a render mode."""
        return None if self._render_mode is None else self._vector._env.render(self._i, self._vector.render_size)  # noqa: SLF001

    def inspect(self) -> dict[str, NDArray[np.float64]]:
        """Inner state by name."""
        return self._vector._env.inspect(self._i)  # noqa: SLF001

    def save(self) -> bytes:
        """The environment as bytes, from which `load` continues exactly."""
        return self._vector._env.save(self._i)  # noqa: SLF001

    def load(self, data: bytes) -> None:
        """Continues from what `save` returned."""
        self._vector._env.load(self._i, data)  # noqa: SLF001


def _by_env(columns: dict[str, Any], n_envs: int) -> list[dict[str, Any]]:
    """One dict per environment of what it reports, out of one column per key."""
    infos: list[dict[str, Any]] = [{} for _ in range(n_envs)]
    for key, values in columns.items():
        if not key.startswith("_"):
            for i in np.flatnonzero(columns[f"_{key}"]):
                infos[i][key] = bool(values[i])
    return infos
