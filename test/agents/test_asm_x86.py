"""Level asm on x86-64: what passes, what is refused by its text, and what only a run shows."""

import platform

import numpy as np
import pytest

import kc
from kc.agents import Agent, Proposal, judge
from kc.agents.execution import Call, Checks, run
from kc.agents.execution.machine_code import Code
from kc.agents.realize import RealizeError
from kc.agents.realize.x86.answer import answer
from kc.agents.realize.x86.lines import renamed
from kc.agents.regions import assembly
from kc.codegen import elf, emit

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="assembly for x86-64")

#: y[i] = k * x[i], whose reference is a loop
REFERENCE = """
llvm.func @main(%x: !llvm.ptr {kc.dims = ["N"]}, %xa: !llvm.ptr, %xo: i64, %n: i64, %xs: i64,
                %y: !llvm.ptr {kc.dims = ["N"], kc.out}, %ya: !llvm.ptr, %yo: i64, %yn: i64, %ys: i64, %k: f32)
    attributes {kc.buffers = ["memref<?xf32>", "memref<?xf32>", "f32"], kc.sizes = {N = array<i64: 0, 100>}} {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^body, ^end
^body:
  %from = llvm.getelementptr %xa[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %v = llvm.load %from : !llvm.ptr -> f32
  %p = llvm.fmul %v, %k : f32
  %to = llvm.getelementptr %ya[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %p, %to : f32, !llvm.ptr
  %next = llvm.add %i, %one : i64
  llvm.br ^head(%next : i64)
^end:
  llvm.return
}
"""
CODE = """
\t.text
\t.globl main
\t.p2align 4
\t.type main,@function
main:                       # rsi: x, rcx: n, 8(%rsp): y
\tmovq 8(%rsp), %rax
\txorl %r10d, %r10d
\tjmp .Ltest
.Lbody:
\tmovss (%rsi,%r10,4), %xmm1
\tmulss %xmm0, %xmm1
\tmovss %xmm1, (%rax,%r10,4)
\tincq %r10
.Ltest:
\tcmpq %rcx, %r10
\tjl .Lbody
\tretq
.Lend:
\t.size main, .Lend-main
"""
REGION = "".join(f"#| {line}\n" for line in REFERENCE.strip().splitlines()) + CODE


def edited(*edits):
    text = CODE
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def refused(text):
    with pytest.raises(RealizeError) as caught:
        answer(REGION, Proposal("replace_ir", ir=text), "cpu")
    return caught.value.reason


def ends(*lines):
    return edited(("\tretq\n", "".join(f"\t{line}\n" for line in lines)))


