package vllm

import (
	"regexp"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// A Fatal is a line of the log that ends the server, explained.
type Fatal struct {
	ID   string // names the cause, the same in every language and version
	Line string
	What msg.Localizer
	Fix  msg.Localizer // nil where the lines above it say more
}

// A sign is a cause known by its words. Groups of the pattern are arguments of
// what.
type sign struct {
	id        string
	pattern   string
	what, fix msg.Text
	later     bool // ends a server that is ready, too
}

// signs are the causes, from recorded logs of vLLM 0.32.0 and the project's
// issues. The first one in the log is the root: what follows fails because of it.
func signs() []sign {
	return append(memorySigns(), append(modelSigns(), settingSigns()...)...)
}

func memorySigns() []sign {
	return []sign{
		{"gpu_memory", `CUDA out of memory|OutOfMemoryError|CUDA error: out of memory|HIP out of memory`, msg.Text{
			"the GPU's memory is full", "显存不足",
		}, msg.Text{
			"stop what else runs on it, lower --max-model-len, or give -- --gpu-memory-utilization 0.8 or --tensor-parallel-size", "请停止其他占用显存的程序、减小 --max-model-len，或加 -- --gpu-memory-utilization 0.8 或 --tensor-parallel-size",
		}, true},
		{"gpu_busy", `Free memory on device .*is less than desired GPU memory utilization`, msg.Text{
			"another program holds the GPU's memory", "显存被其他程序占用",
		}, msg.Text{
			"stop it: nvidia-smi names it; a server that was killed may have left processes; or give -- --gpu-memory-utilization with less", "请停止该程序：nvidia-smi 可查；被杀死的服务可能遗留进程；或以 -- --gpu-memory-utilization 设更小的值",
		}, false},
		{"kv_memory", `is less than requested memory for kv|No available memory for the cache blocks|KV cache is needed, which is larger than the available|is larger than the maximum number of tokens that can be stored in KV cache`, msg.Text{
			"no memory is left for the attention cache", "没有内存可用于注意力缓存",
		}, msg.Text{
			"lower --max-model-len, or give -- --gpu-memory-utilization with more; on a CPU lower VLLM_CPU_KVCACHE_SPACE", "请减小 --max-model-len，或以 -- --gpu-memory-utilization 设更大的值；在 CPU 上请减小 VLLM_CPU_KVCACHE_SPACE",
		}, false},
		{"host_memory", `^Killed$|Cannot allocate memory|std::bad_alloc|MemoryError$|died unexpectedly \(exit code: -9\)`, msg.Text{
			"the machine's memory was full", "内存不足",
		}, msg.Text{
			"close other programs, or use a machine with more memory", "请关闭其他程序，或换用内存更大的机器",
		}, true},
		{"shared_memory", `insufficient shared memory|No space left on device: '/dev/shm|unable to mmap .*/dev/shm`, msg.Text{
			"the shared memory (/dev/shm) is full", "共享内存（/dev/shm）不足",
		}, msg.Text{
			"give the container more of it (docker: --shm-size, --ipc=host)", "请为容器分配更多共享内存（docker：--shm-size、--ipc=host）",
		}, true},
		{"disk", `No space left on device|Disk quota exceeded`, msg.Text{"the disk is full", "磁盘已满"}, msg.Text{"free some space", "请腾出空间"}, true},
	}
}

func modelSigns() []sign {
	base := msg.Text{"give the folder that holds its config.json and weights: drydock checkpoint check DIR looks at it first", "请给出含 config.json 与权重的目录：可先用 drydock checkpoint check DIR 检查"}
	return []sign{
		{"no_weights", `Cannot find any model weights with`, msg.Text{"the model's folder holds no weights", "模型目录中没有权重"}, base, false},
		{"torn_weights", `SafetensorError|HeaderTooLarge|MetadataIncompleteBuffer|InvalidHeaderDeserialization`, msg.Text{"a weights file is not whole", "权重文件不完整"}, base, false},
		{"model_missing", `HFValidationError|Repo id must|is not a local folder and is not a valid model identifier|LocalEntryNotFoundError|OfflineModeIsEnabled|Invalid repository ID or local directory`, msg.Text{
			"the model is not there: a path that does not exist is taken for a name of the hub", "模型不存在：不存在的路径会被当作模型站点名称",
		}, base, false},
		{"access", `GatedRepoError|401 Client Error|403 Client Error|RepositoryNotFoundError`, msg.Text{"the hub refused the model", "模型站点拒绝访问该模型"}, msg.Text{
			"set HF_TOKEN, or give a local folder", "请设置 HF_TOKEN，或给出本地目录",
		}, false},
		{"architecture", "does not recognize this architecture|Model architectures .* are not supported|KeyError: 'qwen3'", msg.Text{
			"vLLM or its transformers does not know the model's architecture", "vLLM 或其 transformers 不认识该模型架构",
		}, msg.Text{
			"upgrade vLLM, or look at model_type and architectures in the model's config.json", "请升级 vLLM，或检查模型 config.json 中的 model_type 与 architectures",
		}, false},
		{"tokenizer", `'list' object has no attribute 'keys'|Tokenizer class \S+ does not exist|Couldn't instantiate the backend tokenizer|Can't load tokenizer|data did not match any variant of untagged enum`, msg.Text{
			"the tokenizer's files cannot be read by this version", "此版本无法读取分词器文件",
		}, msg.Text{
			"drydock checkpoint fix DIR --base B restores those of the base", "drydock checkpoint fix DIR --base B 可恢复基座的文件",
		}, false},
		{"shapes", `size mismatch for|The size of tensor a \(\d+\) must match|Attempted to load weight \(.*\) into parameter`, msg.Text{
			"the weights do not fit the configuration", "权重与配置不符",
		}, msg.Text{"drydock checkpoint check DIR --base B names what does not", "drydock checkpoint check DIR --base B 可指出不符之处"}, false},
	}
}

func settingSigns() []sign {
	return []sign{
		{"port", `\[Errno 98\]|\[Errno 48\]|[Aa]ddress already in use|WinError 10048`, msg.Text{"the port is taken", "端口已被占用"}, msg.Text{
			"choose another: --port N", "请更换端口：--port N",
		}, false},
		{"max_model_len", `User-specified max_model_len \((\d+)\) is greater than the derived max_model_len`, msg.Text{
			"--max-model-len %s is more than the model takes", "--max-model-len %s 超出模型上限",
		}, msg.Text{"lower it; Qwen3-8B takes 40960", "请减小；Qwen3-8B 上限为 40960"}, false},
		{"lora_rank", `LoRA rank (\d+) is greater than max_lora_rank (\d+)`, msg.Text{"an adapter has rank %s, and --max-lora-rank is %s", "适配器的秩为 %s，而 --max-lora-rank 为 %s"}, msg.Text{
			"serve with a larger --max-lora-rank", "请以更大的 --max-lora-rank 部署",
		}, false},
		{"lora_missing", `No adapter found for (\S+)`, msg.Text{"there is no adapter at %s", "%s 处没有适配器"}, msg.Text{
			"the path is that of the server's machine", "该路径应为服务端机器上的路径",
		}, false},
		{"lora", `vLLM does not yet support DoRA|vLLM only supports modules_to_save|expected target modules in`, msg.Text{"vLLM does not serve this adapter", "vLLM 不支持该适配器"}, msg.Text{
			"drydock checkpoint check DIR says why", "drydock checkpoint check DIR 会说明原因",
		}, false},
		{"option", `vllm(?: serve)?: error: (.*)`, msg.Text{"vLLM refuses an option: %s", "vLLM 拒绝某个选项：%s"}, msg.Text{
			"another version has other options: vllm --version", "不同版本的选项不同：vllm --version",
		}, false},
		{"chat_template", `The supplied chat template .*(?:looks like a file path|not found|does not exist)`, msg.Text{"the chat template's file is not there", "对话模板文件不存在"}, msg.Text{
			"look at --chat-template", "请检查 --chat-template",
		}, false},
		{"dtype", `Bfloat16 is only supported on GPUs with compute capability|torch\.bfloat16 is not supported`, msg.Text{"this GPU has no bfloat16", "此 GPU 不支持 bfloat16"}, msg.Text{
			"--dtype float16, and look for \"!!!!\" in the answers: float16 overflows where bfloat16 does not", "请用 --dtype float16，并检查回答中是否出现 \"!!!!\"：float16 会溢出而 bfloat16 不会",
		}, false},
		{"no_gpu", `Failed to infer device type|Found no NVIDIA driver|NVIDIA driver on your system is too old|No CUDA GPUs are available|libcudart\.so\S*: cannot open shared object file`, msg.Text{
			"vLLM finds no GPU it can use", "vLLM 找不到可用的 GPU",
		}, msg.Text{"look at nvidia-smi and CUDA_VISIBLE_DEVICES; vLLM for CPU is a package of its own", "请检查 nvidia-smi 与 CUDA_VISIBLE_DEVICES；CPU 版 vLLM 是单独的软件包"}, false},
		{"nccl", `NCCL error|ncclSystemError|ncclInternalError|ncclUnhandledCudaError`, msg.Text{"the GPUs lost each other (NCCL)", "GPU 之间通信失败（NCCL）"}, msg.Text{
			"NCCL_DEBUG=INFO says more; with one GPU leave --tensor-parallel-size out", "NCCL_DEBUG=INFO 可获得更多信息；单 GPU 时请勿使用 --tensor-parallel-size",
		}, true},
		{"engine", `EngineDeadError|EngineCore encountered an (?:issue|fatal error)|Engine core proc .* died unexpectedly`, msg.Text{"the engine has died", "引擎已退出"}, msg.Text{}, true},
	}
}

// A reader looks for the first fatal line of a log.
type reader struct {
	signs []sign
	words []*regexp.Regexp
	ready bool // the server has answered: what loading an adapter logs ends nothing
}

func newReader() *reader {
	r := &reader{signs: signs()}
	for _, s := range r.signs {
		r.words = append(r.words, regexp.MustCompile(s.pattern))
	}
	return r
}

// read explains a line that ends the server; nil for all others. Warnings may
// use the same words, as the one about too few file handles does.
func (r *reader) read(line string) *Fatal {
	if strings.Contains(line, " WARNING ") || strings.Contains(line, " INFO ") {
		return nil
	}
	for i, s := range r.signs {
		if r.ready && !s.later {
			continue
		}
		m := r.words[i].FindStringSubmatch(line)
		if m == nil {
			continue
		}
		f := &Fatal{ID: s.id, Line: strings.TrimSpace(line)}
		args := make([]any, 0, len(m))
		for _, g := range m[1:] {
			args = append(args, strings.TrimRight(strings.TrimSpace(g), ".'"))
		}
		f.What = msg.Phrase{Text: s.what, Args: args}
		if s.fix != (msg.Text{}) {
			f.Fix = msg.Phrase{Text: s.fix}
		}
		return f
	}
	return nil
}

// phase says how far a start is, by the line that tells of it; nil for the other
// lines.
func phase(line string) msg.Localizer {
	for _, p := range []struct {
		words string
		says  msg.Text
	}{
		{"Resolved architecture", msg.Text{"the model's configuration is read", "已读取模型配置"}},
		{"Initializing a V1 LLM engine", msg.Text{"the engine starts", "引擎启动"}},
		{"Starting to load model", msg.Text{"the weights are loaded", "正在载入权重"}},
		{"Loading weights took", msg.Text{"the weights are there", "权重已载入"}},
		{"torch.compile takes", msg.Text{"the model is compiled", "模型已编译"}},
		{"Capturing CUDA graphs", msg.Text{"CUDA graphs are captured", "正在捕获 CUDA 图"}},
		{"KV cache size", msg.Text{"the attention cache is there", "注意力缓存已分配"}},
		{"Starting vLLM", msg.Text{"the server opens its port", "服务正在打开端口"}},
	} {
		if strings.Contains(line, p.words) {
			return p.says
		}
	}
	return nil
}
