"""What REDIS_URL may say, and that nothing of a password is told when it says something else."""

from pathlib import Path

import pytest

from approvals.known_secrets import KnownSecrets
from approvals.redis_address import Address, RedisUrlError, passwords_in, without_password
from approvals.settings import Settings

TRIO = "redis+sentinel://:pa%2Fss@one:1,[::1]:2,three/prime/4"


def test_a_sentinel_url_names_all_sentinels_the_service_and_the_database() -> None:
    found = Address.of(TRIO + "?sentinel_password=guard&wait_replicas=1")
    assert found.sentinels == (("one", 1), ("::1", 2), ("three", 26379))
    assert (found.service, found.db, found.replicas) == ("prime", 4, 1)
    assert (found.primary["password"], found.primary["username"]) == ("pa/ss", None)
    assert found.sentinel["password"] == "guard"


def test_encryption_goes_to_the_sentinels_as_well_as_to_the_primary(tmp_path: Path) -> None:
    authority = tmp_path / "ca.pem"
    authority.touch()
    found = Address.of(f"{TRIO}?ssl=true&ssl_ca_certs={authority}")
    for way in (found.primary, found.sentinel):
        assert (way["ssl"], way["ssl_ca_certs"]) == (True, str(authority))


def test_the_number_of_replicas_is_ours_and_not_told_to_redis() -> None:
    found = Address.of("redis://localhost:6379/0?wait_replicas=2")
    assert (found.url, found.replicas) == ("redis://localhost:6379/0", 2)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("redis://h:1/0?ssl_ca_certs=ca.pem", "Let it begin with rediss://"),
        ("rediss://h:1/0?ssl_ca_certs=nowhere.pem", "nowhere.pem as ssl_ca_certs, which cannot be read"),
        ("rediss://h:1/0?ssl_cert_reqs=none", "anybody's certificate"),
        ("rediss://h:1/0?ssl_check_hostname=false", "anybody's certificate"),
        ("rediss://h:1/0?ssl_ca_cert=ca.pem", "an option that nobody reads"),
        ("redis://h:1/0?wait_replicas=1&wait_replicas=2", "wait_replicas twice"),
        ("redis://h:1/0?wait_replicas=-1", "wait_replicas that is no number"),
        ("redis://h:1/0?db=x", "a db that is no number"),
        ("redis://h:0/0", "not a valid address"),
        ("redis://h:port/0", "not a valid address"),
        ("redis+sentinel://one:1,two:2", "name-of-the-primary"),
        ("redis+sentinel://one:1,,two:2/prime", "name-of-the-primary"),
        ("redis+sentinel://one:x/prime", "name-of-the-primary"),
        ("redis+sentinel://one:1/prime/db", "a db that is no number"),
        ("redis+sentinel://one:1/prime?ssl=yes", "neither true nor false"),
        ("http://h", "must start with"),
    ],
)
def test_what_would_not_be_as_safe_as_it_looks_is_refused(url: str, sentence: str) -> None:
    with pytest.raises(RedisUrlError, match=sentence):
        Address.of(url)


def test_files_of_a_sentinel_url_without_encryption_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RedisUrlError, match="Add ssl=true"):
        Address.of(f"redis+sentinel://one:1/prime?ssl_ca_certs={tmp_path}")


@pytest.mark.parametrize(
    "url",
    [
        "redis://u:s3cret@h:port",
        "redis://:s3cret/x@h:1",
        "redis://:s3cret#x@h:1",
        "redis://:s3cret?x@h:1",
        "rediss://:s3cret@h:1/0?what=1",
        "redis+sentinel://:s3cret@one:1,two:2",
        "redis+sentinel://:s3cret@one:x/prime",
        "redis+sentinel://one:1/prime?sentinel_password=s3cret&what=1",
        "redis://[s3cret",
    ],
)
def test_nothing_of_a_password_stands_in_a_refusal(url: str) -> None:
    with pytest.raises(RedisUrlError) as refused:
        Address.of(url)
    assert "s3cret" not in str(refused.value)
    assert "s3cret" not in without_password(url)


def test_an_address_does_not_show_its_passwords() -> None:
    assert "ss@" not in repr(Address.of(TRIO))
    assert "pa" not in repr(Address.of(TRIO)).replace("Address", "").replace("replicas", "")


def test_every_password_of_the_url_is_kept_out_of_what_is_stored() -> None:
    url = "redis+sentinel://:word-of-the-primary@one:1/prime?sentinel_password=word-of-sentinels"
    assert passwords_in(url) == ["word-of-the-primary", "word-of-sentinels"]
    secrets = KnownSecrets.of(Settings.model_construct(redis_url=url, state_keys=None), {})
    assert secrets.named_in("... word-of-sentinels ...") == "REDIS_URL (2)"
    assert secrets.named_in("... word-of-the-primary ...") == "REDIS_URL"
