package launch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/drydock-ml/drydock/internal/msg"
)

// A Cause is why a trainer failed, as far as what it left tells.
type Cause struct {
	// ID names the kind, the same in every language and version: gpu_memory,
	// host_memory, data … docs/guide/training.md lists all.
	ID string `json:"id"`
	// What says what happened; Fix what to do, nil where that depends.
	What msg.Localizer `json:"-"`
	Fix  msg.Localizer `json:"-"`
	// Rank is the process that failed first, of a training with several; nil when
	// not known.
	Rank *int `json:"rank,omitempty"`
}

// A death is what is known of how a program ended.
type death struct {
	lines   []string // the last ones of its output
	code    int      // exit code; -1 for a signal
	signal  int      // that ended the program; 0: none
	dir     string   // where it ran
	data    string   // the file of training rows; "" when not known
	stalled bool     // ended by us because it said nothing for stall
	stall   time.Duration
}

// A sign is a cause known by words in the output. The first group of the
// pattern, if it has one, is an argument of what.
type sign struct {
	id        string
	pattern   string
	what, fix msg.Text
}

// signs returns the known causes by their words, the first that matches any line
// wins: what fails first stands above what fails because of it, whatever order
// several processes wrote in. The words are those of PyTorch, transformers, the
// trainers and Python, from recorded logs and the projects' issues.
func signs() []sign {
	return append(append(memorySigns(), fileSigns()...), softwareSigns()...)
}

func memorySigns() []sign {
	return []sign{
		{
			"gpu_memory", `CUDA out of memory|OutOfMemoryError|CUBLAS_STATUS_ALLOC_FAILED|CUDA error: out of memory`,
			msg.Text{"the GPU's memory is full", "显存不足"},
			msg.Text{
				"lower batch_size or max_tokens (and raise gradient accumulation), or use method: qlora",
				"请减小 batch_size 或 max_tokens（并增大梯度累积），或使用 method: qlora",
			},
		},
		{
			"shared_memory", `insufficient shared memory|unable to (?:open|write to|mmap) .*(?:/dev/shm|</torch_)|\bshm\b.*(?:Bus error|No space)`,
			msg.Text{"the shared memory (/dev/shm) is full", "共享内存（/dev/shm）不足"},
			msg.Text{
				"give the container more of it (docker: --shm-size), or load data in one process (dataloader_num_workers: 0)",
				"请为容器分配更多共享内存（docker：--shm-size），或以单进程读取数据（dataloader_num_workers: 0）",
			},
		},
		{
			"host_memory", `exitcode\s*: -9\b|^Killed$|Cannot allocate memory|can't allocate memory|std::bad_alloc|^MemoryError|killed by signal: Killed|Signal 9 \(SIGKILL\)`,
			msg.Text{"the machine's memory was full, and the system ended the process", "内存不足，系统终止了进程"},
			msg.Text{
				"close other programs, load data in fewer processes, or use a machine with more memory",
				"请关闭其他程序、减少数据读取进程，或换用内存更大的机器",
			},
		},
		{
			"disk", `No space left on device|Disk quota exceeded|\(os error (?:28|122)\)|PytorchStreamWriter failed writing|inline_container\.cc.*(?:unexpected pos|failed)|File too large`,
			msg.Text{"the disk is full, or a limit on it is reached", "磁盘已满或已达配额"},
			msg.Text{
				"free some space (drydock runs gc lists what can go) or keep fewer checkpoints, then go on with the same command",
				"请腾出空间（drydock runs gc 列出可清理的内容）或少保留检查点，然后用同一命令继续",
			},
		},
	}
}