RIGHT = {
    "the same": CODE,
    "unrolled, with a register of the caller kept": edited(
        ("\tmovq 8(%rsp), %rax\n", "\tpushq %rbx\n\tmovq 16(%rsp), %rax\n\tleaq -1(%rcx), %rbx\n"),
        (".Lbody:\n", ".Ltwo:\n\tcmpq %rbx, %r10\n\tjge .Lbody\n\tmovsd (%rsi,%r10,4), %xmm1\n\tmovaps %xmm0, %xmm2\n"
         "\tshufps $0, %xmm2, %xmm2\n\tmulps %xmm2, %xmm1\n\tmovsd %xmm1, (%rax,%r10,4)\n\taddq $2, %r10\n"
         "\tcmpq %rcx, %r10\n\tjl .Ltwo\n\tjmp .Ldone\n.Lbody:\n"),
        ("\tjmp .Ltest\n", "\ttestq %rcx, %rcx\n\tjg .Ltwo\n\tjmp .Ldone\n"),
        ("\tretq\n", ".Ldone:\n\tpopq %rbx\n\tretq\n"),
    ),
    "a frame with rbp, realigned": edited(
        ("\tmovq 8(%rsp), %rax\n", "\tpushq %rbp\n\tmovq %rsp, %rbp\n\tandq $-32, %rsp\n\tsubq $64, %rsp\n"
         "\tmovss %xmm0, 32(%rsp)\n\tmovss 32(%rsp), %xmm0\n\tmovq 16(%rbp), %rax\n"),
        ("\tretq\n", "\tmovq %rbp, %rsp\n\tpopq %rbp\n\tretq\n"),
    ),
    "a constant and a function of its own": edited(
        ("\t.text\n", '\t.section .rodata.cst4,"aM",@progbits,4\n\t.p2align 2\n.Lone:\n\t.long 0x3f800000\n\t.text\n'),
        ("\tmulss %xmm0, %xmm1\n", "\tsubq $8, %rsp\n\tcallq times\n\taddq $8, %rsp\n\tmulss .Lone(%rip), %xmm1\n"),
        (".Lend:\n", ".Lend:\n\t.type times,@function\ntimes:\n\tmulss %xmm0, %xmm1\n\tretq\n"),
    ),
    "numbered labels, comments, two statements on a line": edited(
        ("\tjmp .Ltest\n", "\tjmp 1f; nop # over\n"), (".Ltest:\n", "1:\n"), (".Lbody:\n", "2:\n"), (".Lbody", "2b")
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_are_accepted(name):
    verdict = judge(REGION, Proposal("replace_ir", ir=RIGHT[name]), level="asm", budget=2.0)
    assert verdict.accepted, (verdict.reason, verdict.message)
    assert verdict.runs > 40


REFUSED = {
    # text
    "no main": (edited(("main:", "other:")), "signature.main"),
    "main is not seen": (edited(("\t.globl main\n", "")), "signature.main"),
    "another global": (edited(("\t.globl main\n", "\t.globl main\n\t.globl .Lbody\n")), "signature.symbols"),
    "weak": (edited(("\t.globl main\n", "\t.globl main\n\t.weak main\n")), "level.directive"),
    "alias": (edited(("\t.globl main\n", "\t.globl main\n\t.set memcpy, main\n")), "level.directive"),
    "equals": (edited(("\t.globl main\n", "\t.globl main\nmemcpy = main\n")), "level.instruction"),
    "incbin": (ends("retq", '.incbin "/etc/passwd"'), "level.directive"),
    "include": (ends("retq", '.include "x"'), "level.directive"),
    "macro": (ends("retq", ".macro m", "hlt", ".endm"), "level.directive"),
    "rept": (ends(".rept 2", "retq", ".endr"), "level.directive"),
    "bytes among instructions": (ends(".byte 0x0f, 0x05", "retq"), "level.directive"),
    "zeros among instructions": (ends("retq", ".zero 8"), "level.directive"),
    "filling among instructions": (ends(".p2align 4, 0xf4", "retq"), "level.directive"),
    "data": (ends("retq", ".data", ".long 1"), "level.directive"),
    "bss": (ends("retq", '.section .bss,"aw",@nobits', ".zero 8"), "level.directive"),
    "constructor": (ends("retq", '.section .init_array,"aw",@init_array', ".quad main"), "level.directive"),
    "writable constants": (ends("retq", '.section .rodata.x,"aw",@progbits', ".long 1"), "level.directive"),
    "code in constants": (ends("retq", ".section .rodata", "retq"), "level.directive"),
    "pushed section": (ends("retq", '.pushsection .text'), "level.directive"),
    "address in constants": (ends("retq", ".section .rodata", ".quad main"), "level.directive"),
    "intel syntax": (edited(("\t.text\n", "\t.text\n\t.intel_syntax noprefix\n")), "level.directive"),
    "16 bit": (edited(("\t.text\n", "\t.text\n\t.code16\n")), "level.directive"),
    "NUL": (CODE + "\0", "parse.asm"),
    "block comment": (CODE.replace("\tretq", "/* \tretq */ hlt"), "parse.asm"),
    "string without an end": (ends("retq", '.ident "a'), "parse.asm"),
    "strings that hide a statement": (ends('.ident "a" ; hlt ; .ident "b"', "retq"), "level.instruction"),
    "a quote as a character": (ends("movl $'\"', %eax ; hlt ; movl $'\"', %eax", "retq"), "parse.asm"),
    "an escape that kc does not count": (ends("retq", ".section .rodata", '.asciz "\\x41"'), "level.directive"),
    "personality": (ends(".cfi_personality 3, main", "retq"), "level.directive"),
    "defined twice": (ends("retq", ".Lbody:", "retq"), "verify.asm"),
    "no such instruction": (ends("frobnicate %eax", "retq"), "level.instruction"),
    "operands that no instruction has": (ends("addq %xmm0, %rax", "retq"), "verify.asm"),
    "no such label": (edited(("jl .Lbody", "jl .Lnowhere")), "signature.external"),
    # instructions
    **{
        name: (ends(name, "retq"), "level.instruction")
        for name in (
            "syscall", "sysenter", "int $0x80", "int3", "hlt", "cli", "rdtsc", "rdtscp", "rdpmc", "cpuid",
            "rdseed %eax", "rdrand %rax", "xgetbv", "inb %dx, %al", "outsb", "lretq", "iretq", "wrmsr",
            "lgdt (%rax)", "swapgs", "wrfsbase %rax", "rdfsbase %rax", "movq %fs:0, %rax", "movw %ax, %ds",
            "movq %rax, %cr0", "std", "popfq", "movq %rax, %dr0", "ldmxcsr 8(%rsp)", "fldcw (%rsp)", "fninit",
            "fldz", "movq %mm0, %rax", "monitor", "mwait", "clflush (%rsi)", "xbegin .Lbody", "vmcall",
            "xrstor (%rax)", "fxrstor (%rax)", "wrpkru", "enter $8, $0", "movdir64b (%rax), %rcx", "jmp *%rax",
            "callq *(%rax)", "jmp .Lbody+1", "jmpq *.Lbody(%rip)", "data16 nop", "leaq main(%rip), %rax",
            "movl main(%rip), %eax", "movl 4096, %eax", "movq $main, %rax", "rep addq %rax, %rcx",
            "tileloadd (%rax), %tmm0", "notrack jmp .Lbody",
        )
    },
    "outside of a constant": (
        edited(
            ("\t.text\n", "\t.section .rodata\n.Lone:\n\t.long 1\n\t.text\n"),
            ("\tretq", "\tmovl .Lone+4(%rip), %eax\n\tretq"),
        ),
        "aliasing.bounds",
    ),
    "a function of the C library": (
        ends("subq $8, %rsp", "callq system@PLT", "addq $8, %rsp", "retq"), "signature.external",
    ),
    "a function that kc has": (
        ends("subq $8, %rsp", "callq expf@PLT", "addq $8, %rsp", "retq"), "signature.external",
    ),
    "jump to here": (ends("jmp .", "retq"), "signature.external"),
    "calls itself": (ends("subq $8, %rsp", "callq main", "addq $8, %rsp", "retq"), "resource.recursion"),
    "a frame too large": (ends("subq $1000000, %rsp", "addq $1000000, %rsp", "retq"), "resource.stack"),
    "return address as a label": (ends("callq .Lbody", "retq"), "signature.external"),
    # convention
    "rbx": (ends("movl $1, %ebx", "retq"), "signature.convention"),
    "bl": (ends("movb $1, %bl", "retq"), "signature.convention"),
    "r12 in a branch that no test takes": (
        ends("cmpq $77777777, %rcx", "jne .Lq", "movq %rcx, %r12", ".Lq:", "retq"), "signature.convention",
    ),
    "rbp": (ends("xorl %ebp, %ebp", "retq"), "signature.convention"),
    "r15 by xchg": (ends("xchgq %r15, %rax", "retq"), "signature.convention"),
    "r14 by mulx": (ends("mulxq %rax, %r14, %rdx", "retq"), "signature.convention"),
    "given back the wrong way round": (
        ends("pushq %rbx", "pushq %r12", "popq %rbx", "popq %r12", "retq"), "signature.convention",
    ),
    "a slot that is written over": (
        ends("pushq %rbx", "xorl %ebx, %ebx", "movups %xmm0, -8(%rsp)", "popq %rbx", "retq"), "signature.convention",
    ),
    "pushed after it was changed": (ends("xorl %ebx, %ebx", "pushq %rbx", "popq %rbx", "retq"), "signature.convention"),
    "stack not given back": (ends("subq $8, %rsp", "retq"), "signature.convention"),
    "stack pointer computed": (ends("subq %rax, %rsp", "addq %rax, %rsp", "retq"), "signature.convention"),
    "stack pointer from elsewhere": (ends("movq %rax, %rsp", "retq"), "signature.convention"),
    "pops what is its caller's": (ends("popq %rax", "pushq %rax", "retq"), "signature.convention"),
    "return address written": (ends("movq %rax, (%rsp)", "retq"), "signature.convention"),
    "return by push": (ends("pushq %rax", "retq"), "signature.convention"),
    "return that pops": (ends("retq $8"), "signature.convention"),
    "different on two ways": (
        ends("cmpq $3, %rcx", "jl .Lq", "pushq %rax", ".Lq:", "retq"), "signature.convention",
    ),
    "no return": (edited(("\tretq\n", "")), "signature.convention"),
    "below the red zone": (ends("movq %rax, -256(%rsp)", "retq"), "signature.convention"),
    "stores that are not fenced": (ends("movntiq %rax, (%rsi)", "retq"), "signature.convention"),
    "call on a stack that is not aligned": (
        ends("callq f", "retq", ".type f,@function", "f:", "retq"), "signature.convention",
    ),
    "too long": ("#" * (5 << 20), "parse.size"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_text_is_refused(name):
    text, reason = REFUSED[name]
    assert refused(text) == reason


def test_extensions_that_the_target_lacks_are_refused():
    wide = ends("vpaddd %ymm0, %ymm1, %ymm1", "vzeroupper", "retq")
    answer(REGION, Proposal("replace_ir", ir=wide), "cpu:x86-64-v3")
    for target, text in (("cpu:x86-64-v2", wide), ("cpu:x86-64-v3", wide.replace("ymm", "zmm"))):
        with pytest.raises(RealizeError, match="the target has no") as caught:
            answer(REGION, Proposal("replace_ir", ir=text), target)
        assert caught.value.reason == "level.instruction"


MULTIPLY, START = "\tmulss %xmm0, %xmm1\n", "\txorl %r10d, %r10d\n"


def after(place, *lines):
    return edited((place, place + "".join(f"\t{line}\n" for line in lines)))


WRONG = {
    "one element too many": (edited(("jl .Lbody", "jle .Lbody")), "aliasing.bounds"),
    "the last element left out": (
        edited(("\tcmpq %rcx, %r10\n", "\tleaq 1(%r10), %rdx\n\tcmpq %rcx, %rdx\n")), "numeric",
    ),
    "input written": (edited(("%xmm1, (%rax,", "%xmm1, (%rsi,")), "aliasing.read-only"),
    "the pointer to free by": (edited(("movss (%rsi", "movss (%rdi")), "aliasing.bounds"),
    "sixteen bytes at a time": (edited(("movss (%rsi", "movups (%rsi")), "aliasing.bounds"),
    "signed zero": (after(MULTIPLY, "xorps %xmm2, %xmm2", "addss %xmm2, %xmm1"), "numeric.zero"),
    "endless for one size": (edited((".Ltest:\n", ".Ltest:\n\tcmpq $17, %rcx\n\tje .Ltest\n")), "resource.time"),
    "what stood on the stack": (after(START, "movss -40(%rsp), %xmm2", "addss %xmm2, %xmm0"), "numeric"),
    "what stood in a register": (after(MULTIPLY, "addss %xmm9, %xmm1"), "numeric"),
    "the upper part of a register": (after(START, "unpckhps %xmm0, %xmm0"), "numeric"),
    "a wrong way where the address is aligned": (
        after(START, "testq $63, %rsi", "jne .Ltest", "xorps %xmm0, %xmm0"), ("numeric", "aliasing"),
    ),
    "trap": (ends("ud2"), "aliasing.abort"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_answers_are_rejected_by_running(name):
    text, reason = WRONG[name]
    verdict = judge(REGION, Proposal("replace_ir", ir=text), level="asm", seed=3, budget=2.0)
    assert not verdict.accepted
    assert verdict.reason.startswith(reason), (verdict.reason, verdict.message)


def test_the_pointer_to_free_by_is_not_the_one_to_use_at_llvm_either():
    text = REFERENCE.replace("%ya[%i]", "%y[%i]")
    verdict = judge(REFERENCE, Proposal("replace_ir", ir=text), level="llvm", budget=2.0)
    assert verdict.reason == "aliasing.bounds"


def test_what_is_asked_of_a_proposal():
    verdict = judge(REGION, Proposal("replace_ir", ir=CODE, assumes=("nnan",)), level="asm")
    assert verdict.reason == "assumptions.undeclared"
    assert judge(REGION, Proposal("replace_ir", ir=CODE, guard="N > 3"), level="asm").reason == "verify.guard"
    assert judge(REGION, Proposal("schedule", knobs={"x": 1}), level="asm").reason == "level.kind"
    assert judge(REGION, Proposal("replace_ir", ir=CODE, level="llvm"), level="asm").reason == "level.higher"
    assert judge(REGION, Proposal("keep"), level="asm").accepted


def test_a_region_of_level_llvm_is_answered_with_assembly(tmp_path):
    twice = """func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
      %r = stablehlo.add %x, %x : tensor<64xf32>
      return %r : tensor<64xf32>
    }"""
    seen = []

    class Adds(Agent):
        name, levels = "adds", ("llvm",)

        def propose(self, observation):
            seen.append(observation)
            code = (
                "\t.text\n\t.globl main\nmain:\n\txorl %eax, %eax\n\tmovq 8(%rsp), %rdx\n"
                "1:\tmovss (%rsi,%rax,4), %xmm0\n\taddss %xmm0, %xmm0\n\tmovss %xmm0, (%rdx,%rax,4)\n"
                f"\tincl %eax\n\tcmpl $64, %eax\n\t{'jle' if not observation.attempts else 'jl'} 1b\n\tretq\n"
            )
            return Proposal("replace_ir", ir=code, level="asm") if len(observation.attempts) < 2 else None

    ledger = tmp_path / "ledger.jsonl"
    made = kc.compile(twice, agents=[Adds()], ledger=ledger)
    (decision,) = made.session.decisions
    assert decision.accepted and decision.level == "llvm" and not made.session.remarks
    assert decision.tried[0].judgement().reason == "aliasing.bounds" and seen[0].level == "llvm"
    x = np.linspace(-1, 1, 64, dtype=np.float32)
    np.testing.assert_array_equal(made(x)[0], x + x)
    assert "asm.o" in made.files
    assert kc.compile(twice, ledger=ledger, ledger_mode="frozen").files == made.files
    assert judge(REFERENCE, Proposal("replace_ir", ir=CODE, level="asm"), level="llvm", budget=1.0).accepted


# ---- the executor by itself: what it sees does not hang on the rules for texts


def called(*lines):
    text = ends(*lines)
    code = Code(("memref<?xf32>", "memref<?xf32>", "f32"), emit.host_object(emit.module_asm(text), opt="codegen-only"))
    call = Call((np.arange(5, dtype=np.float32), np.zeros(5, np.float32), np.float32(2.5)), guard="after")
    (outcome,) = run(code.text(), "asm", [call], checks=Checks(roles=("in", "out", "in"), seconds=1))
    return outcome


BROKEN = {
    "register rbx": ["movl $1, %ebx", "retq"],
    "register r15": ["incq %r15", "retq"],
    "stack pointer 8 bytes": ["retq $8"],
    "direction flag": ["std", "retq"],
    "MXCSR": ["pushq %rax", "stmxcsr (%rsp)", "orl $0x8040, (%rsp)", "ldmxcsr (%rsp)", "popq %rax", "retq"],
    "x87 control": ["pushq $0x37b", "fldcw (%rsp)", "popq %rax", "retq"],
    "x87 stack": ["fldz", "retq"],
    "frame of its caller": ["movq %rax, 200(%rsp)", "retq"],
    "not aligned": ["callq expf@PLT", "retq"],
    "while the direction": ["subq $8, %rsp", "std", "callq expf@PLT", "addq $8, %rsp", "retq"],
    "another MXCSR": ["pushq $0x9fc0", "ldmxcsr (%rsp)", "callq expf@PLT", "popq %rax", "retq"],
}  # fmt: skip


@pytest.mark.parametrize("said", BROKEN)
def test_the_convention_is_checked_at_every_call(said):
    fault = called(*BROKEN[said]).fault
    assert fault is not None and fault.kind == "convention"
    assert said in fault.message


def test_a_call_after_a_broken_one_is_whole():
    assert called("pushq $0x9fc0", "ldmxcsr (%rsp)", "popq %rax", "retq").fault is not None
    outcome = called("retq")
    assert outcome.fault is None
    np.testing.assert_array_equal(outcome.results[0], np.arange(5, dtype=np.float32) * np.float32(2.5))
    tiny = np.float32(1e-40)
    assert tiny * np.float32(0.5) != 0  # denormals are not flushed here


def test_strings_stay_as_they_are():
    said = r'main # not; a /* comment, \"main\" \303\244\n'
    constants = f'\t.section .rodata\n.Ltext:\n\t.asciz "{said}"\n# main\n.Lone:\n\t.long 1\n\t.text\n'
    text = edited(("\t.text\n", constants), ("\tretq\n", "\tmovl .Lone(%rip), %eax\n\tretq\n"))
    made = answer(REGION, Proposal("replace_ir", ir=text), "cpu")
    called = renamed(made.ir, "main", "kernel")
    assert f'"{said}"' in called and "\nkernel:" in called and "# main" not in called
    found = elf.read(emit.host_object(emit.module_asm(called), opt="codegen-only"))
    (constants,) = [section for section in found.sections if section.name == ".rodata"]
    assert constants.data == b'main # not; a /* comment, "main" \303\244\n\0\1\0\0\0'


def test_objects_are_read_whole():
    found = elf.read(emit.host_object(emit.module_asm(CODE), opt="codegen-only"))
    (main,) = [symbol for symbol in found.symbols if symbol.name == "main"]
    assert not main.local and found.sections[main.section].name == ".text" and main.size > 20
    assert assembly.parts(REGION).code.strip() == CODE.strip()
