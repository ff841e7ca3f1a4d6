package format

// grownMemory is a sandbox's memory as a slice that grows.
type grownMemory struct {
	b    []byte
	most uint64
}

// Reallocate implements [experimental.LinearMemory].
func (m *grownMemory) Reallocate(size uint64) []byte {
	if size > m.most {
		return nil
	}
	if size > uint64(cap(m.b)) {
		m.b = append(make([]byte, 0, size), m.b...)
	}
	m.b = m.b[:size]
	return m.b
}

// Free implements [experimental.LinearMemory].
func (m *grownMemory) Free() { m.b = nil }
