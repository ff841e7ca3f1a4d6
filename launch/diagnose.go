package launch

import (
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// diagnose reads the last lines of a failed trainer for causes that have a
// known remedy.
func diagnose(last []string) (msg.Text, bool) {
	text := strings.Join(last, "\n")
	for _, c := range []struct {
		signs  []string
		remedy msg.Text
	}{
		{[]string{"CUDA out of memory", "OutOfMemoryError"}, msg.Text{
			"the GPU's memory is full: lower batch_size or max_tokens, or use method: qlora",
			"显存不足：请减小 batch_size 或 max_tokens，或使用 method: qlora",
		}},
		{[]string{"exitcode: -9", "Killed"}, msg.Text{
			"the system killed a process, most often because memory was full",
			"系统终止了某个进程，最常见的原因是内存不足",
		}},
		{[]string{"No space left on device", "Disk quota exceeded"}, msg.Text{"the disk is full", "磁盘已满"}},
		{[]string{"Weights only load failed", "UnpicklingError"}, msg.Text{
			"the checkpoint was written by another version of the trainer; start in a fresh folder",
			"检查点由其他版本的训练器写入；请在新的文件夹中重新开始",
		}},
		{[]string{"KeyError: 'qwen3'"}, msg.Text{
			"transformers is older than 4.51 and does not know Qwen3; upgrade it",
			"transformers 低于 4.51，不认识 Qwen3；请升级",
		}},
		{[]string{"not used by the HfArgumentParser", "unrecognized arguments", "remaining_argv"}, msg.Text{
			"the trainer does not know an option of its configuration; its version differs from the one planned for",
			"训练器不认识配置中的某个选项；其版本与计划所用的不同",
		}},
		{[]string{"Couldn't reach", "OfflineModeIsEnabled", "ConnectionError", "MaxRetryError"}, msg.Text{
			"the model or data was looked for on the network; give a local folder as the base",
			"正在通过网络查找模型或数据；请把基座模型写成本地文件夹",
		}},
		{[]string{"NCCL"}, msg.Text{"the GPUs lost each other (NCCL); look for the first rank that failed", "GPU 之间通信失败（NCCL）；请查看最先失败的进程"}},
	} {
		for _, s := range c.signs {
			if strings.Contains(text, s) {
				return c.remedy, true
			}
		}
	}
	return msg.Text{}, false
}
