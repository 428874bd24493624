package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/strategy/eval"
	"github.com/agentcompact/compact/token"
)

// viewer writes the views of sessions in readable form, for a test with human
// readers.
type viewer struct {
	*app
	dir      string
	model    string
	counter  token.Counter
	redactor *redact.Redactor
}

// views holds the views of one session at one window, in readable form. Sizes
// include the headings.
type views struct {
	Session string `json:"session"`
	Window  int    `json:"window"`
	Folder  string `json:"folder"`
	Whole   int    `json:"session_tokens"`
	Ours    int    `json:"ours_tokens"`
	Newest  int    `json:"newest_tokens"`
	Mask    int    `json:"mask_tokens"`
	Gone    int    `json:"messages_gone"` // messages that compact removed
}

// run writes the views of each session at each window. It says which session does not fit
// into which window, and fails if none fits.
func (v *viewer) run(ctx context.Context, sessions []eval.Session, settings []eval.Setting) error {
	all := []views{}
	var unfit error
	v.progress.start("writing views of " + things(len(sessions), "session"))
	defer v.progress.stop()
	for _, s := range sessions {
		for _, setting := range settings {
			w, err := v.write(ctx, s, setting.Window)
			switch {
			case errors.Is(err, compact.ErrInsufficientBudget):
				unfit = fmt.Errorf("%s, window %s: %w", s.Name, count(setting.Window), err)
				why, _, _ := strings.Cut(err.Error(), "\n")
				v.complain("compactctl", fmt.Sprintf("warning: no views of %s at window %s: %s", s.Name, count(setting.Window), why))
			case err != nil:
				return fmt.Errorf("%s, window %s: %w", s.Name, count(setting.Window), err)
			default:
				all = append(all, w)
			}
		}
	}
	v.progress.stop()
	if len(all) == 0 {
		return unfit
	}
	if v.json {
		return v.printJSON(all)
	}
	return v.table(all)
}

// write makes the folder of one session and window.
func (v *viewer) write(ctx context.Context, s eval.Session, window int) (views, error) {
	name, archive := plainName(s.Name), filepath.Join(v.dir, "archive")
	folder := fmt.Sprintf("%dk", window/1000)
	id := name + "-" + folder
	out := views{Session: name, Window: window, Folder: filepath.Join(v.dir, name, folder)}
	if err := os.MkdirAll(out.Folder, 0o700); err != nil {
		return out, err
	}
	cfg, err := v.config(archive, "graduated", window)
	if err != nil {
		return out, err
	}
	if v.redactor, err = cfg.Redaction.Redactor(); err != nil {
		return out, err
	}
	ours, err := v.compacted(ctx, cfg, func(m *compact.CompactManager) (*compact.Result, error) {
		return m.ManualCompact(ctx, id, s.Messages, "", compact.WithRecall())
	})
	if err != nil {
		_ = os.Remove(out.Folder) // it is empty, or has the views of an earlier run
		return out, err
	}
	masked, err := v.masked(ctx, archive, id, s.Messages)
	if err != nil {
		return out, err
	}
	text := v.text(ours.Messages, ours.Sources)
	newest, at := eval.Newest(s.Messages, v.counter.Count(text), v.cost)
	out.Gone = ours.SummarizedCount + ours.DroppedCount
	return out, errors.Join(
		v.save(out.Folder, "ours.txt", text, &out.Ours),
		v.save(out.Folder, "newest.txt", v.text(newest, at), &out.Newest),
		v.save(out.Folder, "mask.txt", v.text(masked.Messages, masked.Sources), &out.Mask),
		v.save(out.Folder, "session.txt", v.text(s.Messages, numbers(len(s.Messages))), &out.Whole),
		v.save(out.Folder, "recall.txt", recallHelp(id, archive), new(int)))
}

// plainName returns the name of a file without the extensions of its format.
func plainName(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".jsonl"), ".json")
}

// config returns the configuration of a preset, regardless of the environment.
func (v *viewer) config(archive, preset string, window int) (compact.Config, error) {
	const flag = "--views"
	return configs.Load("", configs.Environ(nil), configs.Override(flag, "preset", preset), configs.Override("--model", "model", v.model),
		configs.Override("--window", "max_context_tokens", window), configs.Override(flag, "storage.path", archive),
		configs.Override(flag, "summarizer.backend", "extractive"))
}

func (v *viewer) compacted(ctx context.Context, cfg compact.Config, call func(*compact.CompactManager) (*compact.Result, error)) (*compact.Result, error) {
	m, err := compact.New(ctx, cfg)
	if err != nil {
		return nil, err
	}
	res, err := call(m)
	return res, errors.Join(err, v.close(ctx, m))
}

// unbounded is a window that every session fits.
const unbounded = 100_000_000

// masked returns the session with old results masked and no other change, for sessions
// of any size. Nothing is stored.
func (v *viewer) masked(ctx context.Context, archive, id string, msgs []message.Message) (*compact.Result, error) {
	cfg, err := v.config(archive, "masking", unbounded)
	if err != nil {
		return nil, err
	}
	return v.compacted(ctx, cfg, func(m *compact.CompactManager) (*compact.Result, error) {
		return m.PlanManual(ctx, id+"-mask", msgs)
	})
}

func (v *viewer) text(msgs []message.Message, sources []int) string {
	return shown(style{}, v.redactor, msgs, sources)
}

// cost returns the tokens of one message in its readable form.
func (v *viewer) cost(m message.Message) int {
	return v.counter.Count(v.text([]message.Message{m}, []int{0}))
}

func (v *viewer) save(folder, name, text string, tokens *int) error {
	*tokens = v.counter.Count(text)
	return writeFile(filepath.Join(folder, name), []byte(text))
}

func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// recallHelp explains how a reader recalls the references of a view.
func recallHelp(id, archive string) string {
	if abs, err := filepath.Abs(archive); err == nil {
		archive = abs
	}
	return fmt.Sprintf("compactctl archive recall %q REF --archive %q\n\n"+
		"REF is s12 or s12-s20 where the view says [s12], or a reference beside a piece of it (recall 3f9a2c1b77de), or turn:17 for all of a turn.\n"+
		"Without REF, --grep RE searches all removed text, and prints the REF of each match.\n"+
		"Of a long text a part: --head N, --tail N, --lines FROM-TO, or --grep RE with -C N lines around each match.\n", id, archive)
}

func (v *viewer) table(all []views) error {
	var b strings.Builder
	wide := len("session")
	for _, w := range all {
		wide = max(wide, columnsOf(w.Session))
	}
	fmt.Fprintf(&b, "%s  %s\n", left("session", wide), "  window   session      ours    newest      mask  messages gone")
	for _, w := range all {
		fmt.Fprintf(&b, "%s  %8s%10s%10s%10s%10s%15s\n", left(oneLine(w.Session), wide), count(w.Window), count(w.Whole), count(w.Ours), count(w.Newest), count(w.Mask), count(w.Gone))
	}
	return v.say("%s\nin %s", b.String(), printable(v.dir))
}
