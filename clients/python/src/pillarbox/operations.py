"""Made by clients/generate from the API document. Changes belong there."""

from __future__ import annotations

from typing import NamedTuple


class Operation(NamedTuple):
    """What is called how."""

    method: str
    path: str
    parameters: tuple[str, ...]


OPERATIONS = {
    "callFormulasMcp": Operation("POST", "/api/formulas/v1/mcp", ("MCP-Protocol-Version",)),
    "getIntegration": Operation("GET", "/api/integrations/push/v1", ()),
    "getContact": Operation("GET", "/api/integrations/push/v1/contacts", ("externalId",)),
    "callIntegrationsMcp": Operation("POST", "/api/integrations/push/v1/mcp", ("MCP-Protocol-Version",)),
    "pushRecords": Operation("POST", "/api/integrations/push/v1/records", ("Idempotency-Key", "validate")),
    "getSchema": Operation("GET", "/api/integrations/push/v1/schema", ()),
    "declareFields": Operation("POST", "/api/integrations/push/v1/schema", ()),
    "getSync": Operation("GET", "/api/integrations/push/v1/sync", ()),
    "completeSync": Operation("PATCH", "/api/integrations/push/v1/sync", ("Idempotency-Key", "validate")),
    "beginSync": Operation("POST", "/api/integrations/push/v1/sync", ("Idempotency-Key",)),
    "listRejections": Operation("GET", "/api/integrations/push/v1/sync/rejections", ("syncId", "type", "resolved", "after", "limit")),
    "listSyncs": Operation("GET", "/api/integrations/push/v1/syncs", ("after", "limit")),
    "listCampaigns": Operation("GET", "/api/v1/campaigns", ("cursor", "limit")),
    "getCampaign": Operation("GET", "/api/v1/campaigns/{id}", ("id", "from", "to")),
    "holdCampaign": Operation("POST", "/api/v1/campaigns/{id}/hold", ("id",)),
    "releaseCampaign": Operation("POST", "/api/v1/campaigns/{id}/release", ("id",)),
    "listBookings": Operation("GET", "/api/v1/ledger", ("cursor", "limit")),
    "listMailpieces": Operation("GET", "/api/v1/mailpieces", ("cursor", "limit", "changes", "changed_since", "campaign_id", "state", "reference")),
    "cancelByReference": Operation("POST", "/api/v1/mailpieces/cancel", ()),
    "getMailpiece": Operation("GET", "/api/v1/mailpieces/{id}", ("id",)),
    "cancelMailpiece": Operation("POST", "/api/v1/mailpieces/{id}/cancel", ("id",)),
    "sendRecipients": Operation("POST", "/api/v1/recipients", ("validate", "Idempotency-Key")),
    "getRequest": Operation("GET", "/api/v1/requests/{id}", ("id",)),
    "cancelRequest": Operation("POST", "/api/v1/requests/{id}/cancel", ("id",)),
    "listScans": Operation("GET", "/api/v1/scans", ("after", "wait")),
    "followQrCode": Operation("GET", "/q/{code}", ("code",)),
    "lookUpQrCode": Operation("HEAD", "/q/{code}", ("code",)),
}
