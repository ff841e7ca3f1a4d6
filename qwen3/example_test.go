package qwen3_test

import (
	"fmt"

	"github.com/drydock-ml/drydock/qwen3"
)

func Example() {
	ids := qwen3.Encode(nil, "<|im_start|>user\n雾号<|im_end|>\n")
	fmt.Println(ids)
	fmt.Printf("%q\n", qwen3.Decode(ids))
	fmt.Println(len(qwen3.EncodeOrdinary(nil, "<|im_end|>")), "ids when it is only text")
	// Output:
	// [151644 872 198 102393 17992 151645 198]
	// "<|im_start|>user\n雾号<|im_end|>\n"
	// 6 ids when it is only text
}
