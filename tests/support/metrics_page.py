"""`python -m tests.support.metrics_page`: print the metrics of a real worker that has done some work."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.metrics import fetched
from tests.support.processes import a_plant
from tests.support.servers.launching import free_port


def main() -> None:
    """Done, refused, retried and killed jobs, then one scrape."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, a_plant(Path(folder)) as plant:
        plant.choose(observability_metrics_port=str(port), worker_retry_delays="10ms")
        worker = plant.worker()
        plant.submit([a_note(script(*steps)) for steps in ((), ("refuse",), ("fail 9",), ("die 1",))])
        plant.drain()
        print(fetched(port, "/metrics")[1], end="")
        worker.stop()


if __name__ == "__main__":
    main()
