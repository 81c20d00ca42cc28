//! `save_formula`.

use columns::{FormulaToSave, SaveColumnError, check_name, to_formula_error};
use contract::mcp::{FormulaError, SaveAnswer, SaveArguments};
use runtime::fail_point;
use store::{Actor, retry_conflicts};

use super::FormulaCall;

/// Makes a formula column or changes one. A call that is delivered again finds its change and gets the same answer.
pub(super) async fn save_formula(
    call: FormulaCall<'_>,
    arguments: SaveArguments,
) -> Result<SaveAnswer, FormulaError> {
    let (name, formula) = (check_name(&arguments.name)?, arguments.formula.trim());
    let save = FormulaToSave {
        request_id: call.request_id,
        name,
        formula,
    };
    let attempt = retry_conflicts(|| async {
        match save_in_transaction(call, save).await {
            Err(SaveColumnError::Store(error)) => Err(error),
            Err(SaveColumnError::Request(error)) => Ok(Err(error)),
            Ok(answer) => Ok(Ok(answer)),
        }
    });
    attempt.await.map_err(to_formula_error)?
}

async fn save_in_transaction(
    call: FormulaCall<'_>,
    save: FormulaToSave<'_>,
) -> Result<SaveAnswer, SaveColumnError> {
    let asker = call.asker;
    let mut connection = asker.store.connection().await?;
    let transaction = connection.begin_transaction().await?;
    let name = transaction.find_api_key_name(call.key_id).await?;
    let actor = Actor::KeyHolder {
        key_id: call.key_id,
        name: &name,
    };
    let answer =
        columns::save_formula_within(&transaction, actor, asker.team_id, save, asker.now).await?;
    fail_point::fail_if_chosen("formula.saved");
    transaction.commit().await?;
    fail_point::fail_if_chosen("formula.committed");
    tracing::info!(team_id = %asker.team_id, key_id = %call.key_id, "saved a formula");
    Ok(answer)
}