func fileSigns() []sign {
	return []sign{
		{
			"weights_only", `Weights only load failed|WeightsUnpickler error|UnpicklingError`,
			msg.Text{"PyTorch 2.6 and later refuse to read the checkpoint's saved state", "PyTorch 2.6 及以上版本拒绝读取检查点中保存的状态"},
			msg.Text{
				"upgrade transformers, or remove rng_state*.pth from the checkpoint: training then goes on with other random numbers",
				"请升级 transformers，或删除检查点中的 rng_state*.pth：训练会以不同的随机数继续",
			},
		},
		{
			"resume_mismatch", `size mismatch for |parameter group that doesn't match the size|Error\(s\) in loading state_dict`,
			msg.Text{"the checkpoint does not fit the model or the settings", "检查点与模型或设置不符"},
			msg.Text{
				"go on with the settings it was made with, or begin anew with drydock train --fresh",
				"请使用产生该检查点时的设置继续，或用 drydock train --fresh 重新开始",
			},
		},
		{
			"data", `DatasetGenerationError|JSON parse error|ArrowInvalid|Cannot find valid samples|(?:File|FileNotFoundError).*?([^\s'"]+\.jsonl?)\b.*(?:not found|No such file)|No such file or directory: '([^']+\.jsonl?)'|Couldn't reach '([^']+\.(?:jsonl?|parquet))' on the Hub|DataFilesNotFoundError`,
			msg.Text{"the training data cannot be read", "训练数据无法读取"},
			msg.Text{
				"drydock lint names every bad line of a training file",
				"drydock lint 会列出训练文件中的每个错误行",
			},
		},
		{
			"json", `JSONDecodeError`,
			msg.Text{"a JSON file is not whole", "某个 JSON 文件不完整"},
			msg.Text{
				"the last lines say who read it",
				"最后几行输出会说明由谁读取",
			},
		},
		{
			"architecture", "KeyError: 'qwen3[^']*'|does not recognize this architecture|model type `[^`]*` but Transformers does not recognize",
			msg.Text{"transformers does not know the model", "transformers 不认识该模型"},
			msg.Text{
				"upgrade it: Qwen3 needs transformers 4.51 or later",
				"请升级：Qwen3 需要 transformers 4.51 或更高版本",
			},
		},
		{
			"model_files", `is not a local folder and is not a valid model identifier|does not appear to have a file named|Incorrect path_or_model_id|SafetensorError|Error no file named`,
			msg.Text{"the base model's files are missing or not whole", "基座模型的文件缺失或不完整"},
			msg.Text{
				"give the base as the folder that holds its config.json and weights",
				"请将基座写成含有 config.json 和权重的文件夹",
			},
		},
		{
			"access", `GatedRepoError|401 Client Error|403 Client Error|RepositoryNotFoundError|Invalid credentials`,
			msg.Text{"the hub refused the model or data", "模型站点拒绝访问该模型或数据"},
			msg.Text{
				"set HF_TOKEN in the environment, or give a local folder as the base",
				"请在环境变量中设置 HF_TOKEN，或将基座写成本地文件夹",
			},
		},
		{
			"network", `OfflineModeIsEnabled|ConnectionError|MaxRetryError|NameResolutionError|Temporary failure in name resolution|LocalEntryNotFoundError`,
			msg.Text{"the model or data was looked for on the network, which does not answer", "程序在网络上查找模型或数据，但网络无响应"},
			msg.Text{
				"give a local folder as the base",
				"请将基座写成本地文件夹",
			},
		},
		{
			"permission", `PermissionError: .*'([^']+)'|PermissionError`,
			msg.Text{"a file may not be read or written", "没有读取或写入文件的权限"},
			msg.Text{
				"look at who owns the files it names",
				"请检查所列文件的属主",
			},
		},
	}
}

