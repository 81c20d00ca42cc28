//! `proof`: pictures of a card, from the very PDF that would print.

mod computed;
mod findings;
mod pictures;
mod sample;

use std::collections::BTreeMap;

use ::print::{Crop, Press, PressSettings, proof as render};
use anyhow::Context;
use chrono::{DateTime, Utc};
use contract::id::DesignId;
use design::{Document, Plan, Product, Side, Typesetter};
use serde_json::json;
use service::Config;
use storage::Storage;
use store::PrintPiece;

use self::findings::Findings;
use self::pictures::Loaded;
use crate::apply::read_document;
use crate::print::{Artwork, CardSource, Paper};
use crate::print_command::ProofCommand;
use crate::report::Report;
use crate::text_file;

/// Bytes of a design document.
const DESIGN_BYTES: usize = 10 * 1024 * 1024;

/// Stands in QR codes while no public address is set.
const SAMPLE_URL: &str = "https://mail.example.com";

/// What is shown.
struct Subject {
    document: Document,
    design: (DesignId, i32),
    piece: PrintPiece,
    pictures: Loaded,
    /// The folded names of the sample values; `None` for a card that was decided.
    given: Option<Vec<String>>,
}

/// Makes the proofs.
///
/// # Errors
/// When what is to be shown is not there or cannot print, or a file cannot be written.
pub(crate) async fn proof(
    config: &Config,
    command: &ProofCommand,
    now: DateTime<Utc>,
) -> anyhow::Result<Report> {
    let subject = subject(config, command, now).await?;
    let product = subject.document.product();
    let mut settings = config.print.clone();
    if settings.public_url.is_empty() {
        SAMPLE_URL.clone_into(&mut settings.public_url);
    }
    let paper = Paper::of(&settings)?;
    let crop = if command.bleed { Crop::Bleed } else { Crop::Trim };
    let resolution = command.resolution;
    let (pdf, pngs, findings) = tokio::task::block_in_place(|| {
        let (pdf, findings) = one_card(subject, &paper, now)?;
        let pngs = render(pdf.clone(), product, 1..=Side::ALL.len(), resolution, crop)?;
        anyhow::Ok((pdf, pngs, findings))
    })?;
    write(command, &pdf, &pngs, &findings)
}

async fn subject(config: &Config, command: &ProofCommand, now: DateTime<Utc>) -> anyhow::Result<Subject> {
    let fields: BTreeMap<String, String> =
        command.fields.iter().map(|(name, value)| (audience::fold_name(name), value.clone())).collect();
    let given = fields.keys().cloned().collect();
    let mut local = pictures::local(&command.pictures)?;
    if let Some(file) = &command.subject.design {
        let text = text_file::read(file, DESIGN_BYTES)?;
        let value = read_document(&text).map_err(|why| anyhow::anyhow!("{}: {why}", file.display()))?;
        let document = Document::parse(&value).with_context(|| format!("{} cannot print", file.display()))?;
        local.stand_in(&document);
        let design = (DesignId(uuid::Uuid::nil()), 1);
        let piece = sample::piece(&document, design, fields, local.names(), now);
        return Ok(Subject { document, design, piece, pictures: local, given: Some(given) });
    }
    let store = crate::run::open(config).await?;
    let storage = Storage::new(&config.storage)?;
    match (&command.subject.card, &command.subject.campaign) {
        (Some(code), _) => {
            let piece = store.print_piece_by_code(code).await?;
            let design = (piece.design_id, piece.design_version);
            let document = store.design_version(piece.team_id, design.0, design.1).await?;
            let document = Document::parse(&document).context("the card's design cannot print")?;
            let pictures = pictures::kept(&storage, &piece.content.pictures).await?;
            Ok(Subject { document, design, piece, pictures, given: None })
        }
        (None, Some(campaign_id)) => {
            let team_id = store.campaign_team(campaign_id).await?;
            let fields = computed::with_formulas(&store, team_id, fields, now).await?;
            let campaign = store.campaign_get(team_id, campaign_id).await?;
            let steps = campaign.map(|campaign| campaign.steps).unwrap_or_default();
            let step = steps.into_iter().find(|step| step.step == command.step);
            let design = step.and_then(|step| step.design).with_context(|| {
                format!("step {} of the campaign {campaign_id} has no design", command.step)
            })?;
            let document = Document::parse(&design.document).context("the design cannot print")?;
            local.fetch(config, &store, &storage, team_id, &document, &fields).await?;
            local.stand_in(&document);
            let key = (design.design_id, design.version);
            let piece = sample::piece(&document, key, fields, local.names(), now);
            Ok(Subject { document, design: key, piece, pictures: local, given: Some(given) })
        }
        (None, None) => anyhow::bail!("one of --card, --campaign and --design says what to show"),
    }
}

/// The PDF of the card, and what a send would say of it.
fn one_card(subject: Subject, paper: &Paper, now: DateTime<Utc>) -> anyhow::Result<(Vec<u8>, Findings)> {
    let Subject { document, design, piece, mut pictures, given } = subject;
    let product: Product = document.product();
    let plan = Plan::new(document);
    let findings = given.map(|given| Findings::of(&plan, &piece.content, &given)).unwrap_or_default();
    let settings = PressSettings {
        product,
        public_url: paper.public_url.clone(),
        title: "Proof".to_owned(),
        created_at: now,
        id: *piece.piece_id.as_bytes(),
    };
    let mut press = Press::new(Vec::new(), settings)?;
    let source = CardSource { design, plan: &plan, piece: &piece, serial: 0 };
    let artwork = Artwork::new(&mut Typesetter::new(), paper, &source);
    press.print(&artwork.card(), &mut pictures)?;
    Ok((press.finish()?, findings))
}

fn write(
    command: &ProofCommand,
    pdf: &[u8],
    pngs: &[Vec<u8>],
    findings: &Findings,
) -> anyhow::Result<Report> {
    std::fs::create_dir_all(&command.folder)
        .with_context(|| format!("the folder {} cannot be made", command.folder.display()))?;
    let sides = Side::ALL.iter().map(|side| format!("{}-{side}.png", command.name));
    let named = sides.zip(pngs.iter().map(Vec::as_slice));
    let mut files = Vec::new();
    for (name, bytes) in named.chain([(format!("{}.pdf", command.name), pdf)]) {
        let path = command.folder.join(name);
        std::fs::write(&path, bytes).with_context(|| format!("{} cannot be written", path.display()))?;
        files.push(path.display().to_string());
    }
    let text: Vec<String> = findings.sentences().into_iter().chain(files.iter().cloned()).collect();
    let report = Report::new(&json!({ "files": files, "findings": findings }), text.join("\n"))?;
    Ok(report.failed_when(findings.is_refusal()))
}
