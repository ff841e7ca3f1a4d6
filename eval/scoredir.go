package eval

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// deepest is how many folders down a work folder is searched: swift and EvalScope
// put a date, a kind and a model between.
const deepest = 6

// FindAnswers finds the one file in a folder that [Score] can grade: what
// EvalScope, swift eval, lm-eval or OpenCompass leave there. Reviews go before the
// predictions they were made from. OpenCompass's NAME_0.json, NAME_1.json and so on
// are one file in parts, to be read one after another. More than one file is an
// error that lists them.
func FindAnswers(fsys fs.FS) (names []string, err error) {
	found := map[evalscope.Kind][]string{}
	err = fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.Count(p, "/") >= deepest || p != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || path.Ext(p) != ".jsonl" && path.Ext(p) != ".json":
			return nil
		}
		kind, err := kindOf(fsys, p)
		if err != nil || kind == evalscope.KindEmpty {
			return err
		}
		found[kind] = append(found[kind], p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(found[evalscope.KindReviews]) > 0 {
		delete(found, evalscope.KindPredictions)
	}
	var all []string
	for _, files := range found {
		all = append(all, files...)
	}
	slices.Sort(all)
	if parts := partsOf(all); len(found) == 1 && len(found[evalscope.KindOpenCompass]) > 0 && parts != nil {
		return parts, nil
	}
	switch len(all) {
	case 0:
		return nil, fail.New(fail.Config, msg.Text{"the folder holds no file of answers", "文件夹中没有回答文件"}).
			Hint(msg.Text{"looked for reviews, predictions, samples and result rows in .jsonl and .json, %d folders deep", "已在 %d 层目录内的 .jsonl 与 .json 中查找 reviews、predictions、samples 和结果行"}, deepest)
	case 1:
		return all, nil
	}
	e := fail.New(fail.Usage, msg.Text{"the folder holds %d files of answers; name one", "文件夹中有 %d 个回答文件；请指定一个"}, len(all))
	for i, p := range all {
		if i == 10 {
			break
		}
		e.Hint(msg.Text{"%s", "%s"}, p)
	}
	return nil, e
}

// partsOf puts the files NAME_0.json to NAME_n.json in their order; nil when they
// are anything else, or one is not there.
func partsOf(files []string) []string {
	if len(files) == 0 {
		return nil
	}
	stem, ok := strings.CutSuffix(files[0], "_0.json")
	if !ok {
		return nil
	}
	parts := make([]string, len(files))
	for i := range parts {
		parts[i] = stem + "_" + strconv.Itoa(i) + ".json"
		if !slices.Contains(files, parts[i]) {
			return nil
		}
	}
	return parts
}

// sniffed is how much of a file tells its kind.
const sniffed = 1 << 20

// kindOf reads the kind of a file from its begin; a file that is another thing is
// [evalscope.KindEmpty].
func kindOf(fsys fs.FS, name string) (evalscope.Kind, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, sniffed)
	n := 0
	for n < len(head) {
		k, err := f.Read(head[n:])
		n += k
		if err != nil {
			break // the end, or what will be said when it is read whole
		}
	}
	kind, _, _ := evalscope.Read(head[:n])
	return kind, nil
}
