// Package archtest holds the rules of docs/ARCHITECTURE.md as tests over the
// source of every package, _windows.go files included: who may import whom,
// where goroutines start, where the environment is read, and that every message
// speaks both languages with the same verbs.
package archtest
