"""The engines by their names, and who is there to work."""

from collections.abc import Generator
from typing import Literal

from emoscope.core.extras import check_installed
from emoscope.parallel.events import Event
from emoscope.parallel.processes import work_here, work_in_processes
from emoscope.parallel.threads import cores
from emoscope.parallel.work import Take, Work

Engine = Literal["local", "ray"]


def run_parts(
    work: Work, take: Take, engine: Engine, workers: int | None, address: str | None
) -> Generator[Event, None, None]:
    """Do parts until there are none: in so many processes of this machine, as many as it has cores, or on Ray."""
    if engine == "ray":
        check_installed("ray", extra="ray")
        from emoscope.parallel.ray_tasks import work_on_ray

        return work_on_ray(work, take, workers, address)
    count = workers or cores()
    return work_here(work, take) if count == 1 else work_in_processes(work, take, count)
