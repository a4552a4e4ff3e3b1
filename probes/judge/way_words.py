"""What the ways of `probes.cases.ways` are called, by their names without a version."""

from probes.judge.words import gettext_noop

WAYS: dict[str, str] = {
    # activations
    "max": gettext_noop("as Max with 0"),
    "clip": gettext_noop("with Clip"),
    "min-max": gettext_noop("with Min and Max"),
    "relu-min": gettext_noop("with Relu and Min"),
    "hard-sigmoid": gettext_noop("with HardSigmoid"),
    "tanh": gettext_noop("with Tanh"),
    "exp": gettext_noop("with Exp"),
    "erf": gettext_noop("the Erf form"),
    "tanh-near": gettext_noop("the Tanh form, an approximation"),
    "tanh-mul": gettext_noop("the Tanh form"),
    "tanh-pow": gettext_noop("the Tanh form with Pow"),
    "attributes": gettext_noop("bounds as attributes"),
    # normalizations
    "mean-pow": gettext_noop("decomposed, squares with Pow"),
    "mean-mul": gettext_noop("decomposed, squares with Mul"),
    "channels-first": gettext_noop("decomposed, over axis 1"),
    "instance": gettext_noop("with InstanceNormalization"),
    "group": gettext_noop("as GroupNormalization"),
    "layer": gettext_noop("with LayerNormalization"),
    "mul-add": gettext_noop("folded into Mul and Add"),
    "depthwise-conv": gettext_noop("as a depthwise Conv"),
    "two-axes": gettext_noop("with a second spatial axis of length 1"),
    # convolutions and products
    "bias-after": gettext_noop("the bias added afterwards"),
    "pad-first": gettext_noop("with Pad before it"),
    "patches": gettext_noop("patches as a matrix product"),
    "split": gettext_noop("each group for itself"),
    "pixel-shuffle": gettext_noop("as Conv and DepthToSpace"),
    "gemm": gettext_noop("as Gemm"),
    "conv": gettext_noop("as a Conv of 1x1"),
    "matmul": gettext_noop("as MatMul"),
    "einsum": gettext_noop("as Einsum"),
    "three-axes": gettext_noop("without the axis of the batch"),
    # pools and means
    "reduce-mean": gettext_noop("as ReduceMean"),
    "reduce-mean-18": gettext_noop("as ReduceMean with axes as an input"),
    "average-pool": gettext_noop("as AveragePool"),
    "global": gettext_noop("as GlobalAveragePool"),
    "global-average": gettext_noop("as GlobalAveragePool"),
    "cascade": gettext_noop("as smaller windows in a row"),
    "explicit-pads": gettext_noop("with the pads written out"),
    "slices": gettext_noop("with slices"),
    "divided": gettext_noop("padding counted, then divided out"),
    "flat": gettext_noop("laid flat"),
    "sum-mul": gettext_noop("with ReduceSum and Mul"),
    # resizing
    "half-pixel": gettext_noop("with half_pixel coordinates"),
    "sizes": gettext_noop("with sizes instead of scales"),
    "upsample": gettext_noop("as Upsample-9"),
    "conv-transpose": gettext_noop("as ConvTranspose"),
    "expand": gettext_noop("with Expand"),
    "concat": gettext_noop("with Concat"),
    # layout
    "pad-add": gettext_noop("with Pad and Add"),
    "first-axes": gettext_noop("joined along the channels"),
    "four-axes": gettext_noop("with four axes"),
    "twice": gettext_noop("in two steps"),
    "transpose": gettext_noop("with the axis moved to the end"),
    # attention and selection
    "products": gettext_noop("decomposed into MatMul, Softmax, MatMul"),
    "attention-23": gettext_noop("as Attention of opset 23"),
    "weights": gettext_noop("as products with bilinear weights"),
    "argmax": gettext_noop("with ArgMax and ReduceMax"),
    # the operator's own other versions
    "opset10": gettext_noop("the operator of opset 10"),
    "opset11": gettext_noop("the operator of opset 11"),
    "opset13": gettext_noop("the operator of opset 13"),
    "opset14": gettext_noop("the operator of opset 14"),
    "opset18": gettext_noop("the operator of opset 18"),
    "opset19": gettext_noop("the operator of opset 19"),
    "opset20": gettext_noop("the operator of opset 20"),
}

# What is held back of a way that passes. That a form is needed is told by the form's own word.
HELD: dict[str, str] = {
    "unseen": gettext_noop("compiles, numbers unseen"),
    "fallback": gettext_noop("falls back to the CPU"),
    "mixed": gettext_noop("partly on the CPU"),
    "wrong_dtype": gettext_noop("right values in a wrong data type"),
    "unstable": gettext_noop("not repeatable"),
    "wrong_in_form": gettext_noop("wrong values in another form"),
    "close": gettext_noop("small errors, inside the tolerance band"),
    "placement_unproven": gettext_noop("running on the accelerator is not proven"),
}
