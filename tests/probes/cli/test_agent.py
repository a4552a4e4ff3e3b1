"""How `python -m probes agent` and its like open the way to a server."""

import pytest

from probes.cli.agent import open_client
from probes.cli.main import main
from probes.client import BadAddress

ELSEWHERE = "http://opatlas.example.org"


@pytest.fixture
def token(tmp_path, monkeypatch):
    monkeypatch.delenv("OPATLAS_TOKEN", raising=False)
    path = tmp_path / "token"
    path.write_text("opa_x\n")
    return path


def test_a_token_does_not_travel_openly_unless_that_is_asked_for(token):
    with pytest.raises(BadAddress, match=r"not encrypted.*--insecure"):
        open_client(ELSEWHERE, token)
    assert open_client(ELSEWHERE, token, insecure=True).token == "opa_x"
    for address in ("https://opatlas.example.org", "http://127.0.0.1:8000", "http://[::1]"):
        assert open_client(address, token).token == "opa_x"


def test_the_agent_ends_with_the_sentence_and_sends_nothing(token, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("signal.signal", lambda *_: None)  # the tests' own stay
    asked = ["agent", f"--server={ELSEWHERE}", f"--token-file={token}", "--runtime=fake"]
    assert main([*asked, f"--cache={tmp_path / 'cache'}"]) == 1
    said = capsys.readouterr().err
    assert "the token would travel openly" in said
    assert "opa_x" not in said
    assert not (tmp_path / "cache").exists()


def test_without_a_token_the_agent_says_where_one_goes(token):
    with pytest.raises(BadAddress, match="--token-file, or set OPATLAS_TOKEN"):
        open_client("https://opatlas.example.org", None)
