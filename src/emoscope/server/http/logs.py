"""Log formats: text lines with time and request id, or JSON lines."""

import json
import logging
from datetime import UTC, datetime
from typing import Any, Literal

from emoscope.server.http.front import request_id


class Lines(logging.Formatter):
    """`2026-01-12T09:30:00.123Z WARNING emoscope.server [id] what happened`.

    >>> record = logging.LogRecord("emoscope.server", logging.INFO, "", 0, "up for %d s", (3,), None)
    >>> record.created = 0.0
    >>> Lines().format(record)
    '1970-01-01T00:00:00.000Z INFO emoscope.server up for 3 s'
    """

    def format(self, record: logging.LogRecord) -> str:
        during = f" [{found}]" if (found := request_id.get()) else ""
        text = f"{_time(record)} {record.levelname} {record.name}{during} {record.getMessage()}"
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


class Json(logging.Formatter):
    """JSON lines, for log collectors.

    >>> record = logging.LogRecord("emoscope.server", logging.INFO, "", 0, "up", (), None)
    >>> json.loads(Json().format(record))["message"]
    'up'
    """

    def format(self, record: logging.LogRecord) -> str:
        row: dict[str, Any] = {"time": _time(record), "level": record.levelname.lower(), "logger": record.name}
        if found := request_id.get():
            row["request_id"] = found
        row["message"] = record.getMessage()
        if record.exc_info:
            row["exception"] = self.formatException(record.exc_info)
        return json.dumps(row, ensure_ascii=False)


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def log_config(format: Literal["text", "json"], *, access: bool = False) -> dict[str, Any]:
    """The configuration of logging for every server process.

    >>> log_config("json")["formatters"]["ours"]["()"].rsplit(".")[-1]
    'Json'
    """
    level = {"handlers": ["error"], "level": "INFO", "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"ours": {"()": f"{__name__}.{'Json' if format == 'json' else 'Lines'}"}},
        "handlers": {"error": {"class": "logging.StreamHandler", "formatter": "ours", "stream": "ext://sys.stderr"}},
        "loggers": {
            "uvicorn": level,
            "emoscope": level,
            "emoscope.access": {**level, "level": "INFO" if access else "WARNING"},
            "py.warnings": level,
        },
    }
