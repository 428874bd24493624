package configs

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs/internal/driver"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/spool"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace/ariadne"
)

// A Probe is the result of trying one thing that a configuration names.
type Probe struct {
	// What names the thing: "archive", "bucket", "KMS key", "Object Lock", "spool", "encryption",
	// "collector", "Ariadne", "summarizer", …
	What   string
	Where  string        // its location: the folder, the bucket, the URL without a password, the model
	Did    string        // description of the probe, if it works
	Err    error         // the reason for a failure; nil if it works or was not tried
	Advice string        // how to fix it
	Not    string        // the reason for not trying it; "" if it was tried
	Took   time.Duration // time until the result
}

// OK reports whether the thing was tried and works.
func (p Probe) OK() bool { return p.Err == nil && p.Not == "" }

// Stored reports whether the archive depends on the probed thing.
func (p Probe) Stored() bool {
	return p.What == "archive" || p.What == "bucket" || p.What == "KMS key" || p.What == "Object Lock" || p.What == "spool" || p.What == "encryption"
}

// Try opens everything that a configuration of [Load] names: its archive, spool,
// collectors and summarizers, in parallel, each for at most timeout. It writes as
// little as possible and removes that again; a later Try removes an object that Object
// Lock keeps. It asks a summarizer for one word, which may be billed. The result holds
// no secrets.
func Try(ctx context.Context, c compact.Config, timeout time.Duration) []Probe {
	var tries []attempt
	tries = append(tries, archiveTries(c.Storage)...)
	if c.Storage.Encrypt.On() {
		tries = append(tries, encryptionTry(c.Storage))
	}
	tries = append(tries, collectorTries(c.Trace, timeout)...)
	if u := c.Trace.AriadneURL; u != "" {
		tries = append(tries, one("Ariadne", clean(u), "took an empty batch", adviseAriadne, func(ctx context.Context) error { return ariadne.Try(ctx, u) }))
	}
	tries = append(tries, summarizerTries(c)...)
	found := make([][]Probe, len(tries))
	var all sync.WaitGroup
	for i, t := range tries {
		all.Go(func() { found[i] = t.bounded(ctx, timeout) })
	}
	all.Wait()
	var probes []Probe
	for _, f := range found {
		probes = append(probes, f...)
	}
	return probes
}

func collectorTries(t compact.TraceConfig, timeout time.Duration) (all []attempt) {
	add := func(setting, endpoint string, try func(*driver.Collector) func(context.Context, string, time.Duration) error) {
		if endpoint == "" {
			return
		}
		all = append(all, one("collector", clean(endpoint), "took an empty request", adviseCollector(setting), func(ctx context.Context) error {
			if driver.OTLP == nil {
				return errors.New(setting + " " + notLinked("otlp"))
			}
			return try(driver.OTLP)(ctx, endpoint, timeout)
		}))
	}
	type tries = func(context.Context, string, time.Duration) error
	add("trace.otlp_endpoint", t.OTLPEndpoint, func(d *driver.Collector) tries { return d.Try })
	add("trace.otlp_metrics_endpoint", t.OTLPMetricsEndpoint, func(d *driver.Collector) tries { return d.TryMetrics })
	return all
}

// An attempt tries one thing, or several things at once.
type attempt struct {
	named []Probe
	try   func(ctx context.Context) error
	// judge sets the results of the probes in named from the error of try, and
	// returns them.
	judge func(named []Probe, err error) []Probe
}

func one(what, where, did string, advise func(error) string, try func(context.Context) error) attempt {
	return attempt{[]Probe{{What: what, Where: where, Did: did}}, try, func(named []Probe, err error) []Probe {
		named[0] = named[0].failed(err, advise)
		return named
	}}
}

func (p Probe) failed(err error, advise func(error) string) Probe {
	if err != nil {
		p.Did, p.Err = "", &cleanError{err}
		if p.Advice = advise(err); errors.Is(err, context.DeadlineExceeded) && p.Advice == "" {
			p.Advice = "it may be slow or out of reach from here; allow it more time, or correct the address"
		}
	}
	return p
}

