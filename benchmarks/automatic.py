"""The cost of automatic parameters: the automatic fit and its search, relative to one fit with the chosen values.

All are measured alternately in one run, because absolute times are unreliable on a shared machine.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np

from altclust import KDAC, tune
from altclust.datasets import views


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[400, 1000, 10000])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| rows | one fixed fit (s) | automatic fit / fixed | search / fixed |\n| --: | --: | --: | --: |")
    for n in options.rows:
        data = views(n, ("blobs", "blobs"), noise_columns=4, random_state=0)
        model = KDAC(random_state=0).fit(data.X, data.given)
        cold = {"n_clusters": model.n_clusters_, "n_components": model.n_components_, "sigma": model.sigma_}
        times = []
        for _ in range(options.repeats if n < 5000 else 1):
            fixed = seconds(lambda: KDAC(**cold, random_state=0).fit(data.X, data.given))  # noqa: B023
            automatic = seconds(lambda: KDAC(random_state=0).fit(data.X, data.given))  # noqa: B023
            search = seconds(lambda: tune(data.X, data.given))  # noqa: B023
            times.append((fixed, automatic / fixed, search / fixed))
        fixed, automatic, search = np.median(times, axis=0)
        print(f"| {n} | {fixed:.2f} | {automatic:.1f} | {search:.1f} |", flush=True)


if __name__ == "__main__":
    main()
