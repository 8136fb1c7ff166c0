"""`python -m sentinel`."""

from sentinel.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
