//! The table of routes: every page and action, who may use it and what answers; and the router that is made of it.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::http::Method;
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};

use crate::assets::serve_asset;
use crate::form_body::{FormBodyLimits, bound_form_body};
use crate::guard::guard_route;
use crate::null_character::refuse_null_characters;
use crate::page::address_book::{column, contact, entry, formula};
use crate::page::billing::{self, charge, top_up};
use crate::page::campaign::setup::{audience, creative, new, review, schedule};
use crate::page::campaign::{
    self, area, conditions, do_not_mail, hold, lifecycle, overview, picture,
};
use crate::page::design::{DOCUMENT_BYTES, edit, list as design_list, proof, version};
use crate::page::endpoint::{self, delivery, detail as endpoint_detail};
use crate::page::integration::{self, detail, field, key as integration_key, sync};
use crate::page::recipient::{self, export};
use crate::page::team::{account, link, people, settings};
use crate::page::{activity, home, key, sign_in};
use crate::page_error::{PageError, state_size_limit};
use crate::response_memory::{hold_response, response_memory};
pub use crate::role_access::RouteAccess;
use crate::security::with_security_layers;
use crate::state::ConsoleState;

/// Bytes of a form; pages that take files say so themselves.
const FORM_BYTES: usize = 256 * 1024;

/// A page or an action.
#[derive(Clone)]
pub struct ConsoleRoute {
    /// The path, with the names of its parameters in braces.
    pub path: &'static str,
    /// GET for pages, POST for actions.
    pub method: Method,
    /// Who may use it.
    pub access: RouteAccess,
    handler: MethodRouter<ConsoleState>,
}

macro_rules! route_table {
    ($($kind:ident $access:ident $path:literal $handler:path $(, $bytes:expr)?;)*) => {
        /// All of them. The router is made of this list, and tests walk it.
        pub fn console_routes() -> Vec<ConsoleRoute> {
            vec![$($kind($path, RouteAccess::$access, $handler $(, $bytes)?)),*]
        }
    };
}

