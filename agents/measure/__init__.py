"""Measuring two programs against each other, so that the figure can be believed.

Original and proposal run in a process of their own each; only one of them has work at a time. A round runs both, in
shuffled order, on inputs that no call has seen before; the results of every timed call are compared, so that work that
was skipped, replayed or put off shows. Nothing here imports MLIR: ``python -m kc.agents.measure.run_there JOB`` runs
where the compiler is not installed, on two artifacts.
"""
