"""What agents found, as files that people review and other tools read.

``rewrites`` writes accepted proposals as a folder of ``.mlir`` files with FileCheck tests; ``library`` is the agent
that such a folder is (``--agent linalg=DIR``). ``flashinfer`` writes regions and their solutions as Definition,
Solution and Trace JSON of FlashInfer-Bench.
"""
