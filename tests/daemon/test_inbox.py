import queue
import threading

from sentinel.daemon.inbox import Inbox, Mail, coalesce_reloads


def test_one_reload_does_for_all_and_nothing_else_is_lost() -> None:
    inbox: Inbox = queue.SimpleQueue()
    tick = threading.Event()
    for mail in (Mail.RELOAD, Mail.DELIVERED, Mail.RELOAD, tick, Mail.RELOAD, Mail.DELIVERED):
        inbox.put(mail)
    coalesce_reloads(inbox)
    assert [inbox.get_nowait() for _ in range(inbox.qsize())] == [Mail.DELIVERED, tick, Mail.DELIVERED]
