// Package question reads exam items, their stems, options and answers, out of
// the lines, table rows and JSON rows of a document.
//
// # How a printed bank is read
//
// No two banks are printed alike, and one bank is rarely printed alike
// throughout, so nothing here matches a line against one pattern. Lines are
// read for marks (token.go): question numbers in their families, option labels
// with the way they stand in the line, answer and explanation labels, headings,
// rows of a key. What a mark means is decided by its neighbours:
//
//   - A number opens an item when the open item is complete or the count fits;
//     else it is a statement of the stem or a wrapped decimal (chapter.go).
//   - Of all the letters that could be option labels, the list is the run A, B,
//     C … that scores best by place and style (layout.go, body.go). It needs no fixed
//     style, so A．, A、 and (A) may stand in one file, several on a line, or
//     glued to the text before them; the "A、B" of "D．A、B 都对" loses.
//   - A short line without a mark is a title when the count starts again below
//     it (subsection.go).
//
// # How answers find their questions
//
// An answer beside its question goes first. Keys at the end of a chapter are
// read row by row (key.go) and joined by what both sides print: chapter,
// article, subsection, number (keymatch.go). The proof is that a part of the
// bank has as many questions as its key has answers. Where the counts differ,
// only printed numbers that leave no doubt are used; the other questions of the
// part are dropped as key_count_mismatch. Nothing is ever guessed: a letter
// that is not offered, two answers that differ, labels that make no list from A
// each have a reason of their own, and the block's text goes with it.
//
// # Banks that leave something out
//
// Where no numbers are printed the first option opens an item backwards
// (loose.go); it is believed only with an answer. Where no line gives the answer
// a sign beside an option does, or type that looks different from its first
// character to its last (ticked.go). Rows of tables may be cards, or have their
// options in the rows below and their answers on another sheet (tableforms.go).
// A question that stays without an answer is told as a note.
//
// # What is held
//
// A chapter is held until its key has been seen. Items with an answer beside
// them leave early, and before much is held the file is looked through once for
// a key further down. Rows of tables and JSON leave one by one; a table's first
// rows wait until its columns are known, by their names or by what they hold.
package question
