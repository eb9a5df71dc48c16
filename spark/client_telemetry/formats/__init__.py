"""Wire and file formats, which know no rule: the raw dump contract and OTLP."""
