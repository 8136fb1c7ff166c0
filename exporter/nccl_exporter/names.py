"""The name table of one process: names of operations, algorithms and protocols."""

from nccl_exporter import layout, text
from nccl_exporter.record import Buffer


class Names:
    """The names that a process has written so far; a name that was read once never changes.

    Names are only ever added, so that a name that a row needs is there when the table is read after the row.
    """

    def __init__(self) -> None:
        self._buffer = Buffer(layout.NAME, layout.NAMES)
        self._known: dict[int, str] = {}
        self._is_fresh = False

    def begin(self) -> None:
        """Rows have been read: the table may have to be read again for them."""
        self._is_fresh = False

    def get(self, descriptor: int, index: int) -> str | None:
        """The name at `index`, None when it is not there or is no name. Raises SourceError when the file is cut."""
        if index not in self._known and not self._is_fresh:
            self._read(descriptor)
        return self._known.get(index)

    def _read(self, descriptor: int) -> None:
        self._is_fresh = True
        table = self._buffer.fill(descriptor, layout.NAMES_OFFSET)
        for index, (state, field) in enumerate(zip(table["state"].tolist(), table["text"].tolist(), strict=True)):
            if state == layout.OPEN and index not in self._known:
                name = text.name(field)
                if name is not None:
                    self._known[index] = name
