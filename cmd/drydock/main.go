// Command drydock prepares training data for maritime language models and
// carries a fine-tune to a checked result.
package main

import (
	"os"

	"github.com/drydock-ml/drydock/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], cli.OS())) }
