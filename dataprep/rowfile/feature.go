package rowfile

import (
	"strconv"

	"github.com/drydock-ml/drydock"
)

// dtype is the column's type in Hugging Face's words, which are Arrow's.
func (c *column) dtype() string {
	switch c.form {
	case boolean:
		return "bool"
	case integer:
		if c.narrow > 0 {
			return "int" + strconv.Itoa(c.narrow)
		}
		return "int64"
	case float:
		return "float64"
	}
	return "string"
}

// appendFeatures appends the columns as datasets describes them: an object of
// names and features. Lists are written as JSON lists of one feature, which every
// version of datasets reads: {"_type":"List"} is unknown before 4.0.
func (c *column) appendFeatures(dst []byte) []byte {
	switch c.form {
	case list:
		dst = c.elem.appendFeatures(append(dst, '['))
		return append(dst, ']')
	case object:
		dst = append(dst, '{')
		for i, f := range c.fields {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(drydock.AppendJSONString(dst, f.name), ':')
			dst = f.appendFeatures(dst)
		}
		return append(dst, '}')
	}
	dst = append(dst, `{"dtype":"`...)
	dst = append(dst, c.dtype()...)
	return append(dst, `","_type":"Value"}`...)
}

// featureKey is the name of the schema metadata that holds the features.
const featureKey = "huggingface"

// featureInfo is the value of that metadata.
func (s *Schema) featureInfo() string {
	return string(append(s.root.appendFeatures([]byte(`{"info":{"features":`)), "}}"...))
}
