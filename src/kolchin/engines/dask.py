"""A Dask cluster: its scheduler gives a task to another worker when one is lost."""

from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

from kolchin.engines.base import OnExecutor, describe_missing
from kolchin.errors import MissingExtraError, ModelError

if TYPE_CHECKING:
    from distributed import Client

SECONDS_TO_CONNECT = 30
TIMES_AGAIN = 3
"""How often a task is done again whose worker failed; a lost worker counts apart, in Dask."""


class Dask(OnExecutor):
    """The executor of a client; ``own`` clients are closed with the engine."""

    def __init__(self, client: "Client", own: bool = False) -> None:
        self.client = client
        self.own = own
        n_workers = sum(client.nthreads().values())
        super().__init__(lambda: client.get_executor(retries=TIMES_AGAIN, pure=False), n_workers)

    def _shut(self, executor: Executor) -> None:
        executor.shutdown(wait=False)  # what is left is cancelled

    def close(self) -> None:
        """Disconnect."""
        super().close()
        if self.own:
            self.client.close()


def connect(address: str) -> Dask:
    """Connect to the scheduler at an address."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError(describe_missing("dask", "Dask")) from error
    try:
        client: Any = Client(address, timeout=SECONDS_TO_CONNECT)
        client.wait_for_workers(1, timeout=SECONDS_TO_CONNECT)
    except (OSError, TimeoutError, ValueError) as error:
        raise ModelError(
            f"No Dask cluster answers at {address}: {error}. Is its scheduler running, with a "
            "worker at least?"
        ) from error
    return Dask(client, own=True)
