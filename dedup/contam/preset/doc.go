// Package preset checks data by other people's published rules, so that their
// claims can be repeated and compared with what drydock finds.
//
// Each rule is written from its program's source, whose version its name
// carries, and held to what that program answers (scripts/interop). Where a rule
// cannot be the same, for want of a tokenizer, the rule says so. A rule that is
// known from hearsay only is not here.
//
// The rules know one verdict: a record is contaminated or it is not. Findings
// therefore all carry [contam.Near], and the rule that gave them.
package preset
