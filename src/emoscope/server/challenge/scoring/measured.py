"""Prometheus metrics of the scoring jobs: how many are in each state, and how long the oldest has waited."""

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from sqlalchemy import func, select

from emoscope.server.errors import StoreUnavailable
from emoscope.server.store import Store
from emoscope.server.store.models import Job

STATES = ("queued", "running", "done", "failed", "superseded")


def measure_jobs(store: Store | None) -> list[Metric]:
    """The current metrics; `emoscope_database_up` is 0 if the database does not respond."""
    up = GaugeMetricFamily("emoscope_database_up", "Whether the database answers")
    if store is None:
        up.add_metric([], 0)
        return [up]
    jobs = GaugeMetricFamily("emoscope_jobs", "Scoring jobs by kind and state", labels=["kind", "state"])
    oldest = GaugeMetricFamily("emoscope_jobs_oldest_seconds", "How long the oldest job has been due")
    try:
        with store.database.read() as session:
            rows = session.execute(select(Job.kind, Job.state, func.count()).group_by(Job.kind, Job.state)).all()
            due = session.scalar(select(func.min(Job.not_before)).where(Job.state == "queued"))
    except StoreUnavailable:
        up.add_metric([], 0)
        return [up]
    up.add_metric([], 1)
    counts = {(kind, state): number for kind, state, number in rows}
    for kind in ("score", "compare"):
        for state in STATES:
            jobs.add_metric([kind, state], counts.get((kind, state), 0))
    oldest.add_metric([], 0 if due is None else max(0.0, (store.clock() - due).total_seconds()))
    return [up, jobs, oldest]
