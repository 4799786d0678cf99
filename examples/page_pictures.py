"""The pictures of the how-to pages and of docs/notebook.md, made by running the code on those pages.

Run it as ``python examples/page_pictures.py`` after a change to that code; it writes into docs/images.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

DOCS = Path(__file__).parent.parent / "docs"
PAGES = [*sorted((DOCS / "howto").glob("*.md")), DOCS / "notebook.md"]


def run_page(page: Path) -> None:
    """Run the Python blocks of a page from top to bottom in the working folder."""
    names: dict = {"__name__": page.stem}
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE):
        exec(compile(block, page.name, "exec", dont_inherit=True), names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", type=Path, nargs="*", default=PAGES, help="pages to run; all if left out")
    parser.add_argument("--out", type=Path, default=DOCS / "images", help="folder for the pictures")
    arguments = parser.parse_args()
    pages, out = [page.resolve() for page in arguments.pages], arguments.out.resolve()
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            run_page(page)
            for picture in sorted(Path(folder).glob("*.png")):
                shutil.copy(picture, out)
                print(f"{page.name}: {out / picture.name}")
            os.chdir(out)


if __name__ == "__main__":
    main()
