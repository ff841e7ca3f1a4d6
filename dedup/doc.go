// Package dedup removes records that repeat others. Equal records are those that
// say the same after folding; near ones differ in few letters, none of which
// counts: another number, unit, polarity or symbol makes another fact, and such
// pairs are listed, not removed. Which record stays, and why, is recorded.
//
// Deduplication sees every record before it decides, so it works in two passes:
// sketches are taken while the records are first read, Decide is called once,
// and the records are then sent through Do.
package dedup
