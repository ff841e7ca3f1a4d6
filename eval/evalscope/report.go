package evalscope

import (
	"strconv"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// A Report is what reports/MODEL/BENCH.json says.
type Report struct {
	Model   string // as asked for
	Bench   string // name of the benchmark
	Info    benchmark.Info
	Correct int // rows scored 1
	Num     int // rows
	Asked   int // items to answer; only the newer schema tells
	// Perf is what is known of each answer's cost; only the newer schema tells.
	Perf []Perf
}

// Round4 rounds to four decimals as Python's round does: half to even on the
// exact binary value. Multiplying first would turn 0.78125 into 0.7813.
func Round4(x float64) float64 {
	return round(x, 4)
}

// score is the share of correct rows, rounded.
func (r *Report) score() float64 {
	if r.Num == 0 {
		return 0
	}
	return Round4(float64(r.Correct) / float64(r.Num))
}

// AppendReport appends the report: indent of four, no last line end.
func AppendReport(dst []byte, r *Report) []byte {
	score := r.score()
	id := ModelID(r.Model)
	str := func(indent, name, value string) {
		dst = append(dst, indent+`"`+name+`": `...)
		dst = drydock.AppendJSONString(dst, value)
		dst = append(dst, ",\n"...)
	}
	num := func(indent, name string, end string) {
		dst = append(dst, indent+`"`+name+`": `...)
		dst = strconv.AppendInt(dst, int64(r.Num), 10)
		dst = append(dst, end...)
	}
	float := func(indent, name string) {
		dst = append(dst, indent+`"`+name+`": `...)
		dst = drydock.AppendJSONFloat(dst, score)
		dst = append(dst, ",\n"...)
	}
	const i1, i2, i3, i4 = "    ", "            ", "                    ", "                            "
	dst = append(dst, "{\n"...)
	str(i1, "name", id+"@"+r.Bench)
	str(i1, "dataset_name", r.Bench)
	str(i1, "dataset_pretty_name", r.Info.Title)
	str(i1, "dataset_description", r.Info.Description)
	str(i1, "model_name", id)
	float(i1, "score")
	dst = append(dst, i1+"\"metrics\": [\n        {\n"...)
	str(i2, "name", "mean_acc")
	num(i2, "num", ",\n")
	float(i2, "score")
	float(i2, "macro_score")
	dst = append(dst, i2+"\"categories\": [\n                {\n"+
		i3+"\"name\": [\n                        \"default\"\n"+i3+"],\n"...)
	num(i3, "num", ",\n")
	float(i3, "score")
	float(i3, "macro_score")
	dst = append(dst, i3+"\"subsets\": [\n                        {\n"...)
	str(i4, "name", "default")
	float(i4, "score")
	num(i4, "num", "\n")
	return append(dst, "                        }\n"+i3+"]\n                }\n"+i2+"]\n        }\n"+i1+"],\n"+i1+"\"analysis\": \"N/A\"\n}"...)
}
