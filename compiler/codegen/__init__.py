"""Code generation: an MLIR module of the llvm level -> LLVM IR text -> assembly, objects, PTX, shared libraries.

``llvm_ir``  translation to LLVM 24 text and its rewriting for the LLVM 22 that generates code;
``emit``     what comes out (object, assembly, PTX, optimised IR), through the object cache;
``worker``   the process that runs LLVM, so that an LLVM abort cannot take the compiler with it;
``elf``      what an ELF object defines and needs;
``shared_library``  linking an object and its C header.
"""
