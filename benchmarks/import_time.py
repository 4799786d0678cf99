"""Seconds to import the estimator, as a ratio to scikit-learn's spectral clustering.

Every import has a new process. The two take turns, so that both meet the same load; the smallest times are compared.

    python benchmarks/import_time.py --times 10
"""

from __future__ import annotations

import argparse
import subprocess
import sys

OURS, THEIRS = "from altclust import KDAC", "from sklearn.cluster import SpectralClustering"
MOST = 1.3  # times as long as scikit-learn
TIMED = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"


def seconds(statement: str) -> float:
    done = subprocess.run([sys.executable, "-c", TIMED.format(statement)], check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10, help="number of imports of each")
    asked = parser.parse_args()
    taken = [(seconds(OURS), seconds(THEIRS)) for _ in range(asked.times + 1)][1:]  # the first reads the files
    ours, theirs = (min(column) for column in zip(*taken, strict=True))
    print(f"{OURS}: {ours:.2f} s")
    print(f"{THEIRS}: {theirs:.2f} s")
    print(f"ratio: {ours / theirs:.2f} (at most {MOST})")


if __name__ == "__main__":
    main()
