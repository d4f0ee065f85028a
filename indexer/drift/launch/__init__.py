"""Reading the files in which people launch SGLang. See ``read.read_launches``."""
