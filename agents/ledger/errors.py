"""What a ledger raises."""
from __future__ import annotations

from kc.errors import InputError


class LedgerError(InputError):
    """A frozen build meets a region that the ledger does not settle, or the file cannot be read or written.

    ``region`` and ``identity`` are those at fault, where it is about one.
    """

    def __init__(self, message: str, region: str = "", identity: str = ""):
        super().__init__(message)
        self.region, self.identity = region, identity
