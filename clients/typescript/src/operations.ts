// Made by clients/generate from the API document. Changes belong there.

/** What is called how. */
export const OPERATIONS = {
  callFormulasMcp: { method: "POST", path: "/api/formulas/v1/mcp", parameters: ["MCP-Protocol-Version"] },
  getIntegration: { method: "GET", path: "/api/integrations/push/v1", parameters: [] },
  getContact: { method: "GET", path: "/api/integrations/push/v1/contacts", parameters: ["externalId"] },
  callIntegrationsMcp: { method: "POST", path: "/api/integrations/push/v1/mcp", parameters: ["MCP-Protocol-Version"] },
  pushRecords: { method: "POST", path: "/api/integrations/push/v1/records", parameters: ["Idempotency-Key", "validate"] },
  getSchema: { method: "GET", path: "/api/integrations/push/v1/schema", parameters: [] },
  declareFields: { method: "POST", path: "/api/integrations/push/v1/schema", parameters: [] },
  getSync: { method: "GET", path: "/api/integrations/push/v1/sync", parameters: [] },
  completeSync: { method: "PATCH", path: "/api/integrations/push/v1/sync", parameters: ["Idempotency-Key", "validate"] },
  beginSync: { method: "POST", path: "/api/integrations/push/v1/sync", parameters: ["Idempotency-Key"] },
  listRejections: { method: "GET", path: "/api/integrations/push/v1/sync/rejections", parameters: ["syncId", "type", "resolved", "after", "limit"] },
  listSyncs: { method: "GET", path: "/api/integrations/push/v1/syncs", parameters: ["after", "limit"] },
  sendRecipients: { method: "POST", path: "/api/v1/recipients", parameters: ["validate", "Idempotency-Key"] },
  getRequest: { method: "GET", path: "/api/v1/requests/{id}", parameters: ["id"] },
  listScans: { method: "GET", path: "/api/v1/scans", parameters: ["after", "wait"] },
  followQrCode: { method: "GET", path: "/q/{code}", parameters: ["code"] },
  lookUpQrCode: { method: "HEAD", path: "/q/{code}", parameters: ["code"] },
} as const;
