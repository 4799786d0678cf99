"""Where the command `altclust` begins: Ctrl-C is understood before anything that takes time is imported."""

from __future__ import annotations

import os
import signal
import sys

SIGNALS = signal.SIGINT, signal.SIGTERM


def main() -> None:
    """Run the command line."""
    for one in SIGNALS:
        signal.signal(one, _leave)
    from .cli import main as run

    try:
        run()
    finally:
        for one in SIGNALS:  # all is done, and what Python tidies up at the end would only complain
            signal.signal(one, signal.SIG_IGN)


def _leave(*_: object) -> None:
    """Nothing has begun yet, and an import that is under way cannot be trusted to pass an exception on."""
    sys.stderr.write("altclust: interrupted: nothing was written.\n")
    sys.stderr.flush()
    os._exit(130)


if __name__ == "__main__":
    main()
