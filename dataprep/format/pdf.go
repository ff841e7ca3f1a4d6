package format

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"sync"
	"unicode"

	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/klippa-app/go-pdfium"
	"golang.org/x/text/unicode/norm"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// pdfFormat reads the text of PDF files: a block for each printed line, columns
// one after the other, without running headers and page numbers.
func pdfFormat() Format {
	return Format{
		Name:    "pdf",
		Exts:    []string{".pdf"},
		Summary: msg.Text{"PDF with a text layer; columns read in order", "带文本层的 PDF；分栏按阅读顺序读取"},
		Sniff:   func(head []byte, _ string) bool { return pdfStart(head) >= 0 },
		Read:    readPDF,
	}
}

// pdfStart finds the signature, which may stand after up to a kilobyte of
// something else (ISO 32000-2 annex C's readers accept that); -1: no PDF.
func pdfStart(head []byte) int {
	return bytes.Index(head[:min(len(head), 1024)], []byte("%PDF-"))
}

func readPDF(ctx context.Context, u Unit, note func(Note)) iter.Seq2[drydock.Block, error] {
	return func(yield func(drydock.Block, error) bool) {
		r := pdfReader{unit: u, note: note}
		defer r.close()
		if err := r.open(ctx); err != nil {
			yield(drydock.Block{}, err)
			return
		}
		r.read(ctx, yield)
	}
}

// A pdfReader reads one file in as many sandboxes as there are workers. A page
// is read by one of them; pages come out in their order.
type pdfReader struct {
	unit    Unit
	note    func(Note)
	file    *os.File
	runtime *PDFRuntime
	own     bool // the runtime is ours to close
	pages   int
	images  bool // the file holds some
	workers int

	mu   sync.Mutex
	idle []*pdfSandbox
}

// A pdfSandbox is a WebAssembly instance with the file open in it.
type pdfSandbox struct {
	pdfium pdfium.Pdfium
	doc    references.FPDF_DOCUMENT

	objects int // of pages that were asked for: each takes room until the end
}

// What the sandboxes of one file may take in ordinary use, together and each;
// maxSandbox is where a hostile file is stopped.
const (
	pdfMemory    = 2 << 30
	usualSandbox = 64 << 20
	maxSandbox   = 768 << 20
)

// open opens the file in a first sandbox and checks what its owner allows. The
// file's bytes stay outside: the sandbox asks for those it needs.
func (r *pdfReader) open(ctx context.Context) error {
	f := r.unit.File
	var err error
	if r.file, err = os.Open(f.Path); err != nil {
		return cannotOpen(f, err)
	}
	head := make([]byte, 1024)
	n, err := r.file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return cannotOpen(f, err)
	}
	if pdfStart(head[:n]) < 0 {
		return unreadable(f, msg.Text{"this is no PDF: the mark %%PDF- is missing at the start", "这不是 PDF：开头缺少 %%PDF- 标记"}).
			Hint(msg.Text{"open it in a viewer to see what it is, or get it again", "请用阅读器打开确认其类型，或重新获取"})
	}
	r.runtime = f.Options.PDF
	if r.runtime == nil {
		r.runtime, r.own = NewPDFRuntime(f.Options.CacheDir), true
	}
	s, err := r.sandbox(ctx)
	if err != nil {
		return err
	}
	defer r.release(s, nil)
	if err := r.checkRights(s); err != nil {
		return err
	}
	pages, err := s.pdfium.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: s.doc})
	if err != nil || pages.PageCount < 1 {
		return r.damaged(err)
	}
	r.pages = pages.PageCount
	if r.images, err = holdsImages(io.NewSectionReader(r.file, 0, f.Size)); err != nil {
		return cannotOpen(f, err)
	}
	r.workers = min(parallel.Workers(f.Options.Workers), pdfMemory/usualSandbox, r.pages)
	return nil
}

func (r *pdfReader) close() {
	for _, s := range r.idle {
		s.pdfium.Close()
	}
	if r.own {
		r.runtime.Close()
	}
	if r.file != nil {
		r.file.Close()
	}
}

