"""Tables as people have them: what `altclust find` and `altclust.find` make of each.

Every run is checked: exit code 0, nothing of another library on the screen, the same labels from the command line and
from Python, and the table back cell for cell, with one more column. The first view is printed as a Markdown table.

    python benchmarks/zoo_tables.py            # nine tables, three given columns each
    python benchmarks/zoo_tables.py titanic
    python benchmarks/zoo_tables.py everyday   # twelve tables with what people leave in: see `EVERYDAY`
    python benchmarks/zoo_tables.py weather --to FOLDER  # keeps the table and its results
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import altclust
from altclust.metrics import nmi
from zoo import folder

GIVEN = {
    "penguins": ("species", "island", "sex"),
    "attrition": ("Attrition", "Department", "Gender"),
    "churn": ("churn", "contract", "internet_service"),
    "computers": ("premium", "cd", "screen"),
    "credit": ("Status", "Home", "Job"),
    "diamonds": ("cut", "color", "clarity"),
    "survey": ("Sex", "W.Hnd", "Smoke"),
    "titanic": ("survived", "sex", "passengerClass"),
    "wages": ("region", "ethnicity", "smsa"),
}
FOREIGN = ("Traceback", "Warning:", "sklearn", "pandas", "numpy", "site-packages")
HIDDEN = "hidden"  # the column with what was planted, which is taken out before the table is written


def mixed(name: str) -> pd.DataFrame:
    """A table of other people."""
    return pd.read_csv(folder() / "mixed" / f"{name}.csv")


def days(start: str, count: int) -> pd.Series:
    """Consecutive days."""
    return pd.date_range(start, periods=count, freq="D").to_series(index=range(count))


def euros(amounts: pd.Series) -> pd.Series:
    """Amounts as text: "€ 1.263"."""
    return pd.Series([f"€ {round(amount):,}".replace(",", ".") for amount in amounts])


def weather(rng: np.random.Generator) -> pd.DataFrame:
    """Two years, day by day, with all parts of the date; planted: wet and windy days come at random."""
    day, wet = days("2018-01-01", 730), rng.integers(0, 2, 730)
    warm = -np.cos(2 * np.pi * day.dt.day_of_year / 365.25)
    season = np.array(["winter", "spring", "summer", "autumn"])[(day.dt.month % 12) // 3]
    rain = np.where(wet == 1, rng.gamma(4, 3, 730), 0.0)
    wind = 8 + 14 * wet + rng.normal(0, 2, 730)
    table = {"date": day, "year": day.dt.year, "month": day.dt.month, "day": day.dt.day, "season": season}
    pressure = 1018 - 14 * wet + rng.normal(0, 3, 730)
    more = {"temperature": 10 + 9 * warm + rng.normal(0, 3, 730), "rain": rain, "wind": wind, "pressure": pressure}
    return pd.DataFrame(table).join(pd.DataFrame(more).round(1)).assign(hidden=wet)


def orders(rng: np.random.Generator) -> pd.DataFrame:
    """Order numbers with gaps, codes and their names, prices with and without tax; planted: private and business."""
    n = 600
    business, kind = rng.integers(0, 2, n), rng.integers(0, 4, n)
    net = (20 + 15 * kind) * rng.lognormal(0, 0.15, n)
    times = pd.Timestamp("2020-03-02") + pd.to_timedelta(rng.integers(0, 300, n).cumsum(), "min")
    return pd.DataFrame(
        {
            "order_no": 10_000 + rng.integers(1, 9, n).cumsum(),
            "customer": rng.integers(1000, 1250, n),
            "ordered": [f"{t.month}/{t.day}/{t.year} {t.hour}:{t.minute:02}:00" for t in times],
            "channel": rng.choice(["shop", "web", "phone"], n),
            "product_code": np.array(["A10", "B20", "C30", "D40"])[kind],
            "product": np.array(["lamp", "chair", "table", "shelf"])[kind],
            "price_net": net.round(2),
            "price_gross": (1.19 * net).round(2),
            "pieces": np.where(business == 1, rng.poisson(24, n), 1 + rng.poisson(1, n)),
            "days_to_pay": (2 + 26 * business + rng.normal(0, 2, n)).clip(0).round(),
            "discount": [f"{d:.0f}%" for d in (10 * business + rng.uniform(0, 3, n))],
            HIDDEN: business,
        }
    )


def staff(rng: np.random.Generator) -> pd.DataFrame:
    """Real staff, with a number for each, the day of hiring, and the department as a code, too."""
    table = mixed("attrition")
    hired = pd.Timestamp("2015-12-31") - pd.to_timedelta((table["YearsAtCompany"] + rng.random(len(table))) * 365, "D")
    codes = pd.factorize(table["Department"])[0] + 1
    return table.assign(EmployeeNumber=range(1, len(table) + 1), Hired=hired.dt.date, DepartmentCode=codes)


def telecom(rng: np.random.Generator) -> pd.DataFrame:
    """Real customers, with an id, a date of signing, charges as money, and a column that is empty without internet."""
    table = mixed("churn")
    n = len(table)
    gigabytes = np.where(table["internet_service"] == "No", np.nan, rng.gamma(3, 8, n).round(1))
    signed = pd.Timestamp("2021-06-30") - pd.to_timedelta(30.4 * table["tenure"], "D")
    ids = [f"C-{number:05}" for number in rng.permutation(90_000)[:n]]
    charges = [f"{c:.2f} €".replace(".", ",") for c in table["monthly_charges"]]
    return table.assign(customer_id=ids, signed=signed.dt.date, gigabytes=gigabytes, monthly_charges=charges)


def loans(rng: np.random.Generator) -> pd.DataFrame:
    """Real loans, with a number, a date with dots, and money as text."""
    table = mixed("credit")
    asked = days("2019-01-02", 700).iloc[np.sort(rng.integers(0, 700, len(table)))]
    money = {name: euros(table[name]) for name in ("Amount", "Price")}
    number = 2019000 + np.arange(len(table))
    return table.assign(**money, asked=list(asked.dt.strftime("%d.%m.%Y")), application=number)


def stones(rng: np.random.Generator) -> pd.DataFrame:
    """Real diamonds, with a stock number, a grade beside the cut, and the price in two currencies."""
    table = mixed("diamonds")
    grade = table["cut"].map({"Fair": 1, "Good": 2, "Very Good": 3, "Premium": 4, "Ideal": 5})
    stock = np.sort(rng.permutation(50_000)[: len(table)])
    return table.assign(stock=stock, grade=grade, price_eur=(0.92 * table["price"]).round())


def birds(rng: np.random.Generator) -> pd.DataFrame:
    """Real penguins, with a sample number, a repeated id, the day of the egg, and comments on few."""
    table = mixed("penguins")
    n = len(table)
    egg = pd.to_datetime(table["year"].astype(str) + "-11-10") + pd.to_timedelta(rng.integers(0, 25, n), "D")
    comments = np.where(rng.random(n) < 0.1, "nest never observed with full clutch", None)
    twice = rng.permutation(np.repeat(np.arange(1, n // 2 + 1), 2))
    return table.assign(sample=range(1, n + 1), bird=twice, egg=egg.dt.date, comments=comments)


def survey(rng: np.random.Generator) -> pd.DataFrame:
    """Answers from 1 to 5, some pages skipped; planted: two attitudes that six questions show."""
    n = 500
    attitude = rng.integers(0, 2, n)
    asked = np.column_stack([*(1.3 + 2.4 * attitude for _ in range(6)), *(rng.normal(3, 0.4, n) for _ in range(6))])
    answers = np.clip(np.round(asked + rng.normal(0, 0.8, (n, 12))), 1, 5)
    table = pd.DataFrame(answers, columns=[f"q{i}" for i in range(1, 13)]).astype("Int64")
    table.loc[rng.random(n) < 0.2, ["q7", "q8", "q9"]] = pd.NA
    filled = days("2020-09-01", 40).iloc[rng.integers(0, 40, n)]
    return table.assign(
        respondent=rng.permutation(n) + 1,
        filled=[f"{d.year}/{d.month}/{d.day}" for d in filled],
        age=rng.integers(18, 80, n),
        region=rng.choice(["north", "south", "east", "west"], n),
        hidden=attitude,
    )


def prices(rng: np.random.Generator) -> pd.DataFrame:
    """Real advertisements of computers, in the order of their months, which are also dates."""
    table = mixed("computers").sort_values("trend", kind="stable").reset_index(drop=True)
    months = pd.date_range("1993-01-01", periods=int(table["trend"].max()), freq="MS")
    return table.assign(month=months[table["trend"] - 1].date, ad=1 + np.arange(len(table)))


def machine(rng: np.random.Generator) -> pd.DataFrame:
    """Ten readings in an hour of three sensors that drift, with the hour as sine and cosine; nothing is there."""
    n = 720
    time_of = pd.date_range("2022-05-02", periods=n, freq="6min")
    hour = time_of.hour + time_of.minute / 60
    walks = rng.standard_normal((n, 3)).cumsum(axis=0)
    table = {"hour_sin": np.sin(hour * np.pi / 12), "hour_cos": np.cos(hour * np.pi / 12)}
    table |= {name: walks[:, j] + rng.normal(0, 0.3, n) for j, name in enumerate(("oil", "bearing", "current"))}
    shift = np.array(["night", "early", "late"])[hour.astype(int) // 8]
    return pd.DataFrame(table).round(3).assign(time=time_of, shift=shift)


def trial(rng: np.random.Generator) -> pd.DataFrame:
    """Three visits of every patient; the effect is empty in one arm; planted: two types in three laboratory values."""
    patients = 200
    n = 3 * patients
    kind = np.repeat(rng.integers(0, 2, patients), 3)
    arm = np.repeat(rng.choice(["placebo", "low", "high"], patients), 3)
    laboratory = 5 * kind[:, None] * [1.0, -1.0, 1.0] + rng.normal(0, 1, (n, 3)) + [50, 30, 9]
    return pd.DataFrame(
        {
            "patient": np.repeat(4000 + rng.permutation(patients), 3),
            "visit": np.tile([1, 2, 3], patients),
            "arm": arm,
            "age": np.repeat(rng.integers(30, 80, patients), 3),
            "effect": np.where(arm == "placebo", None, rng.choice(["none", "some", "clear"], n)),
            "weight": np.repeat(rng.normal(75, 12, patients), 3) + rng.normal(0, 1, n),
            **{name: laboratory[:, j] for j, name in enumerate(("ferritin", "iron", "crp"))},
            "thyroid": np.where(rng.random(n) < 0.15, np.nan, rng.normal(2, 0.6, n)),
            HIDDEN: kind,
        }
    ).round(2)


def wages(rng: np.random.Generator) -> pd.DataFrame:
    """Real wages, sorted by region and wage, with a person number and the age beside its two parts."""
    table = mixed("wages").sort_values(["region", "wage"], kind="stable").reset_index(drop=True)
    age = table["education"] + table["experience"] + 6
    return table.assign(person=rng.permutation(70_000)[: len(table)], age=age)


EVERYDAY: dict[str, tuple[Callable[[np.random.Generator], pd.DataFrame], str]] = {  # and the given column
    "weather": (weather, "season"),
    "orders": (orders, "channel"),
    "staff": (staff, "Department"),
    "telecom": (telecom, "contract"),
    "loans": (loans, "Status"),
    "stones": (stones, "cut"),
    "birds": (birds, "species"),
    "answers": (survey, "region"),
    "prices": (prices, "premium"),
    "machine": (machine, "shift"),
    "trial": (trial, "arm"),
    "pay": (wages, "region"),
}


def run(file: Path, given: str, out: Path) -> tuple[dict, np.ndarray, float]:
    """The figures of one run of the command line, after all checks, its labels and its seconds."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "altclust", "find", str(file), "--given", given, "--views", "1", "--out", str(out)]
    ended = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said
    assert not any(word in said for word in FOREIGN), said
    (out / "screen.txt").write_text(said, encoding="utf-8")
    before, after = (pd.read_csv(path, dtype=str, keep_default_na=False) for path in (file, out / "table.csv"))
    assert after.columns[-1] == "alternative"
    assert before.equals(after.drop(columns="alternative")), "cells were lost"
    found = altclust.find(pd.read_csv(file), given=given, significance=False)
    assert np.array_equal(found.labels, after["alternative"].astype(int)), "Python gives other labels"
    return json.loads((out / "figures.json").read_text(encoding="utf-8")), found.labels, seconds


