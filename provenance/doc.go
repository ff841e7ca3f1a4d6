// Package provenance keeps the ledgers that tie every training row to its
// source, and renders the documents that people read from them.
//
// A folder of ledgers holds four append-only JSONL files and one small JSON
// file that binds them:
//
//	sources.jsonl   one row per input file: hash, licence, rights, parser
//	steps.jsonl     one row per executed step: parameters, sums, outputs
//	lineage.jsonl   one row per emitted row: where it was born, what it passed
//	dropped.jsonl   one row per record left out: the step, the reason, evidence
//	root.json       sizes and hashes of the four, and one hash over them
//
// Three rules hold everywhere. Ids are derived from content, so a rebuild gives
// the same ids. What is unknown is null, with the cause under "absent_reason",
// never left out. And no clock, host or run id stands in any ledger, so equal
// inputs give equal bytes; a retrieval date appears only when the user declared
// it.
//
// [Create] begins a folder, [Writer.Close] checks that every sum closes and puts
// the folder in place, [Check] proves a folder again later, down to the hash of
// each row. [Card], [FieldsMD] and [SourcesMD] are pure functions of what
// [Load] reads.
package provenance
