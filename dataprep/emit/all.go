package emit

import (
	"sync"

	"github.com/drydock-ml/drydock/internal/spec"
)

// Shapes returns the row shapes that can be read, in the order they are tried.
// The list is shared: it must not be changed.
func Shapes() []Shape { return shapes() }

// shapes is made once, since each shape keeps parsers for reuse and the list is
// asked for row by row.
var shapes = sync.OnceValue(func() []Shape {
	return []Shape{questionShape(), passageShape(), chatShape()}
})

// Emitters returns the row shapes that can be written.
func Emitters() []spec.Spec[Builder] {
	return append([]spec.Spec[Builder]{questionRows(), passageRows()}, trainingRows()...)
}
