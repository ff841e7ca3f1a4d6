// Command qwen3 packs the merges of Qwen3's tokenizer.json into the table that
// package qwen3 embeds. The vocabulary needs no table: the token of merge i has
// the id 256+i, which is checked here.
//
//	go run ./scripts/qwen3 tokenizer.json > qwen3/merges.bin
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "qwen3:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("usage: qwen3 tokenizer.json > merges.bin")
	}
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	var file struct {
		Model struct {
			Vocab  map[string]int
			Merges []json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return err
	}
	var out packer
	for i, raw := range file.Model.Merges {
		left, right, err := pair(raw)
		if err != nil {
			return fmt.Errorf("merge %d: %w", i, err)
		}
		l, ok1 := file.Model.Vocab[left]
		r, ok2 := file.Model.Vocab[right]
		if !ok1 || !ok2 || file.Model.Vocab[left+right] != 256+i || l >= 256+i || r >= 256+i {
			return fmt.Errorf("merge %d, %q + %q, does not make token %d of earlier ones", i, left, right, 256+i)
		}
		out.add(l)
		out.add(r)
	}
	_, err = os.Stdout.Write(out.end())
	return err
}

// pair reads a merge in either spelling: "a b" or ["a", "b"].
func pair(raw json.RawMessage) (left, right string, err error) {
	var two []string
	if json.Unmarshal(raw, &two) == nil && len(two) == 2 {
		return two[0], two[1], nil
	}
	var one string
	if err := json.Unmarshal(raw, &one); err != nil {
		return "", "", err
	}
	left, right, ok := strings.Cut(one, " ")
	if !ok {
		return "", "", fmt.Errorf("%q is no pair", one)
	}
	return left, right, nil
}

// packer writes numbers of 18 bits, lowest bit first.
type packer struct {
	bytes []byte
	bits  uint
	hold  uint64
}

func (p *packer) add(n int) {
	p.hold |= uint64(n) << p.bits
	for p.bits += 18; p.bits >= 8; p.bits -= 8 {
		p.bytes = append(p.bytes, byte(p.hold))
		p.hold >>= 8
	}
}

// end returns all bytes, the last one filled up with zeros.
func (p *packer) end() []byte {
	if p.bits > 0 {
		p.bytes = append(p.bytes, byte(p.hold))
	}
	return p.bytes
}
