// Package checkpoint looks at what a training left before a server loads it:
// adapters, and merged or fully trained models beside their base. It reads the
// files themselves, with no library of the trainers', mends what can be mended,
// and has a running server load and drop adapters.
package checkpoint
