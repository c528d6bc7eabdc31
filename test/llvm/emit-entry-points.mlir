// RUN: kc-opt %s --pass-pipeline='builtin.module(convert-func-to-llvm,kc-emit-entry-points,canonicalize,cse,reconcile-unrealized-casts)' | FileCheck %s

// What is used of an argument is loaded; what its type says is known. Scalars are loaded through their pointer.
// CHECK-LABEL: llvm.func @kc_entry_reads(
// CHECK-SAME: %[[ARGS:.*]]: !llvm.ptr)
// CHECK-DAG: %[[X:.*]] = llvm.load %[[ARGS]] : !llvm.ptr -> !llvm.ptr
// CHECK-DAG: %[[A:.*]] = llvm.getelementptr %[[X]][1] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-DAG: %[[P:.*]] = llvm.load %[[A]] : !llvm.ptr -> !llvm.ptr
// CHECK-DAG: %[[S:.*]] = llvm.getelementptr %[[X]][4] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK-DAG: %[[N:.*]] = llvm.load %[[S]] : !llvm.ptr -> i64
// CHECK-DAG: %[[Y:.*]] = llvm.getelementptr %[[ARGS]][1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK-DAG: %[[Q:.*]] = llvm.load %[[Y]] : !llvm.ptr -> !llvm.ptr
// CHECK-DAG: %[[V:.*]] = llvm.load %[[Q]] : !llvm.ptr -> f32
// CHECK-DAG: %[[FOUR:.*]] = llvm.mlir.constant(4 : i64)
// CHECK: llvm.call @use(%[[P]], %[[FOUR]], %[[N]], %[[V]])
// CHECK-NEXT: llvm.return
llvm.func @reads(%b: !llvm.ptr, %x: !llvm.ptr, %o: i64, %n0: i64, %n1: i64, %s0: i64, %s1: i64, %v: f32) attributes {
    kc.signature = "{\22args\22: [{\22shape\22: [4, \22n\22]}, {\22shape\22: [], \22scalar\22: true}], \22results\22: []}"} {
  llvm.call @use(%x, %n0, %n1, %v) : (!llvm.ptr, i64, i64, f32) -> ()
  llvm.return
}
llvm.func @use(!llvm.ptr, i64, i64, f32)

// A result is written field by field into the caller's descriptor: no struct is left.
// CHECK-LABEL: llvm.func @kc_entry_one(
// CHECK-SAME: %[[ARGS:.*]]: !llvm.ptr)
// CHECK-NOT: struct
// CHECK: %[[R0:.*]] = llvm.getelementptr %[[ARGS]][1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK: %[[R:.*]] = llvm.load %[[R0]]
// CHECK: llvm.store %{{.*}}, %[[R]] : !llvm.ptr, !llvm.ptr
// CHECK: %[[R1:.*]] = llvm.getelementptr %[[R]][1]
// CHECK: llvm.store %{{.*}}, %[[R1]] : !llvm.ptr, !llvm.ptr
// CHECK: %[[R2:.*]] = llvm.getelementptr %[[R]][2]
// CHECK: llvm.store %{{.*}}, %[[R2]] : i64, !llvm.ptr
// CHECK-NEXT: llvm.return
func.func @one(%x: memref<f32>) -> memref<f32> attributes {
    kc.signature = "{\22args\22: [{\22shape\22: []}], \22results\22: [{\22shape\22: []}]}"} {
  return %x : memref<f32>
}

// A scalar alone, and among others; two places to return from.
// CHECK-LABEL: llvm.func @kc_entry_scalar(
// CHECK: llvm.store %{{.*}}, %{{.*}} : f32, !llvm.ptr
func.func @scalar(%x: f32) -> f32 attributes {
    kc.signature = "{\22args\22: [{\22shape\22: [], \22scalar\22: true}], \22results\22: [{\22shape\22: [], \22scalar\22: true}]}"} {
  return %x : f32
}
// CHECK-LABEL: llvm.func @kc_entry_two(
// CHECK-NOT: struct
// CHECK: llvm.cond_br
// CHECK: %[[C3:.*]] = llvm.getelementptr %{{.*}}[3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK: %[[C:.*]] = llvm.load %[[C3]]
// CHECK: llvm.store %{{.*}}, %[[C]] : i64, !llvm.ptr
// CHECK: llvm.return
// CHECK: llvm.store %{{.*}} : i64, !llvm.ptr
// CHECK: llvm.return
llvm.func @two(%b: !llvm.ptr, %x: !llvm.ptr, %o: i64, %n: i64, %s: i64, %c: i1) -> !llvm.struct<(struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, i64)> attributes {
    kc.signature = "{\22args\22: [{\22shape\22: [4]}, {\22shape\22: [], \22scalar\22: true}], \22results\22: [{\22shape\22: [4]}, {\22shape\22: [], \22scalar\22: true}]}"} {
  %p = llvm.mlir.poison : !llvm.struct<(struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, i64)>
  %0 = llvm.insertvalue %b, %p[0, 0] : !llvm.struct<(struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, i64)>
  %1 = llvm.insertvalue %x, %0[0, 1] : !llvm.struct<(struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, i64)>
  %2 = llvm.insertvalue %o, %1[0, 2] : !llvm.struct<(struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, i64)>
  %3 = llvm.insertvalue %n, %2[0, 3, 0] : !llvm.struct<(struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, i64)>
  %4 = llvm.insertvalue %s, %3[0, 4, 0] : !llvm.struct<(struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, i64)>
  llvm.cond_br %c, ^then, ^else
^then:
  %5 = llvm.mlir.constant(7 : i64) : i64
  %6 = llvm.insertvalue %5, %4[1] : !llvm.struct<(struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, i64)>
  llvm.return %6 : !llvm.struct<(struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, i64)>
^else:
  %7 = llvm.insertvalue %n, %4[1] : !llvm.struct<(struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, i64)>
  llvm.return %7 : !llvm.struct<(struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, i64)>
}

// What is called stays beside its entry point; without a signature there is none.
// CHECK: llvm.func internal @called(
// CHECK-NOT: kc.signature
// CHECK: llvm.func @kc_entry_called(
// CHECK: llvm.func internal @hidden(
// CHECK: llvm.call @called(
func.func @called(%x: f32) attributes {
    kc.signature = "{\22args\22: [{\22shape\22: [], \22scalar\22: true}], \22results\22: []}"} {
  return
}
func.func private @hidden(%x: f32) {
  call @called(%x) : (f32) -> ()
  return
}
