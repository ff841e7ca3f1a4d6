package format

import (
	"context"
	"embed"
	"errors"
	"io"
	"sync"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// A PDFRuntime is the sandbox PDF files are read in: PDFium as WebAssembly,
// without any access to files of the machine or to the network. Starting it costs seconds the
// first time and a fraction of one with a cache folder, so one is shared by all
// files of a run. It starts with the first PDF and may be used by many
// goroutines at once.
type PDFRuntime struct {
	cacheDir string

	mu     sync.Mutex
	pool   pdfium.Pool
	cache  wazero.CompilationCache
	closed bool
}

// NewPDFRuntime prepares a runtime; nothing is started yet. cacheDir keeps
// compiled code between runs; empty means none.
func NewPDFRuntime(cacheDir string) *PDFRuntime { return &PDFRuntime{cacheDir: cacheDir} }

// fontFiles is a font for what PDF files name but do not carry, usually Chinese
// fonts of Windows. PDFium leaves out text whose glyphs have no extent, so that
// without any font a character that is set alone disappears; in this one every
// character is a square. TestSquareFont builds it.
//
//go:embed fonts/square.ttf
var fontFiles embed.FS

// maxInstances bounds the sandboxes alive at once; whoever wants one more
// waits. Workers of a run never come near it.
const maxInstances = 256

// instance returns a sandbox of its own, which the caller closes.
func (r *PDFRuntime) instance(ctx context.Context) (pdfium.Pdfium, error) {
	pool, err := r.start()
	if err != nil {
		return nil, err
	}
	return pool.GetInstanceWithContext(ctx)
}

func (r *PDFRuntime) start() (pdfium.Pool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errors.New("pdf runtime is closed")
	}
	if r.pool != nil {
		return r.pool, nil
	}
	cfg := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(maxSandbox / (64 << 10))
	if r.cacheDir != "" && r.cache == nil {
		// a cache that cannot be kept costs time, not the run
		if c, err := wazero.NewCompilationCacheWithDir(r.cacheDir); err == nil {
			r.cache = c
		}
	}
	if r.cache != nil {
		cfg = cfg.WithCompilationCache(r.cache)
	}
	pool, err := webassembly.Init(webassembly.Config{
		Context: experimental.WithMemoryAllocator(context.Background(), experimental.MemoryAllocatorFunc(sandboxMemory)),
		// the default mounts the root of the file system into the sandbox;
		// fonts are looked for in /usr/share/fonts, and only when its parent is
		// there, too
		FSConfig:      wazero.NewFSConfig().WithFSMount(fontFiles, "/usr/share"),
		RuntimeConfig: cfg,
		MaxIdle:       0,
		MaxTotal:      maxInstances,
		Stdout:        io.Discard,
		Stderr:        io.Discard,
	})
	if err != nil {
		return nil, err
	}
	r.pool = pool
	return pool, nil
}

// Close ends the runtime and frees its memory. Reading a PDF with it
// afterwards is an error.
func (r *PDFRuntime) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	var errs []error
	if r.pool != nil {
		errs = append(errs, r.pool.Close())
		r.pool = nil
	}
	if r.cache != nil {
		errs = append(errs, r.cache.Close(context.Background()))
		r.cache = nil
	}
	return errors.Join(errs...)
}
