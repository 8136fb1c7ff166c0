"""Where slow communicators meet."""

import pytest

from sentinel.detect.common_node import common_gpu, common_member, common_node
from sentinel.measure.membership import Communicator, Member, Role


def communicator(code: int, *gpus: str) -> Communicator:
    """Of GPUs such as `a0`: node a, GPU 0."""
    members = {rank: Member(rank, rank, gpu[0], gpu[1:], f"GPU-{gpu}") for rank, gpu in enumerate(gpus)}
    return Communicator(code, f"{code:016x}", "job", Role("job", "", len(gpus), 1, str(code)), members)


@pytest.mark.parametrize(
    ("slow", "healthy", "expected"),
    [
        pytest.param(["ab", "ac"], ["bc", "cd"], "a", id="common to all slow ones"),
        pytest.param(["ab", "ac"], ["ad", "cd"], None, id="in a healthy one"),
        pytest.param(["abc", "abd"], ["cd", "ce"], None, id="two of them"),
        pytest.param(["ab", "cd"], ["be", "de"], None, id="nothing in common"),
        pytest.param(["ab"], ["bc", "cd"], None, id="one slow"),
        pytest.param(["ab", "ac"], ["bc"], None, id="one healthy"),
        pytest.param(["abc", "abd"], ["be", "cd"], "a", id="what is healthy elsewhere is out"),
        pytest.param([], ["be", "cd"], None, id="none slow"),
    ],
)
def test_common_member(slow: list[str], healthy: list[str], expected: str | None) -> None:
    assert common_member([set(each) for each in slow], [set(each) for each in healthy]) == expected


def test_a_node_is_named_by_the_communicators_that_cross_it() -> None:
    slow = [communicator(1, "a0", "b0"), communicator(2, "a1", "c1")]
    healthy = [communicator(3, "b1", "c0"), communicator(4, "c2", "d2")]
    inside = communicator(5, "a0", "a1", "a2")
    assert common_node(slow, healthy) == "a"
    assert common_gpu(slow, healthy) is None
    # What stays inside the node does not use what connects it.
    assert common_node(slow, [*healthy, inside]) == "a"
    assert common_node(slow, [inside, inside]) is None


def test_communicators_inside_nodes_are_compared_with_their_like() -> None:
    slow = [communicator(1, "a0", "a1"), communicator(2, "a2", "a3")]
    assert common_node(slow, [communicator(3, "b0", "b1"), communicator(4, "c0", "c1")]) == "a"
    assert common_node(slow, [communicator(3, "b0", "b1"), communicator(4, "a4", "a5")]) is None


def test_a_gpu_is_named_where_one_is_common() -> None:
    slow = [communicator(1, "a0", "b0"), communicator(2, "a0", "c1")]
    assert common_gpu(slow, [communicator(3, "a1", "c0"), communicator(4, "c2", "d2")]) == ("a", "GPU-a0")
