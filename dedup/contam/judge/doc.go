// Package judge asks a language model what letters cannot tell: whether a record
// that no rule called a leak says the same as a benchmark item in other words or
// in another language.
//
// Candidates are the items nearest to a record, by embeddings or, where the
// server has none, by the words they share. Each pair is put to the judge twice,
// the second time with the texts exchanged; only two equal answers count.
//
// The record is data that may hold orders to the judge. It stands between
// markers that are made of a hash of both texts, which the record cannot hold;
// the answer is one letter; and a judge that calls the record the same as an item
// it has nothing to do with, or as something other than itself, has followed the
// record and is not believed. What the judge did not answer is undecided, never
// different. Answers are kept by content, so that a second run asks nothing.
package judge
