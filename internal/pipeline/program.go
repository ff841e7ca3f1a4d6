package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"runtime/debug"

	"github.com/drydock-ml/drydock/internal/runstore"
)

// Program identifies the running program. A release is its version; a build
// from a working tree is the hash of its own binary, so that a changed program
// never takes another's cached stage for its own.
func Program(version string) runstore.Tool {
	t := runstore.Tool{Version: version}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				t.Revision = s.Value
			case "vcs.modified":
				t.Dirty = s.Value == "true"
			}
		}
		if info.Main.Version != "" && info.Main.Version != "(devel)" && !t.Dirty && t.Revision == "" {
			sum := sha256.Sum256([]byte(info.Main.Path + "@" + info.Main.Version))
			t.Version, t.Program = info.Main.Version, hex.EncodeToString(sum[:])
			return t
		}
	}
	if exe, err := os.Executable(); err == nil {
		if sum, err := runstore.HashFile(exe); err == nil {
			t.Program = sum
			return t
		}
	}
	// without its own bytes a program cannot vouch for what another one cached
	sum := sha256.Sum256([]byte(version))
	t.Program = hex.EncodeToString(sum[:])
	return t
}
