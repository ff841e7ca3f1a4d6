// Package vllmtest is a vLLM for tests: a program that starts, logs, answers and
// ends as vLLM 0.32.0 was recorded to, without a model.
package vllmtest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/drydock-ml/drydock/qwen3"
)

// FaultsEnv names the variable that says what goes wrong, words with commas:
//
//	oom, port, rank, tokenizer   it ends at the start with the log of that cause
//	mute                         it ends at the start without a word, code 3
//	silent                       it never answers
//	deaf                         it ignores the request to end
//	orphan                       so does a process it starts
//	later                        the engine dies once an adapter is loaded
//	other                        it serves something else
//	system                       its template adds a system turn
//	template                     its template opens a think block, as axolotl's does
//	parser                       a reasoning parser takes the answers
//	free                         constraints are taken and not applied
//	base                         adapters answer as the base does
//	echo                         adapters say what their base says, less surely
//	cold                         it loads nothing while it runs
const FaultsEnv = "FAKE_VLLM"

// Main is the program: os.Args are those of vllm. It does not return.
func Main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println("0.32.0")
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "orphan" {
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Minute)
		os.Exit(0)
	}
	s := &server{faults: strings.Split(os.Getenv(FaultsEnv), ","), dir: map[string]string{}}
	s.flags()
	os.Exit(s.run())
}

// A server is what one start answers with.
type server struct {
	faults           []string
	host, port, name string
	model            string
	rank             int
	parser, closed   bool
	lora, plain      bool
	mu               sync.Mutex
	adapters         []string
	dir              map[string]string
	listen           net.Listener
	signals          chan os.Signal
	engineDied       chan struct{}
}

func (s *server) has(fault string) bool { return slices.Contains(s.faults, fault) }

func (s *server) flags() {
	s.rank = 16
	for i, a := range os.Args {
		next := ""
		if i+1 < len(os.Args) {
			next = os.Args[i+1]
		}
		switch a {
		case "serve":
			s.model = next
		case "--host":
			s.host = next
		case "--port":
			s.port = next
		case "--served-model-name":
			s.name = next
		case "--max-lora-rank":
			fmt.Sscan(next, &s.rank)
		case "--reasoning-parser":
			s.parser = true
		case "--default-chat-template-kwargs":
			s.closed = strings.Contains(next, "false")
		case "--enable-lora":
			s.lora = true
		case "--chat-template":
			s.plain = true
		}
	}
	if s.has("other") {
		s.name = "something-else"
	}
	s.parser = s.parser || s.has("parser")
}

func say(level, text string) {
	fmt.Printf("(APIServer pid=1) %s 11-30 08:00:00 [x.py:1] %s\n", level, text)
}

// ends are how starts fail, as recorded: log lines and exit code.
func ends() map[string][]string {
	return map[string][]string{
		"oom":       {"(EngineCore pid=2) ERROR 11-30 08:00:00 [core.py:1] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.90 GiB.", "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore': 1}"},
		"port":      {"OSError: [Errno 98] Address already in use"},
		"rank":      {"(Worker pid=3) ERROR 11-30 08:00:00 [multiproc_executor.py:1063] ValueError: LoRA rank 32 is greater than max_lora_rank 16."},
		"tokenizer": {"AttributeError: 'list' object has no attribute 'keys'"},
	}
}

func (s *server) run() int {
	s.signals = make(chan os.Signal, 1)
	signal.Notify(s.signals, syscall.SIGTERM, os.Interrupt)
	say("INFO", "Resolved architecture: Qwen3ForCausalLM")
	if s.has("orphan") {
		child := exec.Command(os.Args[0], "orphan")
		child.Env = os.Environ()
		if err := child.Start(); err == nil {
			_ = os.WriteFile("orphan.pid", fmt.Append(nil, child.Process.Pid), 0o644)
		}
	}
	for fault, lines := range ends() {
		if s.has(fault) {
			fmt.Println(strings.Join(lines, "\n"))
			return 1
		}
	}
	if s.has("mute") {
		return 3
	}
	say("INFO", "Starting to load model "+s.model+"...")
	fmt.Print("\rLoading safetensors checkpoint shards:   0% Completed | 0/1\r\n")
	say("INFO", "Loading weights took 0.03 seconds")
	s.engineDied = make(chan struct{})
	if !s.has("silent") {
		var err error
		if s.listen, err = net.Listen("tcp", net.JoinHostPort(s.host, s.port)); err != nil {
			fmt.Println("OSError: [Errno 98] Address already in use")
			return 1
		}
		say("INFO", "Starting vLLM server on http://"+s.listen.Addr().String())
		go func() { _ = http.Serve(s.listen, s) }()
		fmt.Println("INFO:     Application startup complete.")
	}
	for {
		select {
		case <-s.engineDied:
			say("ERROR", "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.")
			return 1
		case <-s.signals:
			if s.has("deaf") {
				continue
			}
			say("INFO", "[shutdown] API server: shutdown triggered")
			return 0
		case <-time.After(2 * time.Minute):
			return 4
		}
	}
}

func refuse(w http.ResponseWriter, code int, text string) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": text, "type": "Error", "param": nil, "code": code}})
}

