// Package eval runs a benchmark against a served model, or against an honest
// baseline that needs none, and says what came of it.
//
// Every answer is appended to a log of its own the moment it is there, with one
// write; the operating system has it then, so that a killed process loses only
// the requests that were in flight. The log is synced to the disk every second,
// beside the requests, and at the end. EvalScope's files are views of that log, written
// whole and in the order of the items when the run is over. Running again takes
// the log up; it is refused when the log was made under other conditions.
//
// A server is looked at before it is asked: most of what spoils a score raises no
// error. Its first answers show whether they stand where they are read, its prompt
// whether it is the checkpoint's; what would make the result worthless ends the
// run before it begins.
//
// An item that got no answer stays in the count, as wrong, with a row of an
// empty reply and its cause. What was asked, the rows in the files and what was
// counted are the same number, or it is an error.
package eval
