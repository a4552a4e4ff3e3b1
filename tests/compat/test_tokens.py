"""Tokens: what is stored, what a scope allows, how one ends."""

import pytest

from compat.models import Token
from compat.tokens import TokenScopeError, find_token, issue_token, revoke_token

pytestmark = pytest.mark.django_db


def get(client, secret, path="/api/v1/operators/"):
    return client.get(path, headers={"Authorization": f"Bearer {secret}"})


def test_the_secret_is_not_stored():
    token, secret = issue_token(name="ci", scopes=["read"])
    assert secret.startswith("opa_")
    assert secret not in str(Token.objects.filter(pk=token.pk).values().get())
    assert find_token(secret) == token


def test_a_scope_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(TokenScopeError, match="reports"):
        issue_token(name="ci", scopes=["everything"])
    with pytest.raises(TokenScopeError):
        issue_token(name="ci", scopes=[])


def test_a_revoked_or_unknown_token_opens_nothing_even_where_no_token_is_needed(client):
    token, secret = issue_token(name="ci", scopes=["read"])
    assert get(client, secret).status_code == 200
    assert revoke_token(token=token)
    assert not revoke_token(token=token)
    for wrong in (secret, "opa_nonsense", ""):
        answer = get(client, wrong)
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
        assert answer["Content-Type"] == "application/problem+json"


def test_a_token_does_what_its_scopes_say_and_no_more(client, settings):
    settings.OPEN_SCOPES = frozenset()
    assert client.get("/api/v1/operators/").status_code == 401
    _, reader = issue_token(name="reader", scopes=["read"])
    _, admin = issue_token(name="admin", scopes=["admin"])
    _, agent = issue_token(name="agent", scopes=["results"])
    assert get(client, reader).status_code == 200
    assert get(client, admin).status_code == 200
    refused = get(client, agent)
    assert refused.status_code == 403
    assert 'lacks the scope "read"' in refused.json()["detail"]
