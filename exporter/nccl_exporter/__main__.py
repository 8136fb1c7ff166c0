"""`python -m nccl_exporter` is `nccl-exporter`."""

from nccl_exporter.cli import main

if __name__ == "__main__":
    main()
