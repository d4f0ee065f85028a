"""Getting a SGLang tree: package-index release, git, plain folder, installed package."""
