"""The data model of a snapshot and its store; the hub between extraction and everything else."""
