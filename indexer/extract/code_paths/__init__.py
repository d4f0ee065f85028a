"""Named code paths: from ``queries/paths.toml`` and the call graph to ordered, cited steps."""

from indexer.extract.code_paths.extract import extract_code_paths, path_counts

__all__ = ["extract_code_paths", "path_counts"]
