"""What the figure shows."""

import io

import numpy as np
import pytest
from matplotlib.dates import date2num
from matplotlib.figure import Figure

from sentinel.plot.course import Course
from sentinel.plot.figure import Caption, Panel, incident_figure

TIMES = 1_795_980_960.0 + 30.0 * np.arange(40)
CAPTION = Caption(
    "Rank 3 arrives late", "24.4% of the job's time", ("rank 3",), float(TIMES[20]), float(TIMES[22]), float(TIMES[30])
)


def course(culprit: float, peers: float, culprits: int = 1) -> Course:
    spread = peers + np.array([-2e-4, -1e-4, 0.0, 1e-4, 2e-4])
    return Course(np.full((40, culprits), culprit), np.tile(spread, (40, 1)))


def panel(title: str = "AllReduce 1 MiB", normal: tuple[float, float] | None = (1e-4, 2e-5)) -> Panel:
    return Panel(title, course(0.001, 0.003), course(0.002, 0.0), normal)


def drawn(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def lines(figure: Figure, axes: int) -> dict[str, np.ndarray]:
    return {str(line.get_label()): np.asarray(line.get_ydata()) for line in figure.axes[axes].get_lines()}


def test_durations_stand_above_lateness_in_units_that_suit_them() -> None:
    figure = incident_figure(TIMES, [panel()], None, CAPTION)
    duration, lateness = figure.axes
    assert duration.get_ylabel() == "mean duration (ms)"
    assert lateness.get_ylabel() == "lateness (ms)"
    assert duration.get_title() == "AllReduce 1 MiB"
    assert lines(figure, 0)["rank 3"] == pytest.approx(1.0)
    assert lines(figure, 0)["peers, median"] == pytest.approx(3.0)
    assert lines(figure, 1)["rank 3"] == pytest.approx(2.0)
    assert lines(figure, 1)["its learnt normal"] == pytest.approx(0.1)
    assert "its learnt normal" not in lines(figure, 0)
    assert "Rank 3 arrives late\n24.4% of the job's time" in [text.get_text() for text in figure.texts]
    assert drawn(figure).startswith(b"\x89PNG")


@pytest.mark.parametrize("ended", [True, False])
def test_the_incident_is_shaded_to_its_end_or_to_now(ended: bool) -> None:
    caption = CAPTION if ended else Caption(*list(vars(CAPTION).values())[:-1], ended_at=None)
    figure = incident_figure(TIMES, [panel()], None, caption)
    for axes in figure.axes:
        (shade,) = [patch for patch in axes.patches if patch.get_label() == "the incident"]
        left, right = shade.get_extents().transformed(axes.transData.inverted()).intervalx
        start, end = date2num(np.array([TIMES[20], TIMES[30 if ended else -1]]).astype("datetime64[s]"))
        assert (left, right) == pytest.approx((start, end), abs=1e-6)


def test_a_panel_a_cell_the_leading_one_first_and_widest() -> None:
    figure = incident_figure(TIMES, [panel("a"), panel("b", None), panel("c", None)], None, CAPTION)
    drawn(figure)
    upper = [axes for axes in figure.axes if axes.get_title()]
    assert [axes.get_title() for axes in upper] == ["a", "b", "c"]
    widths = [axes.get_position().width for axes in upper]
    assert widths[0] > 1.5 * widths[1]
    (legend,) = figure.legends
    labels = [text.get_text() for text in legend.get_texts()]
    assert len(labels) == len(set(labels))


def test_nobody_named_and_nothing_measured_shows_what_is_launched() -> None:
    caption = Caption("Communicator dp has stalled", "", (), float(TIMES[20]), float(TIMES[22]), None)
    figure = incident_figure(TIMES, [], course(0, 5.0, culprits=0), caption)
    (axes,) = figure.axes
    assert axes.get_ylabel() == "collectives launched per second"
    assert "ranks, median" in lines(figure, 0)
    assert drawn(figure).startswith(b"\x89PNG")


def test_names_are_no_formulas_and_gaps_are_no_faults() -> None:
    gap = course(0.001, 0.003)
    gap.culprits[:] = gap.peers[:] = np.nan
    caption = Caption("Rank 3 (on $node_{) \\frac", "", ("rank 3",), float(TIMES[20]), float(TIMES[22]), None)
    figure = incident_figure(TIMES, [Panel("$^", gap, gap)], gap, caption)
    assert drawn(figure).startswith(b"\x89PNG")


def test_no_global_state_is_touched() -> None:
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    before = dict(mpl.rcParams)
    incident_figure(TIMES, [panel()], None, CAPTION)
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == []
