//! What a print shop is told of each card, as CSV and JSON.

use std::borrow::Cow;
use std::io::Write;

use chrono::NaiveDate;
use serde::Serialize;
use spreadsheet::escape_formula;
use store::{PrintMailpiece, PrintRun};
use uuid::Uuid;

use super::SetAsideReport;

/// A card in a manifest.
#[derive(Debug, Serialize)]
pub(super) struct ManifestRow<'a> {
    /// The card.
    piece_id: Uuid,
    campaign_id: &'a str,
    /// Its first page in the PDF, from 1; the back follows the front.
    first_page: usize,
    name: Cow<'a, str>,
    line_1: Cow<'a, str>,
    line_2: Cow<'a, str>,
    city: Cow<'a, str>,
    state: Cow<'a, str>,
    /// ZIP or ZIP+4.
    zip: Cow<'a, str>,
    /// `standard` or `first_class`.
    postage: &'a str,
    mail_by_date: NaiveDate,
    /// The digits of its Intelligent Mail barcode; empty without one.
    barcode: String,
}

/// The PDF that a manifest belongs to.
#[derive(Debug, Serialize)]
pub(super) struct ManifestPdf {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) pages: usize,
    pub(super) sha256: String,
}

/// Both manifests under way.
pub(super) struct PrintManifest<C: Write, J: Write> {
    csv: csv::Writer<C>,
    json: J,
    is_first: bool,
}

impl<'a> ManifestRow<'a> {
    pub(super) fn new(piece: &'a PrintMailpiece, first_page: usize, barcode: String) -> Self {
        let PrintMailpiece {
            first_name,
            last_name,
            zip,
            plus4,
            ..
        } = piece;
        Self {
            piece_id: piece.mailpiece_id,
            campaign_id: piece.campaign_id.as_str(),
            first_page,
            name: one_spaced(&format!("{first_name} {last_name}")).into(),
            line_1: piece.line_1.as_str().into(),
            line_2: piece.line_2.as_str().into(),
            city: piece.city.as_str().into(),
            state: piece.state.as_str().into(),
            zip: plus4
                .as_ref()
                .map_or(zip.into(), |plus4| format!("{zip}-{plus4}").into()),
            postage: &piece.postage,
            mail_by_date: piece.mail_by_date,
            barcode,
        }
    }

    /// As spreadsheet programs may open it: what people have written is no formula.
    fn escape_formulas(&self) -> ManifestRow<'_> {
        let [name, line_1, line_2, city, state, zip] = [
            &self.name,
            &self.line_1,
            &self.line_2,
            &self.city,
            &self.state,
            &self.zip,
        ]
        .map(|cell| escape_formula(cell));
        ManifestRow {
            name,
            line_1,
            line_2,
            city,
            state,
            zip,
            barcode: self.barcode.clone(),
            ..*self
        }
    }
}

/// In one line, whatever somebody's name has in it.
fn one_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl<C: Write, J: Write> PrintManifest<C, J> {
    pub(super) fn start(csv: C, mut json: J, run: &PrintRun) -> anyhow::Result<Self> {
        let (run_id, product) = (run.lease.run_id, serde_json::to_string(&run.product)?);
        let created_at = serde_json::to_string(&run.created_at)?;
        write!(
            json,
            "{{\"run_id\":\"{run_id}\",\"product\":{product},\"created_at\":{created_at},\"pieces\":["
        )?;
        Ok(Self {
            csv: csv::Writer::from_writer(csv),
            json,
            is_first: true,
        })
    }

    pub(super) fn add(&mut self, row: ManifestRow<'_>) -> anyhow::Result<()> {
        let separator: &[u8] = if std::mem::take(&mut self.is_first) {
            b"\n"
        } else {
            b",\n"
        };
        self.json.write_all(separator)?;
        serde_json::to_writer(&mut self.json, &row)?;
        self.csv.serialize(row.escape_formulas())?;
        Ok(())
    }

    /// Ends both; the JSON one names the PDF, none when it has no pages, and the cards that are not in it.
    pub(super) fn finish(
        mut self,
        pdf: Option<&ManifestPdf>,
        set_aside: &[SetAsideReport],
    ) -> anyhow::Result<()> {
        self.json.write_all(b"\n],\"pdf\":")?;
        serde_json::to_writer(&mut self.json, &pdf)?;
        self.json.write_all(b",\"set_aside\":")?;
        serde_json::to_writer(&mut self.json, set_aside)?;
        self.json.write_all(b"}\n")?;
        self.json.flush()?;
        self.csv.flush()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_like_a_formula_is_text_in_the_csv_and_itself_in_the_json() {
        let piece = PrintMailpiece {
            position: 1,
            team_id: model::id::TeamId(Uuid::nil()),
            mailpiece_id: Uuid::nil(),
            campaign_id: "PA-ABC123".parse().unwrap(),
            first_name: "=1+1".to_owned(),
            last_name: String::new(),
            line_1: "1 Main St".to_owned(),
            line_2: "＝1+1".to_owned(),
            city: "Austin".to_owned(),
            state: "TX".to_owned(),
            zip: "78701".to_owned(),
            plus4: Some("1234".to_owned()),
            postage: "standard".to_owned(),
            mail_by_date: NaiveDate::from_ymd_opt(2026, 11, 24).unwrap(),
            design_id: model::id::DesignId(Uuid::nil()),
            design_version: 1,
            code: None,
            content: store::MailpieceContent::default(),
        };
        let run = PrintRun {
            lease: store::PrintLease {
                run_id: Uuid::nil(),
                lease_id: Uuid::nil(),
            },
            product: "postcard_4x6".to_owned(),
            mailpieces: 1,
            settings: serde_json::Value::Null,
            first_serial: 0,
            created_at: chrono::DateTime::UNIX_EPOCH,
        };
        let (mut csv, mut json) = (Vec::new(), Vec::new());
        let mut manifest = PrintManifest::start(&mut csv, &mut json, &run).unwrap();
        manifest
            .add(ManifestRow::new(&piece, 1, String::new()))
            .unwrap();
        manifest.finish(None, &[]).unwrap();
        let csv = String::from_utf8(csv).unwrap();
        assert!(
            csv.starts_with("piece_id,campaign_id,first_page,name,"),
            "{csv}"
        );
        assert!(
            csv.contains(",'=1+1,") && csv.contains(",'＝1+1,") && csv.contains("78701-1234"),
            "{csv}"
        );
        let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(json["pieces"][0]["name"], "=1+1");
    }
}
