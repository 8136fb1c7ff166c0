"""Algorithms and protocols as NCCL's environment names them."""

__all__ = ["environment"]


def environment(op: str, algo: str, proto: str) -> dict[str, str]:
    """NCCL_ALGO and NCCL_PROTO for one operation alone, which NCCL 2.24 and newer understand.

    Names are compared without regard to case, and have no underscores: `NVLS_TREE` is `nvlstree`. From
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html.
    """
    prefix = op.lower()
    named = {"NCCL_ALGO": algo.replace("_", "").lower(), "NCCL_PROTO": proto.lower()}
    return {name: f"{prefix}:{value}" for name, value in named.items() if value}
