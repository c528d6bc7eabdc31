// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-transfers)' | FileCheck %s

// One call per array, in the order of the ops; tokens are gone.
// CHECK-LABEL: func.func @transfers(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<2xi8>)
// CHECK: call @kc_send_0(%[[X]]) : (tensor<4xf32>) -> ()
// CHECK: call @kc_send_1(%[[Y]]) : (tensor<2xi8>) -> ()
// CHECK: %[[R:.*]] = call @kc_recv_0(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[F:.*]] = call @kc_infeed_0(%{{.*}}) : (tensor<2xi8>) -> tensor<2xi8>
// CHECK: call @kc_outfeed_0(%[[F]]) : (tensor<2xi8>) -> ()
// CHECK-NOT: token
// CHECK: return %[[R]]
// CHECK: func.func private @kc_send_0
// CHECK-SAME: kc.call = "op=stablehlo.send;channel=7;host=0;groups=0,1;type=f32;part=0;parts=2;place=
// CHECK: func.func private @kc_send_1
// CHECK-SAME: type=ui8;part=1;parts=2
// CHECK: func.func private @kc_recv_0
// CHECK-SAME: channel=3;host=1;type=f32
func.func @transfers(%x: tensor<4xf32>, %y: tensor<2xi8>) -> tensor<4xf32> {
  %t0 = stablehlo.create_token : !stablehlo.token
  %s = "stablehlo.send"(%x, %y, %t0) {
    channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>,
    source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>,
    kc.unsigned = array<i1: false, true, false, false>
  } : (tensor<4xf32>, tensor<2xi8>, !stablehlo.token) -> !stablehlo.token
  %t1 = stablehlo.after_all %t0 : !stablehlo.token
  %r:2 = "stablehlo.recv"(%t1) {channel_handle = #stablehlo.channel_handle<handle = 3, type = 3>, is_host_transfer = true}
    : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  %f:2 = "stablehlo.infeed"(%t1) : (!stablehlo.token) -> (tensor<2xi8>, !stablehlo.token)
  %o = "stablehlo.outfeed"(%f#0, %t1) : (tensor<2xi8>, !stablehlo.token) -> !stablehlo.token
  return %r#0 : tensor<4xf32>
}
