package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	words "github.com/agentcompact/compact/internal/setting"
	"github.com/agentcompact/compact/message/formats"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/replay"
)

// replaying is a run of replay.
type replaying struct {
	*app
	policies []string
	windows  []int
	prices   string
	gap      string
	least    replay.AtLeast
	model    string
	csv      string
	html     string
	times    bool
	where    bool
	session  string // id of a session in an archive
	command  string // the command line as typed
}

func newReplay(a *app) *cobra.Command {
	r := &replaying{app: a}
	cmd := &cobra.Command{
		Use:   "replay PATH...",
		Short: "Compare the cost of policies on recorded sessions, and what they keep",
		Long:  aboutReplay,
		Example: `  compactctl replay sessions/ --policy graduated --policy raw --window 200000
  compactctl replay log.jsonl --prices claude-sonnet-4-5 --csv rows.csv`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.command = typed(cmd, args)
			archived, err := r.fromArchive(cmd, args)
			if err != nil {
				return err
			}
			return r.run(cmd.Context(), args, archived)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&r.policies, "policy", nil, "`NAME[,PATH=VALUE...]`: a preset, a file.yaml, or one of "+strings.Join(replay.References(), ", ")+"; may be repeated (default: every preset, and the references)")
	tokenList(f, &r.windows, "window", []int{200_000}, "the model's window, in `TOKENS`; may be repeated")
	f.StringVar(&r.prices, "prices", "claude-sonnet-4-5", "`MODEL` whose list prices apply, or a JSON FILE with a price card")
	f.StringVar(&r.gap, "gap", "20s", "`TIME` between two calls, or recorded: the time stamps of the messages; the cache is cold after a gap longer than its lifetime")
	f.StringVar(&r.model, "model", "gpt-4o", "`NAME` of the model whose tokenizer counts the tokens")
	addLeast(f, &r.least)
	f.BoolVar(&r.times, "time", false, "also print the time that policies take for a call; only this figure differs between two runs")
	f.BoolVar(&r.where, "where", false, "also print how useful the tokens of the prompts are, by kind and age, and where missing identifiers were lost")
	a.addArchive(cmd)
	f.StringVar(&r.session, "session", "", "`ID` of a session of the archive, instead of PATH")
	f.StringVar(&r.csv, "csv", "", "write one line for each session, window and policy to `FILE`")
	f.StringVar(&r.html, "html", "", "write a page with charts to `FILE`")
	f.StringVar(&a.input.format, "format", "auto", "`NAME` of the format of the files: auto, "+strings.Join(formats.Names(), ", "))
	return cmd
}

const aboutReplay = `Replay runs recorded sessions call by call through policies. Every answer is one model
call, and its prompt is all messages before it. For each policy and window replay prints
the cost of the calls under a price card, prompt cache included, and how much of what
the recorded answers needed was still in view.

PATH is a file, a folder or a pattern. Files may be gzipped, in any format that
compactctl reads. A policy is a preset, a configuration file, or a reference to compare
with. Settings can follow a preset or a file after commas:

  --policy graduated,policy.target_pct=0.4 --policy mine.yaml --policy raw
  --policy sliding:10    masks results older than 10 turns, at each call
  --policy drop:6        keeps only the last 6 turns
  --policy summarize:0.85  replaces the history by an empty summary at 85 %

--session replays a session of an archive, and allows one more policy:

  --policy current       repeats the decisions of the ledger, call by call

If a session can't be read, replay names it, continues with the others, and exits with 3.
Ctrl-C ends it and prints the results so far.`

