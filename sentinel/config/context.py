"""The `[context]` section."""

import re
from datetime import timedelta
from functools import cached_property
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from sentinel.config.matcher import Matcher, MatcherText, parse_matcher
from sentinel.model.context import Effect
from sentinel.model.duration import Duration

__all__ = ["ContextMatch", "ContextSettings"]


def _pattern(text: str) -> str:
    try:
        groups = re.compile(text).groups
    except re.error as error:
        raise ValueError(f"not a pattern: {error}") from None
    if groups != 1:
        raise ValueError(f"it has {groups} groups: the name is what one group (...) takes; (?:...) makes none")
    return text


def _some(texts: tuple[str, ...]) -> tuple[str, ...]:
    if not texts:
        raise ValueError("write one matcher at least: without any, every alert would match")
    return texts


class ContextMatch(BaseModel):
    """One `[[context.match]]`: alerts of others that it matches, where they are, and what they do there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Not min_length: it would count what was refused, and say both.
    matchers: Annotated[tuple[MatcherText, ...], AfterValidator(_some)] = Field(
        description='Matchers as in Alertmanager, all of which hold, as in alertname=~"Node.*".'
    )
    effect: Effect = Field(
        default=Effect.NOTE,
        description="note: incidents there say so; freeze: also nothing is learnt there; silence: also no incident is "
        "opened there, and none ends.",
    )
    node: tuple[str, ...] = Field(
        default=("node", "Hostname", "instance"),
        description="Labels in which the node's name stands; the first that the alert has.",
    )
    node_pattern: Annotated[str, AfterValidator(_pattern)] = Field(
        default=r"(.+?)(?::\d+)?",
        description="What of that label is the name: the pattern's group. It has to match the whole label.",
    )
    gpu: tuple[str, ...] = Field(default=("gpu",), description="Labels in which the GPU's number on its node stands.")
    gpu_uuid: tuple[str, ...] = Field(default=("gpu_uuid", "UUID"), description="Labels in which its UUID stands.")
    job_id: tuple[str, ...] = Field(default=("job_id",), description="Labels in which the job's id stands.")

    @cached_property
    def parsed(self) -> tuple[Matcher, ...]:
        """The matchers, read."""
        return tuple(parse_matcher(text) for text in self.matchers)

    @cached_property
    def parsed_node(self) -> re.Pattern[str]:
        """`node_pattern`, read."""
        return re.compile(self.node_pattern)


class ContextSettings(BaseModel):
    """What is made of alerts of others that Alertmanager tells the webhook of."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    match: tuple[ContextMatch, ...] = Field(
        default=(),
        # A list of tables; as a key it would stand in the way of them.
        json_schema_extra={"written_as": "[[context.match]]"},
        description=(
            "Which alerts, and what they do: a table [[context.match]] with matchers = "
            '[\'alertname="NodeMaintenance"\'] and effect = "note" (incidents there say so), "freeze" (also '
            'nothing is learnt there) or "silence" (also no incident is opened there). node, node_pattern, gpu, '
            "gpu_uuid and job_id say in which labels the place stands. The first that matches an alert holds for it."
        ),
    )
    within: Duration = Field(
        default=timedelta(minutes=10),
        ge=timedelta(0),
        description="An alert is also noted on incidents that began this long after it ended, or ended this long "
        "before it began.",
    )
