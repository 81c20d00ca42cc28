"""Reads recorded answers with the generated Pydantic models: models.py RECORD. The models' module is on the path."""

import json
import sys

import pillarbox_models

answers = 0
for line in open(sys.argv[1]):
    recorded = json.loads(line)
    model = getattr(pillarbox_models, recorded["schema"]).model_validate(recorded["body"])
    written = json.loads(model.model_dump_json(by_alias=True, exclude_unset=True))
    assert set(written) == set(recorded["body"]), (recorded["schema"], written)
    answers += 1
print(answers)