// A page, an action (what a form does), or an action whose form may bring a file and has so many bytes at the most; who may use
// it; its path; its handler.
route_table! {
    page   Anyone  "/sign-in" sign_in::show_sign_in;
    action Anyone  "/sign-in" sign_in::sign_in;
    action Member  "/sign-out" sign_in::sign_out;

    page   Member  "/" home::show_home;

    page   Member  "/campaigns" campaign::list::list_campaigns;
    action Manager "/campaigns" new::create_campaign;
    page   Manager "/campaigns/new" new::show_new_campaign;
    page   Member  "/campaigns/{campaign_id}" overview::show_campaign;
    page   Manager "/campaigns/{campaign_id}/audience" audience::show_audience;
    action Manager "/campaigns/{campaign_id}/audience" audience::save_audience;
    page   Manager "/campaigns/{campaign_id}/creative" creative::show_creative;
    action Manager "/campaigns/{campaign_id}/creative" creative::change_creative;
    page   Manager "/campaigns/{campaign_id}/schedule" schedule::show_schedule;
    action Manager "/campaigns/{campaign_id}/schedule" schedule::save_schedule;
    page   Manager "/campaigns/{campaign_id}/review" review::show_review;
    action Manager "/campaigns/{campaign_id}/launch" review::launch_campaign;
    action Manager "/campaigns/{campaign_id}/duplicate" lifecycle::duplicate_campaign;
    action Manager "/campaigns/{campaign_id}/archive" lifecycle::archive_campaign;
    action Manager "/campaigns/{campaign_id}/restore" lifecycle::restore_campaign;
    action Manager "/campaigns/{campaign_id}/activate" overview::activate_campaign;
    action Manager "/campaigns/{campaign_id}/pause" overview::pause_campaign;
    action Manager "/campaigns/{campaign_id}/hold" hold::hold_campaign;
    action Manager "/campaigns/{campaign_id}/release" hold::release_campaign;
    page   Member  "/campaigns/{campaign_id}/steps/{step}/{side}" picture::show_step_picture;
    page   Member  "/campaigns/{campaign_id}/area" area::show_area;
    upload Manager "/campaigns/{campaign_id}/area" area::save_area, area::FORM_BYTES;
    page   Member  "/campaigns/{campaign_id}/conditions" conditions::show_conditions;
    upload Manager "/campaigns/{campaign_id}/conditions" conditions::change_conditions, conditions::FORM_BYTES;
    page   Member  "/campaigns/{campaign_id}/do-not-mail" do_not_mail::show_do_not_mail;
    action Manager "/campaigns/{campaign_id}/do-not-mail" do_not_mail::add_address;
    action Manager "/campaigns/{campaign_id}/do-not-mail/remove" do_not_mail::remove_recipients_at;
    upload Manager "/campaigns/{campaign_id}/do-not-mail/upload" do_not_mail::upload::upload_file, do_not_mail::upload::BYTES;
    page   Member  "/campaigns/{campaign_id}/recipients" recipient::list_recipients;
    page   Member  "/campaigns/{campaign_id}/recipients.csv" export::export_recipients;
    action Manager "/campaigns/{campaign_id}/recipients/{entry_id}/remove" recipient::remove_recipient;

    page   Member  "/designs" design_list::list_designs;
    page   Manager "/designs/new" edit::show_new_design;
    upload Manager "/designs" edit::create_design, DOCUMENT_BYTES;
    page   Member  "/designs/{design_id}" edit::show_design;
    upload Manager "/designs/{design_id}" edit::save_design, DOCUMENT_BYTES;
    page   Member  "/designs/{design_id}/versions" version::list_versions;
    page   Member  "/designs/{design_id}/versions/{version}" version::show_version;
    action Manager "/designs/{design_id}/versions/{version}/restore" version::restore_version;
    page   Member  "/designs/{design_id}/versions/{version}/{side}" proof::show_proof;

    page   Member  "/address-book" entry::list_entries;
    page   Member  "/address-book/entries/{entry_id}" entry::show_entry;
    page   Member  "/address-book/contacts/{integration_id}" contact::list_contacts;
    page   Member  "/address-book/contacts/{integration_id}/contact" contact::show_contact;
    page   Member  "/address-book/columns" column::show_columns;
    action Manager "/address-book/columns" column::create_column;
    action Manager "/address-book/columns/lock" column::lock_column;
    action Manager "/address-book/columns/unlock" column::unlock_column;
    page   Manager "/address-book/formula" formula::show_formula;
    action Manager "/address-book/formula" formula::save_formula;
    action Manager "/address-book/formula/preview" formula::preview_formula;

    page   Member  "/integrations" integration::list_integrations;
    action Manager "/integrations" integration::create_integration;
    page   Member  "/integrations/{integration_id}" detail::show_integration;
    action Manager "/integrations/{integration_id}/pause" detail::pause_integration;
    action Manager "/integrations/{integration_id}/resume" detail::resume_integration;
    action Manager "/integrations/{integration_id}/disconnect" detail::disconnect_integration;
    action Manager "/integrations/{integration_id}/remove" detail::remove_integration;
    action Manager "/integrations/{integration_id}/guard" detail::set_guard;
    action Manager "/integrations/{integration_id}/undo-removal" detail::undo_removal;
    action Manager "/integrations/{integration_id}/keys" integration_key::create_integration_key;
    action Manager "/integrations/{integration_id}/keys/{key_id}/revoke" integration_key::revoke_integration_key;
    page   Member  "/integrations/{integration_id}/fields" field::show_fields;
    action Manager "/integrations/{integration_id}/fields" field::map_fields;
    action Manager "/integrations/{integration_id}/fields/release" field::release_mapping;
    page   Member  "/integrations/{integration_id}/syncs" sync::list_syncs;
    page   Member  "/integrations/{integration_id}/syncs/{sync_id}" sync::show_sync;
    page   Member  "/integrations/{integration_id}/syncs/{sync_id}/issues.csv" sync::export_issues;

    page   Member  "/keys" key::show_keys;
    action Manager "/keys" key::create_team_key;
    action Manager "/keys/{key_id}/revoke" key::revoke_team_key;

    page   Member  "/endpoints" endpoint::list::list_endpoints;
    action Manager "/endpoints" endpoint::list::create_endpoint;
    page   Member  "/endpoints/{endpoint_id}" endpoint_detail::show_endpoint;
    action Manager "/endpoints/{endpoint_id}/scope" endpoint_detail::set_scope;
    action Manager "/endpoints/{endpoint_id}/events" endpoint_detail::set_events;
    action Manager "/endpoints/{endpoint_id}/pause" endpoint_detail::pause_endpoint;
    action Manager "/endpoints/{endpoint_id}/resume" endpoint_detail::resume_endpoint;
    action Manager "/endpoints/{endpoint_id}/delete" endpoint_detail::delete_endpoint;
    action Manager "/endpoints/{endpoint_id}/sign" endpoint_detail::sign_deliveries;
    action Manager "/endpoints/{endpoint_id}/stop-signing" endpoint_detail::stop_signing;
    action Manager "/endpoints/{endpoint_id}/test" delivery::send_test;
    action Manager "/endpoints/{endpoint_id}/replay" delivery::replay_failed;
    page   Member  "/endpoints/{endpoint_id}/deliveries/{delivery_id}" delivery::show_delivery;
    action Manager "/endpoints/{endpoint_id}/deliveries/{delivery_id}/redeliver" delivery::redeliver_event;

    page   Member  "/billing" billing::show_billing;
    page   Member  "/billing/charges" charge::list_charges;
    page   Member  "/billing/charges/{charge_id}" charge::show_charge;
    action Owner   "/billing/top-ups" top_up::ask_for_top_up;
    action Owner   "/billing/top-ups/{request_id}/withdraw" top_up::withdraw_request;

    page   Member  "/team" people::show_team;
    action Owner   "/team" people::invite_member;
    action Owner   "/team/{user_id}/role" people::set_role;
    action Owner   "/team/{user_id}/remove" people::remove_team_member;
    action Owner   "/team/{user_id}/reset-password" people::reset_password;
    action Owner   "/team/idempotency-keys" settings::set_idempotency_keys;
    action Owner   "/team/formula-keys" settings::set_formula_keys;
    page   Member  "/account" account::show_account;
    action Member  "/account/password" account::change_password;
    page   Anyone  "/password/{token}" link::show_password_link;
    action Anyone  "/password/{token}" link::set_first_password;

    page   Member  "/activity" activity::show_activity;
}

