"""Manifests, and bringing one out once."""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict
from sqlalchemy import select
from sqlalchemy.orm import Session

from worker.refund_desk.shop.errors import ShopRefused
from worker.refund_desk.shop.tables import Deployment, Manifest


class Service(BaseModel):
    """One service of a manifest."""

    name: str
    image: str
    digest: str
    replicas_from: int
    replicas_to: int


class Migration(BaseModel):
    """One change of the database's form. `destructive` ones lose rows for good."""

    id: str
    destructive: bool
    estimated_rows: int | None = None


class ConfigChange(BaseModel):
    """One setting that changes."""

    model_config = ConfigDict(extra="allow")
    key: str

    @property
    def sentence(self) -> str:
        """`LOG_LEVEL: info -> debug`."""
        extra: dict[str, Any] = self.model_extra or {}
        return f"{self.key}: {extra.get('from')} -> {extra.get('to')}"


class ManifestRow(BaseModel):
    """What a deployment would bring out."""

    manifest_id: str
    environment: str
    requested_by: str
    services: list[Service]
    migrations: list[Migration]
    config_changes: list[ConfigChange]
    rollback_to: str | None

    @property
    def digests(self) -> dict[str, str]:
        """Service -> image digest: what really runs, whatever its tag says."""
        return {service.name: service.digest for service in self.services}

    @property
    def destructive(self) -> list[Migration]:
        """The migrations that cannot be taken back."""
        return [migration for migration in self.migrations if migration.destructive]


class DeploymentReceipt(BaseModel):
    """What was brought out."""

    manifest_id: str
    environment: str
    digests: dict[str, str]
    at: str


def find(session: Session, manifest_id: str | None, *, for_update: bool = False) -> ManifestRow | None:
    """A manifest by id; without one, the newest. `for_update` keeps others from changing it."""
    query = select(Manifest.content).order_by(Manifest.manifest_id.desc()).limit(1)
    query = query if manifest_id is None else query.where(Manifest.manifest_id == manifest_id)
    content = session.scalar(query.with_for_update() if for_update else query)
    return None if content is None else ManifestRow.model_validate_json(content)


def deploy(session: Session, key: str, manifest_id: str, at: str) -> DeploymentReceipt:
    """Bring a manifest out with the digests it has now.

    Raises:
        ShopRefused: there is no such manifest.
    """
    manifest = find(session, manifest_id)
    if manifest is None:
        raise ShopRefused(f"There is no manifest {manifest_id}. Nothing was deployed.")
    session.add(
        Deployment(
            idempotency_key=key,
            manifest_id=manifest_id,
            environment=manifest.environment,
            digests=json.dumps(manifest.digests, sort_keys=True),
            at=at,
        )
    )
    session.flush()
    return DeploymentReceipt(manifest_id=manifest_id, environment=manifest.environment, digests=manifest.digests, at=at)
