import pytest

from webui.glossary import GLOSSARY, glossed


def test_short_terms_are_explained_where_they_stand():
    text = glossed("dla_sw=native; <b>; newer spec revisions not matched=22")
    assert text.count("<abbr title=") == 2
    assert ">dla_sw</abbr>=native" in text
    assert "&lt;b&gt;" in text


@pytest.mark.django_db
def test_the_about_page_lists_them_and_claims_lead_there(client):
    page = client.get("/about/").content.decode()
    assert 'id="glossary"' in page
    for term in GLOSSARY:
        assert term in page
