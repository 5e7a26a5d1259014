"""A run that was started in the background is given back its interrupts.

A shell has such a run ignore them, and so would every process that a test starts and interrupts.
"""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
