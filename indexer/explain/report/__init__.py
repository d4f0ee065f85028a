"""The report an engineer wants for a model, an algorithm and GPUs."""
