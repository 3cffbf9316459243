"""Rate limits by address, network and mailbox, shared by all server processes."""

import hashlib
import hmac
import ipaddress
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta

from sqlalchemy import delete, func, select, text

from emoscope.server.errors import QuotaExceeded, ServerError
from emoscope.server.store import Store
from emoscope.server.store.models import Attempt
from emoscope.server.store.signing_key import load_key

WINDOW = timedelta(hours=1)
_KEPT = timedelta(days=1)
_LOCK = 7305222  # of PostgreSQL; any number, the same in each process


def network_of(address: str) -> str:
    """The network of an address: /24, or /48 of IPv6.

    >>> network_of("192.0.2.77"), network_of("2001:db8:1:2::3"), network_of("testclient")
    ('192.0.2.0/24', '2001:db8:1::/48', 'testclient')
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network(f"{address}/{24 if parsed.version == 4 else 48}", strict=False))


@contextmanager
def admitted(store: Store, kind: str, limits: Mapping[str, int]) -> Iterator[None]:
    """Run the block if none of these has reached its limit within the hour; a block that fails does not count.

    Attempts are counted before the block runs, so that parallel requests cannot all slip through.
    """
    now, key = store.clock(), load_key(store.data_dir)
    names = {hmac.new(key, f"{kind}:{who}".encode(), hashlib.sha256).hexdigest(): limits[who] for who in limits}
    with store.database.write() as session:
        if session.get_bind().dialect.name == "postgresql":
            session.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        session.execute(delete(Attempt).where(Attempt.at < now - _KEPT))
        for who, limit in names.items():
            query = select(func.count(), func.min(Attempt.at)).where(
                Attempt.kind == kind, Attempt.who == who, Attempt.at > now - WINDOW
            )
            count, first = session.execute(query).one()
            if count >= limit:
                wait = max(1, int((first + WINDOW - now).total_seconds()) + 1)
                raise QuotaExceeded("too many requests within the hour; try again later", wait)
        rows = [Attempt(kind=kind, who=who, at=now) for who in names]
        session.add_all(rows)
        session.flush()
        counted = [row.id for row in rows]
    try:
        yield
    except ServerError:
        with store.database.write() as session:
            session.execute(delete(Attempt).where(Attempt.id.in_(counted)))
        raise
