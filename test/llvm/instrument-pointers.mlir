// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-instrument-pointers)' --split-input-file | FileCheck %s

// CHECK: kc.sites = "[{\22op\22: \22llvm.load\22, \22place\22: \22{{[0-9]+}}:8\22, \22mode\22: 0, \22bytes\22: 16, \22lanes\22: 1}
// CHECK-LABEL: llvm.func @copy
// CHECK-SAME: (%[[P:[a-z0-9]+]]: !llvm.ptr, %[[Q:[a-z0-9]+]]: !llvm.ptr)
// CHECK: llvm.call @kc_shadow_touch(%{{.*}}, %[[P]])
// CHECK-NEXT: llvm.load %[[P]]
// CHECK: llvm.call @kc_shadow_touch(%{{.*}}, %[[Q]])
// CHECK-NEXT: llvm.store
llvm.func @copy(%p: !llvm.ptr, %q: !llvm.ptr) {
  %v = llvm.load %p : !llvm.ptr -> vector<4xf32>
  llvm.store %v, %q : vector<4xf32>, !llvm.ptr
  llvm.return
}

// -----

// What is on the stack goes to the heap; iterations of a shared loop are told apart.
// CHECK-LABEL: llvm.func @team
// CHECK: %[[T:.*]] = llvm.call @_mlir_memref_to_llvm_alloc
// CHECK: llvm.call @kc_shadow_made(%{{.*}}, %[[T]],
// CHECK: llvm.call @kc_shadow_team()
// CHECK-NEXT: omp.parallel
// CHECK: llvm.call @kc_shadow_share()
// CHECK-NEXT: omp.wsloop
// CHECK-NEXT: omp.loop_nest (%[[I:[a-z0-9]+]])
// CHECK: llvm.call @kc_shadow_iteration(%[[I]],
// CHECK: llvm.call @kc_shadow_touch
// CHECK: llvm.call @kc_shadow_share_end()
// CHECK: llvm.call @kc_shadow_touch
// CHECK: omp.terminator
// CHECK: llvm.call @kc_shadow_team_end()
llvm.func @team(%n: i64, %v: f32) {
  %c0 = llvm.mlir.constant(0 : i64) : i64
  %c1 = llvm.mlir.constant(1 : i64) : i64
  %t = llvm.alloca %n x f32 : (i64) -> !llvm.ptr
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : i64 = (%c0) to (%n) step (%c1) {
        %p = llvm.getelementptr %t[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        llvm.store %v, %p : f32, !llvm.ptr
        omp.yield
      }
    }
    llvm.store %v, %t : f32, !llvm.ptr
    omp.terminator
  }
  llvm.return
}

// -----

// CHECK-LABEL: llvm.func @masked
// CHECK: %[[BITS:.*]] = llvm.bitcast %{{.*}} : vector<8xi1> to i8
// CHECK: %[[WIDE:.*]] = llvm.zext %[[BITS]] : i8 to i64
// CHECK: llvm.call @kc_shadow_touch_masked(%{{.*}}, %{{.*}}, %[[WIDE]])
// CHECK-NEXT: llvm.intr.masked.load
// CHECK: llvm.call @kc_shadow_bytes
// CHECK-NEXT: "llvm.intr.memcpy"
llvm.func @masked(%p: !llvm.ptr, %q: !llvm.ptr, %m: vector<8xi1>, %o: vector<8xf32>, %n: i64) -> vector<8xf32> {
  %v = llvm.intr.masked.load %p, %m, %o {alignment = 4 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  "llvm.intr.memcpy"(%q, %p, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  llvm.return %v : vector<8xf32>
}
