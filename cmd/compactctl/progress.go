package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress shows the current activity: on a terminal if it takes more than a moment,
// and elsewhere as a line a minute, so that a log shows that the command works. Its
// methods may be called from any goroutine.
type progress struct {
	w     io.Writer
	on    bool
	lines bool // w is no terminal

	mu    sync.Mutex
	what  string
	began time.Time
	done  int64
	total int64
	quit  chan struct{}
	ended chan struct{}
}

const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
	lineEvery     = time.Minute
)

var spinner = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// start replaces the shown activity by a new one.
func (p *progress) start(what string) {
	p.stop()
	if !p.on {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what, p.began, p.done, p.total = what, time.Now(), 0, 0
	p.quit, p.ended = make(chan struct{}), make(chan struct{})
	if p.lines {
		go p.log(p.quit, p.ended)
	} else {
		go p.show(p.quit, p.ended)
	}
}

// at updates the shown progress.
func (p *progress) at(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total = done, total
}

// stop clears the line. Without a start it does nothing.
func (p *progress) stop() {
	p.mu.Lock()
	quit, ended := p.quit, p.ended
	p.quit = nil
	p.mu.Unlock()
	if quit != nil {
		close(quit)
		<-ended
	}
}

func (p *progress) show(quit, ended chan struct{}) {
	defer close(ended)
	select {
	case <-quit:
		return
	case <-time.After(progressAfter):
	}
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for i := 0; ; i++ {
		fmt.Fprintf(p.w, "\r\x1b[K%c %s", spinner[i%len(spinner)], p.line())
		select {
		case <-quit:
			fmt.Fprint(p.w, "\r\x1b[K")
			return
		case <-tick.C:
		}
	}
}

// log writes a line a minute.
func (p *progress) log(quit, ended chan struct{}) {
	defer close(ended)
	tick := time.NewTicker(lineEvery)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
			fmt.Fprintf(p.w, "compactctl: still %s\n", printable(p.line()))
		}
	}
}

func (p *progress) line() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.total <= 0 {
		return p.what
	}
	return fmt.Sprintf("%s %d %%%s", p.what, 100*p.done/p.total, timeLeft(time.Since(p.began), p.done, p.total))
}

// timeLeft returns the estimated remaining time at the current speed, or "" while
// too little is known.
func timeLeft(took time.Duration, done, total int64) string {
	if done == 0 || done >= total || took < 2*time.Second {
		return ""
	}
	rest := time.Duration(float64(took) / float64(done) * float64(total-done))
	return fmt.Sprintf(", %s left", rest.Round(time.Second))
}
