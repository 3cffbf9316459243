"""The number of cores in a container is its quota, not the machine's."""

from pathlib import Path

import pytest

from emoscope.parallel import threads
from emoscope.parallel.threads import container_quota, cores


def system(folder: Path, cgroup: str, files: dict[str, str]) -> Path:
    for name, text in {"proc/self/cgroup": cgroup, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    ("cgroup", "files", "expected"),
    [
        ("0::/\n", {"sys/fs/cgroup/cpu.max": "200000 100000\n"}, 2),
        ("0::/\n", {"sys/fs/cgroup/cpu.max": "150000 100000\n"}, 2),
        ("0::/\n", {"sys/fs/cgroup/cpu.max": "10000 100000\n"}, 1),
        ("0::/\n", {"sys/fs/cgroup/cpu.max": "max 100000\n"}, None),
        ("0::/\n", {}, None),
        (
            "0::/pods/mine\n",
            {"sys/fs/cgroup/pods/mine/cpu.max": "max 100000\n", "sys/fs/cgroup/pods/cpu.max": "300000 100000\n"},
            3,
        ),
        (
            "3:memory:/a\n4:cpu,cpuacct:/a\n",
            {"sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "400000", "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000"},
            4,
        ),
        (
            "4:cpu,cpuacct:/docker/x\n",
            {"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"},
            None,
        ),
    ],
)
def test_the_quota_of_a_container(tmp_path: Path, cgroup: str, files: dict[str, str], expected: int | None) -> None:
    assert container_quota(system(tmp_path, cgroup, files)) == expected


def test_cores_do_not_exceed_the_quota(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMOSCOPE_CORES", raising=False)
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda _: set(range(16)))
    monkeypatch.setattr(threads, "container_quota", lambda: 2)
    assert cores() == 2
    monkeypatch.setattr(threads, "container_quota", lambda: None)
    assert cores() == 16
