"""The second oracle: `slackblocks`, a library with limits of its own, builds each of our screens from our JSON.

Its classes raise when a text is too long, a list too full, a block on the wrong surface or a needed part missing. What
it has no word for is an error too, save a date in rich text, which is younger than it is.
"""

from collections.abc import Callable
from typing import Any

import slackblocks as sb

Json = dict[str, Any]
Builder = Callable[..., Any]


def _usergroup(*, usergroup_id: str, **style: bool) -> Any:
    return sb.RichTextUserGroup(user_group_id=usergroup_id, **style)


def _date(*, fallback: str, **_: Any) -> Any:
    """Younger than the library: at its longest it reads as its fallback."""
    return sb.RichText(fallback)


def _multi_static_select(*, options: Any = None, initial_options: Any = None, **rest: Any) -> Any:
    """The library asks for `options` even where there are groups, and then wants what is chosen as groups too.

    (Slack and its types want options in both cases.)
    """
    if initial_options and options is None:
        initial_options = [sb.OptionGroup(label="chosen", options=initial_options)]
    return sb.StaticMultiSelectMenu(options=options, initial_options=initial_options, **rest)


_OBJECTS: dict[str, Builder] = {
    "plain_text": sb.PlainText,
    "mrkdwn": sb.Markdown,
    "raw_text": sb.RawText,
    "header": sb.HeaderBlock,
    "section": sb.SectionBlock,
    "context": sb.ContextBlock,
    "divider": sb.DividerBlock,
    "actions": sb.ActionsBlock,
    "input": sb.InputBlock,
    "image": sb.ImageBlock,
    "table": sb.TableBlock,
    "alert": sb.AlertBlock,
    "rich_text": sb.RichTextBlock,
    "rich_text_section": sb.RichTextSection,
    "rich_text_list": sb.RichTextList,
    "rich_text_quote": sb.RichTextQuote,
    "rich_text_preformatted": sb.RichTextCodeBlock,
    "text": sb.RichText,
    "link": sb.RichTextLink,
    "user": sb.RichTextUser,
    "channel": sb.RichTextChannel,
    "emoji": sb.RichTextEmoji,
    "usergroup": _usergroup,
    "date": _date,
    "button": sb.Button,
    "overflow": sb.OverflowMenu,
    "static_select": sb.StaticSelectMenu,
    "multi_static_select": _multi_static_select,
    "users_select": sb.UserSelectMenu,
    "radio_buttons": sb.RadioButtonGroup,
    "checkboxes": sb.CheckboxGroup,
    "datepicker": sb.DatePicker,
    "plain_text_input": sb.PlainTextInput,
    "number_input": sb.NumberInput,
}
#: Leaves of rich text carry their style in an object of its own; the library takes it as arguments.
_LEAVES = frozenset({"text", "link", "user", "usergroup", "channel", "emoji", "date"})


def built(value: Any, within: str = "") -> Any:
    """What the library makes of a piece of our JSON.

    Raises:
        slackblocks.InvalidUsageError: it breaks one of its limits.
        TypeError, KeyError: it has a field or a type that the library does not know.
    """
    if isinstance(value, list):
        return [built(one, within) for one in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("type")
    if within == "rows" and kind == "rich_text":
        (cell,) = value["elements"]  # the library wraps a cell's only paragraph by itself
        return built(cell)
    style = value.get("style") if kind in _LEAVES else None
    parts = {name: built(part, name) for name, part in value.items() if name != "type" and part is not style}
    return _builder(value, within)(**parts, **(style or {}))


def _builder(value: Json, within: str) -> Builder:
    if "type" in value:
        return _OBJECTS[value["type"]]
    if within == "confirm":
        return sb.ConfirmationDialogue
    if within == "option_groups":
        return sb.OptionGroup
    if within == "column_settings":
        return sb.ColumnSettings
    return sb.Option


def build_message(text: str, blocks: list[Json]) -> Json:
    """The message as the library would send it.

    Raises:
        slackblocks.InvalidUsageError: Slack would refuse it.
    """
    return dict(sb.Message(channel="C1", text=text, blocks=built(blocks))._resolve())


def build_view(view: Json) -> Json:
    """The view as the library would open or publish it.

    Raises:
        slackblocks.InvalidUsageError: Slack would refuse it.
    """
    whole = {"modal": sb.ModalView, "home": sb.HomeTabView}[view["type"]]
    return dict(whole(**{name: built(part, name) for name, part in view.items() if name != "type"}).to_dict())
