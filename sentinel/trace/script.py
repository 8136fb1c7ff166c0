"""Player scripts: one binary file per rank, which `nccl-trace-player` maps and plays.

`plugin/player/script.h` describes the same layout; a test holds the two together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sentinel.errors import TraceError
from sentinel.trace.event import EVENT, NONE
from sentinel.trace.segment import SEGMENT_CAPTURE, Segment, cut_capture, cut_segment, number_operations
from sentinel.trace.step_range import StepRange
from sentinel.trace.string_table import StringTable
from sentinel.trace.trace import RankTrace, Trace

__all__ = ["MAGIC", "VERSION", "compile_scripts"]

MAGIC = b"NCCLPLAY"
VERSION = 1

SECTION = np.dtype([("offset", "<u8"), ("count", "<u8")])
COMMUNICATOR = np.dtype(
    [
        ("id", "<u8"),
        ("rank", "<i4"),
        ("nranks", "<i4"),
        ("nnodes", "<i4"),
        ("name", "<u4"),  # string, or NONE
        ("init_thread", "<u4"),
        ("finalize_thread", "<u4"),
        ("closing", "<u4"),  # place in the order of closing
        ("index", "<u4"),  # as the recorded process numbered it
    ]
)
SEGMENT = np.dtype([("start_ns", "<i8"), ("length_ns", "<i8"), ("name", "<u4"), ("slots", "<u4")])
SPAN = np.dtype([("first", "<u8"), ("count", "<u8")])  # events of one thread in one segment
TOTAL = np.dtype([("first", "<u8"), ("count", "<u8")])  # first sequence number, operations in one iteration
# In this order in the file, and in the header.
SECTIONS = ("text", "strings", "communicators", "threads", "segments", "spans", "counters", "totals", "events")
HEADER = np.dtype(
    [("magic", "S8"), ("version", "<u4"), ("rank", "<i4"), ("file_bytes", "<u8"), ("sections", SECTION, len(SECTIONS))]
)


@dataclass(frozen=True)
class _Cut:
    """A segment of the whole job: the same start and length for all ranks, ns."""

    name: str
    steps: StepRange
    start_ns: int
    length_ns: int


def compile_scripts(trace: Trace, segments: Mapping[str, StepRange], directory: Path) -> tuple[Path, ...]:
    """Write `rankNN.script` for each rank into an existing folder; returns their paths by rank.

    TraceError when there is no segment, a name is not usable on the player's command line, a range is not in the trace,
    or a file cannot be written.
    """
    if not segments:
        raise TraceError("cannot compile a trace", where=str(trace.directory), why="no segment was named")
    cuts = []
    for name, steps in segments.items():
        if not name or len(name.encode()) > 64 or any(letter.isspace() or letter in '"\\\0' for letter in name):
            raise TraceError(
                "cannot name a segment", where=repr(name), hint="Allowed are 1 to 64 letters without spaces and quotes"
            )
        steps.check(trace.steps, f"{trace.directory}, segment {name}")
        start, end = (int(trace.boundaries_ns[step]) for step in (steps.first, steps.last))
        if end <= start:
            raise TraceError(f"cannot play steps {steps}", where=str(trace.directory), why="no time passes in them")
        cuts.append(_Cut(name, steps, start, end - start))
    paths = []
    for rank in trace.ranks:
        path = directory / f"rank{rank.recording.rank:02d}.script"
        try:
            path.write_bytes(_compile(rank, cuts))
        except OSError as error:
            raise TraceError("cannot write a player script", where=str(path), why=error.strerror or "") from error
        paths.append(path)
    return tuple(paths)


def _compile(rank: RankTrace, cuts: Sequence[_Cut]) -> bytes:
    recording = rank.recording
    strings = StringTable()
    strings.codes(recording.strings.texts())
    numbering = number_operations(rank)
    parts = [(SEGMENT_CAPTURE, 0, 0, cut_capture(rank, numbering))]
    parts += [
        (cut.name, cut.start_ns, cut.length_ns, cut_segment(rank, numbering, cut.steps, cut.start_ns, cut.length_ns))
        for cut in cuts
    ]
    segments = np.array(
        [(start, length, strings.code(name), part.slots) for name, start, length, part in parts], SEGMENT
    )
    spans, totals, events = _lay_out([part for *_, part in parts])
    thread_of = {tid: place for place, tid in enumerate(recording.threads)}
    communicators = np.array(
        [
            (
                each.id,
                each.rank,
                each.nranks,
                each.nnodes,
                NONE if each.name is None else strings.code(each.name),
                thread_of[each.init_tid],
                thread_of[each.finalize_tid],
                each.closing,
                each.index,
            )
            for each in recording.communicators
        ],
        COMMUNICATOR,
    )
    texts = [text.encode() + b"\0" for text in strings.texts()]
    offsets = np.cumsum([0, *map(len, texts)])[:-1]
    return _join(
        recording.rank,
        {
            "text": np.frombuffer(b"".join(texts), np.uint8),
            "strings": offsets.astype("<u4"),
            "communicators": communicators,
            "threads": np.array(recording.threads, "<i8"),
            "segments": segments,
            "spans": spans,
            "counters": numbering.counters.astype("<u4"),
            "totals": totals,
            "events": events,
        },
    )


def _lay_out(parts: Sequence[Segment]) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void], npt.NDArray[np.void]]:
    """All segments' spans (one per thread), totals (one per counter) and events, one after the other."""
    lengths = np.concatenate([part.per_thread for part in parts])
    spans = np.zeros(len(lengths), SPAN)
    spans["count"] = lengths
    spans["first"] = np.cumsum(lengths) - lengths
    totals = np.zeros(sum(len(part.per_counter) for part in parts), TOTAL)
    totals["count"] = np.concatenate([part.per_counter for part in parts])
    totals["first"] = np.concatenate([part.first_sequence for part in parts])
    return spans, totals, np.concatenate([part.events for part in parts], dtype=EVENT)


def _join(rank: int, sections: Mapping[str, npt.NDArray[np.generic]]) -> bytes:
    """The header and the sections, each at a multiple of 8 bytes."""
    header = np.zeros((), HEADER)
    position = HEADER.itemsize
    chunks: list[bytes] = []
    for place, name in enumerate(SECTIONS):
        data = sections[name].tobytes()
        header["sections"][place] = (position, len(sections[name]))
        chunks.append(data + bytes(-len(data) % 8))
        position += len(chunks[-1])
    header["magic"], header["version"], header["rank"], header["file_bytes"] = MAGIC, VERSION, rank, position
    return header.tobytes() + b"".join(chunks)
