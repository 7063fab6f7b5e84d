import json

from approvals.anchors import Anchor, Signer
from bot.alarms import alarm

SIGNER = Signer([bytes(32)])


def test_ops_reads_the_whole_anchor_and_can_hand_it_back() -> None:
    anchor = SIGNER.sign("T0HOME", 3, 120, "a" * 64, 1_700_000_000_000)
    message = alarm("anchor", anchor.text)
    assert f"`{anchor.text}`" in json.dumps(message.blocks)
    assert "rows up to 120 are signed" in message.text
    assert Anchor.read(f" `{anchor.text}`\n") == anchor
    assert anchor.holds("T0HOME")


def test_a_signature_covers_every_part_and_the_workspace() -> None:
    anchor = SIGNER.sign("T0HOME", 3, 120, "a" * 64, 1_700_000_000_000)
    assert not anchor.holds("T0AWAY")
    forged = (
        anchor._replace(number=4),
        anchor._replace(seq=119),
        anchor._replace(hash="b" * 64),
        anchor._replace(at=1),
        anchor._replace(signature="!"),
        anchor._replace(key="00"),
    )
    assert [one.holds("T0HOME") for one in forged] == [False] * len(forged)
