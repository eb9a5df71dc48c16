"""Rows of artefacts: a good one, and for each rule what makes it bad."""

import datetime as dt

GOOD = {
    "cluster_id": "bad-rows",
    "dt": dt.date(2026, 11, 21),
    "artefact": "erp.cdx.json",
    "kind": "image",
    "digests": ["sha256:" + "1a" * 32],
    "image_names": ["ghcr.io/acme/erp:1.2"],
    "repository": "github.com/acme/erp",
    "owner": None,
    "library": "kafka-python",
    "library_version": "1.3.5",
    "why_unknown": None,
    "purl": "pkg:pypi/kafka-python@1.3.5",
    "file": "erp.cdx.json",
    "line": 7,
    "inside": None,
    "client_ids": [],
    "group_ids": [],
    "principals": [],
    "seen_on": ["erp/Deployment/erp"],
}

BAD = {
    "kind_is_known": {"kind": "sbom"},
    "digests_are_digests": {"digests": ["sha256:1a"]},
    "unknown_has_a_reason": {"library_version": None},
    "a_library_is_written_somewhere": {"file": None},
    "images_have_digests": {"digests": []},
    "every_artefact_is_here": {},
    "all_files_were_read": {},
}
