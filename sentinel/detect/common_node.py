"""The one node, or GPU, that all slow communicators have in common and no healthy one."""

from collections.abc import Collection, Hashable, Iterable
from collections.abc import Set as AbstractSet
from typing import TypeVar

from sentinel.measure.membership import Communicator, Member

__all__ = ["MIN_HEALTHY", "common_gpu", "common_member", "common_node", "comparable"]

Place = TypeVar("Place", bound=Hashable)

_MIN_SLOW = 2  # one slow communicator has all of its nodes in common with itself
MIN_HEALTHY = 2  # without healthy ones everything may be slow


def common_node(slow: Collection[Communicator], healthy: Collection[Communicator]) -> str | None:
    """The node of that kind, or None: see `common_member`.

    Only the `comparable` healthy ones say anything.
    """
    return common_member([_nodes(each) for each in slow], [_nodes(each) for each in comparable(slow, healthy)])


def common_gpu(slow: Collection[Communicator], healthy: Collection[Communicator]) -> tuple[str, str] | None:
    """The same for a GPU: its node, and its UUID, or its number where that is not known."""
    return common_member([_gpus(each) for each in slow], [_gpus(each) for each in comparable(slow, healthy)])


def comparable(slow: Collection[Communicator], healthy: Iterable[Communicator]) -> list[Communicator]:
    """The healthy ones that use what the slow ones do.

    Where all of these cross nodes those that stay inside one say nothing: they do not use what connects it to the
    others.
    """
    crossing = all(len(_nodes(each)) > 1 for each in slow)
    return [each for each in healthy if not crossing or len(_nodes(each)) > 1]


def common_member(slow: Collection[AbstractSet[Place]], healthy: Iterable[AbstractSet[Place]]) -> Place | None:
    """The one place in all of `slow` and in none of `healthy`.

    None where fewer than two are slow or fewer than two healthy, and where several places fit: no guess between them.
    """
    others = list(healthy)
    if len(slow) < _MIN_SLOW or len(others) < MIN_HEALTHY:
        return None
    first, *rest = slow
    fits = set(first).intersection(*rest).difference(*others)
    return fits.pop() if len(fits) == 1 else None


def _nodes(communicator: Communicator) -> set[str]:
    return {member.node for member in communicator.members.values()}


def _gpus(communicator: Communicator) -> set[tuple[str, str]]:
    return {_gpu(member) for member in communicator.members.values()}


def _gpu(member: Member) -> tuple[str, str]:
    return member.node, member.gpu_uuid or member.gpu
