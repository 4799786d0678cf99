"""Print the oldest version of everything that altclust asks for, as constraints for pip (`make oldest`)."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
for asked in sorted({*project["dependencies"], *chain(*project["optional-dependencies"].values())}):
    print(re.sub(r"\[.*\]", "", asked).replace(">=", "=="))
