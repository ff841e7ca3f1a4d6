package pipeline

import (
	"fmt"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
)

// annotated adds what was found to a JSON object as its last field.
func annotated(row []byte, found []contam.Finding) []byte {
	end := strings.LastIndexByte(string(row), '}')
	if end < 0 {
		return row
	}
	body := strings.TrimRight(string(row[:end]), " \t\r\n")
	out := []byte(body)
	if !strings.HasSuffix(body, "{") {
		out = append(out, ',')
	}
	out = append(out, `"contamination":[`...)
	for i, f := range found {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"benchmark":`...)
		out = drydock.AppendJSONString(out, f.Item.Benchmark)
		out = append(out, fmt.Sprintf(`,"index":%d,"verdict":`, f.Item.Index)...)
		out = drydock.AppendJSONString(out, string(f.Verdict))
		out = append(out, fmt.Sprintf(`,"score":%.4f}`, f.Score)...)
	}
	return append(append(out, `]}`...), row[end+1:]...)
}
