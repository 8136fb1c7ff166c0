"""What the figure of a strategy shows."""

import io

import numpy as np
import pytest

from sentinel.plot.strategy import Curve, OperationPanel, strategy_figure

NAN = float("nan")


def curve(label: str) -> Curve:
    return Curve(
        label,
        np.array([8.0, 1024.0, 2**20]),
        np.array([[2e-6, 1e-6, 3e-6], [4e-6, 3e-6, 5e-6], [1e-4, NAN, NAN]]),
        np.array([[4e6, 3e6, 5e6], [NAN, NAN, NAN], [1e10, NAN, NAN]]),
    )


def test_latency_stands_above_bandwidth_in_a_column_for_each_operation() -> None:
    panels = [OperationPanel(name, (curve("RING LL"), curve("$TREE LL"))) for name in ("AllReduce", "AllGather")]
    figure = strategy_figure(panels, "a title")
    latency, other, bandwidth, _ = figure.axes
    assert (latency.get_title(), other.get_title()) == ("AllReduce", "AllGather")
    assert (latency.get_ylabel(), bandwidth.get_ylabel()) == ("latency (us)", "bus bandwidth (GB/s)")
    line = latency.get_lines()[0]
    assert np.asarray(line.get_xdata()) == pytest.approx([8, 1024, 2**20])
    assert np.asarray(line.get_ydata()) == pytest.approx([2.0, 4.0, 100.0])
    assert np.asarray(bandwidth.get_lines()[0].get_ydata()) == pytest.approx(
        [0.004, 10.0]
    )  # what is not known is left out
    assert [text.get_text() for text in latency.get_legend().get_texts()] == ["RING LL", "$TREE LL"]
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    assert buffer.getvalue().startswith(b"\x89PNG")


def test_an_operation_without_a_bandwidth_is_drawn_all_the_same() -> None:
    unknown = Curve("RING LL", np.array([8.0]), np.array([[2e-6, 1e-6, 3e-6]]), np.full((1, 3), NAN))
    figure = strategy_figure([OperationPanel("Scatter", (unknown,))], "")
    assert len(figure.axes[0].get_lines()) > 0
    assert len(figure.axes[1].get_lines()) == 0