fn page<H, T>(path: &'static str, access: RouteAccess, handler: H) -> ConsoleRoute
where
    H: Handler<T, ConsoleState>,
    T: 'static,
{
    ConsoleRoute {
        path,
        method: Method::GET,
        access,
        handler: get(handler),
    }
}

fn action<H, T>(path: &'static str, access: RouteAccess, handler: H) -> ConsoleRoute
where
    H: Handler<T, ConsoleState>,
    T: 'static,
{
    upload(path, access, handler, FORM_BYTES)
}

fn upload<H, T>(path: &'static str, access: RouteAccess, handler: H, bytes: usize) -> ConsoleRoute
where
    H: Handler<T, ConsoleState>,
    T: 'static,
{
    let refused = map_response(move |response: Response| {
        std::future::ready(state_size_limit(response, bytes))
    });
    ConsoleRoute {
        path,
        method: Method::POST,
        access,
        handler: post(handler)
            .layer(DefaultBodyLimit::max(bytes))
            .layer(refused),
    }
}

/// The router of all routes, each behind its guard.
pub(crate) fn console_router(console: ConsoleState) -> Router {
    let config = console.process.config.clone();
    let forms = FormBodyLimits::new(&config.console);
    let responses = response_memory(&config.console);
    let router = console_routes()
        .into_iter()
        .fold(Router::new(), |router, route| {
            let handler = guard_route(route.handler, route.access, &console);
            router.route(route.path, handler)
        });
    let router = router
        .route("/assets/{name}", get(serve_asset))
        .fallback(async || PageError::NotFound)
        .method_not_allowed_fallback(async || PageError::Method)
        .layer(DefaultBodyLimit::max(FORM_BYTES))
        .layer(from_fn(refuse_null_characters))
        .layer(from_fn_with_state(forms, bound_form_body))
        .layer(from_fn_with_state(responses, hold_response))
        .with_state(console);
    with_security_layers(router, &config.console)
}
