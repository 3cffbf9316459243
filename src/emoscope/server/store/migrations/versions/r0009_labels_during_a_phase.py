"""When a phase's labels are released, if that is at a given time."""

import sqlalchemy as sa
from alembic import op

from emoscope.server.store.migrations.tables import MOMENT

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the time; phases that are there have none."""
    op.add_column("phases", sa.Column("labels_at", MOMENT))
