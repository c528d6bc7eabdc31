"""What the assembly of a function may hold: statements one by one.

Code stands in ``.text``, constants in ``.rodata`` sections, and nothing anywhere else. There is one global symbol,
``main``. Jumps go to labels, calls to functions of the text or to those that kc's own code calls, and memory is
addressed through registers or as constants of the text.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from kc.agents.realize.x86.instructions import has, needs
from kc.agents.realize.x86.lines import SYMBOL, Statement, refuse

MAIN = "main"
#: no leading zeros: for the assembler they mean octal
_NUMBER = r"[-+]?(?:0x[0-9a-fA-F]+|0|[1-9]\d*)"
_RODATA = re.compile(r"\.rodata(\.[\w.]+)?$")
#: directives that place bytes -> bytes of each operand
_DATA = {
    ".byte": 1, ".short": 2, ".value": 2, ".2byte": 2, ".hword": 2, ".long": 4, ".int": 4, ".4byte": 4, ".quad": 8,
    ".8byte": 8, ".octa": 16, ".float": 4, ".single": 4, ".double": 8,
}  # fmt: skip
_FLOATS = (".float", ".single", ".double")
_FLOAT = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|0x[0-9a-fA-F]+)$")
#: bytes of constants that a text may have
_MOST_DATA = 16 << 20
#: unwind tables, which nobody reads; whatever else stands in them refers to other symbols
_CFI = re.compile(
    r"\.cfi_(startproc|endproc|def_cfa(_offset|_register)?|adjust_cfa_offset|offset|rel_offset|restore(_state)?"
    r"|remember_state|same_value|undefined|register|sections)$"
)
_REGISTER = re.compile(r"%(st\(?\d?\)?|[a-z][a-z0-9]*)")
#: general and vector registers, and masks
_USUAL = re.compile(
    r"%(r(1[0-5]|[89])[dwb]?|[re]?([abcd]x|[sd]i|[sb]p)|[abcd][lh]|(si|di|sp|bp)l|rip|[xyz]mm([12]?\d|3[01])|k[0-7])$"
)
#: prefix -> names that it goes with
_STRING = re.compile(r"(movs|stos|lods|scas|cmps)[bwlq]$")
_PREFIXED = {
    "": re.compile(""),
    "lock": re.compile(r"(adc?d?|and|bt[crs]|cmpxchg|dec|inc|neg|not|or|sbb|sub|xor|xadd|xchg)\w*$"),
    **dict.fromkeys(("rep", "repe", "repz", "repne", "repnz"), _STRING),
}  # fmt: skip
_BRANCH = re.compile(r"j\w+|call\w*|loop\w*")
_TARGET = re.compile(rf"({SYMBOL}|\d+@\d+)(@PLT)?$")
_IN_MEMORY = re.compile(rf"(?P<symbol>{SYMBOL}|\d+@\d+)(?:\s*(?P<offset>[-+](?:0x[0-9a-fA-F]+|0|[1-9]\d*)))?\(%rip\)$")
_PLAIN_MEMORY = re.compile(rf"\*?(?:{_NUMBER})?\((?:%[a-z0-9]+)?(?:,\s*%[a-z0-9]+(?:,\s*[1248])?)?\)$")
_DECORATION = re.compile(r"\s*\{(%k[1-7]|z|1to\d+|r[nduz]-sae|sae)\}")


@dataclasses.dataclass(frozen=True)
class Permits:
    """What one function's assembly may use: ``features`` of the target, ``names`` of instructions and functions that
    kc's own code has."""

    features: frozenset[str]
    names: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()


@dataclasses.dataclass
class Layout:
    """Labels of code and of constants. ``constants``: label -> (section, offset); ``sizes``: section -> bytes."""

    code: dict[str, int] = dataclasses.field(default_factory=dict)
    functions: set[str] = dataclasses.field(default_factory=set)
    constants: dict[str, tuple[str, int]] = dataclasses.field(default_factory=dict)
    sizes: dict[str, int] = dataclasses.field(default_factory=dict)


def instructions(statements: Sequence[Statement]) -> frozenset[str]:
    """The names of the instructions of a text."""
    return frozenset(s.name for s in statements if s.kind == "instruction")


