from sentinel.page.kept import Kept


def test_past_its_bytes_the_first_goes() -> None:
    kept = Kept[str, int](10)
    for number, name in enumerate("abc"):
        kept.put(name, number, 4)
    assert [kept.get(name) for name in "abc"] == [None, 1, 2]


def test_one_that_is_put_again_counts_once() -> None:
    kept = Kept[str, int](10)
    for number in range(5):
        kept.put("a", number, 6)
    kept.put("b", 9, 4)
    assert (kept.get("a"), kept.get("b")) == (4, 9)


def test_what_is_too_large_is_not_kept() -> None:
    kept = Kept[str, int](10)
    kept.put("a", 1, 11)
    assert kept.get("a") is None
    kept.put("a", 1, 4)
    kept.put("b", 2, 4)
    kept.put("a", 3, 11)
    assert (kept.get("a"), kept.get("b")) == (None, 2)
    kept.put("a", 1, 10)
    kept.clear()
    kept.put("b", 2, 10)
    assert (kept.get("a"), kept.get("b")) == (None, 2)
