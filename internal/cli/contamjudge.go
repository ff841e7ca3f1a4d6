package cli

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/judge"
	"github.com/drydock-ml/drydock/dedup/contam/rowtext"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
)

// judgeOptions are the flags of a check that has a model look at what letters
// cannot tell. Without a model nothing is asked.
type judgeOptions struct {
	JudgeURL     string
	JudgeModel   string
	EmbedModel   string
	JudgeKeyFile string
	JudgeCache   string
	JudgeTopK    int
	JudgeFails   bool
}

func (f flags) judge(o *judgeOptions) {
	f.str(&o.JudgeURL, "judge-base-url", "", "", msg.Text{"have a model look for paraphrases and translations: `URL` of an OpenAI-compatible server", "由模型查找改写与翻译：OpenAI 兼容服务器的 `URL`"})
	f.str(&o.JudgeModel, "judge-model", "", "", msg.Text{"the `MODEL` to ask", "所用的 `MODEL`"})
	f.str(&o.EmbedModel, "embed-model", "", "", msg.Text{"`MODEL` whose embeddings choose what is compared (default: shared words)", "用其向量挑选比对对象的 `MODEL`（默认：按共有词语）"})
	f.int(&o.JudgeTopK, "judge-top-k", "", 3, msg.Text{"compare a record with up to `N` items", "每条记录最多与 `N` 题比对"})
	f.bool(&o.JudgeFails, "judge-fails", "", msg.Text{"let a paraphrase or translation fail the check", "改写或翻译也判为不通过"})
	f.str(&o.JudgeCache, "judge-cache", "", "", msg.Text{"keep answers in `DIR` (default: drydock's cache)", "将回答保存在 `DIR`（默认：drydock 缓存）"})
	f.str(&o.JudgeKeyFile, "judge-api-key-file", "", "", msg.Text{"`FILE` with the server's key", "含服务器密钥的 `FILE`"})
}

// judgeAnswer is what a summary says of the judge. Its fields are stable.
type judgeAnswer struct {
	Model      string `json:"model"`
	EmbedModel string `json:"embed_model,omitempty"`
	judge.Counts
}

// useJudge has a model look at the records that would not fail, before check
// runs, which then finds what was decided. It returns nil when no model is named.
func (a *app) useJudge(ctx context.Context, o judgeOptions, check *pipeline.ContamCheck, files []string) (*judgeAnswer, fail.List, error) {
	if o.JudgeURL == "" && o.JudgeModel == "" && o.EmbedModel == "" {
		return nil, nil, nil
	}
	if o.JudgeURL == "" || o.JudgeModel == "" || o.JudgeTopK < 1 {
		return nil, nil, fail.New(fail.Usage, msg.Text{
			"a judge needs --judge-base-url and --judge-model, and --judge-top-k of 1 or more",
			"使用模型判断需要 --judge-base-url 与 --judge-model，且 --judge-top-k 不小于 1",
		})
	}
	j, err := a.newJudge(ctx, o, check)
	if err != nil {
		return nil, nil, err
	}
	if err := a.collectForJudge(ctx, j, check, files); err != nil {
		return nil, nil, err
	}
	counts, why, err := j.Decide(ctx)
	if err != nil {
		return nil, nil, err
	}
	plain := *check // as it is now
	check.Scanner = func() pipeline.ContamScanner { return &judgedScanner{plain.NewScanner(), j} }
	var bad fail.List
	if counts.Errors > 0 {
		bad = append(bad, fail.New(fail.Partial, msg.Text{
			"%d {pair was|pairs were} not judged, the server said: %v", "%d 对未能判断，服务器返回：%v",
		}, counts.Errors, why).Hint(msg.Text{"run it again: what was answered is kept", "可重新运行：已有的回答会保留"}))
	}
	return &judgeAnswer{o.JudgeModel, o.EmbedModel, counts}, bad, nil
}

