package format

import "github.com/tetratelabs/wazero/experimental"

func sandboxMemory(_, most uint64) experimental.LinearMemory { return &grownMemory{most: most} }
