//! Duties: what one process does for all.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::error::Result;
use crate::pool::Store;

impl Store {
    /// Takes or keeps a duty until `until`. True when it is the holder's then. A lease that ends later than `until` was
    /// taken by a clock that has jumped, and counts for nothing.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked.
    pub async fn claim_duty(
        &self,
        duty: &str,
        holder: Uuid,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<bool> {
        let taken = self
            .execute(
                "INSERT INTO duties (duty, holder, leased_until) VALUES ($1, $2, $4)
                 ON CONFLICT (duty) DO UPDATE SET holder = $2, leased_until = $4
                 WHERE duties.holder = $2 OR duties.leased_until NOT BETWEEN $3 AND $4",
                &[&duty, &holder, &now, &until],
            )
            .await?;
        Ok(taken == 1)
    }

    /// Gives a duty up, if it is the holder's.
    ///
    /// # Errors
    /// [`crate::StoreError`] when the database cannot be asked; then the lease runs out.
    pub async fn release_duty(&self, duty: &str, holder: Uuid) -> Result<()> {
        self.execute(
            "DELETE FROM duties WHERE duty = $1 AND holder = $2",
            &[&duty, &holder],
        )
        .await?;
        Ok(())
    }
}
