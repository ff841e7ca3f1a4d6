package cli

import (
	"io"

	"github.com/drydock-ml/drydock/internal/atomicfile"
)

// output is a file being written that appears when it is whole.
type output interface {
	io.Writer
	Commit() error
	Abort()
}

// createOutput begins the file a flag names: nothing for a dry run or an empty
// name.
func (a *app) createOutput(name string, dryRun bool) (output, error) {
	if dryRun || name == "" {
		return nowhere{}, nil
	}
	return atomicfile.Create(name)
}

// nowhere takes what is not to be written.
type nowhere struct{}

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) Commit() error               { return nil }
func (nowhere) Abort()                      {}
