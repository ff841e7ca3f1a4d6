package vllm

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/launch/checkpoint"
)

// Config says what is served and how.
type Config struct {
	Model string // a folder, or a name of the hub
	Name  string // under which it is served; "" is the model's last part in lower case
	// Contract is what the checkpoint was trained with.
	Contract emit.Contract
	// KwargsInRequests: under empty-think-masked, every request closes thinking
	// itself; the server then has no default for it.
	KwargsInRequests bool
	Host             string
	Port             int
	MaxModelLen      int
	DType            string
	Seed             uint64
	Adapters         []Adapter
	MaxRank          int  // --max-lora-rank; 0: what the adapters need, at least 16
	LoRA             bool // adapters may come later
	MaxAdapters      int  // kept in the machine's memory (--max-cpu-loras)
	ChatTemplate     string
	Extra            []string // more options of vLLM
	// BatchInvariant tells that the environment sets VLLM_BATCH_INVARIANT.
	BatchInvariant bool
}

// An Adapter is served beside the base.
type Adapter struct {
	Name string `json:"name"`
	Dir  string `json:"dir"` // on the server
	Rank int    `json:"-"`
}

// A Plan is a server before it starts: the same configuration and version give
// the same plan, byte for byte, on any machine.
type Plan struct {
	Version  string        `json:"version"`
	Argv     []string      `json:"argv"`
	Env      []string      `json:"env"` // names of the variables the program reads; values are never shown
	Set      []string      `json:"set"` // NAME=value pairs set for it
	Files    []launch.File `json:"files"`
	Name     string        `json:"name"`
	BaseURL  string        `json:"base_url"`
	Adapters []Adapter     `json:"adapters"` // loaded when it is ready
	Notes    []launch.Note `json:"-"`
	contract emit.Contract
	kwargs   bool // requests close thinking themselves
}

// stateDir is where a server's files are written, in the current folder.
const stateDir = ".drydock/serve"

// plainTemplate is ChatML and nothing else: no think block is put before an
// answer, whatever a request says.
const plainTemplate = `{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\n' }}
{%- endif %}
`

// closedThinking is what a request, or the server for all of them, sends so that
// Qwen3's template closes the think block itself.
const closedThinking = `{"enable_thinking": false}`

// NewPlan writes the command line for a version.
func NewPlan(c Config, found launch.Found) (*Plan, error) {
	v := parseVersion(found.Version)
	if err := c.check(v); err != nil {
		return nil, err
	}
	binary := found.Binary
	if binary == "" {
		binary = "vllm"
	}
	p := &Plan{
		Version: orListed(found.Version), Name: c.name(), Files: []launch.File{}, Adapters: slices.Clone(c.Adapters), contract: c.Contract, kwargs: c.KwargsInRequests,
		BaseURL: "http://" + hostPort(c.Host, c.Port) + "/v1",
		Argv: []string{
			binary, "serve", c.Model, "--host", c.Host, "--port", strconv.Itoa(c.Port), "--served-model-name", c.name(), "--dtype", c.DType,
			"--max-model-len", strconv.Itoa(c.MaxModelLen), "--generation-config", "vllm", "--seed", strconv.FormatUint(c.Seed, 10),
		},
		Env: []string{"CUDA_VISIBLE_DEVICES", "HF_ENDPOINT", "HF_HOME", "HF_TOKEN", "PATH", "VLLM_API_KEY", "VLLM_BATCH_INVARIANT", "VLLM_CPU_KVCACHE_SPACE"},
		Set: []string{"DO_NOT_TRACK=1", "PYTHONUNBUFFERED=1", "VLLM_NO_USAGE_STATS=1"},
	}
	if p.Adapters == nil {
		p.Adapters = []Adapter{}
	}
	if isFolder(c.Model) {
		p.Set = append(p.Set, "HF_HUB_OFFLINE=1", "TRANSFORMERS_OFFLINE=1")
	}
	p.lora(c)
	if err := p.contracts(c, v); err != nil {
		return nil, err
	}
	p.Argv = append(p.Argv, c.Extra...)
	slices.Sort(p.Set)
	p.notes(c, v)
	return p, nil
}

func orListed(v string) string {
	if v == "" {
		return ListedVersion
	}
	return v
}

