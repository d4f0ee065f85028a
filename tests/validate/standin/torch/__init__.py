"""Stands in for torch's device queries (process-handling tests only)."""

import os


class _Properties:
    name, major, minor, total_memory, multi_processor_count = "Stand-in", 9, 0, 1 << 30, 1


class version:
    cuda = "0.0"


class cuda:
    @staticmethod
    def is_available() -> bool:
        return os.environ.get("STANDIN_GPUS", "1") != "0"

    @staticmethod
    def device_count() -> int:
        return int(os.environ.get("STANDIN_GPUS", "1"))

    @staticmethod
    def get_device_properties(_index: int) -> _Properties:
        return _Properties()
