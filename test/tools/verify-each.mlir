// The IR is verified after each pass, unless that is switched off: then the broken IR reaches the output, in generic form.
// RUN: not kc-opt %s --load-pass=%S/Inputs/user_passes.py --test-misbehave=how=invalid 2>&1 | FileCheck %s --check-prefix=ON
// RUN: kc-opt %s --load-pass=%S/Inputs/user_passes.py --test-misbehave=how=invalid --verify-each=false | FileCheck %s --check-prefix=OFF
// RUN: kc-opt %s --load-pass=%S/Inputs/user_passes.py --test-misbehave=how=invalid --verify-each=0 | FileCheck %s --check-prefix=OFF
// RUN: not kc-opt %s --verify-each=perhaps 2>&1 | FileCheck %s --check-prefix=VALUE
// ON: verify-each.mlir:[[L:[0-9]+]]:1: error: 'func.func' op entry block must have 0 arguments to match function signature
// OFF: "func.func"() <{function_type = () -> (), sym_name = "f"}>
// VALUE: kc-opt: option '--verify-each' wants true or false, got 'perhaps'
func.func @f(%a: i32) {
  return
}
