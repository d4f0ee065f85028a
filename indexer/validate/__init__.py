"""Launch plans from a snapshot, real runs on real GPUs, and the records that the evidence matrix is computed from."""