def tables(names: list[str], to: Path) -> list[tuple[str, Path, str, np.ndarray | None]]:
    """Name, file, given column and planted clusters of each table; those of `EVERYDAY` are written to a folder."""
    found: list[tuple[str, Path, str, np.ndarray | None]] = []
    for name in names or list(GIVEN):
        if name in EVERYDAY:
            make, given = EVERYDAY[name]
            table = make(np.random.default_rng(list(EVERYDAY).index(name)))
            planted = table.pop(HIDDEN).to_numpy() if HIDDEN in table else None
            table.to_csv(to / f"{name}.csv", index=False)
            found.append((name, to / f"{name}.csv", given, planted))
        else:
            found += [(name, folder() / "mixed" / f"{name}.csv", given, None) for given in GIVEN[name]]
    return found


def line(name: str, given: str, figures: dict, planted: float | None, seconds: float) -> str:
    """One run as a line of a Markdown table."""
    view = figures["views"][0]
    sizes = ", ".join(map(str, view["cluster_sizes"]))
    tested = view["significance"]
    verdict = " ".join([tested["verdict"], *(witness["sentence"] for witness in tested["witnesses"])])
    aside = (view["left_out"] or "").removeprefix("Obvious groups that were left aside: ")
    truth = "" if planted is None else f"{planted:.2f}"
    said = view["rule"] or view["descriptions"][0]
    cells = [name, given, f"{view['clusters']} ({sizes})", said, verdict, aside, truth, f"{seconds:.0f}"]
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def main() -> None:
    """Print one line for each table and given column."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="tables; everyday is twelve of them")
    parser.add_argument("--to", type=Path, help="an empty folder for the tables and results, which are kept")
    options = parser.parse_args()
    names = [one for name in options.names for one in (EVERYDAY if name == "everyday" else [name])]
    print("| table | given | k | what tells the clusters apart | verdict | left aside | NMI with planted | seconds |")
    print("| :-- | :-- | --: | :-- | :-- | :-- | --: | --: |", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        to = options.to or Path(scratch)
        to.mkdir(parents=True, exist_ok=True)
        for name, file, given, planted in tables(names, to):
            figures, labels, seconds = run(file, given, to / f"{name}-{given}")
            agreed = None if planted is None else nmi(labels, planted)
            print(line(name, given, figures, agreed, seconds), flush=True)


if __name__ == "__main__":
    main()
