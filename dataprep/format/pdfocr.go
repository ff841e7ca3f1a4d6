package format

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium/requests"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// An OCR is a program that reads the text of a picture. It is started once for
// each page that shows only a picture, by its own name and words, never by a
// shell.
type OCR struct {
	// Argv is the program and its arguments. Each {} is replaced by the path of the
	// picture, a PNG; without any, the path is the last argument. The text is
	// what the program writes to stdout, in UTF-8.
	Argv    []string
	Timeout time.Duration // of one page; 0: two minutes
	Environ []string      // of the program; nil: that of this process
}

// ocrPath stands for the picture's path in a command.
const ocrPath = "{}"

// ParseOCR parts a command line into a program and its arguments: at white
// space, except between single or double quotes, which are taken off. Nothing
// else has a meaning: no variables, no pipes, and backslashes stay. Errors are
// of kind [fail.Usage].
func ParseOCR(command string) (*OCR, error) {
	var argv []string
	var word strings.Builder
	in, quote := false, rune(0)
	for _, r := range command {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			in, quote = true, r
		case strings.ContainsRune(" \t\r\n", r):
			if in {
				argv = append(argv, word.String())
				word.Reset()
			}
			in = false
		default:
			in = true
			word.WriteRune(r)
		}
	}
	if in {
		argv = append(argv, word.String())
	}
	switch {
	case quote != 0:
		return nil, fail.New(fail.Usage, msg.Text{"OCR command %s: the quote %s is not closed", "OCR 命令 %s：引号 %s 未闭合"}, command, string(quote))
	case len(argv) == 0 || argv[0] == "" || argv[0] == ocrPath:
		return nil, fail.New(fail.Usage, msg.Text{"OCR command %q: it names no program", "OCR 命令 %q：未指定程序"}, command)
	}
	return &OCR{Argv: argv}, nil
}

// argv is the command for one picture.
func (o *OCR) argv(path string) []string {
	out := make([]string, len(o.Argv), len(o.Argv)+1)
	named := false
	for i, a := range o.Argv {
		out[i] = a
		if i > 0 && strings.Contains(a, ocrPath) {
			out[i] = strings.ReplaceAll(a, ocrPath, path)
			named = true
		}
	}
	if !named {
		out = append(out, path)
	}
	return out
}

// Bounds of what a page may take.
const (
	ocrTimeout = 2 * time.Minute
	ocrGrace   = 2 * time.Second // for a killed program's children to let go of its output
	ocrText    = 4 << 20         // bytes of output
	ocrDPI     = 300             // what recognisers are made for
	ocrPixels  = 40e6            // at most, on pages larger than paper
)

// run reads the text of one picture.
func (o *OCR) run(ctx context.Context, path string) (string, error) {
	timeout := o.Timeout
	if timeout <= 0 {
		timeout = ocrTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %v", timeout))
	defer cancel()
	argv := o.argv(path)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.WaitDelay = o.Environ, ocrGrace
	out, complaint := &boundedBuffer{most: ocrText}, &boundedBuffer{most: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, complaint
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		if said := lastLine(complaint.b.String()); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return "", err
	case out.full:
		return "", fmt.Errorf("more than %d MB of output", ocrText>>20)
	}
	text := strings.TrimPrefix(out.b.String(), "\uFEFF")
	if !utf8.ValidString(text) {
		return "", errors.New("the output is not UTF-8")
	}
	return text, nil
}

// A boundedBuffer keeps the first bytes written to it.
type boundedBuffer struct {
	b    bytes.Buffer // not embedded: its ReadFrom would be taken instead of Write
	most int
	full bool // more came
}

// Write implements [io.Writer]; it never fails, so that a program that writes
// too much ends by itself.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	room := b.most - b.b.Len()
	b.full = b.full || len(p) > room
	b.b.Write(p[:min(len(p), room)])
	return len(p), nil
}

func lastLine(s string) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

// recognise puts the text that OCR finds on a page in place of what little the
// file has. A page that cannot be recognised keeps its lines and the reason.
func (r *pdfReader) recognise(ctx context.Context, s *pdfSandbox, p *pdfPage) {
	p.ocrTried = true
	text, err := r.recognised(ctx, s, p.number)
	if err != nil {
		p.ocrErr = err
		return
	}
	var lines []pdfLine
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(strings.Map(dropControls, line))
		if line == "" {
			continue
		}
		n := len(lines) + 1
		// nobody knows where it stands: as far down as lines before it
		lines = append(lines, pdfLine{pdfText: pdfText{Text: line}, number: n, base: 20 * float64(n), size: 10})
	}
	if len(lines) == 0 {
		p.ocrErr = errors.New("it found no text")
		return
	}
	p.lines, p.edges, p.figures, p.ocr, p.scan = lines, nil, nil, true, false
	p.unmapped, p.private = 0, 0
	p.findEdges()
}

// dropControls leaves out the form feeds recognisers end a page with, and their
// like.
func dropControls(r rune) rune {
	if r < ' ' && r != '\t' {
		return -1
	}
	return r
}

// recognised renders a page and runs the OCR command on it.
func (r *pdfReader) recognised(ctx context.Context, s *pdfSandbox, number int) (string, error) {
	dir, err := os.MkdirTemp("", "drydock-ocr-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, fmt.Sprintf("page-%d.png", number))
	if err := s.render(number-1, path); err != nil {
		return "", fmt.Errorf("the page cannot be drawn: %w", err)
	}
	return r.unit.File.Options.OCR.run(ctx, path)
}

// render draws a page, counted from 0, into a PNG file.
func (s *pdfSandbox) render(index int, path string) (err error) {
	page := requests.Page{ByIndex: &requests.PageByIndex{Document: s.doc, Index: index}}
	size, err := s.pdfium.GetPageSize(&requests.GetPageSize{Page: page})
	if err != nil {
		return err
	}
	dpi := ocrDPI
	for ; dpi > 36 && size.Width*size.Height/72/72*float64(dpi*dpi) > ocrPixels; dpi -= 12 {
	}
	drawn, err := s.pdfium.RenderPageInDPI(&requests.RenderPageInDPI{Page: page, DPI: dpi, ImageFormat: requests.RenderImageFormatGrayscale})
	if err != nil {
		return err
	}
	defer drawn.Cleanup()
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(f, drawn.Result.RenderedImage)
}
