"""What the main thread works through, one after the other."""

import queue
import threading
from enum import Enum, auto

__all__ = ["Inbox", "Mail", "coalesce_reloads"]


class Mail(Enum):
    """What others ask the main thread to do, in signal handlers or in threads of their own."""

    RELOAD = auto()  # read the configuration again
    DELIVERED = auto()  # something has become of a delivery


Inbox = queue.SimpleQueue[threading.Event | Mail]
"""An event is a tick that is due: whoever takes it sets it when the tick is done."""


def coalesce_reloads(inbox: Inbox) -> None:
    """Take out of it what asks to reload: one reload, from now on, does for all. Only for who empties it."""
    for _ in range(inbox.qsize()):
        mail = inbox.get_nowait()
        if mail is not Mail.RELOAD:
            inbox.put(mail)
