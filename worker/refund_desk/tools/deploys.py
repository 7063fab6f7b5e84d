"""Deployment: what a manifest holds, what it destroys, and bringing it out."""

from sqlalchemy.orm import Session

from policies.rules.deploy import Deploy, DeployFacts
from worker.actions import ActionContext, Ask, NothingHappened, Precondition, Preview, action
from worker.refund_desk.shop import deployments
from worker.refund_desk.shop.deployments import DeploymentReceipt, ManifestRow
from worker.refund_desk.tools.doors import counted, find, once, read, sealed

SHORT = len("sha256:") + 12


async def look_up_manifest(args: Deploy) -> DeployFacts:
    """The digests that would run, and the migrations that lose data.

    Raises:
        NothingHappened: there is no such manifest for this environment.
    """
    return _facts(await _manifest(args))


async def preview_deployment(ask: Ask[Deploy, DeployFacts]) -> Preview:
    """Every image by digest, every migration and every changed setting."""
    manifest = await _manifest(ask.args)
    rows = tuple(_rows(manifest))
    scaled = [service for service in manifest.services if service.replicas_from != service.replicas_to]
    return Preview(
        headline=f"Deploy {manifest.manifest_id} to {manifest.environment}",
        impact=(
            counted(len(manifest.services), "service"),
            *(f"{service.name}: {service.replicas_from} -> {service.replicas_to} replicas" for service in scaled),
            f"{counted(len(manifest.migrations), 'migration')}, {len(manifest.destructive)} of them destroying data",
            *(f"DESTROYS DATA: {_losing(lost.id, lost.estimated_rows)}" for lost in manifest.destructive),
            *(change.sentence for change in manifest.config_changes),
            f"back to {manifest.rollback_to} by hand" if manifest.rollback_to else "no way back is named",
        ),
        columns=("part", "kind", "what"),
        sample=rows[: len(manifest.services)][:5],
        rows=rows,
        precondition=Precondition.over(
            f"manifest {manifest.manifest_id} with these {len(manifest.services)} digests",
            rows,
            key="part",
            material=("part", "kind", "what"),
        ),
    )


async def find_deployment(idempotency_key: str, args: Deploy) -> DeploymentReceipt | None:  # noqa: ARG001 - the key says it all
    """The receipt of an earlier attempt, None when nothing was deployed."""
    return await find(idempotency_key, DeploymentReceipt)


@action(Deploy, check=look_up_manifest, preview=preview_deployment, reconcile=find_deployment, remembers_s=None)
async def deploy(ctx: ActionContext, args: Deploy) -> DeploymentReceipt:
    """Roll a manifest out to the environment it was made for."""

    def roll_out(session: Session, at: str) -> DeploymentReceipt:
        facts = sealed(ctx, DeployFacts, "deploy", "Nothing was deployed.")
        manifest = deployments.find(session, args.manifest_id, for_update=True)
        if manifest is None or _facts(manifest) != facts:  # a name says nothing about what it stands for by now
            raise NothingHappened(f"{args.manifest_id} changed after it was looked at last. Nothing was deployed.")
        return deployments.deploy(session, ctx.idempotency_key, args.manifest_id, at)

    return await once(ctx, "deploy", args, roll_out, DeploymentReceipt)


async def _manifest(args: Deploy) -> ManifestRow:
    manifest = await read(lambda session: deployments.find(session, args.manifest_id))
    if manifest is None:
        raise NothingHappened(f"There is no manifest {args.manifest_id}.")
    if manifest.environment != args.environment:
        raise NothingHappened(f"{args.manifest_id} was made for {manifest.environment}, not for {args.environment}.")
    return manifest


def _facts(manifest: ManifestRow) -> DeployFacts:
    return DeployFacts(
        digests=manifest.digests,
        destructive=[_losing(migration.id, migration.estimated_rows) for migration in manifest.destructive],
    )


def _losing(migration: str, rows: int | None) -> str:
    return migration if rows is None else f"{migration} (about {rows:,} rows)"


def _rows(manifest: ManifestRow) -> list[dict[str, str]]:
    services = [
        {
            "part": f"service {service.name}",
            "kind": "image",
            "what": f"{service.digest} ({service.image}), {service.replicas_to} replicas",
        }
        for service in manifest.services
    ]
    migrations = [
        {
            "part": f"migration {migration.id}",
            "kind": "DESTROYS DATA" if migration.destructive else "migration",
            "what": _losing(migration.id, migration.estimated_rows),
        }
        for migration in manifest.migrations
    ]
    settings = [
        {"part": f"setting {change.key}", "kind": "setting", "what": change.sentence}
        for change in manifest.config_changes
    ]
    return [*services, *migrations, *settings]
