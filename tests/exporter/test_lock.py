import os
from typing import Any

from nccl_exporter import lock


def test_lock_is_held_while_its_process_lives(mapped_file: Any, descriptor: int, holder: Any) -> None:
    assert not lock.is_held(descriptor)
    holder.lock(mapped_file.path)
    assert lock.is_held(descriptor)
    holder.kill()
    assert not lock.is_held(descriptor)


def test_asking_does_not_take_the_lock(mapped_file: Any, descriptor: int, holder: Any) -> None:
    assert not lock.is_held(descriptor)
    holder.lock(mapped_file.path)  # would wait for ever if the question had taken it
    other = os.open(mapped_file.path, os.O_RDONLY)
    assert lock.is_held(other)
    os.close(other)
    assert lock.is_held(descriptor)
