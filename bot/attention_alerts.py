"""What ops is told when people were asked often enough, or when there is nobody to ask. One line each, told once."""

from approvals.lifecycle import Cause
from approvals.models import Call, Run
from bot.alerts import alert_message
from bot.blocks import Message
from bot.text import count, inert, listed


def budget_alert(run: Run, calls: list[Call]) -> Message:
    """Calls of a run were refused because its own budget, or everybody's hour, is used up."""
    refused = [call for call in calls if call.cause is Cause.BUDGET]
    tools = listed(sorted({inert(call.tool, 60) for call in refused}))
    text = (
        f"Run `{run.id}`, asked by <@{run.requester}> in <#{run.channel}>: {count(len(refused), 'call')} of {tools}"
        " refused, approval budget exhausted. Nobody was asked about them and nothing ran."
    )
    fix = "Look at what the agent asks for so often. The budgets are in reviewers.toml under [budgets]."
    return alert_message("Approval budget exhausted", text, fix)


def tier_alert(tier: str) -> Message:
    """Calls came in that nobody could ever approve."""
    name = inert(tier, 80)
    text = f"Nobody may approve what is asked of the tier *{name}*, so such calls are refused at once."
    fix = f"Name enough users or usergroups under [tiers.{name}] in reviewers.toml and restart bot and worker."
    return alert_message("Nobody may approve", text, fix)
