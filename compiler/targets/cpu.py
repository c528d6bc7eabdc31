"""CPUs: the host by default, or any LLVM CPU triple as a cross target."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from kc.codegen import emit, workers
from kc.errors import InputError, UnsupportedError
from kc.pipelines import Phase
from kc.targets.base import Target

if TYPE_CHECKING:
    from kc.bindings import ir

#: CPUs of other platforms unless one is named: recent enough to have vectors, old enough to be everywhere
_BASELINE = {"x86_64": "x86-64-v2", "aarch64": "generic", "riscv64": "generic-rv64"}


@dataclasses.dataclass(frozen=True)
class CpuTarget(Target):
    """A CPU. ``cpu``, ``cpu:znver3``, ``cpu:aarch64-linux-gnu``, ``cpu:triple=x86_64-linux-gnu;cpu=x86-64-v3``.

    ``platform``/``triple=``: LLVM triple, empty for the host's; ``cpu``: LLVM's name, ``host`` for this machine's,
    ``generic``; ``features``: LLVM's list (``+avx2,-avx512f``), added to the CPU's own; ``opt``: how hard LLVM works
    on code that no schedule made (``O0`` … ``O3``).
    """

    name: ClassVar[str] = "cpu"
    platform: str = ""
    cpu: str = ""
    features: str = ""
    opt: str = "O2"

    def __post_init__(self) -> None:
        if self.opt not in emit.OPT_LEVELS:
            raise InputError(
                f"target 'cpu' has no optimisation level '{self.opt}': one of {', '.join(emit.OPT_LEVELS)}"
            )

    ALIASES: ClassVar[Mapping[str, str]] = {"triple": "platform"}

    @classmethod
    def positional(cls, word: str) -> str:
        """``a-b-c`` is a triple, ``O2`` a level, ``+avx2`` features, anything else a CPU."""
        if word in emit.OPT_LEVELS:
            return "opt"
        if word[:1] in "+-":
            return "features"
        return "platform" if word.count("-") >= 2 and not word.startswith("x86-64") else "cpu"

    # ------------------------------------------------------------------------------------------------ facts

    @property
    def is_host(self) -> bool:
        """Whether the code is for the machine that kc runs on (and its CPU)."""
        return not self.platform and self.cpu in ("", "host")

    @property
    def triple(self) -> str:
        """LLVM's name of the platform."""
        return self.platform or emit.host().triple

    @property
    def processor(self) -> str:
        """LLVM's name of the CPU."""
        if self.cpu and self.cpu != "host":
            return self.cpu
        return emit.host().cpu if not self.platform else _BASELINE.get(self.architecture, "generic")

    @property
    def architecture(self) -> str:
        """The triple's first part."""
        return self.triple.split("-")[0]

    @property
    def all_features(self) -> str:
        """LLVM's feature list: the host's own for the host, then ``features``."""
        own = emit.host().features if self.is_host else ""
        return ",".join(filter(None, (own, self.features)))

    @functools.cached_property
    def enabled(self) -> frozenset[str]:
        """The features that code may use (``avx2``, ``fma``, ``neon``), with those that the CPU's name implies."""
        return emit.cpu_features(self.triple, self.processor, self.all_features)

    def limits(self) -> Mapping[str, int]:
        """``vector_bytes``, ``vector_registers``: the widest vector unit; ``fma``: whether multiply and add fuse."""
        if self.architecture in ("x86_64", "i686"):
            wide = "avx512f" in self.enabled
            vector = 64 if wide else 32 if "avx" in self.enabled else 16
            return {"vector_bytes": vector, "vector_registers": 32 if wide else 16, "fma": int("fma" in self.enabled)}
        return {"vector_bytes": 16, "vector_registers": 32, "fma": 1}

    # ------------------------------------------------------------------------------------------------- road

    def choices(self) -> Mapping[str, str]:
        """Blocks that a second-level cache holds, for transforms in several passes."""
        return {"fft-block": "8192"}

    def prepare(self) -> tuple[Phase, ...]:
        """See ``Target.prepare``."""
        from kc.pipelines import cpu

        return cpu.PREPARE

    def phases(self) -> tuple[Phase, ...]:
        """The road of ``kc.pipelines.cpu`` with this CPU's facts filled in."""
        from kc.pipelines import cpu

        workers.warm()  # its imports run while the passes do
        limits = self.limits()
        facts = {
            "x86": str(int(self.architecture == "x86_64")),
            "fma": str(bool(limits["fma"])).lower(),
            "vector-bytes": str(limits["vector_bytes"]),
            "registers": str(limits["vector_registers"]),
        }
        return tuple(
            dataclasses.replace(
                phase, defaults=tuple((name, facts.get(name, default)) for name, default in phase.defaults)
            )
            for phase in cpu.PHASES
        )

    def generate(self, module: ir.Module, options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Objects for ``module`` (at the llvm level) and the manifest that describes them; see ``Target.generate``."""
        from kc.codegen import manifest, units

        described = manifest.describe(module, target="cpu", triple=self.triple, cpu=self.processor)
        described["features"] = [f"+{name}" for name in sorted(self.enabled)]  # the runtime checks that they are there
        files: dict[str, bytes] = {}
        parts = units.split(module, self.opt)
        names = [f"{part.name}.o" for part in parts]
        machine = {"triple": self.triple, "cpu": self.processor, "features": self.all_features}
        objects = emit.host_objects([(part.text, part.opt) for part in parts], **machine)
        for name, data in zip(names, objects, strict=True):
            files[name] = data
        described["objects"] = names
        manifest.check_externals(files, module)
        manifest.add_params(described, files, module)
        return described, files

    def _object(self, text: str, opt: str) -> bytes:
        return emit.host_object(text, triple=self.triple, cpu=self.processor, features=self.all_features, opt=opt)

    def text(self, module: ir.Module, level: str) -> str:
        """``asm``: assembly; ``llvm-ir``: LLVM IR of the whole module. ``module`` is at the llvm level."""
        from kc.codegen import units

        if level == "llvm-ir":
            return units.whole(module)
        return "\n".join(
            emit.assembly(part.text, triple=self.triple, cpu=self.processor, features=self.all_features, opt=part.opt)
            for part in units.split(module, self.opt)
        )

    def forms(
        self, lowered: Callable[[str], ir.Module], manifest: Mapping[str, Any], files: Mapping[str, bytes]
    ) -> dict[str, Callable[[], bytes | str]]:
        """LLVM IR, assembly, one relocatable object, a shared library and its C header."""
        from kc.codegen import shared_library, support, units

        def whole() -> bytes:
            module = lowered("llvm")  # named: ops do not keep it alive
            return self._object(units.whole(module), self.opt)

        def library() -> bytes:
            objects = [files[name] for name in manifest["objects"]]
            objects.append(self._object(support.IR, self.opt))
            _refuse_runtime_calls(objects)
            return shared_library.link(objects, self.triple)

        return {
            **super().forms(lowered, manifest, files),
            "assembly": lambda: self.text(lowered("llvm"), "asm"),
            "object": whole,
            "shared-library": library,
            "header": lambda: shared_library.header(manifest),
        }


def _refuse_runtime_calls(objects: Sequence[bytes]) -> None:
    """Raises UnsupportedError when ``objects`` call what only kc's runtime has, custom calls for instance."""
    from kc.codegen import elf

    tables = [elf.symbols(data) for data in objects if elf.is_elf64(data)]
    defined = {name for table in tables for name in table.defined}
    missing = sorted({n for table in tables for n in table.undefined if n.startswith("kc_")} - defined)
    if missing:
        raise UnsupportedError(
            f"the program calls {', '.join(missing)} of kc's runtime, which a shared library does not have: save an "
            "artifact, and run it with kc.runtime"
        )
