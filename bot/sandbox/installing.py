"""Removing the app from the workspace, whoever does it: a person in Slack, or the app itself."""

from bot.sandbox.model import BOT_USER, Json
from bot.sandbox.office import Office
from bot.sandbox.writing import emit


def uninstall(office: Office) -> Json:
    """Every token of an installation is void, and the app is told so. The seed's own tokens stay.

    Slack sends both events in no fixed order; here `tokens_revoked` comes first.
    """
    gone = office.world.oauth.uninstall()
    wanted = office.world.settings.subscriptions
    revoked = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [BOT_USER]}}
    events = [one for one in (revoked, {"type": "app_uninstalled"}) if one["type"] in wanted]
    return {"revoked": sorted(gone), "deliveries": [emit(office, str(one["type"]), one) for one in events]}
