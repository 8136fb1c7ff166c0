import pytest
from hypothesis import given
from hypothesis import strategies as st
from nccl_exporter import text
from prometheus_client.parser import text_string_to_metric_families


@pytest.mark.parametrize(
    ("field", "name"),
    [
        (b"AllReduce\0\0", "AllReduce"),
        (b"a.B_9:x-y\0", "a.B_9:x-y"),
        (b"\0AllReduce", None),
        (b"AllReduce", None),
        (b'All"Reduce\0', None),
        (b"All Reduce\0", None),
        (b"AllReduce\n\0", None),
        (b"\xff\0", None),
    ],
)
def test_name(field: bytes, name: str | None) -> None:
    assert text.name(field) == name


@pytest.mark.parametrize(
    ("field", "label"),
    [
        (b"\0" * 8, ""),
        (b"node-7\0garbage\xff", "node-7"),
        ("größe\0".encode(), "größe"),
        (b"full", "full"),
        ("größe".encode()[:3], "gr"),
        (b"\xff\0", None),
        (b"a\xc3\0", "a"),
        (b"a\nb\0", None),
        (b"a\x1b[31m\0", None),
        ("a\u2028b\0".encode(), None),
        ("a\x85b\0".encode(), None),
    ],
)
def test_label(field: bytes, label: str | None) -> None:
    assert text.label(field) == label


@given(st.binary(max_size=64))
def test_any_bytes_make_a_label_or_nothing_that_survives_the_text_format(field: bytes) -> None:
    label = text.label(field)
    if label is not None:
        (family,) = text_string_to_metric_families(f'a{{b="{text.escaped(label)}"}} 1\n')
        assert family.samples[0].labels == {"b": label}
