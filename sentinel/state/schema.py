"""The database's tables, and how older ones become newer ones."""

__all__ = ["MIGRATIONS", "VERSION"]

MIGRATIONS = (
    # Statements that lead from version n to n + 1. Once released, an entry is never changed.
    (
        """CREATE TABLE incidents (
            id TEXT PRIMARY KEY,
            verdict TEXT NOT NULL,
            tier TEXT NOT NULL,
            comm TEXT NOT NULL,
            comm_name TEXT NOT NULL,
            job TEXT NOT NULL,
            job_id TEXT NOT NULL,
            ranks TEXT NOT NULL,
            node TEXT NOT NULL,
            gpu TEXT NOT NULL,
            started_at REAL NOT NULL,
            detected_at REAL NOT NULL,
            ended_at REAL,
            cost_ratio REAL NOT NULL,
            evidence TEXT NOT NULL,
            victims INTEGER NOT NULL
        ) STRICT""",
        "CREATE INDEX incidents_ended_at ON incidents (ended_at)",
        """CREATE TABLE baselines (
            version INTEGER PRIMARY KEY AUTOINCREMENT,
            built_at REAL NOT NULL,
            range_start REAL NOT NULL,
            range_end REAL NOT NULL,
            data BLOB NOT NULL
        ) STRICT""",
        """CREATE TABLE ticks (
            time REAL PRIMARY KEY,
            outcome TEXT NOT NULL,
            duration_seconds REAL NOT NULL,
            findings INTEGER NOT NULL,
            error TEXT NOT NULL
        ) STRICT""",
    ),
    (
        "ALTER TABLE incidents ADD COLUMN former_tiers TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE incidents ADD COLUMN recurrences INTEGER NOT NULL DEFAULT 0",
    ),
    (
        "ALTER TABLE incidents ADD COLUMN context TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE incidents ADD COLUMN silenced_by TEXT NOT NULL DEFAULT '[]'",
        """CREATE TABLE freezes (
            node TEXT NOT NULL,
            gpu TEXT NOT NULL,
            gpu_uuid TEXT NOT NULL,
            job_id TEXT NOT NULL,
            started_at REAL NOT NULL,
            ended_at REAL NOT NULL,
            PRIMARY KEY (node, gpu, gpu_uuid, job_id, started_at)
        ) STRICT""",
        "CREATE INDEX freezes_ended_at ON freezes (ended_at)",
    ),
)

VERSION = len(MIGRATIONS)
"""What `PRAGMA user_version` says of a database that is up to date."""
