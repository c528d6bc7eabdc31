"""Which instructions a function may use: computing ones, by the extensions that the target has.

No assembler asks which extensions a text may use, and a branch that no test takes may hold any of them. So only known
names pass ("Intel 64 and IA-32 Architectures Software Developer's Manual", volume 2), and those that kc's own code of
the function has. What is missing on purpose: privileged and system instructions, calls of the system, clocks, random
numbers, whatever changes how floats are computed (MXCSR, x87), and transfers to computed addresses.
"""

from __future__ import annotations

import functools
import re

_CC = "(?:n?[oszpbcea]|n?be|n?ae|n?l|n?g|n?le|n?ge|pe|po|na|nae|nb|nbe|nl|nle|ng|nge)"
_INT = "[bwlq]?"
_PS = "[ps][sd]"

#: extension (LLVM's name; empty: every x86-64) -> names
_NAMES: dict[str, str] = {
    "": rf"""
        mov{_INT} movabs{_INT} mov[zs][bwl][wlq] mov[zs]x mov[zs]xd? movslq cmov{_CC}{_INT} set{_CC}b?
        j{_CC} jmpq? callq? retq?
        push[wq]? pop[wq]? lea[wlq]? (?:add|adc|sub|sbb|inc|dec|neg|not|and|or|xor|cmp|test|i?mul|i?div){_INT}
        (?:shl|sal|shr|sar|rol|ror|rcl|rcr|shld|shrd|bt|bts|btr|btc|bsf|bsr|xchg|xadd|cmpxchg){_INT} bswap[lq]?
        cmpxchg(?:8b|16b) cbtw cwtl cltq cwtd cltd cqto cbw cwde cdqe cwd cdq cqo nop[wlq]? leaveq? loop(?:n?[ez])?
        j[er]cxz (?:movs|stos|lods|scas|cmps)[bwlq] cl[cd] stc cmc ud2 pause [lms]fence
        prefetch(?:t[012]|nta|w) xlatb?""",
    "sse2": rf"""
        (?:add|sub|mul|div|sqrt|max|min|cmp(?:eq|lt|le|unord|neq|nlt|nle|ord)?){_PS} (?:andn?|or|xor)p[sd] u?comis[sd]
        unpck[lh]p[sd] shufp[sd] mov[au]p[sd] mov[hl]p[sd] mov(?:hl|lh)ps movs[sd] movmskp[sd] mov[dq] movdq[au]
        movnt(?:dq|i[lq]?|p[sd]) rcp[ps]s rsqrt[ps]s
        cvt(?:dq2p[sd]|t?p[sd]2dq[xy]?|ps2pd|pd2ps[xy]?|sd2ss|ss2sd|si2s[sd][lq]?|t?s[sd]2si[lq]?)
        padd[bwdq] paddu?s[bw] psub[bwdq] psubu?s[bw]
        pmul(?:lw|hw|huw|udq) pmaddwd pavg[bw] psadbw p(?:max|min)(?:ub|sw) pcmp(?:eq|gt)[bwd] pandn? por pxor
        ps[rl]l[wdq] psra[wd] ps[lr]ldq pshufd pshuf[hl]w punpck[lh](?:bw|wd|dq|qdq) packss(?:wb|dw) packuswb pmovmskb
        pextrw pinsrw""",
    "sse3": "addsubp[sd] h(?:add|sub)p[sd] movddup movs[hl]dup lddqu",
    "ssse3": "pabs[bwd] pshufb ph(?:add|sub)(?:w|d|sw) psign[bwd] pmulhrsw pmaddubsw palignr",
    "sse4.1": """blendv?p[sd] pblendvb pblendw dpp[sd] extractps insertps mpsadbw packusdw pcmpeqq pextr[bdq]
        pinsr[bdq] phminposuw p(?:max|min)(?:s[bd]|u[wd]) pmov[sz]x(?:b[wdq]|w[dq]|dq)
        pmuldq pmulld ptest round[ps][sd] movntdqa""",
    "sse4.2": "pcmpgtq pcmp[ei]str[im] crc32[bwlq]?",
    "popcnt": f"popcnt{_INT}",
    "avx": """vbroadcast(?:s[sd]|f128) v(?:extract|insert)f128 vperm2f128 vpermilp[sd] vmaskmovp[sd] vtestp[sd]
        vzero(?:all|upper)""",
    "avx2": """vpbroadcast[bwdq] vbroadcasti128 v(?:extract|insert)i128 vperm2i128 vperm(?:d|ps|q|pd) vpblendd
        vpmaskmov[dq] vps[lr]lv[dq] vpsravd v(?:p?gather)(?:dd|dq|qd|qq|dps|dpd|qps|qpd)""",
    "fma": rf"vfn?m(?:add|sub)(?:132|213|231){_PS} vfm(?:addsub|subadd)(?:132|213|231)p[sd]",
    "f16c": "vcvtph2psx? vcvtps2phx?",
    "bmi": "andn[lq]? bextr[lq]? bls(?:i|msk|r)[lq]? tzcnt[wlq]?",
    "bmi2": "bzhi[lq]? mulx[lq]? pdep[lq]? pext[lq]? rorx[lq]? (?:sar|shl|shr)x[lq]?",
    "lzcnt": "lzcnt[wlq]?",
    "movbe": "movbe[wlq]?",
    "adx": "ad[co]x[lq]?",
    "pclmul": "pclmul(?:qdq|[lh]q[lh]qdq)",
    "gfni": "gf2p8(?:affine(?:inv)?|mul)(?:qb|b)",
}  # fmt: skip
#: extensions of which x86-64 has the first two, and whose names with a ``v`` before them are AVX's
_SSE = ("sse2", "sse3", "ssse3", "sse4.1", "sse4.2", "pclmul", "gfni")
#: an extension -> one that every CPU with it has too (the names under which the target's features come are few)
_IMPLIED = {"avx2": "avx", "fma": "avx", "f16c": "avx", "avx512f": "avx2", "avx": "sse4.2", "sse4.2": "sse4.1",
            "sse4.1": "ssse3", "ssse3": "sse3", "sse3": "sse2"}  # fmt: skip
