"""Where a plan runs: this machine, one reached by OpenSSH, or a Ray cluster."""
