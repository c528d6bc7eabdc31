"""Confinement of the process that runs a stranger's code: limits of resources, and a filter of system calls.

The filter denies what a lowered module never needs (new processes, programs, sockets, signals to others, changes of
files and of the system) with EPERM. It is a second wall, behind the static gates that let no such call in; where the
kernel offers no seccomp, the limits alone hold.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 22, 36, 38
_SECCOMP_MODE_FILTER = 2
_ALLOW, _DENY, _NO_SUCH_CALL = 0x7FFF0000, 0x00050001, 0x00050026  # EPERM; ENOSYS, at which glibc takes clone
_AUDIT_ARCH_X86_64 = 0xC000003E
_CLONE, _CLONE3, _CLONE_THREAD = 56, 435, 0x10000

#: numbers of x86-64 system calls that are denied
_DENIED = {
    "socket": 41,
    "connect": 42,
    "accept": 43,
    "bind": 49,
    "listen": 50,
    "socketpair": 53,
    "accept4": 288,
    "fork": 57,
    "vfork": 58,
    "execve": 59,
    "execveat": 322,
    "kill": 62,
    "tkill": 200,
    "ptrace": 101,
    "process_vm_readv": 310,
    "process_vm_writev": 311,
    "rename": 82,
    "mkdir": 83,
    "rmdir": 84,
    "creat": 85,
    "link": 86,
    "unlink": 87,
    "symlink": 88,
    "chmod": 90,
    "fchmod": 91,
    "chown": 92,
    "fchown": 93,
    "lchown": 94,
    "truncate": 76,
    "mknod": 133,
    "chroot": 161,
    "mount": 165,
    "umount2": 166,
    "swapon": 167,
    "reboot": 169,
    "sethostname": 170,
    "init_module": 175,
    "delete_module": 176,
    "settimeofday": 164,
    "clock_settime": 227,
    "mkdirat": 258,
    "mknodat": 259,
    "unlinkat": 263,
    "renameat": 264,
    "linkat": 265,
    "symlinkat": 266,
    "fchmodat": 268,
    "unshare": 272,
    "setns": 308,
    "renameat2": 316,
    "bpf": 321,
    "perf_event_open": 298,
    "keyctl": 250,
    "io_uring_setup": 425,
}


def die_with_parent() -> None:
    """Ask the kernel to kill this process when the one that made it ends."""
    _prctl(_PR_SET_PDEATHSIG, 9)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends, so that none escapes."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def limit(memory: int, cpu_seconds: int, file_bytes: int = 16 << 20) -> None:
    """Set limits: ``memory`` bytes of address space beyond what is mapped now, CPU time, size of any file; no core."""
    with open("/proc/self/statm") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    _lower(resource.RLIMIT_AS, held + memory)
    _lower(resource.RLIMIT_CPU, cpu_seconds)
    _lower(resource.RLIMIT_FSIZE, file_bytes)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_NPROC, 256)


def deny_system_calls() -> bool:
    """Put the filter in place for this process for good; False where it cannot be had."""
    if platform.machine() != "x86_64" or os.uname().sysname != "Linux":
        return False
    program = _program()
    code = ctypes.create_string_buffer(program, len(program))
    fprog = struct.pack("@HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    return _prctl(_PR_SET_NO_NEW_PRIVS, 1) and _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, fprog)


def _program() -> bytes:
    """The filter as classic BPF: 8 bytes an instruction (code, jump if true, jump if false, operand)."""
    load, equal, greater_equal, bits, answer = 0x20, 0x15, 0x35, 0x45, 0x06
    made = [(load, 0, 0, 4), (equal, 1, 0, _AUDIT_ARCH_X86_64), (answer, 0, 0, _DENY), (load, 0, 0, 0)]
    made += [(greater_equal, 0, 1, 0x40000000), (answer, 0, 0, _DENY)]  # the x32 calling convention
    made += [(equal, 0, 1, _CLONE3), (answer, 0, 0, _NO_SUCH_CALL)]
    for number in _DENIED.values():
        made += [(equal, 0, 1, number), (answer, 0, 0, _DENY)]
    made += [(equal, 0, 3, _CLONE), (load, 0, 0, 16), (bits, 1, 0, _CLONE_THREAD), (answer, 0, 0, _DENY)]
    made += [(answer, 0, 0, _ALLOW)]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in made)


def _lower(what: int, value: int) -> None:
    hard = resource.getrlimit(what)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(what, (value, value))


def _prctl(option: int, argument: int, pointer: bytes | None = None) -> bool:
    call = ctypes.CDLL(None, use_errno=True).prctl
    return (
        call(option, ctypes.c_ulong(argument), pointer or ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)) == 0
    )
