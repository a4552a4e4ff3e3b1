from webui.signatures import signature_text, value_text


def tensor(dtype="float", shape=(1, 8), **fields):
    return {"dtype": dtype, "shape": list(shape), "const": False} | fields


def test_small_constants_are_named_as_the_specification_names_them():
    k = tensor("int64", [1], const=True, value=[5])
    signature = {
        "domain": "ai.onnx", "op": "TopK", "since": 11,
        "inputs": [tensor(), k], "attrs": {"axis": -1, "largest": 0, "sorted": 1},
    }  # fmt: skip
    assert signature_text(signature) == "float[1,8], int64[1] const K=[5] · largest=0"


def test_an_operator_without_a_specification_is_told_too():
    constant = tensor("int64", [], const=True, value=[2])
    signature = {"domain": "x", "op": "Y", "since": 1, "inputs": [constant, None], "attrs": {}}
    assert signature_text(signature) == "int64[] const value=2, –"


def test_long_values_are_cut():
    assert value_text(list(range(20))).endswith("14, 15, …]")
    assert value_text({"count": 99, "sha256": "0"}) == "99×…"
    assert value_text(0.5) == "0.5"