def check(statements: Sequence[Statement], permits: Permits) -> Layout:
    """Hold a text to the rules. Raises RealizeError at the first statement that breaks one."""
    layout = _laid_out(statements)
    for statement in statements:
        if statement.kind == "instruction":
            _instruction(statement, layout, permits)
    return layout


def _laid_out(statements: Sequence[Statement]) -> Layout:
    """Check directives, and find where labels stand."""
    layout, section, globals_ = Layout(), "", set()
    for number, statement in enumerate(statements):
        if statement.kind == "label":
            if statement.name in layout.code or statement.name in layout.constants:
                raise refuse("verify.asm", statement, "this label is defined twice")
            if section == ".text":
                layout.code[statement.name] = number
            elif section:
                layout.constants[statement.name] = (section, layout.sizes.get(section, 0))
            else:
                raise refuse("verify.asm", statement, "a label before any section: begin with '.text'")
        elif statement.kind == "instruction":
            if section != ".text":
                raise refuse("level.directive", statement, "instructions stand in section .text")
        elif statement.name in (".text", ".section"):
            section = _section(statement)
        elif statement.name in (".globl", ".global", ".hidden"):
            if statement.operands != (MAIN,):
                raise refuse("signature.symbols", statement, f"only '{MAIN}' is seen from outside")
            globals_.add(statement.name[:5])
        elif statement.name == ".type":
            _type(statement, layout)
        else:
            _directive(statement, section, layout)
    if MAIN not in layout.code:
        raise refuse("signature.main", 1, f"the text does not define '{MAIN}' in section .text")
    if ".glob" not in globals_:
        raise refuse("signature.main", 1, f"'{MAIN}' is not visible: '.globl {MAIN}' is missing")
    layout.functions.add(MAIN)
    strange = layout.functions - layout.code.keys()
    if strange:
        raise refuse("verify.asm", 1, f"'{min(strange)}' is called a function and not defined in section .text")
    return layout


def _section(statement: Statement) -> str:
    if statement.name == ".text":
        if statement.operands:
            raise refuse("level.directive", statement, ".text takes no subsection")
        return ".text"
    name = statement.operands[0].strip('"') if statement.operands else ""
    flags = [operand.strip('"') for operand in statement.operands[1:]]
    if name == ".note.GNU-stack" and flags in ([], ["", "@progbits"]):
        return name
    if name == ".text" and flags in ([], ["ax", "@progbits"]):
        return name
    constant = not flags or (set(flags[0]) <= set("aMS") and flags[1:2] == ["@progbits"])
    if _RODATA.match(name) and constant and all(flag.isdigit() for flag in flags[2:]):
        return name
    raise refuse("level.directive", statement, "code stands in .text, constants in .rodata; there is no other section")


def _type(statement: Statement, layout: Layout) -> None:
    if len(statement.operands) == 2 and re.match(rf"{SYMBOL}$", statement.operands[0]):
        kind = statement.operands[1].strip('"').lstrip("@")
        if kind == "function":
            layout.functions.add(statement.operands[0])
        if kind in ("function", "object"):
            return
    raise refuse("level.directive", statement, "a symbol is a @function or an @object")


