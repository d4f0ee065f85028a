"""Launch plans from a snapshot, real runs on real GPUs, and the evidence computed from their records."""
