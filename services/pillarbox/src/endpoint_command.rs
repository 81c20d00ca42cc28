//! What can be typed about webhook endpoints.

use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use model::id::{CampaignId, DeliveryId, EndpointId};

/// Webhook endpoints of a team.
#[derive(Debug, Subcommand)]
pub enum EndpointCommand {
    /// Send events to a URL; for one that stands already, change the campaigns.
    Add {
        /// The team's name or id.
        team: String,
        /// https, on a public host, best with a long random path.
        url: String,
        /// Only scans of this campaign; can be given several times. Without, all campaigns, later ones too.
        #[arg(long = "campaign")]
        campaigns: Vec<CampaignId>,
    },
    /// List a team's endpoints.
    List {
        /// The team's name or id.
        team: String,
    },
    /// Send nothing any more; what waits is dropped.
    Pause(EndpointArgs),
    /// Send scans from now on again, after a pause or when it was disabled.
    Resume(EndpointArgs),
    /// Delete it; what waits is dropped.
    Delete(EndpointArgs),
    /// Send a test event.
    Test(EndpointArgs),
    /// Show the last 25 deliveries.
    Deliveries(EndpointArgs),
    /// Send a delivery again, with the same webhook-id.
    Redeliver {
        /// Which endpoint.
        #[command(flatten)]
        of: EndpointArgs,
        /// The delivery's id, as the list shows it.
        delivery_id: DeliveryId,
    },
    /// Send all deliveries again that were made since a time and have failed, or were cancelled after a failure.
    Replay {
        /// Which endpoint.
        #[command(flatten)]
        of: EndpointArgs,
        /// Such as 2026-11-21T09:00:00Z.
        #[arg(long)]
        since: DateTime<Utc>,
    },
    /// Sign deliveries with a new key, shown this once. An earlier key signs as well for a while.
    Sign(EndpointArgs),
    /// Sign deliveries no more.
    StopSigning(EndpointArgs),
}

/// One endpoint.
#[derive(Debug, Args)]
pub struct EndpointArgs {
    /// The team's name or id.
    pub team: String,
    /// The endpoint's id, as the list shows it.
    pub endpoint_id: EndpointId,
}