// sandbox returns an idle sandbox or makes one.
func (r *pdfReader) sandbox(ctx context.Context) (*pdfSandbox, error) {
	r.mu.Lock()
	if n := len(r.idle); n > 0 {
		s := r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.mu.Unlock()
		return s, nil
	}
	r.mu.Unlock()
	p, err := r.runtime.instance(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fail.New(fail.Failed, msg.Text{"the PDF reader does not start: %v", "PDF 读取器无法启动：%v"}, err)
	}
	size := r.unit.File.Size
	for _, password := range passwords(r.unit.File.Options.Password) {
		req := &requests.OpenDocument{FileReader: io.NewSectionReader(r.file, 0, size), FileReaderSize: size}
		if password != "" {
			req.Password = &password
		}
		d, oerr := p.OpenDocument(req)
		if oerr == nil {
			return &pdfSandbox{pdfium: p, doc: d.Document}, nil
		}
		if err = oerr; !errors.Is(err, pdfiumerrors.ErrPassword) {
			break
		}
	}
	p.Close()
	return nil, r.cannotOpenPDF(err)
}

// passwords returns a password in the forms it may have gone into a file: as it
// was typed, and as SASLprep (RFC 4013) makes it, which ISO 32000-2 asks for and
// not every program does.
func passwords(typed string) []string {
	prepared := norm.NFKC.String(strings.Map(func(r rune) rune {
		switch {
		case r == 0xAD, r == 0x34F, r == 0x1806, r >= 0x180B && r <= 0x180D, r >= 0x200B && r <= 0x200D, r == 0x2060, r >= 0xFE00 && r <= 0xFE0F, r == 0xFEFF:
			return -1
		case unicode.Is(unicode.Zs, r):
			return ' '
		}
		return r
	}, typed))
	if prepared == typed {
		return []string{typed}
	}
	return []string{typed, prepared}
}

