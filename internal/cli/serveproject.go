package cli

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/launch/checkpoint"
	"github.com/drydock-ml/drydock/launch/vllm"
)

// takeProject fills in what the user left to the project here: the contract of its
// training rows, its base model, and what its evaluation asks for. A drydock.yaml
// with mistakes matters only where the contract or the model would come from it.
func (o *ServeOptions) takeProject(a *app, cmd *cobra.Command) error {
	if _, err := os.Stat(a.configFile()); err != nil {
		if a.global.Config != "" {
			_, err = a.loadProject() // which says that it is not there
			return err
		}
		return nil
	}
	given := cmd.Flags().Changed
	cfg, err := a.loadProject()
	if err != nil {
		if o.Model != "" && given("contract") {
			a.term.Warn(msg.Text{"without the settings of %s, which has mistakes: drydock lint", "未使用 %s 中的设置，该文件有错误：drydock lint"}, a.configFile())
			return nil
		}
		for _, e := range fail.All(err)[:1] {
			e.Hint(msg.Text{"MODEL and --contract, both given, serve without it", "同时给出 MODEL 与 --contract 即可不依赖它"})
		}
		return err
	}
	s := cfg.Serving()
	o.asked = s.Name
	var took []string
	if !given("contract") && s.Contract != "" {
		o.Contract = string(s.Contract)
		took = append(took, "--contract "+o.Contract)
	} else if given("contract") && s.Contract != "" && o.Contract != string(s.Contract) {
		a.term.Warn(msg.Text{"%s trains with the contract %s, and this serves %s", "%s 以约定 %s 训练，而此处部署的是 %s"}, a.configFile(), s.Contract, o.Contract)
	}
	if o.Model == "" && s.Model != "" {
		o.Model = s.Model
		took = append(took, o.Model)
	}
	if !given("host") && !given("port") && s.Port != 0 {
		o.Host, o.Port = s.Host, s.Port
		took = append(took, "--host "+o.Host, "--port "+strconv.Itoa(o.Port))
	}
	if o.takesName(given("name"), s) {
		o.Name = s.Name
		took = append(took, "--name "+o.Name)
	}
	if len(took) > 0 {
		a.term.Note(msg.Text{"from %s: %s", "取自 %s：%s"}, a.configFile(), strings.Join(took, " "))
	}
	return nil
}

// takesName reports whether the model is served under the name eval asks for.
// Adapters, and checkpoints of a training, have names that tell the training.
func (o *ServeOptions) takesName(given bool, s pipeline.Serving) bool {
	return !given && s.Name != "" && !strings.HasPrefix(s.Name, "builtin:") && len(o.Adapters) == 0 &&
		!(checkpoint.IsModel(o.Model) && checkpoint.IsCheckpoint(o.Model))
}

// tellAsked warns when the project's evaluation asks for a model that nothing here
// is called.
func (o *ServeOptions) tellAsked(a *app, plan *vllm.Plan) {
	served := slices.ContainsFunc(plan.Adapters, func(d vllm.Adapter) bool { return d.Name == o.asked })
	if o.asked == "" || strings.HasPrefix(o.asked, "builtin:") || o.asked == plan.Name || served {
		return
	}
	a.term.Warn(msg.Text{
		"%s asks for the model %s, and none is served under that name: --name or --adapter %s=DIR gives it one", "%s 请求的模型是 %s，但没有以此名部署的模型：可用 --name 或 --adapter %s=DIR 指定",
	}, a.configFile(), o.asked, o.asked)
}
