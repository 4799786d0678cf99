"""Print the oldest version of everything that altclust asks for, as constraints for pip (`make oldest`)."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

settings = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
project, tools = settings["project"], settings["dependency-groups"]["dev"]
frames = [asked for asked in tools if asked.startswith("polars")]  # as old as the scikit-learn that reads them
for asked in sorted({*project["dependencies"], *chain(*project["optional-dependencies"].values()), *frames}):
    print(re.sub(r"\[.*\]", "", asked).replace(">=", "=="))
