"""The custom calls of dense linear algebra that JAX makes, on LAPACK as SciPy brings it (an optional package).

``names`` lists the targets and where they are; ``library`` finds LAPACK's routines; the rest is one file a family. All
take stacks of matrices: everything but the last dimensions is the batch.
"""
