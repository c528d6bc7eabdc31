"""Control flow in the regions of reductions, maps and scatters, on the CPU."""

from __future__ import annotations

import numpy as np

import kc

X = np.array([3, 1, 2, 5, 4], np.float32)


def run(text: str, *arrays: np.ndarray) -> np.ndarray:
    return np.asarray(kc.compile(text)(*arrays)[0])


def test_an_if_in_a_reduction():
    text = """
    func.func @main(%x: tensor<5xf32>, %v: tensor<f32>) -> tensor<f32> {
      %0 = "stablehlo.reduce"(%x, %v) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %u = "stablehlo.if"(%p) ({
          stablehlo.return %b : tensor<f32>
        }, {
          stablehlo.return %a : tensor<f32>
        }) : (tensor<i1>) -> tensor<f32>
        stablehlo.return %u : tensor<f32>
      }) {dimensions = array<i64: 0>} : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }"""
    assert run(text, X, np.array(0, np.float32)) == 5


def test_a_loop_in_a_map():
    text = """
    func.func @main(%x: tensor<5xi32>) -> tensor<5xi32> {
      %0 = "stablehlo.map"(%x) ({
      ^bb0(%a: tensor<i32>):
        %c0 = stablehlo.constant dense<0> : tensor<i32>
        %c1 = stablehlo.constant dense<1> : tensor<i32>
        %w:2 = stablehlo.while(%i = %c0, %s = %c1) : tensor<i32>, tensor<i32>
        cond {
          %p = stablehlo.compare LT, %i, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        } do {
          %j = stablehlo.add %i, %c1 : tensor<i32>
          %t = stablehlo.multiply %s, %j : tensor<i32>
          stablehlo.return %j, %t : tensor<i32>, tensor<i32>
        }
        stablehlo.return %w#1 : tensor<i32>
      }) {dimensions = array<i64: 0>} : (tensor<5xi32>) -> tensor<5xi32>
      return %0 : tensor<5xi32>
    }"""
    np.testing.assert_array_equal(run(text, np.array([0, 1, 3, 5, 6], np.int32)), [1, 1, 6, 120, 720])


def test_a_case_in_a_map():
    text = """
    func.func @main(%x: tensor<5xf32>, %i: tensor<5xi32>) -> tensor<5xf32> {
      %0 = "stablehlo.map"(%x, %i) ({
      ^bb0(%a: tensor<f32>, %k: tensor<i32>):
        %r = "stablehlo.case"(%k) ({
          %n = stablehlo.negate %a : tensor<f32>
          stablehlo.return %n : tensor<f32>
        }, {
          stablehlo.return %a : tensor<f32>
        }, {
          %n = stablehlo.multiply %a, %a : tensor<f32>
          stablehlo.return %n : tensor<f32>
        }) : (tensor<i32>) -> tensor<f32>
        stablehlo.return %r : tensor<f32>
      }) {dimensions = array<i64: 0>} : (tensor<5xf32>, tensor<5xi32>) -> tensor<5xf32>
      return %0 : tensor<5xf32>
    }"""
    np.testing.assert_array_equal(run(text, X, np.array([0, 1, 2, 7, -1], np.int32)), [-3, 1, 4, 25, 16])
