import pytest

from approvals.lifecycle import State
from bot_office import BRUNO, CHANNEL, GUS, OLGA, ROSA, XENA, Office, a_refund, readable


def thread_of(office: Office, ts: str) -> list[str]:
    return [readable(message) for message in office.slack.messages(CHANNEL, ts)]


def runs_started(office: Office) -> int:
    return [event["type"] for _, event in office.store.ledger.read(1000)].count("run_started")


def test_a_mention_is_heard_at_once_in_its_thread(office: Office) -> None:
    run_id, thread = office.start("refund <!channel> & co")
    office.until(lambda: len(thread_of(office, thread)) == 2, "the opening reply", 2)
    opening = office.slack.messages(CHANNEL, thread)[1]
    assert "Started" in readable(opening)
    assert opening["metadata"]["event_payload"] == {"id": f"opening:{run_id}"}
    run = office.store.runs.load(run_id)
    assert run is not None
    assert run.request == "refund <!channel> & co"
    assert run.requester == ROSA


def test_an_event_that_is_delivered_again_starts_nothing_new(office: Office) -> None:
    office.slack.duplicate_next(2)
    _, thread = office.start()
    office.until(lambda: len(office.slack.deliveries("app_mention")[0]["attempts"]) >= 1, "it is delivered")
    office.until(lambda: len(thread_of(office, thread)) == 2, "the opening reply")
    assert runs_started(office) == 1
    assert office.slack.ephemerals(ROSA, CHANNEL) == []


@pytest.mark.parametrize("text", ["", "help", " ? "])
def test_an_empty_request_is_answered_with_help_in_private(office: Office, text: str) -> None:
    office.slack.mention(ROSA, CHANNEL, text)
    office.told(ROSA, "Tell me what to do")
    assert runs_started(office) == 0


def test_a_slash_command_opens_a_thread_of_its_own(office: Office) -> None:
    assert office.slack.slash(ROSA, CHANNEL, "refund it all")["acked"]
    root = office.until(lambda: next(iter(office.slack.messages(CHANNEL)), None), "the thread is opened")
    assert "refund it all" in readable(root)
    run = office.until(lambda: office.store.runs.newest_in_thread(CHANNEL, root["ts"]), "the run is recorded")
    assert run.request == "refund it all"
    assert "Started" in readable(root)


def test_an_empty_slash_command_is_answered_with_help(office: Office) -> None:
    assert office.slack.slash(ROSA, CHANNEL, "")["acked"]
    office.told(ROSA, "Tell me what to do")


@pytest.mark.parametrize("typed", ["status", "histroy", "Estado?", "/help", "re-run"])
def test_a_single_word_after_the_slash_is_a_mistyped_command_and_starts_nothing(office: Office, typed: str) -> None:
    assert office.slack.slash(ROSA, CHANNEL, typed)["acked"]
    office.told(ROSA, f"There is no command `{typed}`.")
    assert runs_started(office) == 0


def test_a_request_without_spaces_in_a_language_that_has_none_is_a_request(office: Office) -> None:
    office.slack.slash(ROSA, CHANNEL, "退还昨天失败的付款")
    office.until(lambda: runs_started(office) == 1, "it starts")


@pytest.mark.parametrize(("user", "team"), [(GUS, None), (XENA, "T0000OTHER")])
def test_who_is_no_full_member_starts_nothing(office: Office, user: str, team: str | None) -> None:
    office.slack.mention(user, CHANNEL, "refund everything", team_id=team)
    office.until(lambda: office.slack.deliveries("app_mention")[0]["acked"], "it is delivered")
    if user == GUS:
        office.told(GUS, "Guests may not")
    assert runs_started(office) == 0


def test_a_second_request_in_the_thread_of_a_waiting_run_is_answered_with_where_it_stands(office: Office) -> None:
    run, thread = office.start()
    batch = office.pause(run, a_refund(31240))
    office.card(batch)
    office.slack.mention(OLGA, CHANNEL, "and now delete everything", thread_ts=thread)
    told = office.told(OLGA, "waits for a decision on 1 card")
    assert "/archives/C_REFUNDS/p" in told
    assert runs_started(office) == 1


def test_a_request_in_the_thread_of_an_ended_run_starts_one_that_follows_it(office: Office) -> None:
    first, thread = office.start()
    lease = office.store.runs.lease(first, token="w", ttl_ms=60_000)
    assert lease
    office.store.runs.complete(lease, answer="done")
    office.slack.mention(OLGA, CHANNEL, "again", thread_ts=thread)
    office.until(lambda: runs_started(office) == 2, "the second run")
    newest = office.store.runs.newest_in_thread(CHANNEL, thread)
    assert newest is not None
    assert newest.parent == first


@pytest.mark.parametrize("words", ["ok", "OK!", "approve", "yes, go ahead"])
def test_a_typed_yes_decides_nothing_and_is_shown_the_card(office: Office, words: str) -> None:
    run, thread = office.start()
    batch = office.pause(run, a_refund(31240))
    office.card(batch)
    office.slack.say(BRUNO, CHANNEL, words, thread_ts=thread)
    told = office.told(BRUNO, "Words in a thread decide nothing")
    assert "/archives/C_REFUNDS/p" in told
    assert office.call("call_000000000001").state is State.PENDING_REVIEW


def test_ordinary_talk_in_the_thread_is_left_alone(office: Office) -> None:
    run, thread = office.start()
    office.card(office.pause(run, a_refund(31240)))
    office.slack.say(BRUNO, CHANNEL, "hm, what does this do?", thread_ts=thread)
    office.slack.say(BRUNO, CHANNEL, "ok", thread_ts=thread)
    office.told(BRUNO, "Words in a thread")
    assert len(office.slack.ephemerals(BRUNO, CHANNEL)) == 1
