//! Real gateways and workers over servers of their own, struck again and again while there is a load.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

use crate::processes::{PrivateServer, ServerKind, SpawnedProcess, find_free_port};

/// Gateways, and as many workers.
const REPLICAS: usize = 2;

/// A database and a broker that nobody else uses.
pub struct PrivateServers {
    postgres: PrivateServer,
    broker: Option<PrivateServer>,
    database_url: String,
}

/// What can die.
#[derive(Debug, Clone, Copy)]
pub enum ChaosFault {
    /// The worker with this number.
    Worker(usize),
    /// The gateway with this number.
    Gateway(usize),
    /// The database's server; it comes back with its data.
    Postgres,
    /// The broker; it comes back with its queues.
    Broker,
    /// The broker; it comes back empty.
    WipedBroker,
}

/// Two gateways and two workers of a kind, each a process.
pub struct ChaosFleet {
    servers: PrivateServers,
    worker: &'static str,
    settings: HashMap<String, String>,
    ports: [u16; REPLICAS],
    gateways: Vec<SpawnedProcess>,
    workers: Vec<SpawnedProcess>,
}

impl PrivateServers {
    /// Starts both, the database migrated.
    pub async fn start() -> Self {
        Self::with_servers(
            PrivateServer::start(ServerKind::Postgres),
            Some(PrivateServer::start(ServerKind::Rabbitmq)),
        )
        .await
    }

    /// The same with the database's folder here.
    pub async fn with_postgres_on(folder: &Path) -> Self {
        let postgres = PrivateServer::start_in(ServerKind::Postgres, folder.to_owned());
        Self::with_servers(postgres, Some(PrivateServer::start(ServerKind::Rabbitmq))).await
    }

    /// Starts the database alone; returns its URL, too.
    pub async fn with_postgres_only() -> (Self, String) {
        let servers = Self::with_servers(PrivateServer::start(ServerKind::Postgres), None).await;
        let url = servers.database_url.clone();
        (servers, url)
    }

    async fn with_servers(postgres: PrivateServer, broker: Option<PrivateServer>) -> Self {
        let database_url = format!("{}?sslmode=disable", postgres.url);
        store::migrate_database(&database_url)
            .await
            .expect("the database is migrated");
        Self {
            postgres,
            broker,
            database_url,
        }
    }

    /// The database.
    pub fn postgres(&self) -> &PrivateServer {
        &self.postgres
    }

    /// The broker.
    pub fn broker(&self) -> &PrivateServer {
        self.broker.as_ref().expect("these servers have a broker")
    }

    /// What names them in settings.
    pub fn settings(&self) -> [(&'static str, String); 2] {
        [
            ("DATABASE__URL", self.database_url.clone()),
            ("BROKER__URL", self.broker().url.clone()),
        ]
    }
}

impl ChaosFleet {
    /// Starts the processes with the settings of a stack on these servers.
    pub fn start(
        servers: PrivateServers,
        worker: &'static str,
        settings: &HashMap<String, String>,
    ) -> Self {
        let mut world = Self {
            servers,
            worker,
            settings: settings.clone(),
            ports: std::array::from_fn(|_| find_free_port()),
            gateways: Vec::new(),
            workers: Vec::new(),
        };
        for number in 0..REPLICAS {
            world.gateways.push(world.start_gateway(number));
            world.workers.push(world.start_worker());
        }
        world
    }

    /// Where the gateways listen.
    pub fn urls(&self) -> [String; REPLICAS] {
        self.ports.map(|port| format!("http://127.0.0.1:{port}"))
    }

    fn start_gateway(&self, number: usize) -> SpawnedProcess {
        let mut settings = self.settings.clone();
        let listen = format!("127.0.0.1:{}", self.ports[number]);
        settings.insert("PILLARBOX__GATEWAY__LISTEN".to_owned(), listen);
        SpawnedProcess::start("gateway", &settings, None)
    }

    fn start_worker(&self) -> SpawnedProcess {
        SpawnedProcess::start(self.worker, &self.settings, None)
    }

    /// Strikes in an order that the seed gives, with pauses of 0.3 s up to `longest_pause`.
    pub async fn strike_all(
        &mut self,
        strikes: &mut [ChaosFault],
        longest_pause: Duration,
        random: &mut StdRng,
    ) {
        strikes.shuffle(random);
        for strike in strikes {
            // Not a wait for a state: the moment of the strike is what is random.
            let pause = random.random_range(Duration::from_millis(300)..longest_pause);
            tokio::time::sleep(pause).await;
            tokio::task::block_in_place(|| self.strike(*strike));
        }
    }

    /// Something dies; it is started again at once, as a supervisor would.
    fn strike(&mut self, strike: ChaosFault) {
        match strike {
            ChaosFault::Worker(number) => {
                self.workers[number].kill();
                self.workers[number] = self.start_worker();
            }
            ChaosFault::Gateway(number) => {
                self.gateways[number].kill();
                self.gateways[number] = self.start_gateway(number);
            }
            ChaosFault::Postgres => kill_and_start(&self.servers.postgres, "kill"),
            ChaosFault::Broker => kill_and_start(self.servers.broker(), "kill"),
            ChaosFault::WipedBroker => kill_and_start(self.servers.broker(), "wipe"),
        }
    }
}

fn kill_and_start(server: &PrivateServer, death: &str) {
    server.run_action(death);
    server.run_action("start");
}
