"""Make the demo's traces from recorded ones: the same callbacks but the network proxy's, which are nine in ten.

    python scripts/trim_traces.py FOLDER-OF-TRACES [NAME …]

FOLDER-OF-TRACES holds NAME/rankRR.jsonl.xz; the result is written to sentinel/demo/traces/NAME/.
"""

import argparse
import json
import lzma
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "sentinel" / "demo" / "traces"
PROXY_TYPES = {"ProxyOp", "ProxyStep", "ProxyCtrl", "NetPlugin"}
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME}]


def trim(source: Path, target: Path) -> int:
    """Write the rows of one rank's file that the demo needs; the size of the result in bytes."""
    with lzma.open(source, "rt", encoding="utf-8") as rows:
        kept = [row for row in rows if json.loads(row).get("type") not in PROXY_TYPES]
    target.write_bytes(lzma.compress("".join(kept).encode(), format=lzma.FORMAT_XZ, filters=FILTERS))
    return target.stat().st_size


def main() -> None:
    """Trim every named trace."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, metavar="FOLDER-OF-TRACES")
    parser.add_argument("names", nargs="*", default=["late1ms", "healthy", "stall2", "mixchange"], metavar="NAME")
    arguments = parser.parse_args()
    for name in arguments.names:
        files = sorted((arguments.source / name).glob("rank*.jsonl.xz"))
        if not files:
            parser.error(f"{arguments.source / name} holds no rank*.jsonl.xz")
        folder = TARGET / name
        folder.mkdir(parents=True, exist_ok=True)
        total = sum(trim(file, folder / file.name) for file in files)
        print(f"{folder}: {len(files)} files, {total / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
