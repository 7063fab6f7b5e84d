"""rich_text: the one block whose leaves are never read as markup."""

from bot.sandbox import limits
from bot.sandbox.schema import Check, anything, array, boolean, integer, one_of, record, string, tagged

_TYPE = string(40)
_STYLE = record({}, dict.fromkeys(("bold", "italic", "strike", "code", "underline", "highlight", "unlink"), boolean))
_MANY = 10_000

_LEAF = tagged(
    {
        "text": record({"type": _TYPE, "text": string(limits.MESSAGE_BLOCKS_TEXT)}, {"style": _STYLE}),
        "link": record(
            {"type": _TYPE, "url": string(3_000)},
            {"text": string(limits.TEXT), "style": _STYLE, "unsafe": boolean},
        ),
        "emoji": record(
            {"type": _TYPE, "name": string(100)}, {"unicode": string(40), "style": _STYLE, "skin_tone": anything}
        ),
        "user": record({"type": _TYPE, "user_id": string(40)}, {"style": _STYLE}),
        "usergroup": record({"type": _TYPE, "usergroup_id": string(40)}, {"style": _STYLE}),
        "channel": record({"type": _TYPE, "channel_id": string(40)}, {"style": _STYLE}),
        "broadcast": record({"type": _TYPE, "range": one_of("here", "channel", "everyone")}, {"style": _STYLE}),
        "date": record(
            {"type": _TYPE, "timestamp": integer(0, 2**40), "format": string(300)},
            {"url": string(3_000), "fallback": string(300), "style": _STYLE},
        ),
        "color": record({"type": _TYPE, "value": string(20)}, {"style": _STYLE}),
    },
    "rich text element",
)
_LEAVES = array(_LEAF, _MANY, 0)
_SECTION = record({"type": _TYPE, "elements": _LEAVES})
_PARTS: dict[str, Check] = {
    "rich_text_section": _SECTION,
    "rich_text_preformatted": record(
        {"type": _TYPE, "elements": _LEAVES}, {"border": integer(0, 1), "language": string(40)}
    ),
    "rich_text_quote": record({"type": _TYPE, "elements": _LEAVES}, {"border": integer(0, 1)}),
    "rich_text_list": record(
        {
            "type": _TYPE,
            "style": one_of("bullet", "ordered"),
            "elements": array(tagged({"rich_text_section": _SECTION}), _MANY),
        },
        {"indent": integer(0, 8), "offset": integer(0, _MANY), "border": integer(0, 1)},
    ),
}
RICH_TEXT = record(
    {"type": _TYPE, "elements": array(tagged(_PARTS, "rich text part"), _MANY)}, {"block_id": string(limits.IDENTIFIER)}
)
