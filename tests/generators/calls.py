"""Calls a running gateway with the generated Python client: calls.py URL FULL_ACCESS_KEY INTEGRATION_KEY FORMULAS_KEY CARD RECORD

The client's package is on the path. Every answer is held against the JSON that was received, and written to the file RECORD, one JSON
object a line, with the name of its schema."""

import json
import sys
import uuid
from datetime import datetime

from pillarbox_client import AuthenticatedClient, Client, models
from pillarbox_client.api.dynamic_audience import get_request, send_recipients
from pillarbox_client.api.integrations_push import (
    begin_sync,
    complete_sync,
    declare_fields,
    get_contact,
    get_integration,
    get_schema,
    get_sync,
    list_rejections,
    list_syncs,
    push_records,
)
from pillarbox_client.api.mcp_servers import call_formulas_mcp, call_integrations_mcp
from pillarbox_client.api.scans import follow_qr_code, list_scans, look_up_qr_code

URL, FULL_ACCESS_KEY, INTEGRATION_KEY, FORMULAS_KEY, CARD, RECORD = sys.argv[1:]
team = AuthenticatedClient(base_url=URL, token=FULL_ACCESS_KEY)
crm = AuthenticatedClient(base_url=URL, token=INTEGRATION_KEY)
agent = AuthenticatedClient(base_url=URL, token=FORMULAS_KEY)
stranger = AuthenticatedClient(base_url=URL, token="pk_live_nobody")
phone = Client(base_url=URL)

record = open(RECORD, "w")
calls = 0


def is_alike(written, received):
    """The same JSON; a time may be written in another of its forms."""
    if isinstance(received, dict):
        return isinstance(written, dict) and written.keys() == received.keys() and all(is_alike(written[key], received[key]) for key in received)
    if isinstance(received, list):
        return len(written) == len(received) and all(map(is_alike, written, received))
    return written == received or is_same_time(written, received)


def is_same_time(one, other):
    try:
        return datetime.fromisoformat(one) == datetime.fromisoformat(other)
    except (TypeError, ValueError):
        return False


def check(response, status, kind):
    """The answer has this status, was read as this type, and nothing of it was lost."""
    global calls
    calls += 1
    assert response.status_code == status, (response.status_code, status, response.content)
    if kind is None:
        assert response.parsed is None, response.parsed
        return None
    assert isinstance(response.parsed, kind), (type(response.parsed), kind, response.content)
    received = json.loads(response.content)
    assert is_alike(response.parsed.to_dict(), received), (response.parsed.to_dict(), received)
    record.write(json.dumps({"schema": kind.__name__, "body": received}) + "\n")
    return response.parsed


def person(number, **more):
    address = {"address_1": f"{number} Main St", "city": "Austin", "state": "TX", "zip": "78701"}
    return {"reference": f"r{number}", "first_name": "Pat", "last_name": f"Reader{number}", **address, **more}


def send(recipients, campaign="PA-TEST01", client=team, **more):
    body = models.SendRequest.from_dict({"campaign_id": campaign, "recipients": recipients})
    return send_recipients.sync_detailed(client=client, body=body, **more)


def key():
    return str(uuid.uuid4())


def sends():
    mailed = send([person(101), person(102, score="12", birthday="7/4")])
    answer = check(mailed, 200, models.SendResponse)
    assert [result.status for result in answer.results] == [models.Status.MAILED] * 2, answer
    assert answer.results[0].postage == models.Postage.STANDARD
    mixed = check(send([person(103, city=None, state=None, zip=None), person(101), person(104)]), 200, models.SendResponse)
    told = [(result.status.value, getattr(result.reason, "value", None)) for result in mixed.results]
    assert told[0] == ("not_mailed", "invalid_address") and told[1] == ("not_mailed", "duplicate_recent"), told
    first_class = check(send([person(105)], campaign="PA-FIRST1"), 200, models.SendResponse)
    assert first_class.results[0].postage == models.Postage.FIRST_CLASS, first_class
    check(send([person(106)], validate="1"), 200, models.SendValidation)
    check(send([person(107)], idempotency_key=key()), 200, models.SendResponse)
    check(send([person(101), person(102, score="12", birthday="7/4")]), 200, models.SendResponse)
    check(send([person(1)], client=stranger), 401, models.Error)
    check(send([person(1)], campaign="PA-NOBODY"), 404, models.Error)
    check(send([]), 422, models.Error)
    request_id = uuid.UUID(mailed.headers["x-request-id"])
    check(get_request.sync_detailed(request_id, client=team), 200, models.RequestAnswer)
    check(get_request.sync_detailed(uuid.uuid4(), client=team), 200, models.RequestAnswer)
    check(get_request.sync_detailed(request_id, client=stranger), 401, models.Error)


def scans():
    start = check(list_scans.sync_detailed(client=team), 200, models.ScansAnswer)
    check(look_up_qr_code.sync_detailed(CARD, client=phone), 302, None)
    check(follow_qr_code.sync_detailed(CARD, client=phone), 302, None)
    found = check(list_scans.sync_detailed(client=team, after=start.next_after, wait=20), 200, models.ScansAnswer)
    assert len(found.to_dict()["events"]) == 1, found
    assert follow_qr_code.sync_detailed("0000000000", client=phone).status_code == 404


