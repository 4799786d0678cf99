"""Where the command `altclust` begins: Ctrl-C is understood before anything that takes time is imported."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from typing import Any

HANGUP = getattr(signal, "SIGHUP", None)  # a terminal that is closed; Windows has none, and `nohup` ignores it
IGNORED = HANGUP is None or signal.getsignal(HANGUP) is signal.SIG_IGN
SIGNALS = (signal.SIGINT, signal.SIGTERM, *(() if IGNORED else (HANGUP,)))


def main() -> None:
    """Run the command line."""
    # The first that is registered runs last: after it, Python would give the signals back to the system.
    atexit.register(_at_signals, signal.SIG_IGN)
    _at_signals(_leave)
    from .base.extras import MissingLibrary, needed_by

    try:
        with needed_by("The command altclust"):
            from .apps.cli.main import main as run
    except MissingLibrary as error:
        sys.exit(f"altclust: {error}")
    try:
        run()
    finally:
        _at_signals(_end)


def _at_signals(do: Any) -> None:
    for one in SIGNALS:
        signal.signal(one, do)


def _leave(*_: object) -> None:
    """Nothing has begun yet, and an import that is under way cannot be trusted to pass an exception on."""
    sys.stderr.write("altclust: interrupted: nothing was written.\n")
    sys.stderr.flush()
    os._exit(130)


def _end(*_: object) -> None:
    """All is done; a thread that Python waits for must not hold the user, and what it tidies up would only complain."""
    os._exit(130)


if __name__ == "__main__":
    main()
