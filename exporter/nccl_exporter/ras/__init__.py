# SPDX-License-Identifier: Apache-2.0
"""What NCCL's own RAS service says about the ranks of this node's communicators: evidence, not a verdict."""
