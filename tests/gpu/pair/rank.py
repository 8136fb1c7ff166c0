"""One rank of two: its GPU, its stream, and how it meets the other one."""

import ctypes
from pathlib import Path
from typing import Final

import torch
import torch.distributed as dist
from gpu.pair.nccl import Communicator, Nccl

RANKS: Final = 2


class Rank:
    """A process's place in the pair. `folder` is the same for both."""

    def __init__(self, rank: int, folder: Path) -> None:
        self.rank = rank
        self.device = torch.device("cuda", rank)
        torch.cuda.set_device(self.device)
        self.stream = torch.cuda.Stream(self.device)
        self.stream_handle = ctypes.c_void_p(self.stream.cuda_stream)
        self.store = dist.FileStore(str(folder / "store"), RANKS)
        self._nccl = Nccl()
        self._communicators: list[Communicator] = []

    def communicator(self) -> Communicator:
        """Open one more communicator of both ranks; both have to, in the same order."""
        key = f"communicator-{len(self._communicators)}"
        if self.rank == 0:
            self.store.set(key, self._nccl.unique_id().hex())
        unique_id = bytes.fromhex(self.store.get(key).decode())
        communicator = self._nccl.communicator(unique_id, RANKS, self.rank)
        self._communicators.append(communicator)
        return communicator

    def zeros(self, size_bytes: int) -> tuple[torch.Tensor, ctypes.c_void_p]:
        """A buffer of 32-bit floats and its address; the tensor has to be kept."""
        tensor = torch.zeros(size_bytes // 4, device=self.device)
        torch.cuda.synchronize()
        return tensor, ctypes.c_void_p(tensor.data_ptr())

    def facts(self) -> dict[str, str]:
        """What this rank runs on."""
        return {
            "gpu": torch.cuda.get_device_name(self.device),
            "torch": torch.__version__,
            "cuda": str(torch.version.cuda),
            "nccl": ".".join(map(str, torch.cuda.nccl.version())),
        }

    def close(self) -> None:
        """Leave every communicator."""
        torch.cuda.synchronize()
        for communicator in self._communicators:
            communicator.close()
