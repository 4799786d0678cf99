"""`altclust explore`: the page in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..web.serve import free_port, is_free, is_local, link, require_parts, serve
from .screen import say
from .task import UsageError

EXAMPLES = """
Examples:

    altclust explore customers.csv

    altclust explore

    altclust explore customers.parquet --port 9000 --no-browser
"""

TableFile = Annotated[
    Path | None, typer.Argument(help="Table to open. Default: upload one, or choose an example, on the page.")
]
Host = Annotated[str, typer.Option(help="Address to listen on; 127.0.0.1 accepts this machine only.")]
Port = Annotated[int | None, typer.Option(min=1, max=65535, help="Port to listen on. Default: a free one.")]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")]
Limit = Annotated[int, typer.Option(min=1, help="Largest upload, in megabytes.")]
Names = Annotated[
    list[str] | None, typer.Option("--name", help="Host name under which the page is reached; may be repeated.")
]
OPEN = (
    "Everybody who can reach {} can use the page{}. There is no password and no encryption: "
    "put a reverse proxy with both in front of it, or leave --host out."
)


def explore(
    table: TableFile = None,
    host: Host = "127.0.0.1",
    port: Port = None,
    browser: Browser = True,
    upload_limit: Limit = 200,
    name: Names = None,
) -> None:
    """Explore a table in the browser: find alternative clusterings, select rows, name clusters, download."""
    require_parts()
    if table is not None and not table.is_file():
        raise UsageError(f"{table} does not exist or is not a file: pass the path of a table.")
    if port is not None and not is_free(host, port):
        raise UsageError(f"--port {port} is in use: leave it out, or choose another.")
    port = port or free_port(host)
    say(f"altclust is at {link(host, port)}; press Ctrl-C to stop it.")
    if not is_local(host):
        say(OPEN.format(host, "" if table is None else f" and see {table.name}"), style="yellow")
    serve(table, host, port, browser, upload_limit, name or ())
