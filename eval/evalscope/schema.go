package evalscope

import (
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Schema is the shape that files are written in, named after the EvalScope
// version that brought it.
type Schema string

// The schemas. The challenge grades files of 1.4.2.
const (
	Schema142 Schema = "1.4.2"
	Schema114 Schema = "1.14"
)

// Schemas returns the schemas.
func Schemas() []Schema { return []Schema{Schema142, Schema114} }

// ParseSchema reads a schema's name; nothing is 1.4.2, and a patch release names
// the schema it writes.
func ParseSchema(s string) (Schema, error) {
	switch {
	case s == "", s == string(Schema142):
		return Schema142, nil
	case s == string(Schema114), strings.HasPrefix(s, string(Schema114)+"."):
		return Schema114, nil
	}
	return "", fail.New(fail.Usage, msg.Text{"no schema %q", "没有文件格式 %q"}, s).
		Hint(msg.Text{"there are: %s, %s", "可用：%s、%s"}, string(Schema142), string(Schema114))
}

// AppendPrediction appends one row and its line end.
func (s Schema) AppendPrediction(dst []byte, p *Prediction) []byte {
	if s == Schema114 {
		return appendPrediction114(dst, p)
	}
	return AppendPrediction(dst, p)
}

// AppendReview appends one row and its line end.
func (s Schema) AppendReview(dst []byte, r *Review) []byte {
	if s == Schema114 {
		return appendReview114(dst, r)
	}
	return AppendReview(dst, r)
}

// AppendReport appends the report: indent of four, no last line end.
func (s Schema) AppendReport(dst []byte, r *Report) []byte {
	if s == Schema114 {
		return appendReport114(dst, r)
	}
	return AppendReport(dst, r)
}

// ConfigFile returns the name and the bytes of the task configuration.
func (s Schema) ConfigFile(c Config) (name string, data []byte) {
	if s == Schema114 {
		return "task_config.yaml", c.append114(nil)
	}
	return c.File()
}