func softwareSigns() []sign {
	return []sign{
		{
			"cuda_driver", `Found no NVIDIA driver|CUDA driver version is insufficient|no CUDA-capable device|Torch not compiled with CUDA|libcuda\.so\.1: cannot open|no kernel image is available|invalid device ordinal|driver on your system is too old`,
			msg.Text{"PyTorch cannot use the GPU", "PyTorch 无法使用 GPU"},
			msg.Text{
				"see what nvidia-smi says: the driver must be there and as new as the CUDA that PyTorch was built for, and CUDA_VISIBLE_DEVICES must name GPUs that exist",
				"请查看 nvidia-smi：须有驱动，且不旧于 PyTorch 所用的 CUDA；CUDA_VISIBLE_DEVICES 须指向存在的 GPU",
			},
		},
		{
			"option", `not used by the HfArgumentParser: \[?(.*?)\]?$|unrecognized arguments: (.*)|remaining_argv: (.*)|invalid choice: (.*)|Extra inputs are not permitted`,
			msg.Text{"the trainer does not know an option it was given", "训练器不认识所给的某个选项"},
			msg.Text{
				"its version differs from the one planned for: drydock doctor says which are known",
				"其版本与计划所用的不同：drydock doctor 会列出已知版本",
			},
		},
		{
			"module", `ModuleNotFoundError: No module named '([^']+)'|ImportError: (.*)|PackageNotFoundError: (.*)`,
			msg.Text{"a Python package is missing or has another version", "缺少某个 Python 软件包或版本不符"},
			msg.Text{
				"install it into the environment of the trainer",
				"请将其安装到训练器所用的环境",
			},
		},
		{
			"port", `Address already in use|EADDRINUSE|address already in use`,
			msg.Text{"a network port is in use, by another training or one that was not ended", "端口已被占用：另有训练在运行，或之前的训练未结束"},
			msg.Text{
				"end the other, or set MASTER_PORT to a free port",
				"请结束另一训练，或将 MASTER_PORT 设为空闲端口",
			},
		},
		{
			"nccl_timeout", `Watchdog caught collective operation timeout|NCCL.*(?i:timed? ?out)|(?i:timed? ?out).*NCCL|Timeout\(ms\)=`,
			msg.Text{"the GPUs waited for each other for too long (NCCL)", "GPU 之间等待超时（NCCL）"},
			msg.Text{
				"one process was slower or had ended: look at the first rank that failed; NCCL_DEBUG=INFO says more, and ddp_timeout is how long they wait",
				"某个进程更慢或已结束：请查看最先失败的进程；NCCL_DEBUG=INFO 可输出更多信息，ddp_timeout 为等待时长",
			},
		},
		{
			"nccl", `NCCL (?:error|WARN)|ncclSystemError|ncclInternalError|ncclUnhandledCudaError|ncclRemoteError|DistBackendError`,
			msg.Text{"the GPUs lost each other (NCCL)", "GPU 之间通信失败（NCCL）"},
			msg.Text{
				"look at the first rank that failed; NCCL_DEBUG=INFO says more, and NCCL_P2P_DISABLE=1 avoids a broken link",
				"请查看最先失败的进程；NCCL_DEBUG=INFO 可输出更多信息，NCCL_P2P_DISABLE=1 可绕开有问题的直连",
			},
		},
		{
			"batch", `Caught \w+ in DataLoader worker|DataLoader worker .* exited unexpectedly`,
			msg.Text{"a process that loads data failed", "读取数据的进程失败"},
			msg.Text{
				"load data in one process (dataloader_num_workers: 0) to see why",
				"请以单进程读取数据（dataloader_num_workers: 0）以查看原因",
			},
		},
	}
}

// diagnose finds the cause of a death. ok is false when nothing tells.
func diagnose(d death) (Cause, bool) {
	if d.stalled {
		return Cause{
			ID:   "stalled",
			What: msg.Phrase{Text: msg.Text{"it said nothing for %s and was ended", "它已 %s 没有输出，因此被结束"}, Args: []any{d.stall}},
			Fix:  msg.Phrase{Text: msg.Text{"look at the last lines; --stall allows it more time", "请查看最后几行输出；--stall 可放宽时间"}},
		}, true
	}
	rank, said := firstFailure(d)
	c, ok := bySigns(append(said, d.lines...))
	if !ok {
		c, ok = bySignal(d)
	}
	if ok && (c.ID == "data" || c.ID == "json") && d.data != "" {
		c = atRow(c, d.data)
	}
	c.Rank = rank
	return c, ok
}