func (r *replaying) run(ctx context.Context, paths []string, archived *replay.Archived) error {
	o, err := r.options(archived)
	if err != nil {
		return err
	}
	from, n, err := r.sources(paths, archived)
	if err != nil {
		return err
	}
	csv, err := r.openOutput(r.csv)
	if err != nil {
		return err
	}
	defer csv.discard()
	page, err := r.openOutput(r.html)
	if err != nil {
		return err
	}
	defer page.discard()
	r.progress.start("replaying " + things(n, "session"))
	defer r.progress.stop()
	began := time.Now()
	o.Expected = n
	o.Progress = func(done, total int) { r.progress.at(int64(done), int64(total)) }
	rep, err := replay.Run(ctx, from, o)
	r.progress.stop()
	switch {
	case rep == nil:
		return err
	case errors.Is(err, context.Canceled):
		err = fmt.Errorf("interrupted: the results cover %d of %d sessions (%w)", rep.Sessions, n, err)
	}
	return errors.Join(r.write(rep, csv, page), r.deliver(rep, time.Since(began)), err)
}

// sources returns the sessions and their number.
func (r *replaying) sources(paths []string, archived *replay.Archived) (replay.Source, int, error) {
	if archived != nil {
		return replay.Of(archived.Session), 1, nil
	}
	return r.recordedIn(paths, "replay")
}