func (a *app) newJudge(ctx context.Context, o judgeOptions, check *pipeline.ContamCheck) (*judge.Judge, error) {
	key, err := a.apiKey(o.JudgeKeyFile)
	if err != nil {
		return nil, err
	}
	const atOnce = 8
	client, err := llm.New(llm.Options{BaseURL: o.JudgeURL, APIKey: key, HTTP: llm.Sized(a.host.HTTP, atOnce), Clock: a.host.Now})
	if err != nil {
		return nil, err
	}
	dir := o.JudgeCache
	if cache := a.host.cache(); dir == "" && cache != "" {
		dir = filepath.Join(cache, "judge")
	}
	j, err := judge.New(ctx, benchSets(check.Benches), judge.Options{
		Server: client, Model: o.JudgeModel, EmbedModel: o.EmbedModel, TopK: o.JudgeTopK, Fail: o.JudgeFails,
		Cache: judge.Cache{Dir: dir}, Workers: atOnce,
	})
	var e *llm.Error
	if errors.As(err, &e) {
		return nil, fail.New(fail.Failed, msg.Text{"no embeddings from %s: %v", "无法从 %s 获得向量：%v"}, o.EmbedModel, err).
			Hint(msg.Text{"without --embed-model, items are chosen by the words they share", "不带 --embed-model 时按共有词语挑选题目"})
	}
	return j, err
}

// collectForJudge reads the files once for the records that would not fail.
func (a *app) collectForJudge(ctx context.Context, j *judge.Judge, check *pipeline.ContamCheck, files []string) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex
	var all []*judge.Collector
	once := pipeline.ContamCheck{
		Benches: check.Benches, Read: check.Read, Shard: check.Shard, Workers: a.workers(), Note: func(format.Note) {},
		Scanner: func() pipeline.ContamScanner {
			c := j.Collector()
			mu.Lock()
			all = append(all, c)
			mu.Unlock()
			return &collectingScanner{check.NewScanner(), c, ctx, stop}
		},
	}
	once.Read.PDF = format.NewPDFRuntime(a.host.cache())
	defer once.Read.PDF.Close()
	once.Read.CacheDir, once.Read.Workers = a.host.cache(), a.workers()
	if _, err := once.Files(ctx, files); err != nil {
		return err
	}
	for _, c := range all {
		if err := c.Flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// collectingScanner gives the records that do not fail to a judge.
type collectingScanner struct {
	pipeline.ContamScanner
	c    *judge.Collector
	ctx  context.Context // of the one pass this scanner is for
	stop context.CancelCauseFunc
}

func (s *collectingScanner) Row(row []byte) ([]contam.Finding, error) {
	found, err := s.ContamScanner.Row(row)
	if err == nil && !fails(found) {
		if r, err := rowtext.Read(row); err == nil {
			s.add(row, r.Join())
		}
	}
	return found, err
}

func (s *collectingScanner) Text(text []byte) []contam.Finding {
	found := s.ContamScanner.Text(text)
	if !fails(found) {
		s.add(text, string(text))
	}
	return found
}

func (s *collectingScanner) add(record []byte, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if err := s.c.Add(s.ctx, judge.HashOf(record), text); err != nil {
		s.stop(err)
	}
}

func fails(found []contam.Finding) bool {
	for i := range found {
		if found[i].Fail {
			return true
		}
	}
	return false
}

// judgedScanner adds what the judge decided.
type judgedScanner struct {
	pipeline.ContamScanner
	j *judge.Judge
}

func (s *judgedScanner) Row(row []byte) ([]contam.Finding, error) {
	found, err := s.ContamScanner.Row(row)
	if err != nil {
		return nil, err
	}
	decided := s.j.Findings(judge.HashOf(row))
	if len(decided) == 0 {
		return found, nil
	}
	r, err := rowtext.Read(row)
	if err != nil {
		return nil, err
	}
	for i := range decided {
		decided[i].Record.ID = r.ID
		if len(r.Fields) > 0 {
			decided[i].Record.Pointer = r.Fields[0].Pointer
		}
	}
	return append(found, decided...), nil
}

func (s *judgedScanner) Text(text []byte) []contam.Finding {
	return append(s.ContamScanner.Text(text), s.j.Findings(judge.HashOf(text))...)
}

// Break and Seam are the inner scanner's, if it looks at seams at all.
func (s *judgedScanner) Break() {
	if inner, ok := s.ContamScanner.(pipeline.SeamScanner); ok {
		inner.Break()
	}
}

func (s *judgedScanner) Seam() []contam.Finding {
	if inner, ok := s.ContamScanner.(pipeline.SeamScanner); ok {
		return inner.Seam()
	}
	return nil
}

func (j *judgeAnswer) text(t *ui.Terminal) {
	t.Print(msg.Text{
		"judge %s: %d {record|records} compared, paraphrases %d, translations %d, undecided %d",
		"模型 %s：比对 %d 条记录，改写 %d，翻译 %d，未定 %d",
	}, j.Model, j.Compared, j.Paraphrases, j.Translations, j.Undecided+j.Errors)
}
