"""What ops is told when people were asked often enough, or when there is nobody to ask. One line each, told once."""

from approvals.lifecycle import Cause
from approvals.models import BatchView, Call, Run
from bot.alerts import alert_message
from bot.blocks import Message
from bot.language import say, say_count, say_list
from bot.radius import radius_on
from bot.text import inert


def budget_alert(run: Run, calls: list[Call]) -> Message:
    """Calls of a run were refused because its own budget, or everybody's hour, is used up."""
    refused = [call for call in calls if call.cause is Cause.BUDGET]
    text = say_count(
        len(refused),
        "Run `{run}`, asked by <@{requester}> in <#{channel}>: {number} call of {tools} refused, approval budget"
        " exhausted. Nobody was asked about it and nothing ran.",
        "Run `{run}`, asked by <@{requester}> in <#{channel}>: {number} calls of {tools} refused, approval budget"
        " exhausted. Nobody was asked about them and nothing ran.",
        run=run.id,
        requester=run.requester,
        channel=run.channel,
        tools=say_list(sorted({inert(call.tool, 60) for call in refused})),
    )
    fix = say("Look at what the agent asks for so often. The budgets are in reviewers.toml under [budgets].")
    return alert_message(say("Approval budget exhausted"), text, fix)


def tier_alert(tier: str) -> Message:
    """Calls came in that nobody could ever approve."""
    name = inert(tier, 80)
    text = say("Nobody may approve what is asked of the tier *{tier}*, so such calls are refused at once.", tier=name)
    fix = say(
        "Name enough users or usergroups under [tiers.{tier}] in reviewers.toml and restart bot and worker.", tier=name
    )
    return alert_message(say("Nobody may approve"), text, fix)


def quiet_alert(view: BatchView, link: str | None = None) -> Message:
    """A card waits and too few of those who may decide it are awake to be told."""
    card = f"<{link}|{say('A card')}>" if link else say("A card")
    text = say(
        "{card} on *{radius}* waits, and too few of those who may decide it are awake: whoever has quiet hours was not"
        " notified. The next tier, if there is one, was asked at once. Run `{run}` in <#{channel}>.",
        card=card,
        radius=inert(radius_on(view), 200),
        run=view.run.id,
        channel=view.run.channel,
    )
    fix = say("Nothing, if it may wait or expire. Else wake somebody who may decide it; they can, whatever the hour.")
    return alert_message(say("Everybody is asleep"), text, fix)
