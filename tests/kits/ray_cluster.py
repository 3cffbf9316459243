"""A Ray cluster of two nodes on this machine, in a process of its own: it says its address, and ends with its input."""

import sys
from typing import Any


def main() -> None:
    import ray.cluster_utils

    size: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 << 20}
    cluster = ray.cluster_utils.Cluster(
        initialize_head=True, head_node_args={**size, "include_dashboard": False}, connect=False
    )
    second = cluster.add_node(**size)
    cluster.wait_for_nodes()
    print(cluster.address, flush=True)
    for line in sys.stdin:
        if line.strip() == "lose a node":
            cluster.remove_node(second, allow_graceful=False)
            print("lost", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main()
