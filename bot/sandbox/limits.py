"""Slack's documented sizes. Characters unless a name says otherwise."""

from typing import Final

MESSAGE_BLOCKS: Final = 50
VIEW_BLOCKS: Final = 100
MESSAGE_BLOCKS_TEXT: Final = 12_000  # all text of a message's blocks together; measured, not documented
POST_TEXT: Final = 40_000
UPDATE_TEXT: Final = 4_000
ATTACHMENTS: Final = 100

TEXT: Final = 3_000
SECTION_FIELDS: Final = 10
SECTION_FIELD_TEXT: Final = 2_000
HEADER_TEXT: Final = 150
CONTEXT_ELEMENTS: Final = 10
ACTIONS_ELEMENTS: Final = 25
ALT_TEXT: Final = 2_000
IMAGE_URL: Final = 3_000
INPUT_LABEL: Final = 2_000
MARKDOWN_TEXT: Final = 12_000
ALERT_TEXT: Final = 200
CONTAINER_TITLE: Final = 150
CONTAINER_CHILDREN: Final = 10
CARD_TITLE: Final = 150
CARD_BODY: Final = 200
CARD_ACTIONS: Final = 3

BUTTON_TEXT: Final = 75
BUTTON_VALUE: Final = 2_000
BUTTON_URL: Final = 3_000
BUTTON_LABEL: Final = 75
VISIBLE_TO: Final = 10
IDENTIFIER: Final = 255  # action_id, block_id, callback_id, external_id
PLACEHOLDER: Final = 150
INPUT_LENGTH: Final = 3_000

OPTION_TEXT: Final = 75
OPTION_VALUE: Final = 150
SELECT_OPTIONS: Final = 100
OVERFLOW_OPTIONS: Final = 5
CHOICE_OPTIONS: Final = 10  # checkboxes and radio buttons

CONFIRM_TITLE: Final = 100
CONFIRM_TEXT: Final = 300
CONFIRM_BUTTON: Final = 30

TABLE_ROWS: Final = 100
TABLE_COLUMNS: Final = 20
TABLE_TEXT: Final = 10_000

VIEW_TITLE: Final = 24
VIEW_METADATA: Final = 3_000
VIEW_BYTES: Final = 250_000
VIEW_STACK: Final = 3

TRIGGER_SECONDS: Final = 3.0
ACK_SECONDS: Final = 3.0
RESPONSE_URL_SECONDS: Final = 30 * 60.0
RESPONSE_URL_USES: Final = 5
SOCKETS: Final = 10
