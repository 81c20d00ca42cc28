//! A cluster of three RabbitMQ nodes, each in a network namespace of its own, with the settings that are deployed.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::borrowed::LoadBalancer;

/// The settings that are deployed; how nodes find each other is another matter here.
const CONFIGURATION: &str = include_str!("../../deploy/kubernetes/base/rabbitmq.conf");

const NODES: usize = 3;

/// How long a node may take until it answers.
const PATIENCE: Duration = Duration::from_secs(60);

/// The nodes, on a bridge that this machine is on, too.
pub struct RabbitmqCluster {
    name: String,
    nodes: Vec<ClusterNode>,
    balancer_port: u16,
    _balancer: LoadBalancer,
    _network: ClusterNetwork,
}

/// What is taken down at the end.
struct ClusterNetwork {
    name: String,
}

struct ClusterNode {
    namespace: String,
    address: String,
    folder: TempDir,
    port_mapper: Child,
    server: Child,
}

/// Runs a command; true when it ended well.
fn run_command(words: &[&str]) -> bool {
    let run = Command::new(words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .output();
    run.is_ok_and(|output| output.status.success())
}

impl ClusterNetwork {
    /// A bridge and a namespace for each node; `None` where none can be made.
    fn create(name: &str, subnet: &str) -> Option<Self> {
        let network = Self {
            name: name.to_owned(),
        };
        let bridge = [
            &["ip", "link", "add", name, "type", "bridge"][..],
            &[
                "ip",
                "address",
                "add",
                &format!("{subnet}.1/24"),
                "dev",
                name,
            ],
            &["ip", "link", "set", name, "up"],
        ];
        let mut is_made = bridge.iter().all(|words| run_command(words));
        for node in 0..NODES {
            let (space, outer) = (format!("{name}-{node}"), format!("{name}o{node}"));
            let inner = format!("{name}i{node}");
            let address = format!("{subnet}.{}/24", 11 + node);
            let inside = ["ip", "-n", space.as_str()];
            is_made = is_made
                && run_command(&["ip", "netns", "add", &space])
                && run_command(&[
                    "ip", "link", "add", &outer, "type", "veth", "peer", "name", &inner,
                ])
                && run_command(&["ip", "link", "set", &inner, "netns", &space])
                && run_command(&["ip", "link", "set", &outer, "master", name])
                && run_command(&["ip", "link", "set", &outer, "up"])
                && run_command(&[&inside[..], &["link", "set", "lo", "up"]].concat())
                && run_command(
                    &[&inside[..], &["address", "add", &address, "dev", &inner]].concat(),
                )
                && run_command(&[&inside[..], &["link", "set", &inner, "up"]].concat());
        }
        is_made.then_some(network)
    }
}

impl Drop for ClusterNetwork {
    fn drop(&mut self) {
        for node in 0..NODES {
            run_command(&["ip", "netns", "delete", &format!("{}-{node}", self.name)]);
        }
        run_command(&["ip", "link", "delete", &self.name]);
    }
}

impl RabbitmqCluster {
    /// Starts it and waits until all nodes are in; `None` where no namespaces can be made.
    pub fn start() -> Option<Self> {
        let number = std::process::id();
        // Names of devices have 15 characters at the most.
        let (name, subnet) = (format!("pb{number}"), format!("10.213.{}", number % 250));
        let network = ClusterNetwork::create(&name, &subnet)?;
        let addresses: Vec<String> = (0..NODES)
            .map(|node| format!("{subnet}.{}", 11 + node))
            .collect();
        let nodes: Vec<ClusterNode> = (0..NODES)
            .map(|node| ClusterNode::start(format!("{name}-{node}"), &addresses, node))
            .collect();
        let targets: Vec<String> = addresses
            .iter()
            .map(|address| format!("{address}:5672"))
            .collect();
        for node in &nodes {
            node.wait_until_up();
        }
        let (balancer_port, balancer) = LoadBalancer::start_before_nodes(&targets);
        let cluster = Self {
            name,
            nodes,
            balancer_port,
            _balancer: balancer,
            _network: network,
        };
        cluster.wait_until_whole();
        Some(cluster)
    }

    /// How clients reach whichever node there is.
    pub fn url(&self) -> String {
        format!(
            "amqp://pillarbox:pillarbox@127.0.0.1:{}/%2f",
            self.balancer_port
        )
    }

    fn wait_until_whole(&self) {
        let begun = Instant::now();
        loop {
            let running =
                self.nodes[0].run_control(&["eval", "length(rabbit_nodes:all_running())."]);
            if String::from_utf8_lossy(&running.stdout).trim() == NODES.to_string() {
                return;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "the cluster is not whole: {running:?}"
            );
            std::thread::sleep(Duration::from_millis(500));
        }
    }

    /// The number of the node that leads a queue.
    ///
    /// # Panics
    /// When nobody knows.
    pub fn find_leader(&self, queue: &str) -> usize {
        let begun = Instant::now();
        loop {
            for node in &self.nodes {
                let output = node.run_control(&["list_queues", "name", "leader"]);
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                let leader = text.lines().find_map(|line| {
                    line.strip_prefix(queue)?
                        .split_whitespace()
                        .next()
                        .map(str::to_owned)
                });
                let number = leader.and_then(|leader| {
                    self.nodes
                        .iter()
                        .position(|node| leader == format!("rabbit@{}", node.address))
                });
                if let Some(number) = number {
                    return number;
                }
            }
            assert!(begun.elapsed() < PATIENCE, "nobody leads {queue}");
        }
    }

    /// Kills a node with SIGKILL.
    pub fn kill_node(&self, node: usize) {
        let pid = self.nodes[node].server.id().to_string();
        assert!(run_command(&["kill", "-KILL", &pid]), "the node is killed");
    }

    /// Starts a killed node again and waits until it is back in the cluster.
    pub fn revive_node(&mut self, node: usize) {
        let node = &mut self.nodes[node];
        let _ = node.server.wait();
        node.server = spawn_program(
            &node.namespace,
            node.folder.path(),
            &node.address,
            SERVER,
            &[],
        );
        node.wait_until_up();
        self.wait_until_whole();
    }

    /// Takes a node off the network.
    pub fn disconnect_node(&self, node: usize) {
        assert!(
            run_command(&[
                "ip",
                "link",
                "set",
                &format!("{}o{node}", self.name),
                "down"
            ]),
            "the link is down"
        );
    }

    /// Puts a node back on the network.
    pub fn reconnect_node(&self, node: usize) {
        assert!(
            run_command(&["ip", "link", "set", &format!("{}o{node}", self.name), "up"]),
            "the link is up"
        );
    }
}

/// The package's own, without its insistence on a user.
const SERVER: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";
const CONTROL: &str = "/usr/lib/rabbitmq/bin/rabbitmqctl";

impl ClusterNode {
    fn start(namespace: String, addresses: &[String], number: usize) -> Self {
        let address = addresses[number].clone();
        let folder = tempfile::tempdir().expect("a folder");
        let own = |line: &&str| {
            !line.starts_with("cluster_formation.") && !line.starts_with("disk_free_limit")
        };
        let mut configuration: String = CONFIGURATION
            .lines()
            .filter(own)
            .map(|line| format!("{line}\n"))
            .collect();
        configuration.push_str(
            "listeners.tcp.1 = 0.0.0.0:5672\ndefault_user = pillarbox\ndefault_pass = pillarbox\nloopback_users = none\n\
             cluster_formation.peer_discovery_backend = classic_config\n",
        );
        for (index, peer) in addresses.iter().enumerate() {
            configuration.push_str(&format!(
                "cluster_formation.classic_config.nodes.{} = rabbit@{peer}\n",
                index + 1
            ));
        }
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("a file")
        };
        write("rabbitmq.conf", &configuration);
        write("rabbitmq-env.conf", "");
        write("enabled_plugins", "[].");
        write(".erlang.cookie", "PILLARBOXDRILL");
        let secret = std::os::unix::fs::PermissionsExt::from_mode(0o400);
        std::fs::set_permissions(folder.path().join(".erlang.cookie"), secret)
            .expect("the file is ours");
        let port_mapper = spawn_program(&namespace, folder.path(), &address, "epmd", &[]);
        let server = spawn_program(&namespace, folder.path(), &address, SERVER, &[]);
        Self {
            namespace,
            address,
            folder,
            port_mapper,
            server,
        }
    }

    fn wait_until_up(&self) {
        let target = format!("{}:5672", self.address)
            .parse()
            .expect("an address");
        let begun = Instant::now();
        while TcpStream::connect_timeout(&target, Duration::from_secs(1)).is_err() {
            let log = self.folder.path().join("output.log");
            let log = || std::fs::read_to_string(&log).unwrap_or_default();
            assert!(
                begun.elapsed() < PATIENCE,
                "{} does not come up: {}",
                self.address,
                log()
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Runs the node's own client.
    fn run_control(&self, words: &[&str]) -> Output {
        let mut command =
            build_command(&self.namespace, self.folder.path(), &self.address, CONTROL);
        command
            .args(["--quiet", "--longnames", "--timeout", "15"])
            .args(words)
            .stdin(Stdio::null());
        command.output().expect("the client runs")
    }
}

fn build_command(namespace: &str, folder: &Path, address: &str, program: &str) -> Command {
    let place = |name: &str| folder.join(name).display().to_string();
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace, program]);
    command.env_clear().envs([
        (
            "PATH",
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_owned(),
        ),
        ("LANG", "C.UTF-8".to_owned()),
        ("HOME", folder.display().to_string()),
        ("ERL_CRASH_DUMP", place("erl_crash.dump")),
        ("RABBITMQ_NODENAME", format!("rabbit@{address}")),
        ("RABBITMQ_USE_LONGNAME", "true".to_owned()),
        ("RABBITMQ_CONFIG_FILE", place("rabbitmq.conf")),
        ("RABBITMQ_CONF_ENV_FILE", place("rabbitmq-env.conf")),
        ("RABBITMQ_ENABLED_PLUGINS_FILE", place("enabled_plugins")),
        ("RABBITMQ_MNESIA_BASE", place("data")),
        ("RABBITMQ_GENERATED_CONFIG_DIR", place("config")),
        ("RABBITMQ_SCHEMA_DIR", place("schema")),
        ("RABBITMQ_LOG_BASE", place("log")),
        ("RABBITMQ_LOGS", "-".to_owned()),
        ("RABBITMQ_SCHEDULER_BUSY_WAIT_THRESHOLD", "none".to_owned()),
        // A node that is gone is noticed within seconds, and not within a minute: the drill is short.
        (
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS",
            "-kernel net_ticktime 4".to_owned(),
        ),
        // The script becomes the node: our child is the node.
        ("RUNNING_UNDER_SYSTEMD", "true".to_owned()),
    ]);
    command
}

fn spawn_program(
    namespace: &str,
    folder: &Path,
    address: &str,
    program: &str,
    words: &[&str],
) -> Child {
    let log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(folder.join("output.log"))
        .expect("a log");
    let mut command = build_command(namespace, folder, address, program);
    command
        .args(words)
        .stdin(Stdio::null())
        .stderr(log.try_clone().expect("a log"))
        .stdout(log);
    command
        .spawn()
        .unwrap_or_else(|error| panic!("{program} cannot be started: {error}"))
}

impl Drop for ClusterNode {
    fn drop(&mut self) {
        for child in [&mut self.server, &mut self.port_mapper] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
