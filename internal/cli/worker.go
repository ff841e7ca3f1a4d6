package cli

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
)

// newWorkerCommand holds what an engine calls (Spark, a Slurm array, a
// Kubernetes job). People have contam check --shard, so the help of drydock does
// not list it.
func newWorkerCommand(a *app) *cobra.Command {
	c := a.group("worker", msg.Text{"Parts that an engine runs: stdin in, typed lines out.", "供计算引擎调用：读取标准输入，输出带类型的行。"},
		newWorkerScanCommand(a), newWorkerIndexCommand(a))
	c.Hidden = true
	return c
}

// WorkerScanOptions are the flags of worker scan.
type WorkerScanOptions struct {
	Index string
	Paths bool
	Files []string
}

func newWorkerScanCommand(a *app) *cobra.Command {
	var o WorkerScanOptions
	c := a.command("scan", about{
		use: "--index FILE [PATH…]", args: anyArgs("PATH"),
		short: msg.Text{"Check lines of JSON from stdin against an index.", "用索引检查标准输入中的 JSON 行。"},
		long: msg.Text{
			"Lines end with LF and nothing else. A line comes out for every item found (\"t\":\"hit\") and every line that is no JSON (\"t\":\"bad\", which is no error), and one with the counts (\"t\":\"count\") at the end: output without it is torn. PATH, or --paths, names shards instead, which may be .gz or .zst; each ends with its own count. One goroutine, no network, no state.",
			"行仅以 LF 结束。每发现一题输出一行（\"t\":\"hit\"），每个非 JSON 行输出一行（\"t\":\"bad\"，不算错误），最后输出计数行（\"t\":\"count\"）：没有计数行即输出不完整。PATH 或 --paths 改为指定分片文件，可为 .gz 或 .zst；每个分片以自己的计数行结束。单协程、无网络、无状态。",
		},
		examples: []example{
			{msg.Text{"one share of the lines", "一部分行"}, "drydock worker scan --index contam-1a2b3c4d5e6f.ddx < part.jsonl > part.out"},
			{msg.Text{"shards by their paths", "按路径指定分片"}, "ls shards/*.zst | drydock worker scan --index contam-1a2b3c4d5e6f.ddx --paths"},
		},
		exits: []int{},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.require(cmd, "index", o.Index); err != nil {
			return err
		}
		o.Files = args
		return runWorkerScan(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.str(&o.Index, "index", "", "", msg.Text{"index `FILE` that drydock worker index made", "drydock worker index 生成的索引 `FILE`"})
	f.bool(&o.Paths, "paths", "", msg.Text{"stdin names shards, one a line", "标准输入每行给出一个分片路径"})
	return c
}

func runWorkerScan(ctx context.Context, a *app, o WorkerScanOptions) error {
	ix, sum, err := pipeline.ReadIndexFile(o.Index)
	if err != nil {
		return err
	}
	w := &pipeline.WorkerScan{Index: ix, IndexSHA256: sum, Program: pipeline.Program(buildVersion().Version).Program}
	out := bufio.NewWriterSize(a.host.Out, 256<<10)
	switch {
	case o.Paths && len(o.Files) > 0:
		return fail.New(fail.Usage, msg.Text{"--paths reads the paths from stdin; give none beside it", "--paths 从标准输入读取路径，不能再另外给出"})
	case o.Paths:
		lines := bufio.NewScanner(a.host.In)
		for lines.Scan() {
			if path := strings.TrimSuffix(lines.Text(), "\r"); path != "" {
				o.Files = append(o.Files, path)
			}
		}
		err = lines.Err()
	case len(o.Files) == 0:
		err = w.Scan(ctx, a.host.In, "", out)
	}
	for _, path := range o.Files {
		if err == nil {
			err = w.Path(ctx, path, out)
		}
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil && ctx.Err() == nil {
		return fail.New(fail.Failed, msg.Text{"worker scan: %v", "worker scan：%v"}, err)
	}
	return err
}

// WorkerIndexOptions are the flags of worker index.
type WorkerIndexOptions struct {
	Against []string
	Dir     string
	DryRun  bool
}

func newWorkerIndexCommand(a *app) *cobra.Command {
	var o WorkerIndexOptions
	c := a.command("index", about{
		use:   "--against REF|FILE… -o DIR",
		short: msg.Text{"Write benchmarks as one index file, called by its hash.", "将评测集写为一个以哈希命名的索引文件。"},
		long: msg.Text{
			"The file holds the items: treat it as the benchmark itself. The same items and settings give the same bytes.",
			"该文件含有题目本身，请与评测集同等对待。相同的题目和设置得到相同的字节。",
		},
		examples: []example{{msg.Text{"for worker scan", "供 worker scan 使用"}, "drydock worker index --against maritime_bench -o build"}},
	}, nil)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.require(cmd, "against", strings.Join(o.Against, "")); err != nil {
			return err
		}
		if err := a.require(cmd, "output", o.Dir); err != nil {
			return err
		}
		return runWorkerIndex(a, o)
	}
	f := a.flags(c.Flags())
	f.strs(&o.Against, "against", "", msg.Text{"benchmark name or file `REF`; may be repeated", "评测集名称或文件 `REF`；可重复"})
	f.output(&o.Dir, "output", "o", msg.Text{"folder `DIR` to write it to; a name that ends in .ddx is the file itself", "写入的目录 `DIR`；以 .ddx 结尾则为文件本身"})
	f.dryRun(&o.DryRun)
	a.completeFunc(c, "against", a.knownBenches)
	return c
}

// indexAnswer is the file that worker index wrote.
type indexAnswer struct {
	Schema string `json:"schema"`
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Items  int    `json:"items"`
	Config string `json:"config"`
}

func (i indexAnswer) text(t *ui.Terminal) { t.Println(i.Path) }

func runWorkerIndex(a *app, o WorkerIndexOptions) error {
	_, ix, err := a.contamIndex(o.Against)
	if err != nil {
		return err
	}
	b, err := ix.File()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(b)
	name := hex.EncodeToString(sum[:])
	ans := indexAnswer{
		Schema: "drydock.worker.index/1", Path: filepath.Join(o.Dir, "contam-"+name[:12]+".ddx"),
		SHA256: name, Items: ix.Items(), Config: ix.ConfigHash(),
	}
	if strings.HasSuffix(o.Dir, ".ddx") {
		ans.Path, o.Dir = o.Dir, filepath.Dir(o.Dir)
	}
	if !o.DryRun {
		if err := os.MkdirAll(o.Dir, 0o777); err != nil {
			return fail.New(fail.Failed, msg.Text{"%v", "%v"}, err)
		}
		if err := atomicfile.WriteFile(ans.Path, b); err != nil {
			return fail.New(fail.Failed, msg.Text{"%v", "%v"}, err)
		}
	}
	return a.answer(ans)
}
