// Package report is what becomes of a contamination check: its rows and summary
// read, merged and compared, exceptions to it, and the pages people and build
// servers read.
//
// A report is two files. FILE holds one row a finding (drydock.contam/1), in the
// order of the data; beside it FILE.summary.json holds the one document that
// says what was checked, with which settings, and the hash of FILE
// (drydock.contam.summary/1). Rows alone can be read; what has to be whole, like
// the parts of a merge, needs the summary, since nothing else tells a finished
// report from one that was cut off.
//
// Neither file names a time, a machine or an output, so that the same data and
// settings give the same bytes, at once or in shards.
package report
