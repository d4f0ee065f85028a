"""Named code paths: from ``queries/paths.toml`` and the call graph to ordered, cited steps."""