// bySigns looks for the words of known causes.
func bySigns(lines []string) (Cause, bool) {
	for _, s := range signs() {
		p := regexp.MustCompile(s.pattern)
		for _, l := range lines {
			m := p.FindStringSubmatch(l)
			if m == nil {
				continue
			}
			c := Cause{ID: s.id, What: s.what, Fix: s.fix}
			for _, detail := range m[1:] {
				if detail = strings.TrimSpace(detail); detail != "" {
					c.What = msg.Phrase{Text: msg.Text{"%s: %s", "%s：%s"}, Args: []any{s.what, detail}}
					break
				}
			}
			return c, true
		}
	}
	return Cause{}, false
}

// Signals as programs are ended by, with their numbers on every Unix.
const (
	sigAbort     = 6
	sigKill      = 9
	sigSegfault  = 11
	sigTerminate = 15
	sigBus       = 7
)

// bySignal tells from how the program ended. A launcher that ends with its
// child's signal says 256-n (Python's sys.exit of a negative code), a shell
// 128+n.
func bySignal(d death) (Cause, bool) {
	n := d.signal
	switch {
	case n == 0 && d.code > 256-32 && d.code < 256:
		n = 256 - d.code
	case n == 0 && d.code > 128 && d.code < 128+32:
		n = d.code - 128
	}
	switch n {
	case sigKill:
		for _, s := range memorySigns() {
			if s.id == "host_memory" {
				return Cause{ID: s.id, What: msg.Text{
					"something killed it, most often the system because memory was full", "它被强制终止，最常见的原因是内存不足",
				}, Fix: s.fix}, true
			}
		}
	case sigSegfault, sigAbort, sigBus:
		return Cause{
			ID:   "crash",
			What: msg.Phrase{Text: msg.Text{"native code crashed (signal %d)", "本机代码崩溃（信号 %d）"}, Args: []any{n}},
			Fix:  msg.Text{"a package does not fit the others or the driver: reinstall torch and what builds on it, in one environment", "某个软件包与其他包或驱动不匹配：请在同一环境中重新安装 torch 及依赖它的包"},
		}, true
	case sigTerminate:
		return Cause{
			ID:   "terminated",
			What: msg.Text{"something else asked it to end (SIGTERM)", "它被外部请求结束（SIGTERM）"},
			Fix:  msg.Text{"a scheduler does so before it takes the machine back; the same command goes on from the last checkpoint", "调度系统在收回机器前会这样做；同一命令会从最近的检查点继续"},
		}, true
	}
	return Cause{}, false
}

var (
	rootRank  = regexp.MustCompile(`^\s*rank\s*:\s*(\d+)`)
	rootCause = regexp.MustCompile(`^Root Cause`)
)

// firstFailure reads what torch's launcher says about the first process that
// failed: its number, from the summary of ChildFailedError, and its words, from
// the file the launcher was given for them. The summary's exit code is left
// among the lines.
func firstFailure(d death) (rank *int, said []string) {
	under := false
	for _, l := range d.lines {
		under = under || rootCause.MatchString(l)
		if m := rootRank.FindStringSubmatch(l); under && m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				rank = &n
			}
		}
	}
	b, err := os.ReadFile(filepath.Join(d.dir, errorFile))
	if d.dir == "" || err != nil {
		return rank, nil
	}
	var whole struct {
		Message json.RawMessage `json:"message"`
	}
	var inner struct {
		Message string `json:"message"`
		Extra   struct {
			Stack string `json:"py_callstack"`
		} `json:"extraInfo"`
	}
	if json.Unmarshal(b, &whole) != nil {
		return rank, nil
	}
	if json.Unmarshal(whole.Message, &inner) != nil {
		_ = json.Unmarshal(whole.Message, &inner.Message) // older ones write a text
	}
	return rank, strings.Split(inner.Message+"\n"+inner.Extra.Stack, "\n")
}
