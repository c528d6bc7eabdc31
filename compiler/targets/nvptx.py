"""NVIDIA GPUs: host code that launches kernels, kernels as PTX or cubin."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from kc.errors import CompileError, InputError
from kc.targets.base import Target

if TYPE_CHECKING:
    from kc.bindings import ir
    from kc.pipelines import Phase

#: PTX version that code is written in: LLVM's NVPTX back end selects all that kc emits from 8.6 on
PTX_FEATURES = "+ptx88"
#: the device module of all kernels that no schedule built (``kc-gpu-merge-kernels``)
GENERAL = "kernels"
_SHARED = {80: 163, 86: 99, 87: 163, 89: 99, 90: 227}  # KiB of shared memory a block may have, by compute capability


class Image(NamedTuple):
    """A device module as the driver loads it: ``registers`` are per thread, by kernel, where ``ptxas`` told."""

    file: str
    data: bytes
    registers: dict[str, int]


@dataclasses.dataclass(frozen=True)
class NvptxTarget(Target):
    """An NVIDIA chip: ``nvptx`` (sm_90a), ``nvptx:sm_80``.

    ``cubin``: assemble at compile time: ``auto`` does when ``ptxas`` is found, ``always`` insists, ``never`` ships
    PTX, which the driver assembles when the program is loaded. The host part is for the machine that kc runs on.
    """

    name: ClassVar[str] = "nvptx"
    chip: str = "sm_90a"
    cubin: str = "auto"
    strict: bool = False

    def __post_init__(self) -> None:
        if not re.fullmatch(r"sm_\d+a?", self.chip) or self.capability < 80:
            raise InputError(f"'{self.chip}' is not a chip that kc compiles for: sm_80, sm_86, sm_89, sm_90 or sm_90a")
        if self.strict and self.cubin == "never":
            raise InputError("target 'nvptx': strict needs what ptxas says, so cubin cannot be never")
        if self.cubin not in ("auto", "always", "never"):
            raise InputError(f"option 'cubin' of target 'nvptx' is auto, always or never, not '{self.cubin}'")

    @classmethod
    def positional(cls, word: str) -> str:
        if re.fullmatch(r"sm_\d+a?", word):
            return "chip"
        raise InputError(f"target 'nvptx' takes a chip such as sm_90a, not '{word}'")

    @property
    def capability(self) -> int:
        """Compute capability times ten: 90 for sm_90a."""
        return int(self.chip[3:].rstrip("a"))

    @property
    def triple(self) -> str:
        return "nvptx64-nvidia-cuda"

    def limits(self) -> Mapping[str, int]:
        return {
            "vector_bytes": 16,
            "warp": 32,
            "threads": 1024,
            "registers": 65536,
            "shared_bytes": _SHARED.get(self.capability, 99) * 1024,
        }

    def prepare(self) -> tuple[Phase, ...]:
        from kc.pipelines import nvptx

        return nvptx.PREPARE

    def phases(self) -> tuple[Phase, ...]:
        from kc.pipelines import nvptx

        facts = {"chip": self.chip}
        return tuple(
            dataclasses.replace(
                phase, defaults=tuple((name, facts.get(name, default)) for name, default in phase.defaults)
            )
            for phase in nvptx.PHASES
        )

    def generate(self, module: ir.Module, options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, bytes]]:
        from kc.codegen import emit, llvm_ir, manifest

        host, devices = split(module)
        described = manifest.describe(module, target=self.name, triple=emit.host().triple, cpu="generic")
        described["chip"] = self.chip
        texts = {name: ptx_of(device) or llvm_ir.translate(device) for name, device in devices.items()}
        host_text = llvm_ir.translate(host)
        jobs: list[Callable[[], Any]] = [
            lambda: emit.host_object(host_text, cpu="generic", opt="O2")  # sizes and launches only: runs on any x86-64
        ]
        jobs += [
            functools.partial(self._assembled if ptx_of(devices[name]) else self._image, name, text)
            for name, text in texts.items()
        ]
        made_by: list[Any] = emit.many(jobs)  # the host's object, then an Image per device module
        host_object, images = made_by[0], made_by[1:]
        files: dict[str, bytes] = {"host.o": host_object}
        described["objects"] = ["host.o"]
        manifest.check_externals(files, module)
        for image in images:
            files[image.file] = image.data
        made = dict(zip(texts, images, strict=True))
        described["kernels"] = [
            {
                "name": row["name"],
                "module": made[row["module"]].file,
                "threads": row["threads"],
                "smem": row["shared"],
                "regs": made[row["module"]].registers.get(row["name"], 0),
            }
            for row in kernel_table(module)
        ]
        manifest.add_params(described, files, module)
        return described, files

    def _image(self, name: str, text: str) -> Image:
        """One device module from its LLVM IR."""
        return self._assembled(name, self.ptx(text))

    def _assembled(self, name: str, ptx: str) -> Image:
        """One device module from its PTX."""
        from kc.codegen import ptx_check

        optional = self.cubin == "auto" and not self.strict
        if self.cubin == "never" or (optional and ptx_check.find_ptxas() is None):
            return Image(f"{name}.ptx", ptx.encode(), {})
        try:
            done = ptx_check.assemble(ptx, self.chip)
        except CompileError as error:
            raise CompileError(f"device module '{name}': {error.message}", error.diagnostics) from None
        problems = done.problems() if self.strict and name != GENERAL else []
        if problems:
            raise CompileError(f"device module '{name}' does not run at full speed: {'; '.join(problems)}")
        return Image(f"{name}.cubin", done.cubin, {kernel: report.registers for kernel, report in done.kernels.items()})

    def ptx(self, text: str) -> str:
        """PTX of LLVM IR ``text``; raises UnsupportedError when it calls what nothing defines."""
        from kc.codegen import emit

        return emit.ptx(text, self.chip, PTX_FEATURES)

    def text(self, module: ir.Module, level: str) -> str:
        from kc.codegen import emit, llvm_ir

        host, devices = split(module)
        parts = []
        for name, op in {"host": host, **devices}.items():
            foreign = ptx_of(op)
            text = foreign or llvm_ir.translate(op)
            if level == "asm" and not foreign:
                text = emit.assembly(text, opt="O2") if name == "host" else self.ptx(text)
            mark = "//" if foreign else ";" if level == "llvm-ir" else "#" if name == "host" else "//"
            parts.append(f"{mark} ---- {name}\n{text}")
        return "\n".join(parts)

    def forms(
        self, lowered: Callable[[str], ir.Module], manifest: Mapping[str, Any], files: Mapping[str, bytes]
    ) -> dict[str, Callable[[], bytes | str]]:
        from kc.codegen import llvm_ir

        def ptx() -> str:
            module = lowered("llvm")  # the ops below do not keep it alive
            _, devices = split(module)
            return "\n".join(ptx_of(op) or self.ptx(llvm_ir.translate(op)) for op in devices.values())

        made: dict[str, Callable[[], bytes | str]] = {
            **super().forms(lowered, manifest, files),
            "ptx": ptx,
            "object": lambda: files["host.o"],
        }
        return made


def split(module: ir.Module) -> tuple[ir.Operation, dict[str, ir.Operation]]:
    """The host part of a module at the llvm level (a copy without device code), and the device modules by name."""
    from kc.bindings import ir

    devices = {
        str(ir.StringAttr(op.attributes["sym_name"]).value): op.operation
        for op in module.body.operations
        if op.operation.name == "gpu.module"
    }
    host = module.operation.clone().operation
    for op in [o.operation for o in host.regions[0].blocks[0].operations]:
        if op.name == "gpu.module":
            op.erase()
    return host, devices


def ptx_of(device: ir.Operation) -> str | None:
    """The PTX that a device module has in place of its ops (see ``kc.answers``); None when its ops are its code."""
    from kc.answers import PTX
    from kc.bindings import ir

    return ir.StringAttr(device.attributes[PTX]).value if PTX in device.attributes else None


def kernel_table(module: ir.Module) -> list[dict[str, Any]]:
    """The rows of the module's ``kc.kernels`` attribute: ``module``, ``name``, ``threads``, ``shared``."""
    from kc.bindings import ir

    if "kc.kernels" not in module.operation.attributes:
        return []
    rows = []
    for entry in ir.ArrayAttr(module.operation.attributes["kc.kernels"]):
        row = {item.name: item.attr for item in ir.DictAttr(entry)}
        rows.append(
            {
                **{key: str(ir.StringAttr(row[key]).value) for key in ("module", "name")},
                **{key: int(ir.IntegerAttr(row[key]).value) for key in ("threads", "shared")},
            }
        )
    return rows
