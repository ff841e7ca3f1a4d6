// Package qwen3 knows how Qwen3 reads text: its chat template, equal to Jinja byte
// for byte, and its byte-level BPE tokenizer, equal to
// Hugging Face's id for id.
//
// A text is put into normal form (NFC), cut into pieces at borders that a regular
// expression of the tokenizer names, and each piece is merged from its bytes up,
// the merge of the best rank first. Tokens are ids from 0: 256 bytes, then one
// token a merge, then 26 special tokens that also stand for themselves when a
// text spells them out ([FindSpecial]).
package qwen3
