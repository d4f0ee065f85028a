"""Source-code knowledge index of SGLang's speculative decoding."""

__version__ = "0.1.0"
