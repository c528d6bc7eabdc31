// Rules on StableHLO that hold bit for bit, for every input (the sign and the payload of a NaN are free).

// -(-x) -> x
pdl.pattern @negate_negate : benefit(1) {
  %type = pdl.type
  %x = pdl.operand : %type
  %inner = pdl.operation "stablehlo.negate"(%x : !pdl.value) -> (%type : !pdl.type)
  %y = pdl.result 0 of %inner
  %root = pdl.operation "stablehlo.negate"(%y : !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

// x - (-y) -> x + y
pdl.pattern @subtract_negate : benefit(1) {
  %type = pdl.type
  %x = pdl.operand : %type
  %y = pdl.operand : %type
  %inner = pdl.operation "stablehlo.negate"(%y : !pdl.value) -> (%type : !pdl.type)
  %minus = pdl.result 0 of %inner
  %root = pdl.operation "stablehlo.subtract"(%x, %minus : !pdl.value, !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %root {
    %sum = pdl.operation "stablehlo.add"(%x, %y : !pdl.value, !pdl.value) -> (%type : !pdl.type)
    pdl.replace %root with %sum
  }
}

// x + (-y) -> x - y
pdl.pattern @add_negate : benefit(1) {
  %type = pdl.type
  %x = pdl.operand : %type
  %y = pdl.operand : %type
  %inner = pdl.operation "stablehlo.negate"(%y : !pdl.value) -> (%type : !pdl.type)
  %minus = pdl.result 0 of %inner
  %root = pdl.operation "stablehlo.add"(%x, %minus : !pdl.value, !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %root {
    %difference = pdl.operation "stablehlo.subtract"(%x, %y : !pdl.value, !pdl.value) -> (%type : !pdl.type)
    pdl.replace %root with %difference
  }
}

// select(p, x, x) -> x
pdl.pattern @select_same : benefit(1) {
  %type = pdl.type
  %p = pdl.operand
  %x = pdl.operand : %type
  %root = pdl.operation "stablehlo.select"(%p, %x, %x : !pdl.value, !pdl.value, !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

// max(x, x) -> x
pdl.pattern @maximum_same : benefit(1) {
  %type = pdl.type
  %x = pdl.operand : %type
  %root = pdl.operation "stablehlo.maximum"(%x, %x : !pdl.value, !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

// reverse(reverse(x, dims), dims) -> x
pdl.pattern @reverse_reverse : benefit(1) {
  %type = pdl.type
  %dims = pdl.attribute
  %x = pdl.operand : %type
  %inner = pdl.operation "stablehlo.reverse"(%x : !pdl.value) {"dimensions" = %dims} -> (%type : !pdl.type)
  %y = pdl.result 0 of %inner
  %root = pdl.operation "stablehlo.reverse"(%y : !pdl.value) {"dimensions" = %dims} -> (%type : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

// reshape(reshape(x)) -> reshape(x)
pdl.pattern @reshape_reshape : benefit(1) {
  %type = pdl.type
  %between = pdl.type
  %source = pdl.type
  %x = pdl.operand : %source
  %inner = pdl.operation "stablehlo.reshape"(%x : !pdl.value) -> (%between : !pdl.type)
  %y = pdl.result 0 of %inner
  %root = pdl.operation "stablehlo.reshape"(%y : !pdl.value) -> (%type : !pdl.type)
  pdl.rewrite %root {
    %once = pdl.operation "stablehlo.reshape"(%x : !pdl.value) -> (%type : !pdl.type)
    pdl.replace %root with %once
  }
}
