// Package training carries a fine-tune from its plan to its record: the gates
// that must hold before it starts, the checkpoint it goes on from, the trainer
// followed to its end, and several of them tried in turn.
//
// It knows nothing of how the data was made. A [Config] names the rows, and what
// the run that wrote them can vouch for comes by a [LastRun].
package training
