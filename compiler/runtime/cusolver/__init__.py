"""The linear algebra of ``kc.runtime.lapack`` that stays on the GPU, through NVIDIA's cuSOLVER (an optional library).

``names`` lists the targets and where they are; ``find`` looks for the library; ``library`` holds its functions and
handles; ``matrices`` brings operands into the form that it takes; the rest is one file a family. All take stacks of
matrices. Work is queued on the call's stream; memory for it comes from the runtime's pool.
"""
