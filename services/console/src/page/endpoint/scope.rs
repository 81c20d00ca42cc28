//! Which campaigns' scans an endpoint hears of, as a form has it.

use model::id::CampaignId;
use url::form_urlencoded;

use crate::extract::MemberContext;
use crate::page_error::PageError;

/// A form that says where events go, or which. Names may come several times, so it is read by hand.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ScopeForm {
    /// Where to; blank in the form that only changes the campaigns.
    pub(super) url: String,
    /// Whether only chosen campaigns count.
    pub(super) is_chosen: bool,
    /// Whether the form does not say which in one word that it has.
    pub(super) is_unclear: bool,
    /// The chosen ones.
    pub(super) campaigns: Vec<String>,
    /// Whether deliveries are to be signed.
    pub(super) is_signed: bool,
    /// A fingerprint of the campaigns that were chosen when the form was made.
    pub(super) seen: String,
}

/// A campaign that can be chosen.
pub(super) struct CampaignChoice {
    /// Its public id.
    pub(super) campaign_id: String,
    /// Its name.
    pub(super) name: String,
    /// Whether it is.
    pub(super) is_chosen: bool,
}

impl ScopeForm {
    /// Reads a form's body.
    pub(super) fn parse(body: &[u8]) -> Self {
        let (mut form, mut scopes) = (Self::default(), 0);
        for (name, value) in form_urlencoded::parse(body) {
            match &*name {
                "url" => form.url = value.trim().to_owned(),
                "scope" => {
                    form.is_unclear = scopes > 0 || !matches!(&*value, "all" | "chosen");
                    form.is_chosen = value == "chosen";
                    scopes += 1;
                }
                "campaign" => form.campaigns.push(value.into_owned()),
                "seen" => form.seen = value.into_owned(),
                "signed" => form.is_signed = true,
                _ => {}
            }
        }
        form.is_unclear |= scopes == 0;
        form
    }

    /// The campaigns; `None` is all, later ones too.
    pub(super) fn chosen_campaigns(&self) -> Result<Option<Vec<CampaignId>>, String> {
        if self.is_unclear {
            return Err("Choose either all campaigns or some of them.".to_owned());
        }
        if !self.is_chosen {
            return Ok(None);
        }
        let campaigns: Result<Vec<CampaignId>, _> =
            self.campaigns.iter().map(|id| id.parse()).collect();
        match campaigns {
            Ok(campaigns) if !campaigns.is_empty() => Ok(Some(campaigns)),
            Ok(_) => Err("Choose at least one campaign, or all of them.".to_owned()),
            Err(error) => Err(format!("Not done: {error}.")),
        }
    }
}

/// The team's campaigns to choose from.
pub(super) async fn campaign_choices(
    context: &MemberContext,
    chosen: &[String],
) -> Result<Vec<CampaignChoice>, PageError> {
    let campaigns = context.store().list_campaigns(context.team_id()).await?;
    let choice = |campaign: store::CampaignSummary| CampaignChoice {
        is_chosen: chosen.contains(&campaign.campaign_id),
        campaign_id: campaign.campaign_id,
        name: campaign.name,
    };
    Ok(campaigns.into_iter().map(choice).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_names_all_campaigns_or_some() {
        let form = ScopeForm::parse(
            b"url=+https%3A%2F%2Fa.example%2Fx&scope=all&campaign=PA-AAAAAA&signed=on",
        );
        assert_eq!(form.url, "https://a.example/x");
        assert!(form.is_signed);
        assert_eq!(form.chosen_campaigns(), Ok(None));
        let form = ScopeForm::parse(b"scope=chosen&campaign=PA-AAAAAA&campaign=PA-BBBBBB");
        let chosen = ["PA-AAAAAA", "PA-BBBBBB"].map(|id| id.parse().unwrap());
        assert_eq!(form.chosen_campaigns(), Ok(Some(chosen.to_vec())));
        assert!(
            ScopeForm::parse(b"scope=chosen")
                .chosen_campaigns()
                .unwrap_err()
                .starts_with("Choose")
        );
        assert!(
            ScopeForm::parse(b"scope=chosen&campaign=x")
                .chosen_campaigns()
                .is_err()
        );
        for unclear in [
            "scope=some",
            "scope=",
            "scope=all&scope=chosen&campaign=PA-AAAAAA",
            "campaign=PA-AAAAAA",
        ] {
            assert!(
                ScopeForm::parse(unclear.as_bytes())
                    .chosen_campaigns()
                    .is_err(),
                "{unclear}"
            );
        }
    }
}
