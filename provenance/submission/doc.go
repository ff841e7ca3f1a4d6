// Package submission builds the challenge package and checks it, gate by gate.
//
// A package is a zip (or a folder) with a declaration, submission.yaml, that
// says what the team did and where each part lies:
//
//	submission.yaml  MANIFEST.sha256  drydock-report.json
//	report/          the technical report, .docx or .pdf
//	results/         the graded reviews file, predictions/, reports/, configs/
//	train/           data/, fields.md, sources.md, scripts/, provenance/
//
// [Verify] runs every gate that applies and says of each: pass, fail, warn, skip
// or error, with file and line, what was expected and how to mend it. Nothing
// checked is a failure, a gate that crashes is an error and never a pass, and
// what was not checked says why. [Pack] lays a package out, byte for byte the
// same for the same parts, and verifies what it wrote.
package submission
