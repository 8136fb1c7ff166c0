"""The `[context]` section."""

from pathlib import Path

import pytest

from sentinel.config.loader import load
from sentinel.errors import ConfigError
from sentinel.model.context import Effect

FILES = Path(__file__).parent / "files"


def test_matches_in_their_order() -> None:
    maintenance, gpu = load(FILES / "context.good.toml", {}).context.match
    assert maintenance.effect is Effect.SILENCE
    assert maintenance.matchers == ('alertname="NodeMaintenance"', 'env=~"prod|test"')
    assert maintenance.node == ("instance",)
    assert gpu.effect is Effect.NOTE
    assert gpu.node == ("node", "Hostname", "instance")


def test_every_fault_is_said_with_its_place() -> None:
    path = FILES / "context.bad.toml"
    with pytest.raises(ConfigError) as caught:
        load(path, {})
    found = caught.value.why.strip().splitlines()
    for part in (
        "context.match.0.matchers.0 = 'alertname': write a matcher as in",
        "context.match.0.effect = 'mute': input should be 'note', 'freeze' or 'silence'",
        "context.match.1.matchers = []: write one matcher at least",
        "context.match.1.node_pattern = '.+': it has 0 groups",
        "context.match.2.matchers: field required",
        "context.match.2.label: no such key.",
    ):
        assert any(f"{path}: {part}" in line for line in found), (part, found)
    assert len(found) == 6


def test_the_environment_takes_them_as_json() -> None:
    text = '[{"matchers": ["a=b"], "effect": "freeze"}]'
    (one,) = load(None, {"SENTINEL_CONTEXT__MATCH": text}, default=FILES / "none.toml").context.match
    assert one.effect is Effect.FREEZE
