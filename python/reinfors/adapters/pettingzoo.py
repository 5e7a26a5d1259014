"""PettingZoo's `ParallelEnv` on a single environment: its agents are the rows of a `VecEnv` of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pettingzoo

from reinfors._reinfors import VecEnv
from reinfors.adapters.flags import known_flags
from reinfors.adapters.single import RowOfOne, first_info
from reinfors.adapters.spaces import action_space, joint_observation_space, observation_space

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from reinfors._reinfors import Game
    from reinfors.reward import Reward

RENDER_MODE = "rgb_array"


class ParallelEnv(RowOfOne, pettingzoo.ParallelEnv[str, Any, Any]):
    """One world of any game, all of whose agents act at once.

    Agents are called `agent_0`, `agent_1` and so on. They end together: after the step that ends or cuts off the
    episode, `agents` is empty until the next `reset`. Every value that is returned by agent is the caller's to keep;
    rewards are Python floats, flags Python bools. Copies and pickles continue exactly where the original stands; they
    are refused where a game's worlds live outside reinfors (`rf.games.Gymnasium`, `rf.games.Batch`). The environment
    holds nothing but memory: `close` has nothing to do.
    """

    def __init__(
        self,
        game: Game,
        *,
        seed: int | None = None,
        reward: Reward | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Makes the environment; `reset` starts its first episode.

        Args:
            game: What is played; its `max_steps` is the time limit.
            seed: Of the random stream, where the first `reset` is given none: a non-negative integer of any size, or
                `None` for fresh entropy.
            reward: Weights, or `None` for the game's defaults.
            render_mode: `"rgb_array"` for pictures, or `None`.

        Raises:
            TypeError: An argument has the wrong type.
            ValueError: A value is not allowed, or a reward key is not the game's.
        """
        given: object = render_mode
        if given is not None and not (isinstance(given, str) and given == RENDER_MODE):
            raise ValueError(f"render_mode must be None or {RENDER_MODE!r}, got {render_mode!r}")
        self._env = VecEnv(game, 1, 1, seed, reward, autoreset="disabled")
        self._reward = reward
        self.game = game
        self.render_mode = render_mode
        self.metadata = {"name": game.id, "render_modes": [RENDER_MODE], "is_parallelizable": True}
        self.possible_agents = [f"agent_{number}" for number in range(game.n_agents)]
        self.agents: list[str] = []
        self.observation_spaces = {agent: observation_space(game) for agent in self.possible_agents}
        self.action_spaces = {agent: action_space(game) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Any:  # noqa: ANN401
        """The space of an agent's observations, always the same object.

        Raises:
            ValueError: There is no such agent.
        """
        return self._of(self.observation_spaces, agent)

    def action_space(self, agent: str) -> Any:  # noqa: ANN401
        """The space of an agent's actions, always the same object.

        Raises:
            ValueError: There is no such agent.
        """
        return self._of(self.action_spaces, agent)

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Starts an episode, with all agents.

        Args:
            seed: A non-negative integer of any size, or `None` to continue the random stream.
            options: Values of the game's reset flags; anything else is ignored.

        Returns:
            The first observation and what the game reports, by agent.

        Raises:
            TypeError: The seed has the wrong type.
            ValueError: The seed is negative.
        """
        flags = known_flags(self.game, options)
        observations, infos = self._env.reset(None if seed is None else [seed], flags)
        self.agents = list(self.possible_agents)
        return self._by_agent(observations), self._infos(infos)

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Advances by one step, every agent by its own action.

        Args:
            actions: One action for each of `agents`: an integer, or a vector of finite numbers.

        Returns:
            Observations, rewards, whether the episode ended, whether it was cut off, and what the game reports, by
            agent; empty where no agent is left.

        Raises:
            TypeError: The actions are no mapping, or one has the wrong type.
            ValueError: An agent has no action, an action is of an agent that is not there, or one has the wrong shape,
                is outside the numbered ones or not finite.
            RuntimeError: The environment was never reset.
        """
        chosen = self._chosen(actions)
        if not self.agents:
            self._env.observe()  # refuses where nothing was ever reset
            return {}, {}, {}, {}, {}
        observations, rewards, terminated, truncated, infos = self._env.step(np.stack(chosen))
        stepped = (
            self._by_agent(observations),
            self._by_agent(rewards.tolist()),
            self._by_agent(terminated.tolist()),
            self._by_agent(truncated.tolist()),
            self._infos(infos),
        )
        if terminated[0] or truncated[0]:
            self.agents = []
        return stepped

    def render(self) -> NDArray[np.uint8] | None:
        """The picture for people, `uint8` (height, width, 3), or `None` without a render mode.

        Raises:
            RuntimeError: The environment was never reset.
        """
        return None if self.render_mode is None else self._env.render(0)

    @property
    def state_space(self) -> Any:  # noqa: ANN401
        """The space of `state`.

        Raises:
            NotImplementedError: An observation has several parts.
        """
        return joint_observation_space(self.game)

    def state(self) -> NDArray[Any]:
        """What all agents observe now, one behind the other along the first axis: what a central critic is given.

        Raises:
            NotImplementedError: An observation has several parts.
            RuntimeError: The environment was never reset.
        """
        joint_observation_space(self.game)
        together: NDArray[Any] = np.concatenate(self._env.observe())
        return together

    def close(self) -> None:
        """Does nothing."""

    def _chosen(self, actions: Any) -> list[NDArray[Any]]:  # noqa: ANN401
        """One action for each agent that is there, in their order; anything else is refused."""
        there = ", ".join(self.agents) or "nobody until reset()"
        if not hasattr(actions, "keys"):
            raise TypeError(f"actions must be a mapping with one action for each of {there}, got {actions!r}")
        given = set(actions.keys())
        if given != set(self.agents):
            named = ", ".join(sorted(map(str, given))) or "none"
            raise ValueError(f"actions must be of {there}, got {named}")
        return [_action(agent, actions[agent], self.game) for agent in self.agents]

    def _of(self, by_agent: dict[str, Any], agent: str) -> Any:  # noqa: ANN401
        if agent not in by_agent:
            raise ValueError(f"agent must be one of {', '.join(by_agent)}, got {agent!r}")
        return by_agent[agent]

    def _by_agent(self, rows: Any) -> dict[str, Any]:  # noqa: ANN401
        """Rows, or those of every part, by agent."""
        if isinstance(rows, dict):
            each = {part: self._by_agent(of_part) for part, of_part in rows.items()}
            return {agent: {part: each[part][agent] for part in rows} for agent in self.agents}
        return dict(zip(self.agents, rows, strict=True))

    def _infos(self, columns: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """What the game reports, which is of all agents alike."""
        info = first_info(columns)
        return {agent: dict(info) for agent in self.agents}


def _action(agent: str, given: Any, game: Game) -> NDArray[Any]:  # noqa: ANN401
    """An agent's action as an array, of one type for all agents where actions are numbered; refused by its name."""
    n_actions, low = game.n_actions, game.action_low
    shape = () if low is None else low.shape
    try:
        action: NDArray[Any] = np.asanyarray(given)
    except ValueError as ragged:
        raise ValueError(f"the action of {agent} must have shape {shape}, got {given!r:.80}") from ragged
    if action.shape != shape:
        raise ValueError(f"the action of {agent} must have shape {shape}, got {action.shape}")
    if action.dtype.kind not in ("fiu" if n_actions is None else "iu"):
        wanted = "of real numbers" if n_actions is None else f"an integer from 0 to {n_actions - 1}"
        raise TypeError(f"the action of {agent} must be {wanted}, got {given!r:.80} ({action.dtype})")
    if np.ma.isMaskedArray(action):
        raise TypeError(f"the action of {agent} must be no masked array: fill it first")
    if n_actions is None:
        if not np.isfinite(action).all():
            raise ValueError(f"the action of {agent} must be finite, got {given!r:.80}")
        return action
    if not 0 <= int(action) < n_actions:
        raise ValueError(f"the action of {agent} must be from 0 to {n_actions - 1}, got {int(action)}")
    return action.astype(np.int64)
