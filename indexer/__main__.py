"""``python -m indexer`` is the same command as ``indexer``."""

from indexer.cli import main

if __name__ == "__main__":
    main()
