//! Programs of the distribution that stand beside our processes: a load balancer, a pooler.

use std::collections::HashMap;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::fleet::FleetProcess;
use crate::processes::find_free_port;

/// The files that are deployed.
const HAPROXY: &str = include_str!("../../deploy/haproxy/haproxy.cfg");
const PGBOUNCER: &str = include_str!("../../deploy/kubernetes/base/pgbouncer.ini");

/// How long such a program takes to listen at the most.
const PATIENCE: Duration = Duration::from_secs(10);

/// A program with its configuration; it is killed at the end.
struct ExternalProgram {
    child: Child,
    _folder: TempDir,
}

impl ExternalProgram {
    /// Starts `command` with these files in a folder of its own, called `{folder}` in all of them, and waits until it listens on `port`.
    fn start(
        command: &[&str],
        files: &[(&str, &str)],
        environment: &HashMap<&str, String>,
        port: u16,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        // Pgbouncer reads it as another user.
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755))
            .expect("the folder is ours");
        let place = |word: &str| word.replace("{folder}", &folder.path().display().to_string());
        for (name, content) in files {
            std::fs::write(folder.path().join(name), place(content)).expect("a file");
        }
        let child = Command::new(command[0])
            .args(command[1..].iter().map(|word| place(word)))
            .envs(environment)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!(
                    "{} cannot be started ({error}): ./dev test installs it",
                    command[0]
                )
            });
        let mut borrowed = Self {
            child,
            _folder: folder,
        };
        borrowed.wait_for_port(command[0], port);
        borrowed
    }

    fn wait_for_port(&mut self, name: &str, port: u16) {
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = self.child.try_wait().expect("a child");
            assert!(
                ended.is_none() && begun.elapsed() < PATIENCE,
                "{name} does not listen: {ended:?}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for ExternalProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// HAProxy before two gateways, as it is deployed.
pub struct LoadBalancer {
    /// Where it listens.
    pub url: String,
    _program: ExternalProgram,
}

impl LoadBalancer {
    /// Before these two gateways.
    pub fn start_before(first: &FleetProcess, second: &FleetProcess) -> Self {
        let port = find_free_port();
        let local = |port: u16| format!("127.0.0.1:{port}");
        let environment = HashMap::from([
            ("LISTEN", local(port)),
            ("GATEWAY_1", local(first.port)),
            ("GATEWAY_1_ADMIN", first.admin.to_string()),
            ("GATEWAY_2", local(second.port)),
            ("GATEWAY_2_ADMIN", second.admin.to_string()),
        ]);
        let command = ["/usr/sbin/haproxy", "-db", "-f", "{folder}/haproxy.cfg"];
        let program =
            ExternalProgram::start(&command, &[("haproxy.cfg", HAPROXY)], &environment, port);
        Self {
            url: format!("http://127.0.0.1:{port}"),
            _program: program,
        }
    }

    /// Before the nodes of a cluster, for whatever they speak: a connection goes to one that accepts it.
    pub fn start_before_nodes(nodes: &[String]) -> (u16, Self) {
        let port = find_free_port();
        let servers: String = nodes
            .iter()
            .enumerate()
            .map(|(number, node)| {
                format!("    server node-{number} {node} check inter 300ms fall 1 rise 1 on-marked-down shutdown-sessions\n")
            })
            .collect();
        let configuration = format!(
            "defaults\n    mode tcp\n    timeout connect 1s\n    timeout client 1h\n    timeout server 1h\n    option redispatch 1\n\
             listen nodes\n    bind 127.0.0.1:{port}\n    balance leastconn\n{servers}"
        );
        let command = ["/usr/sbin/haproxy", "-db", "-f", "{folder}/haproxy.cfg"];
        let program = ExternalProgram::start(
            &command,
            &[("haproxy.cfg", &configuration)],
            &HashMap::new(),
            port,
        );
        (
            port,
            Self {
                url: format!("http://127.0.0.1:{port}"),
                _program: program,
            },
        )
    }
}

/// PgBouncer with the file that is deployed, before the database of a URL.
pub struct PgBouncer {
    /// How clients reach the same database through it.
    pub url: String,
    /// How its own console is reached.
    pub console: String,
    _program: ExternalProgram,
}

impl PgBouncer {
    /// Before the database of this URL, with so many connections to it for each user.
    pub fn start(database: &str, connections: usize) -> Self {
        let target = url_parts(database);
        let port = find_free_port();
        let ini = [
            ("listen_addr", "127.0.0.1".to_owned()),
            ("listen_port", port.to_string()),
            // The private server asks for no passwords.
            ("auth_type", "trust".to_owned()),
            ("auth_file", "{folder}/userlist.txt".to_owned()),
            ("admin_users", target.user.clone()),
            ("default_pool_size", connections.to_string()),
            ("reserve_pool_size", "0".to_owned()),
        ]
        .iter()
        .fold(PGBOUNCER.to_owned(), |text, (name, value)| {
            with_setting(&text, name, value)
        })
        .replace(
            "host=postgres-rw port=5432",
            &format!("host={} port={}", target.host, target.port),
        );
        let users: String = std::iter::once(target.user.as_str())
            .chain(store::PROCESSES)
            .map(|user| format!("\"{user}\" \"\"\n"))
            .collect();
        let mut command = vec!["/usr/sbin/pgbouncer", "--quiet"];
        if is_root() {
            // It refuses to be root.
            command.extend(["--user", "nobody"]);
        }
        command.push("{folder}/pgbouncer.ini");
        let files = [("pgbouncer.ini", ini.as_str()), ("userlist.txt", &users)];
        let program = ExternalProgram::start(&command, &files, &HashMap::new(), port);
        let url = |name: &str| {
            format!(
                "postgres://{}@127.0.0.1:{port}/{name}?sslmode=disable",
                target.user
            )
        };
        Self {
            url: url(&target.name),
            console: url("pgbouncer"),
            _program: program,
        }
    }
}

struct DatabaseAddress {
    user: String,
    host: String,
    port: u16,
    name: String,
}

fn url_parts(url: &str) -> DatabaseAddress {
    let config: tokio_postgres::Config = url.parse().expect("a database URL");
    let tokio_postgres::config::Host::Tcp(host) = &config.get_hosts()[0] else {
        panic!("a host")
    };
    DatabaseAddress {
        user: config.get_user().expect("a user").to_owned(),
        host: host.clone(),
        port: config.get_ports()[0],
        name: config.get_dbname().expect("a database").to_owned(),
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0)
}

/// An ini file with another value for a setting that it has.
fn with_setting(text: &str, name: &str, value: &str) -> String {
    let is_it = |line: &str| {
        line.split_once('=')
            .is_some_and(|(key, _)| key.trim() == name)
    };
    assert!(text.lines().any(is_it), "the deployed file sets {name}");
    text.lines()
        .map(|line| {
            if is_it(line) {
                format!("{name} = {value}\n")
            } else {
                format!("{line}\n")
            }
        })
        .collect()
}