_EVEX = re.compile(r"%zmm|%[xy]mm(?:1[6-9]|2\d|3[01])\b|%k[0-7]\b")
_WIDE = re.compile(r"%ymm")
#: what an EVEX form of a known name may need: kc does not tell these apart
_AVX512 = ("avx512f", "avx512vl", "avx512bw", "avx512dq")
#: names in AVX that work on integers, which AVX has in 16 bytes only
_INTEGER = re.compile(r"vp|vmpsadbw|vmovntdqa")


@functools.lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    return {name: re.compile("(?:" + "|".join(text.split()) + ")$") for name, text in _NAMES.items()}


def needs(name: str, operands: str) -> tuple[str, ...] | None:
    """The extensions that an instruction needs; None when it is none that a function may use."""
    wanted: tuple[str, ...] | None = None
    plain = name[1:] if name.startswith("v") else ""
    for extension, pattern in _patterns().items():
        if pattern.match(name):
            wanted = (extension,) if extension else ()
            break
        if plain and extension in _SSE and pattern.match(plain):
            wide = _WIDE.search(operands) is not None and _INTEGER.match(name) is not None and name != "vptest"
            wanted = ("avx2" if wide else "avx", *((extension,) if extension in ("pclmul", "gfni") else ()))
            break
    if wanted is None:
        return None
    return (*wanted, *_AVX512) if _EVEX.search(operands) else wanted


def has(features: frozenset[str], wanted: str) -> bool:
    """Whether a CPU with ``features`` has the extension ``wanted``."""
    if wanted in ("sse2", "") or wanted in features:
        return True
    return any(narrow == wanted and has(features, wide) for wide, narrow in _IMPLIED.items())
