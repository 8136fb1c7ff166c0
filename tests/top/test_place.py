from functools import reduce

from sentinel.top.keys import Key
from sentinel.top.place import Choice, Order, Page, PageKind, Place, chosen, moved

INCIDENT = Page(PageKind.INCIDENT, ("i",))
COMMUNICATOR = Page(PageKind.COMMUNICATOR, ("c",))
ROWS = [Choice("a"), Choice("b", INCIDENT), *(Choice(number) for number in range(20))]


def press(place: Place, *keys: Key, rows: list[Choice] = ROWS) -> Place:
    return reduce(lambda at, key: moved(at, key, rows, 5), keys, place)


def test_rows_are_chosen_and_the_ends_hold() -> None:
    for keys, expected in (
        ((), 0),
        ((Key.UP,), 0),
        ((Key.DOWN, Key.DOWN), 2),
        ((Key.PAGE_DOWN,), 5),
        ((Key.END,), 21),
        ((Key.END, Key.DOWN), 21),
        ((Key.END, Key.PAGE_UP), 16),
        ((Key.END, Key.HOME), 0),
    ):
        assert chosen(press(Place(), *keys), ROWS) == expected


def test_a_row_stays_chosen_while_others_come_and_go() -> None:
    place = press(Place(), Key.DOWN)
    assert chosen(place, [Choice("new"), *ROWS]) == 2
    assert chosen(place, [Choice("x"), Choice("y"), Choice("z")]) == 1  # it is gone: where it was
    assert chosen(place, []) == 0


def test_pages_are_opened_and_left() -> None:
    opened = press(Place(), Key.DOWN, Key.OPEN)
    assert opened.page == INCIDENT
    back = press(opened, Key.BACK, rows=[])
    assert (back.page, chosen(back, ROWS)) == (Page(PageKind.OVERVIEW), 1)
    assert press(back, Key.BACK).page == Page(PageKind.OVERVIEW)
    assert press(Place(), Key.OPEN) == Place()  # nothing is behind that row
    assert press(Place(), Key.DOWN, Key.OPEN, Key.END, rows=[]) == Place()


def test_the_way_back_does_not_grow_in_circles() -> None:
    place = press(Place(), Key.DOWN, Key.OPEN)
    for _ in range(5):
        place = press(place, Key.OPEN, rows=[Choice(0, COMMUNICATOR)])
        assert place.page == COMMUNICATOR
        place = press(place, Key.OPEN, rows=[Choice(0, INCIDENT)])
        assert place.page == INCIDENT
    assert press(place, Key.BACK).page == Page(PageKind.OVERVIEW)


def test_help_once_and_the_orders_in_turn() -> None:
    helped = press(Place(), Key.HELP, Key.HELP)
    assert press(helped, Key.BACK).page == Page(PageKind.OVERVIEW)
    assert [press(Place(), *[Key.ORDER] * count).order for count in range(4)] == [*Order, Order.NEWEST]
