// Rules on the arithmetic inside linalg's bodies that hold bit for bit (the sign and the payload of a NaN are free).

// -(-x) -> x
pdl.pattern @negf_negf : benefit(1) {
  %type = pdl.type
  %x = pdl.operand : %type
  %inner = pdl.operation "arith.negf"(%x : !pdl.value) -> (%type : !pdl.type)
  %y = pdl.result 0 of %inner
  %root = pdl.operation "arith.negf"(%y : !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

// x - (-y) -> x + y
pdl.pattern @subf_negf : benefit(1) {
  %type = pdl.type
  %x = pdl.operand : %type
  %y = pdl.operand : %type
  %inner = pdl.operation "arith.negf"(%y : !pdl.value) -> (%type : !pdl.type)
  %minus = pdl.result 0 of %inner
  %root = pdl.operation "arith.subf"(%x, %minus : !pdl.value, !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %root {
    %sum = pdl.operation "arith.addf"(%x, %y : !pdl.value, !pdl.value) -> (%type : !pdl.type)
    pdl.replace %root with %sum
  }
}

// (-x) * (-y) -> x * y
pdl.pattern @mulf_negf_negf : benefit(1) {
  %type = pdl.type
  %x = pdl.operand : %type
  %y = pdl.operand : %type
  %left = pdl.operation "arith.negf"(%x : !pdl.value) -> (%type : !pdl.type)
  %minus_x = pdl.result 0 of %left
  %right = pdl.operation "arith.negf"(%y : !pdl.value) -> (%type : !pdl.type)
  %minus_y = pdl.result 0 of %right
  %root = pdl.operation "arith.mulf"(%minus_x, %minus_y : !pdl.value, !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %root {
    %product = pdl.operation "arith.mulf"(%x, %y : !pdl.value, !pdl.value) -> (%type : !pdl.type)
    pdl.replace %root with %product
  }
}

// |-x| -> |x|
pdl.pattern @absf_negf : benefit(1) {
  %type = pdl.type
  %x = pdl.operand : %type
  %inner = pdl.operation "arith.negf"(%x : !pdl.value) -> (%type : !pdl.type)
  %minus = pdl.result 0 of %inner
  %root = pdl.operation "math.absf"(%minus : !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %root {
    %absolute = pdl.operation "math.absf"(%x : !pdl.value) -> (%type : !pdl.type)
    pdl.replace %root with %absolute
  }
}

// 1 / sqrt(x) -> rsqrt(x), which rounds once instead of twice
pdl.pattern @divf_sqrt : benefit(1) attributes {kc.assumes = ["approx"]} {
  %type = pdl.type : f32
  %one_value = pdl.attribute = 1.0 : f32
  %x = pdl.operand : %type
  %constant = pdl.operation "arith.constant" {"value" = %one_value} -> (%type : !pdl.type)
  %one = pdl.result 0 of %constant
  %inner = pdl.operation "math.sqrt"(%x : !pdl.value) -> (%type : !pdl.type)
  %root_of_x = pdl.result 0 of %inner
  %root = pdl.operation "arith.divf"(%one, %root_of_x : !pdl.value, !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %root {
    %reciprocal = pdl.operation "math.rsqrt"(%x : !pdl.value) -> (%type : !pdl.type)
    pdl.replace %root with %reciprocal
  }
}
