package emit

import "github.com/drydock-ml/drydock/internal/spec"

// Shapes returns the row shapes that can be read, in the order they are tried.
func Shapes() []Shape {
	return []Shape{questionShape(), passageShape(), chatShape()}
}

// Emitters returns the row shapes that can be written.
func Emitters() []spec.Spec[Builder] {
	return []spec.Spec[Builder]{questionRows(), passageRows(), qwen3ChatRows()}
}
