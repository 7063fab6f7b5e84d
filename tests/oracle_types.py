"""The first oracle: a JSON schema made from Slack's own published types (`@slack/types`), which nobody here wrote.

    python tests/oracle_types.py    makes it, once for each pinned version (`make slack-types`)

It knows every block, element and field by name and by type, and refuses what it does not know. It knows no lengths.
"""

import functools
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator
from jsonschema.protocols import Validator

HERE = Path(__file__).resolve().parent
PINNED = HERE / "slack_types"
FILES = ("package.json", "package-lock.json", ".npmrc")
KEPT = HERE.parent / ".var" / "slack-types"

Json = dict[str, Any]


class SchemaMissing(RuntimeError):
    """The schema of Slack's types is made once, from npm: run `make slack-types` (it needs Node 18 or newer)."""


def where() -> Path:
    """Where the schema of the pinned versions is, once made."""
    pinned = b"".join((PINNED / name).read_bytes() for name in FILES)
    return KEPT / hashlib.sha256(pinned).hexdigest()[:16] / "schema.json"


def make(target: Path) -> None:
    """Fetch the pinned packages and write the schema, whole or not at all.

    Raises:
        SchemaMissing: no npm on this machine, or it could not fetch them.
    """
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        raise SchemaMissing(SchemaMissing.__doc__)
    work = target.parent
    work.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copy2(PINNED / name, work / name)
    raw = work / "raw.json"
    generator = work / "node_modules" / "ts-json-schema-generator" / "bin" / "ts-json-schema-generator.js"
    types = work / "node_modules" / "@slack" / "types" / "dist" / "index.d.ts"
    for command in (
        [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"],
        [node, str(generator), "--path", str(types), "--type", "*", "--no-type-check", "--out", str(raw)],
    ):
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SchemaMissing(f"{SchemaMissing.__doc__}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    raw.replace(target)
    shutil.rmtree(work / "node_modules")


@functools.cache
def schema() -> Json:
    """The schema of the pinned versions.

    Raises:
        SchemaMissing: it is a failure, not a reason to skip.
    """
    found = where()
    if not found.is_file():
        raise SchemaMissing(SchemaMissing.__doc__)
    made: Json = json.loads(found.read_text(encoding="utf-8"))
    return made


@functools.cache
def _validator(definition: str) -> Validator:
    return Draft7Validator({"$ref": f"#/definitions/{definition}", "definitions": schema()["definitions"]})


@functools.cache
def _known_blocks() -> dict[str, str]:
    """A block's type -> its definition: only what Slack's union of known blocks holds."""
    definitions = schema()["definitions"]
    names = [one["$ref"].rpartition("/")[2] for one in definitions["KnownBlock"]["anyOf"]]
    return {kind: name for name in names for kind in _kinds(definitions[name])}


def _kinds(definition: Json) -> Iterator[str]:
    """The values of `type` that a definition, or one of its alternatives, allows."""
    kind = definition.get("properties", {}).get("type", {}).get("const")
    if kind:
        yield kind
    for other in definition.get("anyOf", ()):
        yield from _kinds(other)


@functools.cache
def _told_apart() -> frozenset[str]:
    """The names of all fields whose text matters to the schema, such as `type` and `style`."""
    definitions = schema()["definitions"]

    def matters(part: Json) -> bool:
        if "$ref" in part:
            return matters(definitions[part["$ref"].rpartition("/")[2]])
        return bool({"const", "enum", "pattern"} & set(part)) or any(map(matters, part.get("anyOf", ())))

    def fields(part: Any) -> Iterator[tuple[str, Json]]:
        if isinstance(part, dict):
            if isinstance(part.get("properties"), dict):
                yield from part["properties"].items()
            part = list(part.values())
        if isinstance(part, list):
            for inner in part:
                yield from fields(inner)

    return frozenset(name for name, part in fields(definitions) if matters(part))


def _shape(value: Any, name: str = "") -> Any:
    """All that the schema looks at: no texts, and of equal neighbours in a list one. Makes many screens one shape."""
    if isinstance(value, dict):
        return {key: _shape(part, key) for key, part in value.items()}
    if isinstance(value, list):
        shapes = [_shape(part, name) for part in value]
        return [shape for at, shape in enumerate(shapes) if shape not in shapes[:at]]
    return "" if isinstance(value, str) and name not in _told_apart() else value


@functools.lru_cache(maxsize=4096)
def _fits(definition: str, shape: str) -> bool:
    return bool(_validator(definition).is_valid(json.loads(shape)))


def _errors(definition: str, value: Json) -> Iterator[str]:
    if _fits(definition, json.dumps(_shape(value))):
        return
    for error in _validator(definition).iter_errors(value):
        place = "/".join(map(str, error.absolute_path))
        yield f"at {place or 'the top'}: {error.message[:300]}"


def unlike_slacks(blocks: list[Json]) -> Iterator[str]:
    """What of these blocks Slack's own types do not allow, each with its place."""
    for at, block in enumerate(blocks):
        name = _known_blocks().get(str(block.get("type")))
        if name is None:
            yield f"block {at}: Slack knows no block of the type {block.get('type')!r}"
            continue
        yield from (f"block {at} {error}" for error in _errors(name, block))


def unlike_a_view(view: Json) -> Iterator[str]:
    """The same for a modal or a Home tab and everything in it."""
    name = {"modal": "ModalView", "home": "HomeView"}[view["type"]]
    yield from (f"view {error}" for error in _errors(name, {**view, "blocks": []}))
    yield from unlike_slacks(view["blocks"])


if __name__ == "__main__":
    if not where().is_file():
        make(where())
    sys.stdout.write(f"Slack's types as a schema: {len(schema()['definitions'])} definitions\n")
