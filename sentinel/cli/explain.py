"""`sentinel explain`."""

import time
from pathlib import Path
from typing import Annotated

import typer

from sentinel.cli.incident_picture import check_drawing, draw_incident
from sentinel.cli.incident_story import incident_story
from sentinel.cli.options import ConfigOption, JsonOption, SetOption, read_settings
from sentinel.cli.output import print_json
from sentinel.errors import StateError
from sentinel.model.document import incident_document
from sentinel.model.incident import Incident
from sentinel.state.store import State

__all__ = ["explain"]


def explain(
    incident_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the incident, or how it begins.")],
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also draw the ranks over time, to a .png, .svg or .pdf; it is replaced."),
    ] = None,
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    json: JsonOption = False,
) -> None:
    """Say why an incident was raised, in numbers.

    --plot reads the metrics store again, from before the incident until after it, and needs matplotlib: pip install
    matplotlib.
    """
    settings = read_settings(config, assignments)
    if plot is not None:
        check_drawing(plot)
    with State.open_readonly(settings.state.directory) as state:
        incident = _the_one(state.incident(incident_id), incident_id, str(settings.state.directory))
    if json:
        print_json(incident_document(incident))
    else:
        for line in incident_story(incident, settings, time.time()):
            typer.echo(line)
    if plot is not None:
        draw_incident(incident, settings, plot)
        typer.echo(f"Drawn to {plot}", err=True)


def _the_one(found: list[Incident], prefix: str, where: str) -> Incident:
    if not found:
        hint = "Name the daemon's configuration with --config; `sentinel status` lists what is open."
        raise StateError(f"no incident {prefix}", where=where, hint=hint)
    if len(found) > 1:
        ids = ", ".join(incident.id for incident in found[:10])
        raise StateError(f"{len(found)} incidents begin with {prefix!r}", where=where, why=ids)
    return found[0]
