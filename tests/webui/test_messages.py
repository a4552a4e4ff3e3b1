from webui import messages


def test_every_string_has_a_chinese_translation():
    missing = messages.untranslated(messages.merge(messages.load(), messages.collect()))
    assert not missing, "run `make messages` and translate: " + "; ".join(missing)


def test_the_catalogue_has_no_string_that_the_sources_dropped():
    collected = {(message.id, message.context) for message in messages.collect()}
    kept = {(message.id, message.context) for message in messages.load()}
    assert kept <= collected, "run `make messages`"


def test_the_compiled_catalogue_is_up_to_date():
    assert messages.MO.read_bytes() == messages.mo_bytes(messages.load()), "run `make messages`"


def test_strings_of_templates_and_of_the_engine_are_found():
    found = {message.id for message in messages.collect()}
    assert "Skip to the content" in found
    assert ("%(n)s row", "%(n)s rows") in found
    assert "this very node passes" in found
    assert "The file is empty: upload an ONNX model." in found
