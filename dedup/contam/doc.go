// Package contam finds benchmark items in training data, also when they are
// disguised, and says what it found, where, and why it counts as a leak.
//
// A record's text fields become one stream of letters: the code points that
// carry meaning, folded by textnorm, numbered over the benchmark's alphabet,
// with spaces, punctuation, markup and enumerators' brackets gone. Stems,
// statements and options of the items are such streams, too. Then:
//
//   - scan: every four letters of the stream (in Latin script eight, from each
//     word on) are looked up in the seeds of the items, each of which weighs its
//     surprise in nats, by the benchmark and by a table of neutral text;
//   - candidates: items whose seeds weigh enough within a window and, in Latin
//     script, of whose short grams enough stand there, too;
//   - verify: each part of the item is searched in that window by bit-parallel
//     edit distance, in any order, options as a set;
//   - verdict: what matched, what changed (a number, a negation) and the shape
//     of the text beside it decide; see [Verdict].
//
// Nothing is sampled and no lookup is approximate, so the answer for a record
// does not depend on what stands around it, on the number of workers, or on
// luck. What the settings cannot see is said by [Index.Blind].
//
// Where to look:
//
//   - from bytes to letters: alphabet, markup, numbers, json (a row, without a
//     tree);
//   - made once, of the items: item, index, background (the weights), allow (the
//     prompt's own example), indexfile, blind;
//   - scan and candidates: scan, cover, hopeless, on the edit distance of myers;
//   - verify: verify, rescue (of what is interrupted or rearranged), evidence;
//   - verdict: config (the thresholds), judge, on what changes, polarity, offered,
//     ownline and answer find in the text;
//   - rows in, findings out: record, seam (items cut in two), finding, align and
//     alignment (the edit script), explain;
//   - bytes of any kind: raw, rawtext, rawwide.
package contam
