package launch

import "math"

// A Load is what decides how much memory a training takes.
type Load struct {
	Method     string // lora, qlora, full
	Rank       int    // of the adapter; not used by full
	BatchSize  int    // rows on a device at a time
	Tokens     int    // of the longest row that is trained
	Devices    int    // GPUs that take part; full training is sharded over them
	Preference bool   // pairs of answers: two sequences a row, and a reference model
	// Checkpointing recomputes activations in the backward pass instead of
	// keeping them, which all four trainers do unless told otherwise.
	Checkpointing bool
}

// A MemoryEstimate is what a training of Qwen3-8B takes on each GPU, in bytes.
type MemoryEstimate struct {
	Weights     int64 `json:"weights"`
	Optimizer   int64 `json:"optimizer"` // of the trained weights: fp32 copies, gradients, both moments
	Activations int64 `json:"activations"`
	Logits      int64 `json:"logits"`
	Overhead    int64 `json:"overhead"` // CUDA context, kernels' workspaces, fragmentation
	Total       int64 `json:"total"`
}

// The sizes of Qwen3-8B, from its config.json: 36 layers, hidden 4096, 32 query
// and 8 key-value heads of 128, feed-forward 12288, vocabulary 151936, embedding
// and output not tied.
const (
	qwenLayers = 36
	qwenHidden = 4096
	qwenVocab  = 151936
	qwenParams = 8_190_735_360
	// qwenPerRank is how many weights an adapter on all linear layers has for
	// each unit of its rank: Σ (in + out) over 36 × (q, k, v, o, gate, up, down).
	qwenPerRank = qwenLayers * ((qwenHidden + 4096) + 2*(qwenHidden+1024) + (4096 + qwenHidden) + 3*(qwenHidden+12288))
	// qwenEmbedding: embedding and output stay in 16 bits under QLoRA.
	qwenEmbedding = 2 * qwenVocab * qwenHidden
)

// Bytes that depend on how PyTorch and the trainers work, each rounded up.
const (
	trainedBytes = 16   // a trained weight: fp32 value, gradient and two moments of Adam
	nf4Bits      = 4.13 // a weight in NF4 with doubly quantised scales, blocks of 64 (QLoRA, arXiv 2305.14314, §3)
	// logitBytes of a token and a word of the vocabulary: the logits in bf16, in
	// fp32 for the loss, and their gradient.
	logitBytes = 2 + 4 + 4
	// layerBytes of a token in one layer while its activations are there: queries,
	// keys, values and their output, the normalised inputs and four tensors of the
	// feed-forward, in bf16.
	layerBytes = 2 * (6*qwenHidden + 2*1024 + 4*12288)
	// contextBytes: what CUDA, cuBLAS and the allocator keep for themselves.
	contextBytes = 1 << 30
	// fragmentation of the allocator, as a share of all that comes and goes.
	fragmentation = 0.1
)

// EstimateMemory says how much memory a training of Qwen3-8B takes on each GPU.
// It counts what must be there, and comes within about a sixth of what the
// trainers' own tables and reports say (ms-swift gives 22 GB for rank 8, 2,048
// tokens and one row at a time: this gives 22.2); kernels that never hold the
// logits (Liger, Unsloth) take less. It is advice, not a verdict.
func EstimateMemory(l Load) MemoryEstimate {
	devices := int64(max(l.Devices, 1))
	tokens := int64(max(l.BatchSize, 1)) * int64(l.Tokens)
	if l.Preference {
		tokens *= 2
	}
	var e MemoryEstimate
	switch l.Method {
	case "full":
		// mixed precision keeps the fp32 weights of the optimizer and a copy in
		// bf16; ZeRO-3 and FSDP shard both
		e.Weights = 2 * qwenParams / devices
		e.Optimizer = trainedBytes * qwenParams / devices
		if l.Preference {
			e.Weights += 2 * qwenParams / devices // the reference model
		}
	case "qlora":
		e.Weights = int64(math.Ceil((qwenParams-qwenEmbedding)*nf4Bits/8)) + 2*qwenEmbedding
		e.Optimizer = trainedBytes * qwenPerRank * int64(l.Rank)
	default:
		e.Weights = 2 * qwenParams
		e.Optimizer = trainedBytes * qwenPerRank * int64(l.Rank)
	}
	// what every layer hands to the next is kept; the layer in work adds its own
	e.Activations = tokens * (2*qwenHidden*qwenLayers + layerBytes)
	if !l.Checkpointing {
		e.Activations = tokens * layerBytes * qwenLayers
	}
	e.Logits = tokens * qwenVocab * logitBytes
	e.Overhead = contextBytes + int64(fragmentation*float64(e.Activations+e.Logits))
	e.Total = e.Weights + e.Optimizer + e.Activations + e.Logits + e.Overhead
	return e
}

// CheckpointBytes is the size of one checkpoint with the optimizer's state: the
// adapter or the weights, and both moments, in fp32 (weights of a full training
// in bf16).
func CheckpointBytes(l Load) int64 {
	if l.Method == "full" {
		return (2 + 8) * qwenParams
	}
	return (4 + 8) * qwenPerRank * int64(l.Rank)
}
