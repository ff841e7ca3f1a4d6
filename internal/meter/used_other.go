//go:build !unix

package meter

import "time"

// Used is not known on this system.
func Used() time.Duration { return 0 }