def _directive(statement: Statement, section: str, layout: Layout) -> None:
    name, operands = statement.name, statement.operands
    if name in (".p2align", ".align", ".balign"):
        numbers = [int(o, 0) if re.match(_NUMBER + "$", o) else 1 if not o else -1 for o in operands]
        most = 6 if name == ".p2align" else 64
        fine = numbers and 0 <= numbers[0] <= most and (name == ".p2align" or numbers[0].bit_count() == 1)
        # in code the assembler fills with instructions that do nothing; another filling would be code
        filled = section == ".text" and operands[1:2] not in ((), ("",), ("0x90",))
        if not fine or -1 in numbers or len(numbers) > 3 or filled:
            raise refuse("level.directive", statement, "alignments are powers of two up to 64, without a filling")
        to = 1 << numbers[0] if name == ".p2align" else numbers[0]
        layout.sizes[section] = -(-layout.sizes.get(section, 0) // to) * to
        return
    if name == ".size":
        if len(operands) == 2 and all(re.fullmatch(r"[\w.$@]+(\s*-\s*[\w.$@]+)?", o) for o in operands):
            return
    elif name in (".file", ".ident"):
        if len(operands) == 1 and operands[0].startswith('"'):
            return
    elif _CFI.match(name):
        if all(re.fullmatch(rf"%\w+|{_NUMBER}|\.eh_frame|\.debug_frame", o) for o in operands):
            return
    elif name in _DATA or name in (".zero", ".ascii", ".asciz", ".string"):
        _data(statement, section, layout)
        return
    raise refuse("level.directive", statement, "this directive has no place in the assembly of a function")


def _data(statement: Statement, section: str, layout: Layout) -> None:
    if not _RODATA.match(section):
        raise refuse("level.directive", statement, "bytes are placed in .rodata sections, never among instructions")
    name, operands = statement.name, statement.operands
    if name == ".zero":
        if len(operands) != 1 or not re.fullmatch(r"0|[1-9]\d{0,9}", operands[0]):
            raise refuse("level.directive", statement, ".zero takes a number of bytes")
        size = int(operands[0])
    elif name in _DATA:
        wanted = _FLOAT if name in _FLOATS else re.compile(_NUMBER + "$")
        if not operands or not all(wanted.match(operand) for operand in operands):
            raise refuse("level.directive", statement, "constants are numbers")
        size = _DATA[name] * len(operands)
    else:
        if len(operands) != 1 or not re.fullmatch(r'"(?:[^"\\]|\\(?:[0-7]{3}|[bfnrt"\\]))*"', operands[0]):
            raise refuse("level.directive", statement, "one string, with escapes \\n, \\t … or of three octal digits")
        size = len(re.sub(r"\\(?:[0-7]{3}|.)", "x", operands[0])) - 2 + (name != ".ascii")
    layout.sizes[section] = layout.sizes.get(section, 0) + size
    if sum(layout.sizes.values()) > _MOST_DATA:
        raise refuse("resource.allocation", statement, f"constants have more than {_MOST_DATA:,} bytes")


def _instruction(statement: Statement, layout: Layout, permits: Permits) -> None:
    text = ", ".join(statement.operands)
    wanted = needs(statement.name, text)
    if wanted is None and statement.name not in permits.names:
        raise refuse("level.instruction", statement, "this is none of the instructions that a function may use")
    missing = [extension for extension in wanted or () if not has(permits.features, extension)]
    if missing and statement.name not in permits.names:
        raise refuse("level.instruction", statement, f"the target has no {missing[0]}")
    if not _PREFIXED[statement.prefix].match(statement.name):
        raise refuse("level.instruction", statement, f"'{statement.prefix}' does not go with this instruction")
    if statement.name.startswith("ret") and statement.operands:
        raise refuse("signature.convention", statement, "a return takes nothing from the stack")
    for register in _REGISTER.finditer(text):
        if not _USUAL.match(register[0]):
            raise refuse("level.instruction", statement, f"register {register[0]} is not one that a function may use")
    if _BRANCH.fullmatch(statement.name):
        _branch(statement, layout, permits)
        return
    for operand in statement.operands:
        _operand(statement, _DECORATION.sub("", operand).strip(), layout)


def _branch(statement: Statement, layout: Layout, permits: Permits) -> None:
    target = _TARGET.match(statement.operands[0]) if len(statement.operands) == 1 else None
    if target is None:
        raise refuse("level.instruction", statement, "jumps and calls go to a label, or to a function by its name")
    name = target[1]
    if name in layout.functions or name in permits.functions:
        return
    if statement.name.startswith("call") or name not in layout.code:
        known = ", ".join(sorted(permits.functions)) or "none"
        message = f"'{name}' is no function of this text; outside of it kc's own code calls: {known}"
        raise refuse("signature.external", statement, message)


def _operand(statement: Statement, operand: str, layout: Layout) -> None:
    if operand.startswith("%") or re.fullmatch(rf"\$(?:{_NUMBER})", operand):
        return
    if _PLAIN_MEMORY.match(operand) and not operand.startswith("*"):
        if "%" in operand and "%rip" not in operand:
            return
    else:
        constant = _IN_MEMORY.match(operand)
        if constant is not None and constant["symbol"] in layout.constants:
            section, start = layout.constants[constant["symbol"]]
            at = start + int(constant["offset"] or "0", 0)
            if 0 <= at < max(1, layout.sizes.get(section, 0)):
                return
            raise refuse("aliasing.bounds", statement, f"this lies outside of section {section}")
    raise refuse(
        "level.instruction",
        statement,
        f"operand '{operand[:60]}' is no register, number, memory at a register, nor a constant of the text",
    )
