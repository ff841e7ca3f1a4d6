package pipeline

import (
	"net/netip"
	"net/url"
	"os"
	"strconv"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/spec"
	"github.com/drydock-ml/drydock/launch"

	"go.yaml.in/yaml/v3"
)

// A Serving is what a project says of the server its model is asked at. What it
// does not say is empty.
type Serving struct {
	Contract emit.Contract // of the rows the trainer takes
	Model    string        // the trainer's base model; a folder from where the user stands
	Name     string        // the model eval asks for
	Host     string        // of eval's base_url, where that is this machine
	Port     int           // the same
}

// Serving is what the project says of its server.
func (c *Config) Serving() Serving {
	s := Serving{Name: c.Eval.Model}
	if c.Train.trainer != nil {
		_, s.Contract = c.trainRows(launch.RowsOf(c.Train.trainer))
		if n := spec.ValueOf(c.Train.options, "base"); n != nil && n.Kind == yaml.ScalarNode {
			s.Model = n.Value
		}
	}
	for i := 0; i < len(c.Output) && s.Contract == ""; i++ {
		s.Contract = c.Output[i].contract()
	}
	if s.Model != "" {
		if dir := inside(c.Dir, s.Model); isDir(dir) {
			s.Model = dir
		}
	}
	s.Host, s.Port = here(c.Eval.BaseURL)
	return s
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// here returns host and port of a server's address, if it is on this machine.
func here(address string) (host string, port int) {
	u, err := url.Parse(address)
	if err != nil {
		return "", 0
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback()) {
		return "", 0
	}
	if port, err = strconv.Atoi(u.Port()); err != nil {
		return "", 0
	}
	return u.Hostname(), port
}
