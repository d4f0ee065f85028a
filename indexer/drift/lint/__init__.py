"""Lints over launches: the argument walk, one data entry per lint, suppression and fixes."""
