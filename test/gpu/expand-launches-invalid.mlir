// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-expand-launches)'

// expected-error @+1 {{'kc.launch' must name a module and a kernel in it, not @k_kernel}}
func.func private @k__launch(index) attributes {kc.launch = @k_kernel}

// -----

func.func private @k__launch(index) attributes {kc.launch = @k_device::@k_kernel}
func.func private @k__impl(%n: index) {
  // expected-error @+1 {{a launch needs a grid, a block and the size of shared memory}}
  call @k__launch(%n) : (index) -> ()
  return
}
