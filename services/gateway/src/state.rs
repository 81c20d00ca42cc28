//! What the handlers of all APIs share.

use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use messages::{FORMULA_QUEUE, PUSH_QUEUE, SEND_QUEUE};
use queue::{CallError, QueueCall, QueueCaller, QueueReply};
use runtime::Process;
use scanning::ScanRecorder;

use crate::admission::{AdmissionGate, RateGroup};
use crate::answers::StoredAnswerBudget;
use crate::body::BodyReader;
use crate::mcp::turns::TeamCallLimiter;
use crate::scan::waiters::Waiters;

/// What the handlers share, handed to each request.
#[derive(Clone)]
pub(crate) struct GatewayState(Arc<Gateway>);

/// All of it is handles; none of it is state of a client.
pub(crate) struct Gateway {
    pub(crate) process: Process,
    pub(crate) send_gate: Arc<AdmissionGate>,
    pub(crate) requests_gate: Arc<AdmissionGate>,
    pub(crate) withhold_gate: Arc<AdmissionGate>,
    pub(crate) reads_gate: Arc<AdmissionGate>,
    pub(crate) push_gate: Arc<AdmissionGate>,
    pub(crate) formula_gate: Arc<AdmissionGate>,
    pub(crate) bodies: Arc<BodyReader>,
    pub(crate) answers: StoredAnswerBudget,
    pub(crate) send: QueueCaller,
    pub(crate) push: QueueCaller,
    pub(crate) formulas: QueueCaller,
    pub(crate) formula_call_limiter: Arc<TeamCallLimiter>,
    pub(crate) scans: Arc<ScanRecorder>,
    pub(crate) scans_gate: Arc<AdmissionGate>,
    pub(crate) scan_waiters: Arc<Waiters>,
}

impl Deref for GatewayState {
    type Target = Gateway;

    fn deref(&self) -> &Gateway {
        &self.0
    }
}

impl GatewayState {
    /// Starts what the handlers share.
    ///
    /// # Errors
    /// When a configured file cannot be read.
    pub(crate) fn start(process: Process) -> anyhow::Result<Self> {
        Ok(Self(Arc::new(Gateway {
            scans: Arc::new(ScanRecorder::start(&process)?),
            scans_gate: Arc::new(AdmissionGate::new(
                &process,
                RateGroup::for_scans(&process.config),
            )),
            scan_waiters: Arc::default(),
            send_gate: Arc::new(AdmissionGate::new(
                &process,
                RateGroup::for_sends(&process.config),
            )),
            requests_gate: Arc::new(AdmissionGate::new(
                &process,
                RateGroup::for_requests(&process.config),
            )),
            withhold_gate: Arc::new(AdmissionGate::new(
                &process,
                RateGroup::for_withholding(&process.config),
            )),
            reads_gate: Arc::new(AdmissionGate::new(
                &process,
                RateGroup::for_reads(&process.config),
            )),
            push_gate: Arc::new(AdmissionGate::new(
                &process,
                RateGroup::for_pushes(&process.config),
            )),
            formula_gate: Arc::new(AdmissionGate::new(
                &process,
                RateGroup::for_formulas(&process.config),
            )),
            bodies: Arc::new(BodyReader::new(&process)),
            answers: StoredAnswerBudget::new(&process.config.gateway),
            send: QueueCaller::start(&process.broker, SEND_QUEUE, process.background.clone()),
            push: QueueCaller::start(&process.broker, PUSH_QUEUE, process.background.clone()),
            formulas: QueueCaller::start(
                &process.broker,
                FORMULA_QUEUE,
                process.background.clone(),
            ),
            formula_call_limiter: Arc::default(),
            process,
        })))
    }

    /// Asks a worker, and gives up waiting at the last moment at which the client can still be told so. Errors: as of
    /// [`QueueCaller::call`].
    pub(crate) async fn call_worker(
        &self,
        caller: &QueueCaller,
        call: QueueCall,
        wait_timeout: Duration,
    ) -> Result<QueueReply, CallError> {
        tokio::select! {
            replied = caller.call(call, wait_timeout) => replied,
            () = self.process.last_moment() => Err(CallError::DeadlinePassed),
        }
    }

    /// Waits until calls to every queue have had their channel.
    pub(crate) async fn wait_until_open(&self) {
        for caller in [&self.send, &self.push, &self.formulas] {
            caller.wait_until_opened().await;
        }
    }
}

pub(crate) async fn method_not_allowed() -> (
    StatusCode,
    [(&'static str, &'static str); 1],
    axum::Json<serde_json::Value>,
) {
    let body =
        serde_json::json!({"code": "method_not_allowed", "message": "This path takes POST only."});
    (
        StatusCode::METHOD_NOT_ALLOWED,
        [("allow", "POST")],
        axum::Json(body),
    )
}

pub(crate) async fn refuse_other_methods() -> (
    StatusCode,
    [(&'static str, &'static str); 1],
    axum::Json<serde_json::Value>,
) {
    let body =
        serde_json::json!({"code": "method_not_allowed", "message": "This path takes GET only."});
    (
        StatusCode::METHOD_NOT_ALLOWED,
        [("allow", "GET")],
        axum::Json(body),
    )
}

/// The peer of a connection, as the server notes it.
pub(crate) type PeerAddress = axum::extract::ConnectInfo<SocketAddr>;
