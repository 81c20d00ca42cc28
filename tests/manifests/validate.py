"""Checks the Kubernetes manifests: validate.py FOLDER, the one with base and overlays.

Every resource must fit its schema, without fields that the schema does not have, in the oldest version of Kubernetes that
they are for and in a new one; and what it refers to by name must be there. Prints each mistake and ends with 1 when there
is one.
"""

import sys
from pathlib import Path

import jsonpatch
import kubernetes_validate
import yaml
from cloudcoil.models.keda import v1alpha1 as keda

VERSIONS = ["1.30", "1.36"]
KEDA = {"ScaledObject": keda.ScaledObject, "TriggerAuthentication": keda.TriggerAuthentication}
# Resources of operators whose schemas are in no registry that can be used here.
WITHOUT_SCHEMA = {
    ("postgresql.cnpg.io/v1", "Cluster"),
    ("postgresql.cnpg.io/v1", "ScheduledBackup"),
    ("barmancloud.cnpg.io/v1", "ObjectStore"),
}
ZONE = "topology.kubernetes.io/zone"
# Where processes, RabbitMQ and Postgres (by its operator) tell of themselves.
METRICS_PORTS = {9101, 15692, 9187}
# What is made by others: the operator of Postgres, and whoever keeps the secrets (README.md).
USERS = ["gateway", "mailer", "syncer", "dispatcher", "console"]
MADE_ELSEWHERE = {("Secret", name) for name in ["pillarbox", "pgbouncer", "rabbitmq", "postgres-app", "postgres-archive"]} | {
    ("Secret", f"postgres-{user}") for user in USERS
}


def load(path):
    return [resource for resource in yaml.safe_load_all(path.read_text()) if resource]


def named(resource):
    return f"{resource['kind']} {resource['metadata']['name']}"


