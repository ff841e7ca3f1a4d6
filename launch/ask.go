package launch

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Ask runs a program in a folder with the given environment and returns what it
// printed. It is killed when ctx is cancelled. The error holds the last line it
// wrote to its error output.
func Ask(ctx context.Context, dir string, environ, argv []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, environ
	cmd.WaitDelay = drain // a child of its own may hold the pipe
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		if last := lines[len(lines)-1]; last != "" {
			return nil, fmt.Errorf("%s: %w: %s", argv[0], err, SecretsOf(environ).Redact([]byte(last)))
		}
		return nil, fmt.Errorf("%s: %w", argv[0], err)
	}
	return out.Bytes(), nil
}
