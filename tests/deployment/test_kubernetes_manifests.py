"""The manifests fit each other and the programs that they start."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nccl_exporter
import pytest
import yaml
from deployment.kubernetes import GUIDE, KUBERNETES, MANIFESTS, OPERATOR, mounts, of_kind, pod
from deployment.rule_files import ALERTS, CONFIG, rules

from sentinel.config.loader import load
from sentinel.config.settings import Settings

APPS = ("nccl-exporter", "nccl-sentinel")
JOBS_DIRECTORY = "/run/nccl-sentinel"
SETTINGS = KUBERNETES / "sentinel.toml"
GUIDE_TEXT = GUIDE.read_text(encoding="utf-8")
MODULES = {"nccl-exporter": "nccl_exporter", "sentinel": "sentinel"}


def container(name: str) -> dict[str, Any]:
    (only,) = pod(name)["containers"]
    return dict(only)


def probes(name: str) -> dict[str, list[str]]:
    return {key: value["exec"]["command"] for key, value in container(name).items() if key.endswith("Probe")}


def default_port(settings_or_help: str) -> int:
    return int(settings_or_help.rpartition(":")[2])


@pytest.mark.parametrize("name", APPS)
def test_a_pod_is_confined(name: str) -> None:
    spec = pod(name)
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    # Service links are variables, NCCL_SENTINEL_… among them.
    assert (spec["automountServiceAccountToken"], spec["enableServiceLinks"]) == (False, False)
    for each in (*spec.get("initContainers", []), *spec["containers"]):
        context = each["securityContext"]
        assert context["readOnlyRootFilesystem"] is True
        assert context["allowPrivilegeEscalation"] is False
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert {"cpu", "memory"} <= each["resources"]["requests"].keys()
        assert "memory" in each["resources"]["limits"]


def test_there_is_one_daemon_and_it_alone_writes() -> None:
    spec = of_kind("Deployment")["nccl-sentinel"]["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    writable = {each["mountPath"] for each in container("nccl-sentinel")["volumeMounts"] if not each.get("readOnly")}
    assert writable == {"/tmp", "/var/lib/nccl-sentinel"}  # noqa: S108
    claim = mounts(container("nccl-sentinel"), pod("nccl-sentinel"))["/var/lib/nccl-sentinel"]
    assert claim["persistentVolumeClaim"]["claimName"] in of_kind("PersistentVolumeClaim")
    assert not [each for each in container("nccl-exporter")["volumeMounts"] if not each.get("readOnly")]


@pytest.mark.parametrize("name", APPS)
def test_the_program_takes_its_arguments(name: str) -> None:
    (program,) = container(name)["command"]
    arguments = container(name)["args"]
    ask = "--version" if program == "nccl-exporter" else "--help"
    known = subprocess.run(
        [sys.executable, "-m", MODULES[program], *arguments, ask], capture_output=True, text=True, check=False
    )
    assert known.returncode == 0, known.stderr  # an option that there is not would be an error before that


def placed(directory: Path, text: str, spec: dict[str, Any], name: str) -> str:
    """A text whose mounted paths are files below `directory`; what it names is made, as far as it is mounted."""
    for path in set(re.findall(r'"(/run/secrets/[^"]+)"', text)):
        folder = str(Path(path).parent)
        assert folder in mounts(container(name), spec), path
        here = directory / path.lstrip("/")
        here.parent.mkdir(parents=True, exist_ok=True)
        here.write_text("secret\n")
    return text.replace('"/run/secrets/', f'"{directory}/run/secrets/')


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """What the daemon makes of its ConfigMap."""
    directory = tmp_path_factory.mktemp("pod")
    text = placed(directory, SETTINGS.read_text(encoding="utf-8"), pod("nccl-sentinel"), "nccl-sentinel")
    certificate = Path(__file__).parents[1] / "servers" / "certificate.pem"
    for authority in directory.rglob("ca.crt"):
        authority.write_bytes(certificate.read_bytes())
    (directory / "run/secrets/nccl-sentinel-web/web.yml").write_text("basic_auth_users: {}\n")
    file = directory / "sentinel.toml"
    file.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "sentinel", "check-config", "--config", file],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return load(file, {})


def test_the_configuration_is_where_it_is_looked_for(settings: Settings) -> None:
    (option,) = (each for each in container("nccl-sentinel")["args"] if each.startswith("--config="))
    volume = mounts(container("nccl-sentinel"), pod("nccl-sentinel"))[
        str(Path(option).parent).removeprefix("--config=")
    ]
    (generated,) = (
        each
        for each in yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())["configMapGenerator"]
        if each["name"] == volume["configMap"]["name"]
    )
    assert Path(option).name in generated["files"]
    assert str(settings.state.directory) in mounts(container("nccl-sentinel"), pod("nccl-sentinel"))
    prometheus = yaml.safe_load((CONFIG / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
    assert settings.alertmanager.external_labels == prometheus["global"]["external_labels"]


def test_ports_are_those_of_the_programs(settings: Settings) -> None:
    exporter_help = subprocess.run(
        [sys.executable, "-m", "nccl_exporter", "--help"], capture_output=True, text=True, check=True
    ).stdout
    (exporter_port,) = set(re.findall(r"127\.0\.0\.1:(\d{4})\b", exporter_help))
    defaults = Settings()
    assert default_port(settings.web.listen_address) == default_port(defaults.web.listen_address)
    expected = {"nccl-exporter": int(exporter_port), "nccl-sentinel": default_port(defaults.web.listen_address)}
    for name, port in expected.items():
        (listed,) = container(name)["ports"]
        assert listed["containerPort"] == port
        for command in probes(name).values():
            assert f"https://127.0.0.1:{port}/" in command[-2]
        policy = of_kind("NetworkPolicy")[name]["spec"]
        assert [each["port"] for rule in policy["ingress"] for each in rule["ports"]] == [listed["name"]]
    assert f"--web.listen-address=:{exporter_port}" in container("nccl-exporter")["args"]
    service = of_kind("Service")["nccl-sentinel"]["spec"]
    (served,) = service["ports"]
    assert served["port"] == expected["nccl-sentinel"]
    assert served["targetPort"] == container("nccl-sentinel")["ports"][0]["name"]
    # Where the daemon goes is let out.
    egress = of_kind("NetworkPolicy")["nccl-sentinel"]["spec"]["egress"]
    let_out = {each["port"] for rule in egress for each in rule["ports"]}
    assert {default_port(url) for url in (settings.prometheus.url, *settings.alertmanager.urls)} <= let_out


@pytest.mark.parametrize("name", APPS)
def test_probes_ask_pages_that_there_are(name: str) -> None:
    asked = probes(name)
    assert asked["startupProbe"] == asked["livenessProbe"]
    assert asked["livenessProbe"][-2].endswith("/-/healthy")
    if name == "nccl-sentinel":
        assert asked["readinessProbe"][-2].endswith("/-/ready")
    for command in asked.values():
        seen = mounts(container(name), pod(name))
        assert seen[str(Path(command[2]).parent)]["configMap"]["name"] == "nccl-sentinel-probe"
        assert (KUBERNETES / Path(command[2]).name).is_file()
        assert seen[command[-1]]["secret"]["secretName"] == Path(command[-1]).name


@pytest.mark.parametrize("name", APPS)
def test_whoever_selects_finds(name: str) -> None:
    kind = "DaemonSet" if name == "nccl-exporter" else "Deployment"
    owner = of_kind(kind)[name]["spec"]
    labels = owner["template"]["metadata"]["labels"].items()
    assert owner["selector"]["matchLabels"].items() <= labels
    assert of_kind("NetworkPolicy")[name]["spec"]["podSelector"]["matchLabels"].items() <= labels
    (port,) = (each["name"] for each in container(name)["ports"])
    if name == "nccl-exporter":
        monitor = of_kind("PodMonitor")[name]["spec"]
        assert monitor["selector"]["matchLabels"].items() <= labels
        (endpoint,) = monitor["podMetricsEndpoints"]
    else:
        service = of_kind("Service")[name]
        assert service["spec"]["selector"].items() <= labels
        monitor = of_kind("ServiceMonitor")[name]["spec"]
        assert monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
        (endpoint,) = monitor["endpoints"]
        assert {each["name"] for each in service["spec"]["ports"]} == {port}
    assert (endpoint["port"], endpoint["scheme"]) == (port, "https")
    assert {"targetLabel": "job", "replacement": name} in endpoint["relabelings"]


def test_jobs_are_named_as_the_alerts_expect() -> None:
    assert {job for rule in rules(ALERTS) for job in re.findall(r'job="([^"]+)"', rule["expr"])} == set(APPS)


def test_each_secret_is_made_in_the_guide_with_all_that_is_read_of_it() -> None:
    made: dict[str, set[str]] = {}
    for name, rest in re.findall(r"create secret generic (\S+)((?:[^\n]*\\\n)*[^\n]*)", GUIDE_TEXT):
        made[name] = set(re.findall(r"--from-(?:file|literal)=([\w.-]+)", rest))
    read: dict[str, set[str]] = {}
    for name in APPS:
        for volume in pod(name)["volumes"]:
            if "secret" in volume:
                read.setdefault(volume["secret"]["secretName"], set())
        for command in probes(name).values():
            read[Path(command[-1]).name] |= {"ca.crt", "username", "password"}
    texts = SETTINGS.read_text(encoding="utf-8") + " ".join(container("nccl-exporter")["args"])
    for folder, key in re.findall(r"/run/secrets/([\w-]+)/([\w.-]+)", texts):
        read[folder].add(key)
        if key == "web.yml":
            read[folder] |= {"tls.crt", "tls.key"}
    for monitor in (*of_kind("PodMonitor").values(), *of_kind("ServiceMonitor").values()):
        for name, key in re.findall(r"'name': '([\w-]+)', 'key': '([\w.-]+)'", str(monitor["spec"])):
            read[name].add(key)
    assert made == read


def test_images_are_of_this_version() -> None:
    images = {
        image
        for file in MANIFESTS
        for image in re.findall(r"image: (nccl-sentinel:\S+)", file.read_text(encoding="utf-8"))
    }
    assert images == {f"nccl-sentinel:{nccl_exporter.__version__}"}
    assert f"-t {images.pop()} " in (KUBERNETES / "Containerfile").read_text(encoding="utf-8")


def test_jobs_and_exporter_share_a_directory() -> None:
    trainer, job = container("llm-7b"), pod("llm-7b")
    exporter = mounts(container("nccl-exporter"), pod("nccl-exporter"))
    assert f"--source-dir={JOBS_DIRECTORY}" in container("nccl-exporter")["args"]
    assert exporter[JOBS_DIRECTORY]["hostPath"]["path"] == mounts(trainer, job)[JOBS_DIRECTORY]["hostPath"]["path"]
    environment = {each["name"]: each.get("value") for each in trainer["env"]}
    assert environment["NCCL_SENTINEL_DIR"] == JOBS_DIRECTORY
    (mount,) = (each for each in trainer["volumeMounts"] if each["mountPath"] == JOBS_DIRECTORY)
    assert not mount.get("readOnly")
    (initial,) = job["initContainers"]
    library = Path(environment["NCCL_PROFILER_PLUGIN"])
    assert mounts(initial, job)[str(library.parent)] == mounts(trainer, job)[str(library.parent)]


def test_the_job_is_named_by_what_the_plugin_reads() -> None:
    source = (CONFIG.parent / "docs" / "mapped-file.md").read_text(encoding="utf-8")
    (names,) = re.findall(r"in a pod \(`KUBERNETES_SERVICE_HOST` is set\) ([^;]+);", source)
    (named,) = (each["name"] for each in container("llm-7b")["env"] if "valueFrom" in each)
    assert named in re.findall(r"`(\w+)`", names)
    assert set(re.findall(r"\b(?:JOBSET_NAME|JOB_NAME|POD_NAME)\b", GUIDE_TEXT)) == set(re.findall(r"`(\w+)`", names))


def test_the_operators_monitors_are_alone_in_their_folder() -> None:
    assert {each["kind"] for each in of_kind("PodMonitor", OPERATOR / "monitors.yaml").values()} == {"PodMonitor"}
    others = [file for file in MANIFESTS if file.parent == KUBERNETES]
    assert not of_kind("PodMonitor", *others)
    assert not of_kind("ServiceMonitor", *others)
