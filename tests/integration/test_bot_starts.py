import pytest
import redis

from approvals.lifecycle import State
from bot_office import BRUNO, CHANNEL, GUS, OLGA, ROSA, XENA, Office, a_refund, readable, running


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


def finish(office: Office, run: str) -> None:
    lease = office.store.runs.lease(run, token="w", ttl_ms=60_000)
    assert lease
    assert office.store.runs.complete(lease, answer="done").ok


def test_an_edited_request_starts_nothing_and_its_writer_is_told_once(office: Office) -> None:
    run, thread = office.start("refund pay_1")
    finish(office, run)
    for words in ("@vobo refund pay_1 please", "@vobo refund pay_1, please"):
        office.slack.edit(ROSA, CHANNEL, thread, words)
    office.until(lambda: len(office.slack.deliveries("app_mention")) == 3, "the edits are delivered")
    office.told(ROSA, "Editing a message does not change or repeat its run")
    office.until(lambda: all(one["acked"] for one in office.slack.deliveries()), "all is taken up")
    office.slack.mention(OLGA, CHANNEL, "help")
    office.told(OLGA, "Tell me what to do")
    assert runs_started(office) == 1
    assert len(office.slack.ephemerals(ROSA, CHANNEL)) == 1


def test_an_edit_that_adds_the_mention_starts_the_run(office: Office) -> None:
    said = office.slack.say(ROSA, CHANNEL, "refund pay_1")["ts"]
    office.slack.edit(ROSA, CHANNEL, said, "@vobo refund pay_1")
    run = office.until(lambda: office.store.runs.newest_in_thread(CHANNEL, said), "the run is recorded")
    assert run.request == "refund pay_1"


def test_an_edit_starts_nothing_when_its_run_may_be_forgotten_by_now(
    valkey_url: str, redis_client: redis.Redis
) -> None:
    with running(valkey_url, redis_client, over="socket") as office:  # signatures would be too old
        said = office.slack.say(ROSA, CHANNEL, "refund pay_1")["ts"]
        office.slack.advance(8 * 86_400)
        office.slack.edit(ROSA, CHANNEL, said, "@vobo refund pay_1")
        office.told(ROSA, "Editing a message does not change or repeat its run")
        assert runs_started(office) == 0


def test_a_command_where_the_bot_is_no_member_starts_nothing_and_says_what_to_do(office: Office) -> None:
    assert office.slack.slash(ROSA, "C_GENERAL", "refund pay_1")["acked"]
    told = office.until(lambda: office.slack.ephemerals(ROSA, "C_GENERAL"), "she is told")
    assert told[0]["text"] == "Invite me to this channel first; nothing was started."
    assert runs_started(office) == 0
    office.slack.remove_bot("C_GENERAL", removed=False)
    office.slack.slash(ROSA, "C_GENERAL", "refund pay_1")
    office.until(lambda: runs_started(office) == 1, "the run is recorded")


@pytest.mark.parametrize("error", ["missing_scope", "ratelimited"])
def test_a_command_starts_where_slack_does_not_say_whether_the_bot_is_a_member(office: Office, error: str) -> None:
    office.slack.fault("conversations.history", "error", error=error)
    office.slack.slash(ROSA, CHANNEL, "refund pay_1")
    office.until(lambda: runs_started(office) == 1, "the run is recorded")


def test_a_command_in_the_direct_message_with_the_bot_starts_and_in_another_one_does_not(office: Office) -> None:
    office.slack.fault("conversations.history", "error", error="missing_scope", count=2)  # im:history is not asked for
    office.slack.say(BRUNO, f"D{BRUNO}", "a message that opens it")
    office.slack.slash(ROSA, f"D{BRUNO}", "refund pay_1")
    told = office.until(lambda: office.slack.ephemerals(ROSA, f"D{BRUNO}"), "she is told")
    said = "Ask me in a direct message to me, or in a channel that I am in; nothing was started."
    assert told[0]["text"] == said, "nobody can invite it into the direct message of two people"
    office.slack.slash(ROSA, f"D{ROSA}", "refund pay_1")
    office.until(lambda: runs_started(office) == 1, "the run is recorded")


@pytest.mark.parametrize("error", ["missing_scope", "ratelimited"])
def test_a_command_starts_where_slack_does_not_say_whose_direct_message_it_is(office: Office, error: str) -> None:
    office.slack.fault("conversations.open", "error", error=error)
    office.slack.slash(ROSA, f"D{ROSA}", "refund pay_1")
    office.until(lambda: runs_started(office) == 1, "the run is recorded")