// bounded runs the attempt and returns in time, even if the attempt does not.
func (t attempt) bounded(ctx context.Context, timeout time.Duration) []Probe {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	began := time.Now()
	done := make(chan error, 1)
	go func() { done <- t.try(ctx) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s: %w", timeout, context.DeadlineExceeded)
	}
	probes := t.judge(t.named, err)
	for i := range probes {
		probes[i].Took = time.Since(began)
	}
	return probes
}

// A cleanError is an error without secrets.
type cleanError struct{ err error }

// Error returns the text of the error. For an answer of S3 it is the server's
// message without the additions of the SDK.
func (e *cleanError) Error() string {
	text := e.err.Error()
	if driver.S3 != nil {
		if answer, ok := driver.S3.Text(e.err); ok {
			text = answer
		}
	}
	return clean(strings.Join(strings.Fields(text), " "))
}

func (e *cleanError) Unwrap() error { return e.err }

func archiveTries(c compact.StorageConfig) []attempt {
	switch c.Adapter {
	case "fs":
		return []attempt{one("archive", c.Path, "a file was written, linked and removed", adviseFolder("storage.path"), func(context.Context) error { return fs.Try(c.Path) })}
	case s3Adapter:
		return bucketTries(c)
	}
	if c.Settings != nil {
		return []attempt{one("archive", c.Adapter, "it was opened", adviseNothing, func(ctx context.Context) error { return tryRegistered(ctx, c) })}
	}
	return []attempt{{
		[]Probe{{What: "archive", Where: c.Adapter, Not: "there is nothing to open: nothing outlives the process"}},
		func(context.Context) error { return nil }, func(named []Probe, _ error) []Probe { return named },
	}}
}

func bucketTries(c compact.StorageConfig) []attempt {
	a, err := newBucket(c)
	where := "s3://" + filepath.ToSlash(strings.TrimSuffix(c.Bucket+"/"+strings.Trim(c.Prefix, "/"), "/"))
	try := func(ctx context.Context) error { return errors.Join(err, ctx.Err()) }
	if err == nil {
		try = a.Try
	}
	named := []Probe{{What: "bucket", Where: where, Did: "an object was written, read, refused a second time and removed"}}
	if c.KMSKeyID != "" {
		named = append(named, Probe{What: "KMS key", Where: c.KMSKeyID, Did: "the object was encrypted with it"})
	}
	if mode := c.ObjectLock.Mode; mode != "" {
		named[0].Did = "an object was written, read and refused a second time"
		named = append(named, Probe{What: "Object Lock", Where: mode, Did: "the object could not be removed; its lock ends in two minutes, and a later try removes it"})
	}
	all := []attempt{{named, try, judgeBucket}}
	if c.Spool != "" && err == nil {
		all = append(all, one("spool", c.Spool, "a file was written, linked and removed", adviseFolder("storage.spool"), func(context.Context) error { return spool.Try(c.Spool, a) }))
	}
	return all
}

// judgeBucket assigns an error to one of the probes: the probes before this one
// succeeded, those after it were not tried.
func judgeBucket(named []Probe, err error) []Probe {
	if err == nil {
		return named
	}
	at := 0
	for i, p := range named {
		if driver.S3 != nil && p.What == driver.S3.Failing(err) {
			at = i
		}
	}
	named[at] = named[at].failed(err, adviseBucket)
	for i := at + 1; i < len(named); i++ {
		named[i].Did, named[i].Not = "", "the "+named[at].What+" does not work"
	}
	return named
}

func adviseBucket(err error) string {
	if driver.S3 == nil {
		return ""
	}
	return driver.S3.Advise(err)
}

func summarizerTries(c compact.Config) []attempt {
	var all []attempt
	add := func(s strategy.Summarizer, named string) {
		asked, ok := s.(interface {
			strategy.Describer
			Try(context.Context) error
		})
		if ok {
			all = append(all, one("summarizer", asked.Describe().Model+named, "it answered", adviseSummarizer, asked.Try))
		}
	}
	add(c.Summarize, at(c.Summarizer.BaseURL))
	for i, o := range c.Overrides {
		if o.Summarize != nil {
			base, _ := o.Set["summarizer.base_url"].(string)
			add(o.Summarize, at(base)+fmt.Sprintf(" of overrides[%d]", i))
		}
	}
	return all
}

func at(rawURL string) string {
	if rawURL == "" {
		return ""
	}
	if u, err := url.Parse(rawURL); err == nil {
		return " at " + u.Host
	}
	return ""
}
