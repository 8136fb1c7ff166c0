"""`sentinel explain`."""

from typing import Annotated

import typer

from sentinel.cli.incident_text import explanation
from sentinel.cli.options import ConfigOption, JsonOption, SetOption, read_settings
from sentinel.cli.output import print_json
from sentinel.errors import StateError
from sentinel.model.document import incident_document
from sentinel.state.store import State

__all__ = ["explain"]


def explain(
    incident_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the incident, or how it begins.")],
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    json: JsonOption = False,
) -> None:
    """Say why an incident was raised, in numbers."""
    settings = read_settings(config, assignments)
    with State.open_readonly(settings.state.directory) as state:
        found = state.incident(incident_id)
    if len(found) != 1:
        where = str(settings.state.directory)
        if not found:
            raise StateError(
                f"no incident {incident_id}", where=where, hint="`sentinel status` lists those that are open."
            )
        ids = ", ".join(incident.id for incident in found[:10])
        raise StateError(f"{len(found)} incidents begin with {incident_id!r}", where=where, why=ids)
    if json:
        print_json(incident_document(found[0]))
        return
    for line in explanation(found[0]):
        typer.echo(line)
