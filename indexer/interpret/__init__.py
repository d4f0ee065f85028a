"""Abstract interpreter for the Python that SGLang's argument code uses.

A module's source is rewritten (``rewrite``), compiled, and run in a sealed namespace (``modules``)
in which known values are real Python values, third-party names are opaque (``external``), what is
not known is an ``Unknown`` with its reason (``unknown``), and the outside world is whatever the
``World`` says it is. Nothing of the tree is ever imported, and no host call outside the allow-list
in ``host`` can be reached.
"""
