//! Requests that only read.

use std::error::Error;

use contract::push::{
    ContactAnswer, IntegrationAnswer, IntegrationField, IntegrationLimits, IntegrationReadiness,
    IntegrationView, OpenSyncView, OperationNames, PushError, RejectionsAnswer, SchemaAnswer,
    SyncAnswer, SyncStatus, SyncView, SyncsAnswer,
};
use model::id::IntegrationId;
use store::{Contact, IssueFilter, StoreError};

use crate::GatewayState;
use crate::push::answer::ReplayableAnswer;
use crate::push::query::PushQuery;

/// Issues that come with a contact.
const CONTACT_ISSUES: i64 = 100;

fn internal_error(error: StoreError) -> PushError {
    tracing::error!(error = &error as &dyn Error, "the database failed");
    PushError::InternalError
}

/// GET of the API's root, for a client that knows the calls by these names.
pub(crate) async fn read_integration(
    gateway: &GatewayState,
    id: IntegrationId,
    calls: &OperationNames,
) -> Result<IntegrationAnswer, PushError> {
    let (store, now) = (&gateway.process.store, gateway.process.clock.now());
    let integration = store
        .find_integration(id)
        .await
        .map_err(|error| match error {
            // Its team has removed it since the request was admitted.
            StoreError::NotFound(_) => PushError::InvalidKey,
            error => internal_error(error),
        })?;
    let fields = store.list_fields(id).await.map_err(internal_error)?;
    let latest = store
        .find_latest_sync(id, now)
        .await
        .map_err(internal_error)?;
    let open = latest.filter(|sync| sync.status == SyncStatus::Open);
    let standing = IntegrationReadiness {
        fields: &fields,
        has_open_sync: open.is_some(),
        has_completed: integration.has_completed,
    };
    Ok(IntegrationAnswer {
        integration: IntegrationView {
            id,
            status: integration.status(&standing),
            setup_complete: standing.is_set_up(),
            name: integration.name,
        },
        limits: IntegrationLimits::new(gateway.process.config.syncer.sync_expiry_hours),
        next_step: standing.next_step(calls),
        open_sync: open.map(|sync| OpenSyncView {
            id: sync.id,
            mode: sync.mode,
            expires_at: sync.expires_at,
            batches_received: sync.batches_received,
        }),
    })
}

/// GET schema.
pub(super) async fn read_schema(
    gateway: &GatewayState,
    id: IntegrationId,
) -> Result<ReplayableAnswer, PushError> {
    Ok(ReplayableAnswer::new(&SchemaAnswer {
        fields: read_fields(gateway, id).await?,
    }))
}

/// The declared fields.
pub(crate) async fn read_fields(
    gateway: &GatewayState,
    id: IntegrationId,
) -> Result<Vec<IntegrationField>, PushError> {
    gateway
        .process
        .store
        .list_fields(id)
        .await
        .map_err(internal_error)
}

/// GET sync: the latest one.
pub(super) async fn read_sync(
    gateway: &GatewayState,
    id: IntegrationId,
) -> Result<ReplayableAnswer, PushError> {
    let sync = find_latest_sync(gateway, id).await?;
    Ok(ReplayableAnswer::new(&SyncAnswer { sync }))
}

async fn find_latest_sync(
    gateway: &GatewayState,
    id: IntegrationId,
) -> Result<Option<SyncView>, PushError> {
    gateway
        .process
        .store
        .find_latest_sync(id, gateway.process.clock.now())
        .await
        .map_err(internal_error)
}

/// GET sync/rejections. One item more than the page is read, to know whether there is a next page.
pub(crate) async fn read_rejections(
    gateway: &GatewayState,
    id: IntegrationId,
    query: &PushQuery,
    filter: IssueFilter,
) -> Result<ReplayableAnswer, PushError> {
    let (asked, kind, after, limit) = (
        query.sync_id("syncId")?,
        query.issue_kind()?,
        query.after_cursor()?,
        query.limit()?,
    );
    let store = &gateway.process.store;
    let sync_id = match asked {
        Some(sync_id)
            if store
                .sync_exists(id, sync_id)
                .await
                .map_err(internal_error)? =>
        {
            sync_id
        }
        Some(_) => return Err(PushError::SyncNotFound),
        None => {
            find_latest_sync(gateway, id)
                .await?
                .ok_or(PushError::SyncNotFound)?
                .id
        }
    };
    let mut items = store
        .list_issues(id, sync_id, (kind, filter), after, limit + 1)
        .await
        .map_err(internal_error)?;
    let page = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = items.len() > page;
    items.truncate(page);
    let next_after = items
        .last()
        .filter(|_| has_more)
        .map(|item| item.id.to_string());
    Ok(ReplayableAnswer::new(&RejectionsAnswer {
        sync_id,
        kind,
        items,
        next_after,
    }))
}

/// GET syncs: the newest first.
pub(super) async fn read_syncs(
    gateway: &GatewayState,
    id: IntegrationId,
    query: &str,
) -> Result<ReplayableAnswer, PushError> {
    let query = PushQuery::parse(query);
    let limit = query.limit()?;
    let before = query
        .sync_id("after")
        .map_err(|_| PushError::InvalidCursor)?;
    let now = gateway.process.clock.now();
    let mut syncs = gateway
        .process
        .store
        .list_syncs(id, before, limit + 1, now)
        .await
        .map_err(internal_error)?;
    let page = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = syncs.len() > page;
    syncs.truncate(page);
    let next_after = syncs.last().filter(|_| has_more).map(|sync| sync.id);
    Ok(ReplayableAnswer::new(&SyncsAnswer { syncs, next_after }))
}

/// GET contacts: the one with this `externalId`.
pub(super) async fn read_contact(
    gateway: &GatewayState,
    id: IntegrationId,
    query: &str,
) -> Result<ReplayableAnswer, PushError> {
    let query = PushQuery::parse(query);
    let external_id = query.get_value("externalId").ok_or_else(|| {
        PushError::InvalidRequest("externalId names the contact and is needed.".to_owned())
    })?;
    if external_id.contains('\0') {
        return Err(PushError::ContactNotFound);
    }
    let store = &gateway.process.store;
    let contact = store
        .find_contact(id, external_id)
        .await
        .map_err(internal_error)?;
    let contact = contact.ok_or(PushError::ContactNotFound)?;
    let issues = store
        .list_contact_issues(id, external_id, CONTACT_ISSUES)
        .await
        .map_err(internal_error)?;
    let kept_by = store
        .find_latest_full_sync(id, gateway.process.clock.now())
        .await
        .map_err(internal_error)?;
    Ok(ReplayableAnswer::new(&ContactAnswer {
        last_sync_id: find_last_sync(&contact, kept_by.as_ref()),
        external_id: contact.external_id,
        fields: contact.fields,
        removed: contact.is_removed,
        created_at: contact.created_at,
        changed_at: contact.changed_at,
        issues,
    }))
}

/// The last sync that is known to have received the contact: the one that wrote it, or a later full one that
/// completed and did not remove it.
fn find_last_sync(contact: &Contact, full: Option<&SyncView>) -> model::id::SyncId {
    match full {
        Some(full) if !contact.is_removed => contact.changed_in.max(full.id),
        _ => contact.changed_in,
    }
}
