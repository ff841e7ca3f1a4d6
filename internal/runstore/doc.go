// Package runstore keeps what a project's runs leave behind.
//
// Two things live apart. Stages belong to the project and are cached:
// .drydock/stages/NN-name holds a stage's files, stats.json and, written last,
// DONE with the stage's key and its files' sha256. A stage whose DONE carries
// the wanted key is not run again. Runs are history: runs/ID holds run.json
// (status, versions, sums), the effective config.yaml and events.jsonl. Clock
// times, the host and run ids stand only there, never in a stage.
//
// One process writes to a project at a time: .drydock/lock is held open with the
// system's file lock, so that a crash releases it.
package runstore
