"""`emoscope serve`: the HTTP API and the web pages."""

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from emoscope.cli.options import check_port
from emoscope.core.extras import check_installed

_PACKAGES = (
    "alembic",
    "confusable_homoglyphs",
    "fastapi",
    "itsdangerous",
    "jinja2",
    "prometheus_client",
    "python_multipart",
    "sqlalchemy",
    "uvicorn",
)


def serve_cli(
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", "-p", min=0, max=65535, help="Port to listen on.")] = 8000,
    data_dir: Annotated[
        Path | None,
        typer.Option(envvar="EMOSCOPE_SERVER_DATA", help="Folder of the embedded database and the uploads."),
    ] = None,
    workers: Annotated[
        int, typer.Option("--workers", "-w", min=1, max=64, help="Server processes, each with its own model.")
    ] = 1,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", envvar="EMOSCOPE_MODEL", help="`default`, `open`, `nano`, or a folder."),
    ] = None,
    public_url: Annotated[
        str | None,
        typer.Option(envvar="EMOSCOPE_PUBLIC_URL", help="The address people use, e.g. behind a proxy."),
    ] = None,
    trusted_proxy: Annotated[
        str | None,
        typer.Option(help="Address of a proxy whose X-Forwarded headers are believed."),
    ] = None,
    log_format: Annotated[
        str | None, typer.Option(envvar="EMOSCOPE_LOG_FORMAT", help="`text`, or `json` for machines.")
    ] = None,
    access_log: Annotated[bool, typer.Option("--access-log", help="Log every request.")] = False,
) -> None:
    """Serve the HTTP API, the detect page and shared tasks.

    Limits and other settings are EMOSCOPE_... variables; docs/guide/serving.md lists them.
    """
    check_installed(*_PACKAGES, extra="server")
    check_port(host, port)
    import uvicorn

    from emoscope.detector.bundle import resolve
    from emoscope.parallel.threads import cores
    from emoscope.server.http.logs import log_config
    from emoscope.server.http.protocol import GuardedProtocol
    from emoscope.server.settings import Settings, variable
    from emoscope.server.store import Store

    given = {"data_dir": data_dir, "model": model, "public_url": public_url, "log_format": log_format}
    settings = Settings.from_environment(given=given)
    # Fail here with one line rather than with a traceback from a server process.
    resolve(settings.model)
    Store.open(settings.data_dir, settings.database_url).close()
    # The server processes read their settings from the environment.
    os.environ |= {variable(name): str(value) for name, value in given.items() if value is not None}
    with tempfile.TemporaryDirectory(prefix="emoscope-metrics-") as shared:
        if workers > 1:  # share metrics and limits between processes
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = shared
            os.environ.setdefault("EMOSCOPE_CORES", str(max(1, cores() // workers)))  # per process
        uvicorn.run(
            "emoscope.server.app:app_from_environment",
            factory=True,
            host=host,
            port=port,
            workers=workers,
            http=GuardedProtocol,
            access_log=False,
            log_config=log_config(settings.log_format, access=access_log),
            server_header=False,
            proxy_headers=trusted_proxy is not None,
            forwarded_allow_ips=trusted_proxy,
            timeout_graceful_shutdown=int(settings.explain_deadline_seconds) + 5,
        )
