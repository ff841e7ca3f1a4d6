package launch

import (
	"net"
	"strconv"
	"strings"
)

// acceleratePort is where the processes of accelerate's launcher meet unless
// MASTER_PORT says otherwise, as those of PyTorch do.
const acceleratePort = 29500

// MeetingPort is the port at which the processes of a training on several cards
// meet: MASTER_PORT of the environment, or the one the trainer takes by itself; 0
// where there is one process, or the trainer looks for a free port.
func (p Plan) MeetingPort(environ []string, cards int) int {
	if cards < 2 {
		return 0
	}
	port := p.Port
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, "MASTER_PORT="); ok {
			if n, err := strconv.Atoi(v); err == nil && n > 0 && n < 1<<16 {
				port = n
			}
		}
	}
	return port
}

// PortTaken reports a port of this machine that another program listens at.
func PortTaken(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("", strconv.Itoa(port)))
	if err == nil {
		_ = l.Close() // nobody has used it
		return false
	}
	// a machine without a network, or a port that takes rights, says nothing of
	// who listens there
	if l, err = net.Listen("tcp", ":0"); err != nil || port < 1024 {
		return false
	}
	return l.Close() == nil
}
