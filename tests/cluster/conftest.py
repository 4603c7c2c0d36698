"""One run of the small demo that nothing disturbs, beside which the others are held."""

import pytest
from chaos import Chaos
from checkout import Checkout
from no_network import namespace
from small_demo import RUN, tables


class Undisturbed:
    """A finished run, made without a network where that is possible.

    Attributes:
        chaos: to disturb it now.
        tables: the bytes of its tables.
        shared: the folder in which the results of its dear stages were kept.
        without_network: whether it had none.
        logs: the folder of its stages' logs.
    """

    def __init__(self, folder) -> None:
        self.shared = folder / "shared"
        self.shared.mkdir()
        self.without_network = bool(namespace())
        self.chaos = Chaos(Checkout(folder / "checkout"), folder / "chaos-logs", seed=5)
        self.chaos.undisturbed(prefix=namespace(), BOVE_CACHE=str(self.shared))
        self.logs = self.chaos.checkout.folder / "results" / RUN / "logs"
        self.tables = tables(self.chaos.checkout.folder)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    return Undisturbed(tmp_path_factory.mktemp("undisturbed"))
