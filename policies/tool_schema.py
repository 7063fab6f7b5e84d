"""The JSON schema a model is told: closed objects, every field required, as strict tool calling wants it."""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import DecimalSchema, FloatSchema

from policies.bound_places import misplaced_bounds


class SchemaRefused(TypeError):
    """An argument model cannot be told to a model or read without loss; the text says what to declare instead."""


def tool_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments, with the docstrings and descriptions of its fields.

    Raises:
        SchemaRefused: for fields that are open mappings or binary floating point, and for bounds that do nothing.
    """
    for sentence in misplaced_bounds(model):
        raise SchemaRefused(sentence)
    schema: dict[str, Any] = model.model_json_schema(schema_generator=_Generator)
    _close(schema, model.__name__)
    return schema


def facts_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of the facts of a rule, which no model is told; mappings may be open.

    Raises:
        SchemaRefused: for fields that are binary floating point.
    """
    try:
        return model.model_json_schema(schema_generator=_Generator)
    except SchemaRefused as error:
        raise SchemaRefused(f"{model.__name__}: {error}") from None


class _Generator(GenerateJsonSchema):
    def decimal_schema(self, schema: DecimalSchema) -> JsonSchemaValue:
        bounds = {"minimum": schema.get("ge"), "maximum": schema.get("le")}
        return {"type": "number", **{name: float(bound) for name, bound in bounds.items() if bound is not None}}

    def float_schema(self, schema: FloatSchema) -> JsonSchemaValue:
        raise SchemaRefused(f"A field is a float ({schema['type']}), which loses digits. Declare Decimal or Money.")


def _close(node: Any, where: str) -> None:
    """Make every object of the schema closed and every field required, in place."""
    if isinstance(node, list):
        for element in node:
            _close(element, where)
    if not isinstance(node, dict):
        return
    _require_all(node, where)
    _say_lengths(node)
    # `properties` and `$defs` map names to schemas: a field called "default" or "title" must survive.
    for name in ("properties", "$defs"):
        for field, child in node.get(name, {}).items():
            _close(child, f"{where}.{field}")
    for name in ("default", "title"):
        if not isinstance(node.get(name), dict):
            node.pop(name, None)
    for name in ("items", "prefixItems", "anyOf", "oneOf", "allOf"):
        _close(node.get(name), where)


def _require_all(node: dict[str, Any], where: str) -> None:
    if node.get("type") != "object":
        return
    if "properties" not in node and node.get("additionalProperties", True) is not False:
        raise SchemaRefused(f"{where} has an open mapping. Declare a list of Arguments with named fields instead.")
    node["additionalProperties"] = False
    node["required"] = list(node.setdefault("properties", {}))


def _say_lengths(node: dict[str, Any]) -> None:
    """Strict tool calling does not take lengths of text; the reader enforces them, the description names them."""
    least, most = node.pop("minLength", None), node.pop("maxLength", None)
    if most is None:
        return
    note = f"At most {most} characters." if not least else f"{least} to {most} characters."
    node["description"] = f"{node['description']} {note}" if node.get("description") else note
