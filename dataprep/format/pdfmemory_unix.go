//go:build unix

package format

import (
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// sandboxMemory gives each sandbox the room it may ever take as addresses only; the
// system makes memory of what is touched. Grown otherwise, each step is a new slice
// beside the old ones that no collection has met yet: several times the bound.
func sandboxMemory(_, most uint64) experimental.LinearMemory {
	room, err := unix.Mmap(-1, 0, int(min(most, maxSandbox)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return &grownMemory{most: most} // no such room of addresses: as it is elsewhere
	}
	return &mappedMemory{room}
}

type mappedMemory struct{ room []byte }

// Reallocate implements [experimental.LinearMemory].
func (m *mappedMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(m.room)) {
		return nil
	}
	return m.room[:size]
}

// Free implements [experimental.LinearMemory].
func (m *mappedMemory) Free() {
	_ = unix.Munmap(m.room) // nothing is left to be done about it
	m.room = nil
}