def build(folder):
    """The resources of a kustomization, as far as it uses what ours use."""
    kustomization = load(folder / "kustomization.yaml")[0]
    # No "replicas": how many there are is in the manifests, or an autoscaler's business.
    known = {"apiVersion", "kind", "namespace", "labels", "resources", "configMapGenerator", "images", "patches"}
    assert not kustomization.keys() - known, f"{folder}: cannot build {kustomization.keys() - known}"
    resources, listed = [], {"kustomization.yaml"}
    for name in kustomization["resources"]:
        path = folder / name
        listed.add(name)
        resources += build(path) if path.is_dir() else load(path)
    for generator in kustomization.get("configMapGenerator", []):
        for name in generator.get("files", []) + generator.get("envs", []):
            assert (folder / name).is_file(), f"{folder / name} is not there"
            listed.add(name)
        if generator.get("behavior") != "merge":
            resources.append({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": generator["name"]}})
    unlisted = {path.name for path in folder.iterdir() if path.is_file()} - listed
    assert not unlisted, f"{folder}: nothing uses {unlisted}"
    return [patched(resource, kustomization) for resource in resources]


def patched(resource, kustomization):
    for patch in kustomization.get("patches", []):
        target = patch["target"]
        if (resource["kind"], resource["metadata"]["name"]) == (target["kind"], target["name"]):
            resource = jsonpatch.apply_patch(resource, yaml.safe_load(patch["patch"]))
    return resource


def schema_mistakes(resource):
    kind = (resource["apiVersion"], resource["kind"])
    if kind in WITHOUT_SCHEMA:
        return
    if resource["kind"] in KEDA:
        model = KEDA[resource["kind"]].model_validate(resource)
        kept = model.model_dump(by_alias=True, exclude_unset=True, mode="json")
        if lost := difference(resource, kept):
            yield f"{named(resource)}: the schema has no {lost}"
        return
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(resource, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            yield f"{named(resource)} in Kubernetes {version}: {error.message} at {list(error.path)}"


def difference(written, kept, path=""):
    """Where something that was written is not kept."""
    if isinstance(written, dict) and isinstance(kept, dict):
        for key, value in written.items():
            if key not in kept:
                return f"{path}.{key}"
            if found := difference(value, kept[key], f"{path}.{key}"):
                return found
    elif isinstance(written, list) and isinstance(kept, list):
        for index, (value, other) in enumerate(zip(written, kept)):
            if found := difference(value, other, f"{path}[{index}]"):
                return found
    return None


def pod(resource):
    return resource.get("spec", {}).get("template") if resource["kind"] in ("Deployment", "StatefulSet", "Job") else None


def references(resource):
    """What a resource names: kind and name."""
    if template := pod(resource):
        spec = template["spec"]
        if account := spec.get("serviceAccountName"):
            yield "ServiceAccount", account
        for volume in spec.get("volumes", []):
            if "configMap" in volume:
                yield "ConfigMap", volume["configMap"]["name"]
            if "secret" in volume:
                yield "Secret", volume["secret"]["secretName"]
        for container in spec["containers"]:
            for source in container.get("envFrom", []):
                for field, kind in (("configMapRef", "ConfigMap"), ("secretRef", "Secret")):
                    if field in source:
                        yield kind, source[field]["name"]
            for variable in container.get("env", []):
                if secret := variable.get("valueFrom", {}).get("secretKeyRef"):
                    yield "Secret", secret["name"]
    spec = resource.get("spec", {})
    match resource["kind"]:
        case "Cluster":
            for role in spec["managed"]["roles"]:
                if secret := role.get("passwordSecret"):
                    yield "Secret", secret["name"]
            for plugin in spec.get("plugins", []):
                yield "ObjectStore", plugin["parameters"]["barmanObjectName"]
        case "ObjectStore":
            for secret in spec["configuration"]["s3Credentials"].values():
                yield "Secret", secret["name"]
        case "ScheduledBackup":
            yield "Cluster", spec["cluster"]["name"]
        case "StatefulSet":
            yield "Service", spec["serviceName"]
        case "HorizontalPodAutoscaler" | "ScaledObject":
            yield spec["scaleTargetRef"].get("kind", "Deployment"), spec["scaleTargetRef"]["name"]
            for trigger in spec.get("triggers", []):
                if reference := trigger.get("authenticationRef"):
                    yield "TriggerAuthentication", reference["name"]
        case "TriggerAuthentication":
            for secret in spec["secretTargetRef"]:
                yield "Secret", secret["name"]
        case "Ingress":
            for rule in spec["rules"]:
                for path in rule["http"]["paths"]:
                    yield "Service", path["backend"]["service"]["name"]


def selected(resource):
    """The labels of the pods that a resource is about."""
    spec = resource.get("spec", {})
    match resource["kind"]:
        case "Service":
            return spec["selector"]
        case "PodDisruptionBudget" | "Deployment" | "StatefulSet":
            return spec["selector"]["matchLabels"]
    return None


def container_mistakes(resource):
    for container in pod(resource)["spec"]["containers"]:
        ports = {port["name"] for port in container.get("ports", [])}
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            if resource["kind"] == "Job":
                break
            if probe not in container and not (probe == "startupProbe" and container["name"] == "pgbouncer"):
                yield f"{named(resource)} has no {probe}"
            for action in ("httpGet", "tcpSocket"):
                port = container.get(probe, {}).get(action, {}).get("port")
                if port is not None and port not in ports:
                    yield f"{named(resource)}: {probe} asks port {port}, which is not there"
        if "memory" not in container["resources"]["limits"] or "cpu" not in container["resources"]["requests"]:
            yield f"{named(resource)} has no bounds"
        if container["securityContext"].get("capabilities", {}).get("drop") != ["ALL"]:
            yield f"{named(resource)} keeps capabilities"
    if not pod(resource)["spec"]["securityContext"].get("runAsNonRoot"):
        yield f"{named(resource)} may run as root"


def scaling_mistakes(resource, resources):
    """Whoever is scaled has no number of its own, which each apply would set again; whoever scales counts what is under way, too."""
    if resource["kind"] not in ("HorizontalPodAutoscaler", "ScaledObject"):
        return
    target = resource["spec"]["scaleTargetRef"]
    for scaled in resources:
        if (scaled["kind"], scaled["metadata"]["name"]) == (target.get("kind", "Deployment"), target["name"]):
            if "replicas" in scaled["spec"]:
                yield f"{named(scaled)} has replicas, and {named(resource)} scales it"
    for trigger in resource["spec"].get("triggers", []):
        query = trigger["metadata"].get("query", "")
        if "_running" not in query and "_duration_seconds_sum" not in query:
            yield f"{named(resource)} does not count what is under way"


def spread_mistakes(resource, constraints, labels):
    fits = lambda constraint: constraint["labelSelector"]["matchLabels"].items() <= labels.items()
    if not any(constraint["topologyKey"] == ZONE and fits(constraint) for constraint in constraints):
        yield f"{named(resource)} is not spread over zones"


def backup_mistakes(cluster, resources):
    archivers = [plugin["name"] for plugin in cluster["spec"].get("plugins", []) if plugin.get("isWALArchiver")]
    if not archivers:
        yield f"{named(cluster)} archives nothing"
    backups = [resource["spec"] for resource in resources if resource["kind"] == "ScheduledBackup"]
    if not any(
        backup["cluster"]["name"] == cluster["metadata"]["name"]
        and backup.get("method") == "plugin"
        and backup.get("pluginConfiguration", {}).get("name") in archivers
        for backup in backups
    ):
        yield f"{named(cluster)} is never backed up"


def probe_mistakes(resource):
    """What a probe that kills asks is the process alone; what is asked often starts no program."""
    for container in pod(resource)["spec"]["containers"]:
        for probe in ("startupProbe", "livenessProbe"):
            if container.get(probe, {}).get("httpGet", {}).get("path") == "/readyz":
                yield f"{named(resource)}: {probe} asks for readiness"
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            if "exec" in container.get(probe, {}):
                yield f"{named(resource)}: {probe} starts a program"
        if resource["kind"] == "Job" and "migrate" in container["args"] and "--wait" not in container["args"]:
            yield f"{named(resource)} waits neither for the database nor for its roles"


def metrics_mistakes(policy):
    if policy["metadata"]["name"] == "metrics":
        open_ports = {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]}
        if missing := METRICS_PORTS - open_ports:
            yield f"{named(policy)} lacks {sorted(missing)}"


def mistakes(resources):
    there = {(resource["kind"], resource["metadata"]["name"]) for resource in resources} | MADE_ELSEWHERE
    labels = [pod(resource)["metadata"]["labels"] for resource in resources if pod(resource)]
    budgets = [selected(resource) for resource in resources if resource["kind"] == "PodDisruptionBudget"]
    for resource in resources:
        yield from schema_mistakes(resource)
        for reference in references(resource):
            if reference not in there:
                yield f"{named(resource)} names {' '.join(reference)}, which is not there"
        wanted = selected(resource)
        if wanted is not None and not any(wanted.items() <= have.items() for have in labels):
            yield f"{named(resource)} selects no pod"
        yield from scaling_mistakes(resource, resources)
        if pod(resource):
            yield from container_mistakes(resource)
            yield from probe_mistakes(resource)
        if resource["kind"] in ("Deployment", "StatefulSet"):
            template = pod(resource)
            constraints = template["spec"].get("topologySpreadConstraints", [])
            yield from spread_mistakes(resource, constraints, template["metadata"]["labels"])
        if resource["kind"] == "Cluster":
            of_its_pods = {"cnpg.io/cluster": resource["metadata"]["name"]}
            yield from spread_mistakes(resource, resource["spec"].get("topologySpreadConstraints", []), of_its_pods)
            yield from backup_mistakes(resource, resources)
        if resource["kind"] == "NetworkPolicy":
            yield from metrics_mistakes(resource)
        if resource["kind"] in ("Deployment", "StatefulSet") and wanted not in budgets:
            yield f"{named(resource)} has no disruption budget"


def main():
    folder = Path(sys.argv[1])
    count = 0
    found = []
    for kustomization in sorted(folder.rglob("kustomization.yaml")):
        resources = build(kustomization.parent)
        count += len(resources)
        found += [f"{kustomization.parent}: {mistake}" for mistake in mistakes(resources)]
    for mistake in found:
        print(mistake)
    print(f"{count} resources, {len(found)} mistakes")
    sys.exit(1 if found or not count else 0)


main()
