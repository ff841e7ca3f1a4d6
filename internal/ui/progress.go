package ui

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/drydock-ml/drydock/internal/msg"
)

const (
	redrawEvery = 100 * time.Millisecond
	lineEvery   = 30 * time.Second
)

// A Progress shows how far one piece of work is: one line on a terminal,
// redrawn ten times a second; elsewhere a plain line every 30 seconds; nothing
// with -q, --json or --progress none. It draws when told of progress, so it
// needs no goroutine of its own.
type Progress struct {
	t       *Terminal
	label   string
	bytes   bool
	total   atomic.Int64
	done    atomic.Int64
	next    atomic.Int64 // nanoseconds after start when to draw again
	start   time.Time
	enabled bool
	inPlace bool
	ended   bool // guarded by t.mu
}

// Progress begins a progress line. total 0 is unknown; bytes shows amounts as
// sizes.
func (t *Terminal) Progress(label string, total int64, bytes bool) *Progress {
	p := &Progress{t: t, label: label, bytes: bytes, start: t.c.Now()}
	p.total.Store(total)
	p.enabled = !t.c.Quiet && !t.c.JSON && t.c.Progress != "none"
	p.inPlace = t.c.ErrTTY && t.c.Progress != "plain"
	first := lineEvery
	if p.inPlace {
		first = redrawEvery
	}
	p.next.Store(int64(first))
	return p
}

// SetTotal says how much there is, once it is known.
func (p *Progress) SetTotal(n int64) { p.total.Store(n) }

// Add says that n more are done. It is cheap enough for every batch, not for
// every record.
func (p *Progress) Add(n int64) { p.draw(p.done.Add(n)) }

// Set says that n are done.
func (p *Progress) Set(n int64) {
	p.done.Store(n)
	p.draw(n)
}

// End removes the line.
func (p *Progress) End() {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	p.ended = true
	if p.t.live == p {
		p.t.clear()
	}
}

func (p *Progress) draw(done int64) {
	if !p.enabled {
		return
	}
	since := p.t.c.Now().Sub(p.start)
	at := p.next.Load()
	if int64(since) < at {
		return
	}
	every := lineEvery
	if p.inPlace {
		every = redrawEvery
	}
	if !p.next.CompareAndSwap(at, int64(since+every)) {
		return // another goroutine draws
	}
	line := p.line(done, since)
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	if p.ended {
		return
	}
	if !p.inPlace {
		_, _ = io.WriteString(p.t.c.Err, line+"\n")
		return
	}
	p.t.live = p
	_, _ = io.WriteString(p.t.c.Err, "\r\x1b[K"+Truncate(line, p.t.c.Width-1))
}

// clear removes the progress line before something else is written. The caller
// holds mu.
func (t *Terminal) clear() {
	if t.live != nil {
		_, _ = io.WriteString(t.c.Err, "\r\x1b[K")
		t.live = nil
	}
}

func (p *Progress) line(done int64, since time.Duration) string {
	total := p.total.Load()
	show := func(n int64) string {
		if p.bytes {
			return Size(n)
		}
		return fmt.Sprint(n)
	}
	parts := []string{p.label}
	if total > 0 {
		parts = append(parts, fmt.Sprintf("%d %%", min(100*done/total, 100)),
			p.t.Say(msg.Text{"%s of %s", "%s / %s"}, show(done), show(total)))
	} else {
		parts = append(parts, show(done))
	}
	if s := since.Seconds(); s > 0 && done > 0 {
		rate := float64(done) / s
		if p.bytes {
			parts = append(parts, Size(int64(rate))+"/s")
		} else {
			parts = append(parts, fmt.Sprintf("%.*f/s", digits(rate), rate))
		}
		if total > done {
			left := time.Duration(float64(total-done) / rate * float64(time.Second))
			parts = append(parts, p.t.Say(msg.Text{"%s left", "剩余 %s"}, p.t.Duration(left)))
		}
	}
	return strings.Join(parts, "  ")
}

func digits(rate float64) int {
	if rate < 10 {
		return 1
	}
	return 0
}

// Size writes a number of bytes for people, in powers of 1000: 999 B, 1.2 kB,
// 34 MB.
func Size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f := float64(n)
	for _, unit := range []string{"kB", "MB", "GB", "TB"} {
		f /= 1000
		if f < 9.95 {
			return fmt.Sprintf("%.1f %s", f, unit)
		}
		if f < 999.5 {
			return fmt.Sprintf("%.0f %s", f, unit)
		}
	}
	return fmt.Sprintf("%.0f PB", f/1000)
}

// Duration writes how long something took or will take: 0.4 s, 12 s, 3 min
// 05 s, 2 h 10 min.
func (t *Terminal) Duration(d time.Duration) string {
	switch s := d.Seconds(); {
	case s < 9.95:
		return t.Say(msg.Text{"%.1f s", "%.1f 秒"}, s)
	case s < 59.5:
		return t.Say(msg.Text{"%.0f s", "%.0f 秒"}, s)
	}
	d = d.Round(time.Second)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	if h > 0 {
		return t.Say(msg.Text{"%d h %02d min", "%d 小时 %02d 分"}, h, m)
	}
	return t.Say(msg.Text{"%d min %02d s", "%d 分 %02d 秒"}, m, s)
}

// Ago writes how long ago something was, for people.
func (t *Terminal) Ago(d time.Duration) string {
	switch h := d.Hours(); {
	case d < time.Minute:
		return t.Say(msg.Text{"just now", "刚刚"})
	case h < 1:
		return t.Say(msg.Text{"%d min ago", "%d 分钟前"}, int(d.Minutes()))
	case h < 48:
		return t.Say(msg.Text{"%d h ago", "%d 小时前"}, int(h))
	default:
		return t.Say(msg.Text{"%d days ago", "%d 天前"}, int(h/24))
	}
}
