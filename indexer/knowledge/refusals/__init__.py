"""What the lint of launch files must know of a release's resolver, in a form that ships.

``expressions`` writes guards and values in terms of fields only; ``steps`` makes a release's rules into
steps of a rehearsal (``indexer.knowledge.rehearsal``). Facts only: no message of SGLang's is kept.
"""
