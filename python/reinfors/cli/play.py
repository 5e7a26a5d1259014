"""`reinfors play`: a game in a window, driven with the keyboard.

Keys are the table's of public ids: vectors of the keys that are held are added up, of numbered actions the last
pressed key counts. Escape or closing the window ends, R begins anew.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

import reinfors as rf
from reinfors.adapters.single import check_single
from reinfors.cli import choice
from reinfors.cli.refusal import library

if TYPE_CHECKING:
    from collections.abc import Mapping

UNSEEN = ("dummy", "offscreen")  # what SDL takes, without a word, where there is no display

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")


class Keyboard:
    """Which keys are held, and the action that this is."""

    def __init__(self, game: rf.games.Game, keys: Mapping[str, Any] | None) -> None:
        """Takes the table's keys, or digits for numbered actions.

        Raises:
            ValueError: Actions are vectors and no keys are known for them.
        """
        if keys is None:
            if game.n_actions is None:
                raise ValueError(f"no keys are known for the vectors of {game.name}")
            keys = {str(number): number for number in range(min(game.n_actions, 10))}
        self.game, self.keys = game, keys
        self.held: list[str] = []
        self.last = keys.get("", 0)

    def press(self, key: str) -> None:
        """Notes a key that went down, if it means anything."""
        if key in self.keys and key not in self.held:
            self.held.append(key)

    def release(self, key: str) -> None:
        """Notes a key that went up."""
        if key in self.held:
            self.held.remove(key)

    def action(self) -> Any:
        """What the held keys say."""
        low, high = self.game.action_low, self.game.action_high
        if low is not None and high is not None:
            vectors = [np.zeros(len(low)), *(self.keys[key] for key in self.held)]
            return np.clip(np.sum(vectors, axis=0), low, high).astype(np.float32)
        self.last = self.keys[self.held[-1]] if self.held else self.keys.get("", self.last)
        return self.last


def play(name: str, given: list[str], *, seed: int | None, fps: float | None, steps: int | None) -> dict[str, Any]:
    """Opens the window and plays until it is closed, or for `steps` steps.

    Returns:
        The steps played and the return of each episode that began.

    Raises:
        ValueError: There is no display, or no keys are known for the game.
    """
    pygame = library("pygame", "play")
    row = choice.row_of(name)
    game = choice.game(name, given, row.options if row else None)
    check_single(game, "the keyboard")
    keyboard = Keyboard(game, row.keys if row and row.options.items() <= game.options.items() else None)
    envs = rf.VecEnv(game, 1, seed=seed, autoreset="disabled")
    envs.reset()
    pygame.display.init()
    try:
        if pygame.display.get_driver() in UNSEEN and "SDL_VIDEODRIVER" not in os.environ:
            raise ValueError("there is no display to open a window on; reinfors record films without one")
        first = envs.render(0)
        window = pygame.display.set_mode((first.shape[1], first.shape[0]), pygame.RESIZABLE)
        clock = pygame.time.Clock()
        pace = fps or (row.render_fps if row else 30)
        returns, played, is_over = [0.0], 0, False
        while steps is None or played < steps:
            orders = [_order(pygame, event, keyboard) for event in pygame.event.get()]
            if "quit" in orders:
                break
            if "reset" in orders or is_over:
                envs.reset()
                returns.append(0.0)
            _, rewards, terminated, truncated, _ = envs.step([keyboard.action()])
            returns[-1] += float(rewards[0])
            played, is_over = played + 1, bool(terminated[0] or truncated[0])
            picture = pygame.surfarray.make_surface(envs.render(0).swapaxes(0, 1))
            window.blit(pygame.transform.smoothscale(picture, window.get_size()), (0, 0))
            pygame.display.set_caption(f"{game.name}: {returns[-1]:.1f}   {' '.join(keyboard.held)}")
            pygame.display.flip()
            clock.tick(pace)
    finally:
        pygame.quit()
        envs.close()
    return {"game": game.name, "steps": played, "returns": returns}


def _order(pygame: Any, event: Any, keyboard: Keyboard) -> str | None:
    """Hands a key on, or says what else the player wants."""
    if event.type == pygame.QUIT:
        return "quit"
    if event.type == pygame.KEYUP:
        keyboard.release(pygame.key.name(event.key))
    if event.type != pygame.KEYDOWN:
        return None
    if event.key == pygame.K_ESCAPE:
        return "quit"
    if event.key == pygame.K_r:
        return "reset"
    keyboard.press(pygame.key.name(event.key))
    return None
