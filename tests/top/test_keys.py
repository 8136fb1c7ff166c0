import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel.top.keys import Key, KeyDecoder


def keys(*pieces: bytes) -> list[Key]:
    decoder = KeyDecoder()
    found = [key for piece in pieces for key in decoder.feed(piece)]
    return found + decoder.settle()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"jk", [Key.DOWN, Key.UP]),
        (b"\x1b[A\x1b[B", [Key.UP, Key.DOWN]),
        (b"\x1bOA\x1bOB", [Key.UP, Key.DOWN]),  # where the terminal's keypad is in application mode
        (b"\x1b[5~\x1b[6~ ", [Key.PAGE_UP, Key.PAGE_DOWN, Key.PAGE_DOWN]),
        (b"\x1b[H\x1b[F\x1b[1~\x1b[4~\x1bOHgG", [Key.HOME, Key.END] * 2 + [Key.HOME, Key.HOME, Key.END]),
        (b"\x1b[1;5A", [Key.UP]),
        (b"\r\n", [Key.OPEN, Key.OPEN]),
        (b"\x7f", [Key.BACK]),
        (b"\x1b", [Key.BACK]),
        (b"\x1b\x1b", [Key.BACK, Key.BACK]),
        (b"\x1bq", [Key.BACK, Key.QUIT]),  # typed so fast, or through so slow a line, that they come together
        (b"\x1b[200~q", [Key.QUIT]),  # a pasted text
        (b"\x1b[<0;1;1M", []),  # a mouse
        (b"\x1b[", []),
        ("äx\x00é".encode(), []),
        (b"s?q", [Key.ORDER, Key.HELP, Key.QUIT]),
    ],
)
def test_what_terminals_send(data: bytes, expected: list[Key]) -> None:
    assert keys(data) == expected


_BYTES = st.lists(st.sampled_from([*b"\x1b[O0;~<ABHjq \x80\xff"]), max_size=40).map(bytes)


@given(_BYTES, st.integers(0, 40))
def test_it_does_not_matter_in_which_pieces_they_come(data: bytes, at: int) -> None:
    assert keys(data[:at], data[at:]) == keys(data)


@given(st.binary(max_size=200))
def test_a_key_that_never_ends_is_not_waited_for(data: bytes) -> None:
    decoder = KeyDecoder()
    decoder.feed(data)
    decoder.settle()
    assert not decoder.pending
    assert decoder.feed(b"q") == [Key.QUIT]
