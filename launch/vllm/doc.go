// Package vllm starts vLLM so that a model is served as it was trained: with the
// flags that the template contract and the version ask for, every option checked
// before the start, the first fatal line of the log explained, and nothing left
// behind. [Plan] touches nothing; [Run] carries it out.
package vllm
