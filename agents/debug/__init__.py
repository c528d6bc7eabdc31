"""Finding faults of the compiler: where a program is first broken, and the smallest program that still is.

``bisect`` follows a program down its road and names the phase, the pass and the op; ``reduce`` shrinks a module as
long as a predicate holds. Both judge by the oracles of ``oracle``: a module at any level is run by itself, without the
rest of kc's road. Passes and code run in sandboxes (``kc.agents.gates.sandbox``). See docs/debugging.md.
"""