// typed returns the command line that produces the same result again.
func typed(cmd *cobra.Command, args []string) string {
	words := append([]string{cmd.CommandPath()}, args...)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "html" || f.Name == "csv" {
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range list.GetSlice() {
				words = append(words, "--"+f.Name, v)
			}
			return
		}
		words = append(words, "--"+f.Name+"="+f.Value.String())
	})
	for i, w := range words {
		if strings.ContainsAny(w, " '\"*?$") && i > 0 {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// openOutput opens a file to write; nil = no path was given.
func (a *app) openOutput(path string) (*target, error) {
	switch path {
	case "":
		return nil, nil
	case "-":
		return nil, &usageError{errors.New("can't write to -: name a file, or /dev/stdout")}
	}
	return a.openTarget(path)
}

// write writes the requested files.
func (r *replaying) write(rep *replay.Report, csv, page *target) error {
	for _, f := range []struct {
		to    *target
		write func(io.Writer) error
	}{
		{csv, rep.WriteCSV},
		{page, func(w io.Writer) error { return rep.WriteHTML(w, r.command) }},
	} {
		if f.to == nil {
			continue
		}
		var b bytes.Buffer
		if err := errors.Join(f.write(&b), f.to.commit(b.Bytes())); err != nil {
			return err
		}
	}
	return nil
}

func (r *replaying) deliver(rep *replay.Report, took time.Duration) error {
	var err error
	switch {
	case r.json:
		err = r.printJSON(rep)
	case !r.quiet && rep.Sessions > 0:
		if err = rep.Write(r.out); err == nil && r.times {
			err = rep.WriteTimes(r.out)
		}
		if err == nil {
			r.complain("compactctl", fmt.Sprintf("%s in %s", things(rep.Sessions, "session"), took.Round(100*time.Millisecond)))
		}
	}
	for _, bad := range rep.Errors {
		err = errors.Join(err, &inputError{file: "not replayed", err: bad})
	}
	if rep.Sessions == 0 && rep.Short > 0 {
		err = errors.Join(err, &inputError{file: "nothing replayed", err: tooShort(r.least, rep.Short)})
	}
	return err
}

func (r *replaying) options(archived *replay.Archived) (replay.Options, error) {
	r.checkModel(r.model)
	o := replay.Options{Windows: r.windows, Recorded: r.gap == recorded, Model: r.model, Least: r.least, Where: r.where}
	if !o.Recorded {
		gap, err := time.ParseDuration(r.gap)
		if err != nil || gap < 0 {
			return o, &usageError{fmt.Errorf("--gap must be a time such as 20s, or recorded (got %q)", r.gap)}
		}
		o.Gap = gap
	}
	if bad := slices.IndexFunc(r.windows, func(n int) bool { return n < 1 }); bad >= 0 {
		return o, &usageError{fmt.Errorf("--window must be above 0 (got %d)", r.windows[bad])}
	}
	err := r.distinct()
	if err != nil {
		return o, err
	}
	if o.Card, err = r.card(r.prices); err != nil {
		return o, err
	}
	names := r.policies
	if len(names) == 0 {
		names = usual()
	}
	for _, name := range names {
		if name == current {
			o.Policies = append(o.Policies, archived.Current())
			continue
		}
		p, err := r.policyNamed(name)
		if err != nil {
			return o, err
		}
		o.Policies = append(o.Policies, p)
	}
	return o, nil
}

// addLeast adds the flags that skip small sessions.
func addLeast(f *pflag.FlagSet, least *replay.AtLeast) {
	f.IntVar(&least.Tokens, "min-tokens", 0, "skip sessions of less than `N` tokens, counted for --model")
	f.IntVar(&least.Calls, "min-calls", 0, "skip sessions of less than `N` calls")
}

func tooShort(least replay.AtLeast, passed int) error {
	return fmt.Errorf("no session has %s; %s skipped", least, things(passed, "session"))
}

// usual returns the policies that are compared by default.
func usual() []string {
	return append([]string{"graduated", "economy", "summarize", "masking", "gateway", "history-reducer"}, replay.References()...)
}

// recorded is the value of --gap that uses the time stamps.
const recorded = "recorded"

// policyNamed returns the policy for a value of --policy: a reference, a file, or a
// preset with settings.
func (a *app) policyNamed(name string) (replay.Policy, error) {
	if p, ok, err := replay.ParseReference(name); ok {
		if err != nil {
			err = &usageError{fmt.Errorf("--policy %w", err)}
		}
		return p, err
	}
	base, settings, _ := strings.Cut(name, ",")
	var opts []configs.Option
	file := ""
	switch {
	case slices.Contains(configs.Names(), base):
		opts = append(opts, configs.Override("--policy", "preset", base))
	case isFile(base):
		file = base
		a.reads(file)
	default:
		return nil, &usageError{fmt.Errorf("--policy %q is not a preset (%s), a file, or one of %s",
			base, strings.Join(configs.Names(), ", "), strings.Join(replay.References(), ", "))}
	}
	for s := range strings.SplitSeq(settings, ",") {
		if s == "" {
			continue
		}
		path, value, err := setting(s)
		if err != nil {
			return nil, err
		}
		opts = append(opts, configs.Override("--policy "+path, path, value))
	}
	c, err := configs.Load(file, opts...)
	if err != nil {
		return nil, err
	}
	return managed(name, c)
}

// managed returns a policy for a configuration, and refuses one that would spend
// money.
func managed(name string, c compact.Config) (replay.Policy, error) {
	if c.Summarize != nil {
		return nil, &usageError{fmt.Errorf("--policy %s asks a model for summaries (summarizer.backend: %s), and a replay calls no model: add ,summarizer.backend=extractive to the policy", name, c.Summarizer.Backend)}
	}
	return replay.Managed(name, c), nil
}

// listPrice returns the list prices of a model. If the table does not list the name,
// but a line of the table occurs in it, listPrice uses the prices of that line, and
// warns. It refuses a name that contains no line of the table, or that resembles no
// listed name.
func (a *app) listPrice(name string) (price.Card, error) {
	c, ok := price.For(name)
	if ok && price.Listed(name) {
		return c, nil
	}
	near := words.Nearest(name, price.Names())
	if !ok || near == "" {
		return c, &usageError{fmt.Errorf("--prices %q: no list price is known%s; name one of %s, or a JSON FILE with a price card",
			name, words.DidYouMean(name, price.Names()), strings.Join(price.Names(), ", "))}
	}
	a.complain("compactctl", fmt.Sprintf("warning: --prices %q: no list price of that name is known; the prices of %s are used (did you mean %s?)", name, c.Model, near))
	return c, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// card returns the prices of a model, or the prices in a file.
func (a *app) card(name string) (price.Card, error) {
	if !isFile(name) {
		return a.listPrice(name)
	}
	a.reads(name)
	data, err := os.ReadFile(name)
	if err != nil {
		return price.Card{}, err
	}
	c := price.Card{Source: filepath.Base(name)}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields() // otherwise a misspelled price would be 0
	if err := d.Decode(&c); err != nil {
		return c, &inputError{file: name, err: err}
	}
	if err := c.Validate(); err != nil {
		return c, &inputError{file: name, err: err}
	}
	return c, nil
}
