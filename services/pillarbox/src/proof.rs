//! `proof`: pictures of a card, from the very PDF that would print.

mod computed;

use std::collections::BTreeMap;

use anyhow::Context;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use design::{PrintableDesign, Side};
use model::id::{CampaignId, DesignId};
use model::scan::MailpieceCode;
use outbound::{OutboundClient, TargetPolicy};
use pictures::PictureFetcher;
use print::ProofCrop;
use printing::{LoadedPictures, PaperSettings, Proof, ProofFindings};
use runtime::{Clock, Config};
use serde_json::json;
use storage::Storage;
use store::Store;

use crate::apply::read_document;
use crate::print_command::ProofArgs;
use crate::report::CommandReport;
use crate::text_file;

/// Bytes of a design document.
const DESIGN_BYTES: usize = 10 * 1024 * 1024;

/// Makes the proofs.
///
/// # Errors
/// When what is to be shown is not there or cannot print, or a file cannot be written.
pub(crate) async fn make_proofs(
    config: &Config,
    command: &ProofArgs,
    now: DateTime<Utc>,
) -> anyhow::Result<CommandReport> {
    let proof = load_proof(config, command, now).await?;
    // A card that was mailed has been decided.
    let given: Option<Vec<String>> = command.subject.card.is_none().then(|| {
        command
            .fields
            .iter()
            .map(|(name, _)| audience::fold_name(name))
            .collect()
    });
    let product = proof.product();
    let paper = PaperSettings::for_proofs(&config.print)?;
    let crop = if command.bleed {
        ProofCrop::Bleed
    } else {
        ProofCrop::Trim
    };
    let resolution = command.resolution;
    let findings = given
        .map(|given| proof.findings(&given))
        .unwrap_or_default();
    let (pdf, pngs) = tokio::task::block_in_place(|| {
        let pdf = proof.render_pdf(&paper, now)?;
        let pngs =
            print::render_proof(pdf.clone(), product, 1..=Side::ALL.len(), resolution, crop)?;
        anyhow::Ok((pdf, pngs))
    })?;
    write_files(command, &pdf, &pngs, &findings)
}

async fn load_proof(
    config: &Config,
    command: &ProofArgs,
    now: DateTime<Utc>,
) -> anyhow::Result<Proof> {
    let fields: BTreeMap<String, String> = command
        .fields
        .iter()
        .map(|(name, value)| (audience::fold_name(name), value.clone()))
        .collect();
    let pictures = named_pictures(&command.pictures)?;
    if let Some(file) = &command.subject.design {
        let text = text_file::read_text(file, DESIGN_BYTES)?;
        let value =
            read_document(&text).map_err(|why| anyhow::anyhow!("{}: {why}", file.display()))?;
        let document = PrintableDesign::parse(&value)
            .with_context(|| format!("{} cannot print", file.display()))?;
        let design = (DesignId(uuid::Uuid::nil()), 1);
        return Ok(Proof::from_sample(document, design, fields, pictures, now));
    }
    let store = crate::run::open_store(config).await?;
    let storage = Storage::new(&config.storage)?;
    match (&command.subject.card, &command.subject.campaign) {
        (Some(code), _) => load_mailed_proof(&store, &storage, code).await,
        (None, Some(campaign_id)) => {
            let (document, design) = step_design(&store, campaign_id, command.step).await?;
            let team_id = store.find_campaign_team(campaign_id).await?;
            let fields = computed::with_formulas(&store, team_id, fields, now).await?;
            let mut pictures = pictures;
            let fetcher = build_fetcher(config, &store, &storage)?;
            let found = pictures
                .find_missing(&fetcher, team_id, &document, &fields)
                .await?;
            pictures.load(&storage, found).await?;
            Ok(Proof::from_sample(document, design, fields, pictures, now))
        }
        (None, None) => anyhow::bail!("one of --card, --campaign and --design says what to show"),
    }
}

async fn load_mailed_proof(
    store: &Store,
    storage: &Storage,
    code: &MailpieceCode,
) -> anyhow::Result<Proof> {
    let mailpiece = store.find_mailpiece_by_code(code).await?;
    let document = store
        .find_design_document(
            mailpiece.team_id,
            mailpiece.design_id,
            mailpiece.design_version,
        )
        .await?;
    let document = PrintableDesign::parse(&document).context("the card's design cannot print")?;
    let pictures = LoadedPictures::load_kept(storage, &mailpiece.content.pictures).await?;
    Ok(Proof::from_mailpiece(document, mailpiece, pictures))
}

async fn step_design(
    store: &Store,
    campaign_id: &CampaignId,
    number: i16,
) -> anyhow::Result<(PrintableDesign, (DesignId, i32))> {
    let team_id = store.find_campaign_team(campaign_id).await?;
    let steps = store
        .find_campaign(team_id, campaign_id)
        .await?
        .map(|campaign| campaign.steps);
    let step = steps
        .unwrap_or_default()
        .into_iter()
        .find(|step| step.step == number);
    let design = step
        .and_then(|step| step.design)
        .with_context(|| format!("step {number} of the campaign {campaign_id} has no design"))?;
    let document = PrintableDesign::parse(&design.document).context("the design cannot print")?;
    Ok((document, (design.design_id, design.version)))
}

fn build_fetcher(
    config: &Config,
    store: &Store,
    storage: &Storage,
) -> anyhow::Result<PictureFetcher> {
    runtime::install_crypto();
    let client = OutboundClient::new(TargetPolicy::new(&config.outbound.allowed_networks))?;
    let (clock, settings) = (Clock::system(), config.pictures.clone());
    Ok(PictureFetcher::new(
        client,
        storage.clone(),
        store.clone(),
        clock,
        settings,
    ))
}

/// Pictures in files that were named, by their links.
fn named_pictures(named: &[(String, String)]) -> anyhow::Result<LoadedPictures> {
    let read = |(link, file): &(String, String)| {
        let bytes = std::fs::read(file).with_context(|| format!("{file} cannot be read"))?;
        anyhow::Ok((link.clone(), Bytes::from(bytes)))
    };
    Ok(LoadedPictures::from_files(
        named.iter().map(read).collect::<Result<Vec<_>, _>>()?,
    ))
}

fn write_files(
    command: &ProofArgs,
    pdf: &[u8],
    pngs: &[Vec<u8>],
    findings: &ProofFindings,
) -> anyhow::Result<CommandReport> {
    std::fs::create_dir_all(&command.folder)
        .with_context(|| format!("the folder {} cannot be made", command.folder.display()))?;
    let sides = Side::ALL
        .iter()
        .map(|side| format!("{}-{side}.png", command.name));
    let named = sides.zip(pngs.iter().map(Vec::as_slice));
    let mut files = Vec::new();
    for (name, bytes) in named.chain([(format!("{}.pdf", command.name), pdf)]) {
        let path = command.folder.join(name);
        std::fs::write(&path, bytes)
            .with_context(|| format!("{} cannot be written", path.display()))?;
        files.push(path.display().to_string());
    }
    let text: Vec<String> = findings
        .sentences()
        .into_iter()
        .chain(files.iter().cloned())
        .collect();
    let report = CommandReport::new(
        &json!({ "files": files, "findings": findings }),
        text.join("\n"),
    )?;
    Ok(report.failed_when(findings.is_refusal()))
}
