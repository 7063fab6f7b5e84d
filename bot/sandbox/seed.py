"""The default workspace: a small office with every kind of person an approval meets."""

from dataclasses import dataclass

from bot.sandbox.model import APP_ID, BOT_USER, HOME_TEAM, Channel, User, Usergroup

OTHER_TEAM = "T0000OTHER"
BOT_ID = "BBOT"
BOT_TOKEN = "xoxb-sandbox"  # noqa: S105 - opens nothing but this stand-in
APP_TOKEN = "xapp-sandbox"  # noqa: S105 - as above
__all__ = [
    "APP_ID",
    "APP_TOKEN",
    "BOT_ID",
    "BOT_TOKEN",
    "BOT_USER",
    "HOME_TEAM",
    "OTHER_TEAM",
    "STORY",
    "Seed",
    "default_seed",
]
#: The sample's main job, offered as a first thing to say.
STORY = (
    "@vobo refund yesterday's failed payments, mail the affected customers and delete the customers on the erasure list"
)


@dataclass
class Seed:
    """What a workspace starts with. Build another one to start elsewhere."""

    users: list[User]
    usergroups: list[Usergroup]
    channels: list[Channel]
    bot_tokens: set[str]
    app_tokens: set[str]
    prompts: list[str]


def default_seed(home: str = HOME_TEAM) -> Seed:
    """A fresh copy of the default workspace, whose own team is `home`."""
    return Seed(
        users=_users(home),
        usergroups=[
            Usergroup("S_BILLING", "billing", "Billing", ["U0001", "U0002", "U0006", "U0007"]),
            Usergroup("S_OPS_LEADS", "ops-leads", "Ops leads", ["U0002", "U0003"]),
            Usergroup("S_RELEASE", "release", "Release", ["U0003", "U0004"]),
        ],
        channels=_channels(),
        bot_tokens={BOT_TOKEN},
        app_tokens={APP_TOKEN},
        prompts=[
            STORY,
            "@vobo refund yesterday's failed payments",
            "@vobo deploy dep_0042",
            "@vobo help",
        ],
    )


def _users(home: str) -> list[User]:
    other = OTHER_TEAM
    return [
        User("U0005", home, "rosa", "Rosa Requester", "requester", "asks the agent, reviews nothing"),
        User("U0001", home, "bruno", "Bruno Billing", "reviewer", "billing"),
        User("U0002", home, "olga", "Olga Opslead", "reviewer", "billing and ops leads"),
        User("U0003", home, "omar", "Omar Ops", "ops", "ops leads and release"),
        User("U0004", home, "rita", "Rita Release", "reviewer", "release"),
        User("U0008", home, "nina", "Nina Newhire", "reviewer", "billing, up to 250.00 EUR", locale="es-ES"),
        User("U0007", home, "gus", "Gus Guest", "guest", "a guest: may never decide", is_restricted=True),
        User("U0009", other, "xena", "Xena Outside", "outsider", "another company, by Connect", is_stranger=True),
        User("U0006", home, "dora", "Dora Deactivated", "deactivated", "left last month", deleted=True),
        User(BOT_USER, home, "vobo", "vobo", "app", "the agent's desk", is_bot=True),
    ]


def _channels() -> list[Channel]:
    people = {"U0005", "U0001", "U0002", "U0003", "U0004", "U0008"}
    return [
        Channel("C_REFUNDS", "refund-desk", people | {"U0007", "U0009", BOT_USER}, "Ask the agent here"),
        Channel("C_OPS", "vobo-ops", people | {BOT_USER}, "What only a person can settle"),
        Channel("C_GENERAL", "general", people | {"U0007"}, "Everything else; vobo is not a member"),
        Channel("C_OLD", "old-desk", people | {BOT_USER}, "Archived", is_archived=True),
    ]
