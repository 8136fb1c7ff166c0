"""Which keys there are, and what the columns say."""

from typing import Final

from rich.text import Text

from sentinel.top.place import Choice
from sentinel.top.view import Column, Row, Section, View

__all__ = ["KEYS", "help_view"]

KEYS: Final = "j/k choose  Enter open  Esc back  s order  ? help  q quit"
_COLUMNS: Final = (Column(""),)
_LINES: Final = (
    "Up, Down, j, k            choose a row",
    "PgUp, PgDn, Space         by a screen; Home, End, g, G: the first, the last",
    "Enter, Right, l           open an incident, a job, a communicator",
    "Esc, Left, h, Backspace   back",
    "s                         order ranks: lateness now, its P95, waiting",
    "q, Ctrl-C                 quit; Ctrl-Z stops, fg goes on",
    "",
    "Ranks that an incident names stand first. The late one waits for nobody.",
    "LATE NOW  how much later than its peers, per operation, in the newest tick",
    "MEDIAN    the same over the ticks of the last hour; P95 its 95th percentile",
    "INSIDE    how long an operation takes there, median over the last hour",
    "WAITS     about how long it waits in one for the last rank, newest tick",
    "COSTS     share of the job's time; WAITING ranks that wait for it",
    "",
    "What is wrong in words: open the incident. Its runbook is named there.",
)


def help_view() -> View:
    """In plain words."""
    rows = tuple(Row(Choice(number), (Text(line),)) for number, line in enumerate(_LINES))
    return View((Text("Keys and columns", "bold"),), (Section("", _COLUMNS, rows),))