// release puts a sandbox back. One in which something broke is thrown away,
// since what it does next is anyone's guess, and so is one that remembers many
// objects.
func (r *pdfReader) release(s *pdfSandbox, broken error) {
	const mostObjects = 200000
	if broken != nil || s.objects > mostObjects {
		s.pdfium.Close()
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = append(r.idle, s)
}

// FirstLine returns the password in a file that holds one: its first line,
// without a byte order mark.
func FirstLine(b []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF")), []byte("\n"))
	return string(bytes.TrimRight(line, "\r"))
}

// cannotOpenPDF says what PDFium's refusal means for the user.
func (r *pdfReader) cannotOpenPDF(err error) error {
	f := r.unit.File
	switch {
	case errors.Is(err, pdfiumerrors.ErrPassword) && f.Options.Password == "":
		return unreadable(f, msg.Text{"the PDF is encrypted and needs a password", "PDF 已加密，需要密码"}).Because(err).
			Hint(msg.Text{"write the password into a file and name it: --password-file FILE, or password_file: in drydock.yaml; or set DRYDOCK_PASSWORD", "请把密码写入文件并指定：--password-file 文件，或 drydock.yaml 中的 password_file:；也可设置 DRYDOCK_PASSWORD"})
	case errors.Is(err, pdfiumerrors.ErrPassword):
		return unreadable(f, msg.Text{"the password does not open this PDF", "密码无法打开此 PDF"}).Because(err).
			Hint(msg.Text{"check the file given with --password-file; its first line is the password. Without a file DRYDOCK_PASSWORD counts", "请检查 --password-file 指定的文件，首行为密码；未指定文件时以 DRYDOCK_PASSWORD 为准"})
	case errors.Is(err, pdfiumerrors.ErrSecurity):
		return unreadable(f, msg.Text{"the PDF is encrypted in a way that is not supported", "PDF 使用了不支持的加密方式"}).Because(err).
			Hint(msg.Text{"save an unencrypted copy from a PDF viewer", "请用 PDF 阅读器另存一份未加密的副本"})
	}
	return r.damaged(err)
}

func (r *pdfReader) damaged(err error) error {
	e := unreadable(r.unit.File, msg.Text{"the PDF is damaged and cannot be opened", "PDF 已损坏，无法打开"}).Because(err)
	if !r.ends() {
		e = unreadable(r.unit.File, msg.Text{"the PDF is cut off: its end is missing", "PDF 不完整：缺少文件结尾"}).Because(err)
	}
	return e.Hint(msg.Text{"get the file again, or open it in a viewer and save a copy", "请重新获取文件，或用阅读器打开后另存一份"})
}

// ends reports whether the file's last line is where it belongs.
func (r *pdfReader) ends() bool {
	const tail = 4096 // some programs write padding or a few lines after it
	end := make([]byte, tail)
	n, err := r.file.ReadAt(end, max(0, r.unit.File.Size-tail))
	return err != nil && err != io.EOF || bytes.Contains(end[:n], []byte("%%EOF"))
}

// checkRights refuses a file whose owner forbids copying text (bit 5 of the
// permissions, ISO 32000-1 table 22), unless the user takes it on themselves.
func (r *pdfReader) checkRights(s *pdfSandbox) error {
	rev, err := s.pdfium.FPDF_GetSecurityHandlerRevision(&requests.FPDF_GetSecurityHandlerRevision{Document: s.doc})
	if err != nil || rev.SecurityHandlerRevision < 0 {
		return nil //nolint:nilerr // not encrypted: nothing is forbidden
	}
	p, err := s.pdfium.FPDF_GetDocPermissions(&requests.FPDF_GetDocPermissions{Document: s.doc})
	if err != nil || p.CopyOrExtractText {
		return nil //nolint:nilerr // as above
	}
	f := r.unit.File
	if !f.Options.AllowRestricted {
		return unreadable(f, msg.Text{"the PDF's owner forbids copying its text", "PDF 的所有者禁止复制文本"}).
			Hint(msg.Text{"if you have the right to use it, say --allow-restricted (allow_restricted: true in drydock.yaml), or give the owner's password with --password-file (password_file:)", "如您有权使用，请加 --allow-restricted（drydock.yaml 中为 allow_restricted: true），或用 --password-file（password_file:）提供所有者密码"})
	}
	r.note(Note{Code: "restricted", Text: msg.Text{
		"%s: the owner forbids copying text; read because that was allowed",
		"%s：所有者禁止复制文本；因已允许，仍予读取",
	}, Args: []any{f.name()}})
	return nil
}

// A pdfPage is a page after layout.
type pdfPage struct {
	number   int // from 1
	lines    []pdfLine
	edges    []edgeLine // set by findEdges
	unmapped int
	private  int
	garbled  int
	bytesIn  string // the encoding of the garbled characters
	pictures int
	figures  []figure
	scan     bool // nothing but a picture, perhaps with a stamp or a running line
	ocr      bool // its lines were recognised
	ocrTried bool
	ocrErr   error
	err      error
}

// looksEmpty reports whether all a page has to say may be in a picture.
func (p *pdfPage) looksEmpty() bool { return p.scan || len(p.lines) == 0 && p.pictures > 0 }

// read reads all pages and gives their lines. Pages are held back until those
// after them are known, to find what repeats.
func (r *pdfReader) read(ctx context.Context, yield func(drydock.Block, error) bool) {
	sum := pdfSums{file: r.unit.File, pages: r.pages}
	var window []*pdfPage // up to lookAround pages before the next to give, and those after
	next := 0             // in window
	give := func() bool {
		sum.repeated(window, next)
		if p := window[next]; p.scan && !p.ocrTried && r.unit.File.Options.OCR != nil {
			// it was only now seen to have nothing but running lines
			if err := r.lateOCR(ctx, p); err != nil {
				yield(drydock.Block{}, err)
				return false
			}
		}
		if next+1 < len(window) {
			joinTables(window[next], window[next+1])
		}
		ok := r.give(window[next], &sum, yield)
		window[next].lines = nil
		if next++; next > lookAround {
			window, next = window[1:], next-1
		}
		return ok
	}
	// the first pages come alone, for a caller who only wants a look
	for from, n := 0, r.workers+lookAround; from < r.pages; from += n {
		n = min(max(n, r.workers*16), r.pages-from)
		if from == 0 {
			n = min(r.workers+lookAround, r.pages)
		}
		batch, err := r.batch(ctx, from, n)
		if err != nil {
			yield(drydock.Block{}, err)
			return
		}
		window = append(window, batch...)
		for next+lookAround < len(window) {
			if !give() {
				return
			}
		}
	}
	for next < len(window) {
		if !give() {
			return
		}
	}
	if !r.ends() {
		r.note(Note{Code: "cut_off", Damage: true, Text: msg.Text{
			"%s: the end of the PDF is missing; %d pages could be found, more may be lost",
			"%s：PDF 缺少结尾；找到 %d 页，可能还有缺失",
		}, Args: []any{r.unit.File.name(), r.pages}})
	}
	sum.tell(r.note)
}

// batch reads n pages from the one counted from 0.
func (r *pdfReader) batch(ctx context.Context, from, n int) ([]*pdfPage, error) {
	pages := make([]*pdfPage, n)
	err := parallel.Each(ctx, r.workers, n, func(ctx context.Context, i int) error {
		s, err := r.sandbox(ctx)
		if err != nil {
			return err
		}
		raw, err := readPage(s.pdfium, s.doc, from+i, r.images)
		p := &pdfPage{number: from + i + 1, err: err}
		if err == nil {
			p.lines = layoutPage(raw.glyphs, raw.strokes)
			s.objects += raw.objects
			p.unmapped, p.private = raw.unmapped, raw.private
			p.garbled, p.bytesIn = raw.garbled, raw.garbledIn
			p.pictures, p.scan = raw.pictures, raw.scan
			p.findEdges()
			p.placeFigures(raw.figures)
			if r.unit.File.Options.OCR != nil && p.looksEmpty() {
				r.recognise(ctx, s, p)
			}
		}
		if err != nil && !isTrap(err) {
			err = nil // PDFium said no; the sandbox is sound
		}
		r.release(s, err)
		pages[i] = p
		return nil
	})
	return pages, err
}

// lateOCR recognises a page outside of a batch.
func (r *pdfReader) lateOCR(ctx context.Context, p *pdfPage) error {
	s, err := r.sandbox(ctx)
	if err != nil {
		return err
	}
	r.recognise(ctx, s, p)
	r.release(s, nil)
	return nil
}

// isTrap reports whether the WebAssembly code broke, as against refused.
func isTrap(err error) bool {
	s := err.Error()
	return strings.Contains(s, "wasm") || strings.Contains(s, "panic")
}

// give yields a page's lines, or the drop that stands for it.
func (r *pdfReader) give(p *pdfPage, sum *pdfSums, yield func(drydock.Block, error) bool) bool {
	at := drydock.Locator{Page: p.number}
	if p.err != nil {
		cause, _, _ := strings.Cut(p.err.Error(), "\n") // without a stack
		return yield(drydock.Block{}, badBlock(r.unit.File, at, "page_unreadable", fmt.Sprintf("page %d: %s", p.number, cause), ""))
	}
	sum.unmapped.add(p.number, p.unmapped)
	sum.private.add(p.number, p.private)
	sum.garbled.add(p.number, p.garbled)
	if sum.bytesIn == "" {
		sum.bytesIn = p.bytesIn
	}
	if at.OCR = p.ocr; p.ocr {
		sum.recognised = append(sum.recognised, p.number)
	}
	if p.scan {
		reason, detail := "image_only_page", fmt.Sprintf("page %d is a picture without text; run OCR on the file first", p.number)
		if p.ocrErr != nil {
			sum.unrecognised = append(sum.unrecognised, p.number)
			reason, detail = "ocr_failed", fmt.Sprintf("page %d: the OCR command failed: %v", p.number, p.ocrErr)
			if sum.ocrErr == nil {
				sum.ocrErr = p.ocrErr
			}
		} else {
			sum.scans = append(sum.scans, p.number)
		}
		if !yield(drydock.Block{}, badBlock(r.unit.File, at, reason, detail, "")) {
			return false
		}
	}
	next := 0 // of the figures
	show := func(after int) bool {
		for ; next < len(p.figures) && p.figures[next].after <= after; next++ {
			if f := p.figures[next]; !f.repeated && !p.scan && !yield(f.block(at), nil) {
				return false
			}
		}
		return true
	}
	if !show(-1) {
		return false
	}
	for i := range p.lines {
		l := &p.lines[i]
		at.Line = l.number
		if !l.running && !l.joined {
			b := drydock.Block{Text: l.Text, Spans: l.Spans, At: at}
			if l.cells != nil {
				b = drydock.Block{Cells: l.cells, At: at}
			}
			if !yield(b, nil) {
				return false
			}
		}
		if !show(i) {
			return false
		}
	}
	return true
}
