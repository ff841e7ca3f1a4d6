// Package data holds what ships inside the program: benchmark packs.
package data

import "embed"

// Benchmarks holds one pack per benchmark, benchmarks/NAME.yaml. A pack says
// how a benchmark asks and grades; the items themselves are never shipped.
//
//go:embed benchmarks/*.yaml
var Benchmarks embed.FS
