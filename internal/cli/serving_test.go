package cli_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdWeights writes the weights of a model of two tensors; VALUE is the one that
// the adapter of safetensors is for. It adds 16 to it under alpha 16, rank 8.
//
//	weights DIR VALUE
func cmdWeights(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: weights DIR VALUE")
	}
	v, err := strconv.ParseFloat(args[1], 32)
	ts.Check(err)
	header := `{"l.q_proj.weight":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},"model.embed_tokens.weight":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]}}`
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	file = append(file, header...)
	for _, x := range []float64{v, 1, 2} {
		file = binary.LittleEndian.AppendUint32(file, math.Float32bits(float32(x)))
	}
	ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(args[0]), "model.safetensors"), file, 0o644))
}

// cmdFreePort puts the number of a port nobody listens at into a variable:
//
//	freeport NAME
func cmdFreePort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: freeport NAME")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Setenv(args[0], fmt.Sprint(l.Addr().(*net.TCPAddr).Port))
	ts.Check(l.Close())
}

// cmdWaitText waits until a file holds a text:
//
//	waittext FILE TEXT
func cmdWaitText(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waittext FILE TEXT")
	}
	var got []byte
	for range 600 {
		got, _ = os.ReadFile(ts.MkAbs(args[0]))
		if strings.Contains(string(got), args[1]) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("%s does not come to hold %q:\n%s", args[0], args[1], got)
}
