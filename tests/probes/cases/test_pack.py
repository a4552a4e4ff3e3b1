"""Case files, packs and the store: what is read is what was written, or an error."""

import lzma
import random

import numpy as np
import pytest

from probes.cases.case import CaseError, decode_case, encode_case
from probes.cases.catalogue import CaseStore, read_pack, write_pack
from probes.model import frames
from probes.model.values import Tensor
from tests.probes.cases.make import make_case, make_inputs, make_model


def make_odd_case():
    """Scalars, strings, a sequence, an absent optional, an empty tensor and packed int4."""
    text = Tensor(8, (2,), b'["a", "\\u00e9"]')
    nested = [*make_inputs(np.float32(3), np.zeros((0, 2), np.int64)), [text]]
    return make_case(inputs=(nested, None, Tensor(22, (3,), b"\x21\x03")), signature={"op": "X"})


@pytest.mark.parametrize("make", [make_case, make_odd_case])
def test_case_round_trip(make):
    case = make()
    assert decode_case(encode_case(case)) == case


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"rubbish",
        encode_case(make_case())[:-1],
        frames.encode({"kind": "opatlas-case", "schema": 99}, [b""]),
        frames.encode({"kind": "opatlas-case", "schema": 1}, [b""]),
        frames.encode({"kind": "something else", "schema": 1}),
    ],
    ids=["empty", "rubbish", "truncated", "future schema", "no fields", "other kind"],
)
def test_what_is_no_case_is_refused(document):
    with pytest.raises(CaseError):
        decode_case(document)


def test_pack_round_trip(tmp_path):
    cases = [make_case(), make_odd_case()]
    path = tmp_path / "some.pack.xz"
    assert write_pack(path, cases) == 2
    assert list(read_pack(path)) == cases
    assert [entry.name for entry in tmp_path.iterdir()] == ["some.pack.xz"]


def test_failed_pack_leaves_the_old_one(tmp_path):
    def broken():
        yield make_case()
        raise RuntimeError("the builder failed")

    path = tmp_path / "some.pack.xz"
    write_pack(path, [make_case()])
    with pytest.raises(RuntimeError):
        write_pack(path, broken())
    assert len(list(read_pack(path))) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["some.pack.xz"]


def test_damaged_packs_are_refused(tmp_path):
    path = tmp_path / "some.pack.xz"
    write_pack(path, [make_case()])
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"no xz at all", lzma.compress(b"no frame")):
        path.write_bytes(damaged)
        with pytest.raises(CaseError):
            list(read_pack(path))


def test_store_returns_what_was_put(tmp_path):
    store, case = CaseStore(tmp_path), make_case()
    assert case.id not in store
    store.put(case)
    store.put(case)
    assert case.id in store
    assert store.get(case.id) == case
    assert store.path(case.id).is_file()


def test_store_refuses_another_content_under_an_id(tmp_path):
    store, case = CaseStore(tmp_path), make_case()
    forged = make_case(model=make_model(scale=9.0), id=case.id)
    with pytest.raises(CaseError, match="does not have this id"):
        store.put_bytes(case.id, encode_case(forged))
    store.put(case)
    store.path(case.id).write_bytes(encode_case(forged))
    with pytest.raises(CaseError, match="does not have this id"):
        store.get(case.id)


def test_a_broken_case_is_one_error_whatever_broke(tmp_path):
    """A fetched document comes over a network: every damage is a CaseError, none a crash."""
    store, whole = CaseStore(tmp_path), encode_case(make_odd_case())
    generator = random.Random(7)
    for _ in range(400):
        damaged = bytearray(whole)
        for _ in range(generator.choice((1, 2, 8))):
            damaged[generator.randrange(len(damaged))] = generator.randrange(256)
        try:
            store.put_bytes(make_odd_case().id, bytes(damaged))
        except CaseError:
            continue
        assert store.get(make_odd_case().id).id == make_odd_case().id


def test_store_misses_and_bad_ids(tmp_path):
    store = CaseStore(tmp_path)
    with pytest.raises(KeyError):
        store.get("0" * 32)
    for bad in ("../../etc/passwd", "", "0" * 31, "G" * 32):
        with pytest.raises(CaseError, match="32 hexadecimal"):
            store.path(bad)
