package atomicfile

import "io"

// An Output is a file being written that appears when it is whole: a [File], or
// nothing at all.
type Output interface {
	io.Writer
	Commit() error
	Abort()
}

// CreateUnless begins a file, as [Create] does. When dry is set, and for an empty
// name, what is written goes nowhere.
func CreateUnless(dry bool, name string) (Output, error) {
	if dry || name == "" {
		return nowhere{}, nil
	}
	return Create(name)
}

// nowhere takes what is not to be written.
type nowhere struct{}

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) Commit() error               { return nil }
func (nowhere) Abort()                      {}
