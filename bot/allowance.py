from bot.text import clip

_SMALLEST = 24


class Allowance:
    """How much of one call fits on its card. `cut` tells whether anything had to be shortened or left out."""

    def __init__(self, characters: int) -> None:
        self.left = characters
        self.cut = False

    def take(self, text: str, most: int) -> str:
        """As much of `text` as fits, at most `most` characters, both ends kept; empty when nothing sensible fits."""
        room = min(most, self.left)
        if not text:
            return ""
        if room < _SMALLEST and len(text) > room:
            self.cut = True
            return ""
        kept = clip(text, room)
        self.cut = self.cut or kept != text
        self.left -= len(kept)
        return kept