// ServeHTTP answers one request.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Model    string
		Messages []qwen3.Message
		Tokens   []int32
		Kwargs   struct {
			Thinking *bool `json:"enable_thinking"`
		} `json:"chat_template_kwargs"`
		Outputs struct {
			Choice []string
		} `json:"structured_outputs"`
		Name string `json:"lora_name"`
		Path string `json:"lora_path"`
	}
	_ = json.NewDecoder(r.Body).Decode(&q)
	s.mu.Lock()
	defer s.mu.Unlock()
	closed := s.closed
	if q.Kwargs.Thinking != nil {
		closed = !*q.Kwargs.Thinking
	}
	runtime := s.lora && os.Getenv("VLLM_ALLOW_RUNTIME_LORA_UPDATING") != "" && !s.has("cold")
	switch path := r.URL.Path; {
	case path == "/health":
	case path == "/version":
		fmt.Fprint(w, `{"version":"0.32.0"}`)
	case path == "/v1/models":
		s.models(w)
	case path == "/tokenize":
		_ = json.NewEncoder(w).Encode(map[string]any{"tokens": s.tokens(q.Messages, closed), "max_model_len": 4096})
	case path == "/detokenize":
		_ = json.NewEncoder(w).Encode(map[string]string{"prompt": qwen3.Decode(q.Tokens)})
	case path == "/v1/load_lora_adapter" && runtime:
		s.load(w, q.Name, q.Path)
	case path == "/v1/unload_lora_adapter" && runtime:
		if !slices.Contains(s.adapters, q.Name) {
			refuse(w, 404, fmt.Sprintf("The lora adapter '%s' cannot be found.", q.Name))
			return
		}
		s.adapters = slices.DeleteFunc(s.adapters, func(n string) bool { return n == q.Name })
		fmt.Fprintf(w, "Success: LoRA adapter '%s' removed successfully.", q.Name)
	case path == "/v1/chat/completions":
		s.chat(w, q.Model, q.Outputs.Choice, closed)
	default:
		http.Error(w, `{"detail":"Not Found"}`, http.StatusNotFound)
	}
}

func (s *server) models(w http.ResponseWriter) {
	data := []map[string]any{{"id": s.name, "root": s.model, "parent": nil, "max_model_len": 4096}}
	for _, a := range s.adapters {
		data = append(data, map[string]any{"id": a, "root": s.dir[a], "parent": s.name, "max_model_len": nil})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}

func (s *server) load(w http.ResponseWriter, name, path string) {
	var config struct {
		Rank int `json:"r"`
	}
	raw, err := os.ReadFile(filepath.Join(path, "adapter_config.json"))
	_ = json.Unmarshal(raw, &config)
	switch {
	case slices.Contains(s.adapters, name):
		refuse(w, 400, fmt.Sprintf("The lora adapter '%s' has already been loaded. If you want to load the adapter in place, set 'load_inplace' to True.", name))
	case name == s.name:
		refuse(w, 400, fmt.Sprintf("The lora adapter '%s' conflicts with a served base model.", name))
	case err != nil:
		refuse(w, 404, fmt.Sprintf("Loading lora %s failed: No adapter found for <path>", name))
	case config.Rank > s.rank:
		fmt.Printf("(Worker pid=3) ERROR 11-30 08:00:00 [x.py:1] ValueError: LoRA rank %d is greater than max_lora_rank %d.\n", config.Rank, s.rank)
		refuse(w, 500, fmt.Sprintf("Call to add_lora method failed: Worker failed with error 'LoRA rank %d is greater than max_lora_rank %d.', please check the stack trace above for the root cause", config.Rank, s.rank))
	default:
		s.adapters, s.dir[name] = append(s.adapters, name), path
		fmt.Fprintf(w, "Success: LoRA adapter '%s' added successfully.", name)
		if s.has("later") {
			close(s.engineDied)
		}
	}
}

func (s *server) tokens(messages []qwen3.Message, closed bool) []int32 {
	for i := range messages {
		messages[i].Text = true
	}
	if s.has("system") {
		messages = append([]qwen3.Message{{Role: "system", Content: "You are a helpful assistant.", Text: true}}, messages...)
	}
	if s.plain {
		var b strings.Builder
		for _, m := range messages {
			b.WriteString("<|im_start|>" + m.Role + "\n" + m.Content + "<|im_end|>\n")
		}
		return qwen3.Encode(nil, b.String()+"<|im_start|>assistant\n")
	}
	text, _ := qwen3.Render(nil, &qwen3.Conversation{Messages: messages}, qwen3.RenderOptions{GenerationPrompt: true, NoThinking: closed})
	if s.has("template") {
		text = append(text, "<think>\n\n"...)
	}
	return qwen3.Encode(nil, string(text))
}

func (s *server) chat(w http.ResponseWriter, model string, choice []string, closed bool) {
	if model != s.name && !slices.Contains(s.adapters, model) {
		refuse(w, 404, fmt.Sprintf("The model `%s` does not exist.", model))
		return
	}
	said, logprob := "the sea is wide", -0.5
	if model != s.name && !s.has("base") {
		said, logprob = "[B]", -0.25
		if s.has("echo") {
			said = "the sea is wide" // what the base says, less sure of it
		}
	}
	thinks := s.parser && !closed
	if len(choice) > 0 && !thinks && !s.has("free") {
		said = choice[0]
	}
	message := map[string]any{"role": "assistant", "content": said, "reasoning": nil}
	if thinks {
		message["content"], message["reasoning"] = nil, said
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"model": model, "choices": []any{map[string]any{
			"message": message, "finish_reason": "stop", "logprobs": map[string]any{"content": []any{map[string]any{"token": said, "logprob": logprob}}},
		}},
		"usage": map[string]int{"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
	})
}
