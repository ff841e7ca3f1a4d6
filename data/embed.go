// Package data holds what ships inside the program: benchmark packs and
// the sample project.
package data

import "embed"

// Benchmarks holds one pack per benchmark, benchmarks/NAME.yaml. A pack says
// how a benchmark asks and grades; the items themselves are never shipped.
//
//go:embed benchmarks/*.yaml
var Benchmarks embed.FS

// Samples holds a whole small project per folder, samples/NAME, without what a
// run leaves there.
//
//go:embed samples/colreg/drydock.yaml samples/colreg/report.docx samples/colreg/raw samples/colreg/bench
var Samples embed.FS