def push(records, **more):
    body = models.PushRequest.from_dict({"records": records})
    return push_records.sync_detailed(client=crm, body=body, idempotency_key=more.pop("idempotency_key", key()), **more)


def begin(mode):
    body = models.BeginRequest.from_dict({"mode": mode})
    return begin_sync.sync_detailed(client=crm, body=body, idempotency_key=key())


def complete(**more):
    body = models.CompleteRequest.from_dict(more.pop("body", {}))
    return complete_sync.sync_detailed(client=crm, body=body, idempotency_key=key(), **more)


def declarations():
    check(get_integration.sync_detailed(client=crm), 200, models.IntegrationAnswer)
    check(get_integration.sync_detailed(client=stranger), 401, models.PushFailure)
    fields = [
        {"key": "first", "semantic": "first_name"},
        {"key": "mail", "semantic": "email"},
        {"key": "score", "type": "number"},
        {"key": "plan", "type": "choice", "options": ["free", "paid"]},
    ]
    declared = models.Declaration.from_dict({"fields": fields})
    check(declare_fields.sync_detailed(client=crm, body=declared), 200, models.DeclareAnswer)
    unnamed = models.Declaration.from_dict({"fields": [{"key": ""}]})
    check(declare_fields.sync_detailed(client=crm, body=unnamed), 400, models.PushFailure)
    check(get_schema.sync_detailed(client=crm), 200, models.SchemaAnswer)


def syncs():
    check(get_sync.sync_detailed(client=crm), 200, models.SyncAnswer)
    check(complete(), 409, models.PushFailure)
    check(begin("delta"), 200, models.OpenSync)
    in_progress = check(begin("full"), 409, models.PushFailure)
    assert in_progress.error.details.to_dict()["mode"] == "delta", in_progress
    bad = {"external_id": "bad", "fields": {"mail": "nobody", "first": "Bo"}}
    dropping = {"external_id": "warned", "fields": {"score": "many", "plan": "gold", "first": "Wa"}}
    some = [{"external_id": "good", "fields": {"first": "Go", "score": 7}}, bad, dropping, {"external_id": "x", "op": "delete"}]
    check(push(some, validate="1"), 200, models.DryRunAnswer)
    same = key()
    check(push(some, idempotency_key=same), 200, models.PushAnswer)
    check(push(some, idempotency_key=same), 200, models.PushAnswer)
    check(push(some[:1], idempotency_key=same), 409, models.PushFailure)
    check(push([{"external_id": "bad", "fields": {"mail": "bo@example.com"}}]), 200, models.PushAnswer)
    for kind in (models.ListRejectionsType.REJECTION, models.ListRejectionsType.WARNING):
        check(list_rejections.sync_detailed(client=crm, type_=kind), 200, models.RejectionsAnswer)
    check(get_sync.sync_detailed(client=crm), 200, models.SyncAnswer)
    check(get_integration.sync_detailed(client=crm), 200, models.IntegrationAnswer)
    check(complete(validate="1"), 200, models.ValidatedComplete)
    check(complete(), 200, models.CompleteAnswer)
    check(push(some), 409, models.PushFailure)
    check(list_rejections.sync_detailed(client=crm, sync_id=uuid.uuid4()), 404, models.PushFailure)
    check(list_syncs.sync_detailed(client=crm), 200, models.SyncsAnswer)
    check(get_contact.sync_detailed(client=crm, external_id="bad"), 200, models.ContactAnswer)
    check(get_contact.sync_detailed(client=crm, external_id="nobody"), 404, models.PushFailure)


def removals():
    check(begin("full"), 200, models.OpenSync)
    check(push([{"external_id": f"c{number}"} for number in range(40)]), 200, models.PushAnswer)
    check(complete(), 200, models.CompleteAnswer)
    check(begin("full"), 200, models.OpenSync)
    guarded = check(complete(), 409, models.PushFailure)
    assert guarded.error.code.value == "removal_guard", guarded
    assert guarded.error.details.count == 40 and guarded.error.details.limit == 0.2, guarded
    check(complete(body={"confirmRemoval": True}), 200, models.CompleteAnswer)


def tools():
    question = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    check(call_integrations_mcp.sync_detailed(client=crm, body=question), 200, models.JsonRpcResponse)
    check(call_formulas_mcp.sync_detailed(client=agent, body=question), 200, models.JsonRpcResponse)
    unknown = {"jsonrpc": "2.0", "id": "a", "method": "nothing"}
    check(call_formulas_mcp.sync_detailed(client=agent, body=unknown), 200, models.JsonRpcResponse)
    check(call_formulas_mcp.sync_detailed(client=stranger, body=question), 401, models.PushFailure)


for part in (sends, scans, declarations, syncs, removals, tools):
    part()
print(calls)
