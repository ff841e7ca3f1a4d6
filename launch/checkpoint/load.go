package checkpoint

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
)

// loadLimit bounds the loading of an adapter: the server reads it from its disk.
// unloadLimit bounds the dropping, which reads nothing.
const (
	loadLimit   = 5 * time.Minute
	unloadLimit = 10 * time.Second
)

// ErrNoLoading marks a server that loads no adapters while it runs.
var ErrNoLoading = errors.New("the server does not load adapters while it runs")

// Load has a running vLLM load an adapter under a name, and says why it does
// not. dir is a path on the server. An adapter that is loaded already under this
// name is the same one where the name holds its hash, as [Checkpoint.Served]
// does; load_inplace is never asked for, since what vLLM keeps of the adapter
// before may answer for the new one (vLLM #42125).
func Load(ctx context.Context, client *llm.Client, name, dir string) error {
	err := client.LoadAdapter(ctx, loadLimit, name, dir)
	var e *llm.Error
	if !errors.As(err, &e) {
		return err
	}
	said := fail.New(fail.Failed, msg.Text{"%v", "%v"}, e)
	has := func(words string) bool { return strings.Contains(e.Text, words) }
	switch {
	case has("already been loaded"):
		return nil
	case e.Status == http.StatusNotFound && !has("adapter"):
		return fail.New(fail.Failed, msg.Text{"%s loads no adapters while it runs", "%s 不支持运行中载入适配器"}, strings.TrimSuffix(client.URL(), "/chat/completions")).
			Because(ErrNoLoading).
			Hint(msg.Text{"start vLLM with VLLM_ALLOW_RUNTIME_LORA_UPDATING=True and --enable-lora", "请以 VLLM_ALLOW_RUNTIME_LORA_UPDATING=True 和 --enable-lora 启动 vLLM"})
	case e.Status == http.StatusNotFound:
		return fail.New(fail.Failed, msg.Text{"%s: %v", "%s：%v"}, dir, e).
			Hint(msg.Text{"the server reads the path on its own disk: is it the same there?", "服务端在自己的磁盘上读取该路径：那里是否相同？"})
	case has("conflicts with a served base model"):
		return said.Hint(msg.Text{"%s is the base's name: choose another", "%s 是基座的名称：请换一个"}, name)
	case has("is greater than max_lora_rank"):
		return said.Hint(msg.Text{"serve with a larger --max-lora-rank", "请以更大的 --max-lora-rank 部署"})
	case has("DoRA"), has("modules_to_save"):
		return said.Hint(msg.Text{"merge it into its base and serve the merged model", "请合并到基座并部署合并后的模型"})
	case has("expected target modules"), has("unsupported LoRA weight"):
		return said.Hint(msg.Text{"drydock checkpoint check %s --base B names what does not fit", "drydock checkpoint check %s --base B 可指出不符之处"}, dir)
	}
	return said
}

// Unload has a running vLLM drop an adapter.
func Unload(ctx context.Context, client *llm.Client, name string) error {
	err := client.UnloadAdapter(ctx, unloadLimit, name)
	var e *llm.Error
	if errors.As(err, &e) && e.Status == http.StatusNotFound {
		if !strings.Contains(e.Text, "adapter") {
			return fail.New(fail.Failed, msg.Text{"%s drops no adapters while it runs", "%s 不支持运行中移除适配器"}, strings.TrimSuffix(client.URL(), "/chat/completions")).Because(ErrNoLoading)
		}
		return fail.New(fail.Failed, msg.Text{"%v", "%v"}, e).Because(e)
	}
	return err
}
