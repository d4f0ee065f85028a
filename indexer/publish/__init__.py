"""See design notes in README.md."""