// hostPort writes an address to ask: a server that listens everywhere is asked
// on this machine.
func hostPort(host string, port int) string {
	switch host {
	case "", "0.0.0.0", "::":
		host = "127.0.0.1"
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(port)
}

// isFolder tells a path from a name of the hub by its looks, since planning
// reads no disk.
func isFolder(model string) bool {
	return filepath.IsAbs(model) || path.IsAbs(model) || strings.HasPrefix(model, ".") || strings.ContainsRune(model, os.PathSeparator) && os.PathSeparator != '/' ||
		strings.Count(model, "/") != 1
}

// name is what the base is served as.
func (c Config) name() string {
	if c.Name != "" {
		return c.Name
	}
	return strings.ToLower(path.Base(strings.TrimRight(filepath.ToSlash(c.Model), "/")))
}

// check refuses what no server takes.
func (c Config) check(v version) error {
	var bad fail.List
	no := func(text msg.Text, args ...any) *fail.Error {
		e := fail.New(fail.Usage, text, args...)
		bad = append(bad, e)
		return e
	}
	if c.Model == "" || strings.HasPrefix(c.Model, "-") {
		no(msg.Text{"%q names no model", "%q 不是模型"}, c.Model)
	}
	if c.Port < 1 || c.Port > 65535 {
		no(msg.Text{"port %d: must be between 1 and 65535", "端口 %d：应在 1 到 65535 之间"}, c.Port)
	}
	if c.MaxModelLen < 1 {
		no(msg.Text{"a length of %d tokens is none", "长度 %d token 无效"}, c.MaxModelLen)
	}
	const oldest = 9 // a reasoning parser needed --enable-reasoning before
	if v.before(0, oldest) {
		no(msg.Text{"vLLM %d.%d is too old: plans are for 0.%d and later", "vLLM %d.%d 过旧：计划适用于 0.%d 及更高版本"}, v.major, v.minor, oldest).
			Hint(msg.Text{"pip install vllm==%s", "pip install vllm==%s"}, ListedVersion)
	}
	if c.MaxRank != 0 && !slices.Contains(checkpoint.Ranks(), c.MaxRank) {
		no(msg.Text{"--max-lora-rank %d: vLLM takes 1, 8, 16, 32, 64, 128, 256, 320 or 512", "--max-lora-rank %d：vLLM 只接受 1、8、16、32、64、128、256、320 或 512"}, c.MaxRank)
	}
	names := map[string]bool{c.name(): true}
	for _, a := range c.Adapters {
		if a.Name == "" || names[a.Name] {
			no(msg.Text{"two models would be served as %q", "两个模型会以 %q 为名部署"}, a.Name)
		}
		names[a.Name] = true
	}
	if c.Contract == emit.EmptyThinkMasked && !c.KwargsInRequests && v.before(0, 14) {
		no(msg.Text{"vLLM %d.%d has no --default-chat-template-kwargs (since 0.14): every request must close thinking itself", "vLLM %d.%d 没有 --default-chat-template-kwargs（0.14 起提供）：每个请求必须自行关闭思考"}, v.major, v.minor).
			Hint(msg.Text{`say so with --kwargs-in-requests, and send --extra-body '{"chat_template_kwargs":{"enable_thinking":false}}'`, `请给出 --kwargs-in-requests，并发送 --extra-body '{"chat_template_kwargs":{"enable_thinking":false}}'`})
	}
	return bad.OrNil()
}

// lora adds what adapters need.
func (p *Plan) lora(c Config) {
	if !c.LoRA && len(c.Adapters) == 0 {
		return
	}
	rank := c.MaxRank
	if rank == 0 {
		rank = 16
		for _, a := range c.Adapters {
			rank = max(rank, checkpoint.RankFor(a.Rank))
		}
	}
	p.Argv = append(p.Argv, "--enable-lora", "--max-lora-rank", strconv.Itoa(rank), "--max-loras", "1", "--max-cpu-loras", strconv.Itoa(max(c.MaxAdapters, len(c.Adapters), 1)))
	p.Set = append(p.Set, "VLLM_ALLOW_RUNTIME_LORA_UPDATING=True")
}

// contracts adds what the template contract needs. Under empty-think nothing is
// needed, and above all no reasoning parser: it would take the answers (S3).
func (p *Plan) contracts(c Config, v version) error {
	template := c.ChatTemplate
	switch c.Contract {
	case emit.EmptyThink:
	case emit.EmptyThinkMasked:
		if !c.KwargsInRequests {
			p.Argv = append(p.Argv, "--default-chat-template-kwargs", closedThinking)
		}
	case emit.CoT:
		p.Argv = append(p.Argv, "--reasoning-parser", "qwen3")
	case emit.Plain:
		if template == "" {
			template = path.Join(stateDir, "chat_template_plain.jinja")
			p.Files = append(p.Files, launch.File{Name: template, Content: plainTemplate})
		}
	default:
		return fail.New(fail.Usage, msg.Text{"there is no template contract %q", "不存在模板约定 %q"}, string(c.Contract))
	}
	if template != "" {
		p.Argv = append(p.Argv, "--chat-template", template)
	}
	return nil
}

func (p *Plan) note(text msg.Text, args ...any) {
	p.Notes = append(p.Notes, launch.Note{Phrase: msg.Phrase{Text: text, Args: args}})
}

// notes says what no flag settles.
func (p *Plan) notes(c Config, v version) {
	if !v.listed() {
		p.note(msg.Text{"the options were checked against those of vLLM %s, and %s is installed", "选项按 vLLM %s 检查，而已安装 %s"}, ListedVersion, p.Version)
	}
	if !c.BatchInvariant {
		p.note(msg.Text{
			"answers at temperature 0 may change with what else is asked at the same time (S21): VLLM_BATCH_INVARIANT=1 prevents it on GPUs of compute capability 8.0 or more; drydock eval --repeats measures it",
			"温度 0 下的回答可能随同时处理的其他请求而变化（S21）：在计算能力 8.0 及以上的 GPU 上可用 VLLM_BATCH_INVARIANT=1 避免；drydock eval --repeats 可测量",
		})
	}
	if c.Contract == emit.EmptyThinkMasked && c.KwargsInRequests {
		p.note(msg.Text{`every request must send "chat_template_kwargs": {"enable_thinking": false}`, `每个请求必须发送 "chat_template_kwargs": {"enable_thinking": false}`})
	}
	if c.Contract == emit.CoT {
		p.note(msg.Text{"answers that reason need room: --max-tokens 2048 or more, temperature 0.6; content holds the answer only, reasoning stands apart", "推理回答需要空间：--max-tokens 至少 2048，温度 0.6；content 只含答案，推理在 reasoning 中"})
	}
	if c.Contract == emit.Plain {
		p.note(msg.Text{"plain is for models trained without the think block, which Qwen3-8B's own template puts", "plain 用于训练时不含思考块的模型，而 Qwen3-8B 自带模板会加入思考块"})
	}
}
