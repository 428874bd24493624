package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/serve"
	"github.com/agentcompact/compact/trace/metrics"
)

// serving is the configuration of a proxy to run.
type serving struct {
	*app
	listen    string
	tokenFile string
	insecure  bool
	upstreams []string
	count     string
	drain     time.Duration
	verbose   bool
	where     string // the flag that names the archive, if it is not the default
	c         serve.Config
}

func newServe(a *app) *cobra.Command {
	s := &serving{app: a}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Compact what any agent sends, as a proxy in front of the model",
		Long: `Serve is a reverse proxy in front of OpenAI, Anthropic and Gemini. An agent, in
whatever language, is given its URL in place of the provider's:

  OPENAI_BASE_URL=http://127.0.0.1:8484/openai/v1
  ANTHROPIC_BASE_URL=http://127.0.0.1:8484/anthropic
  GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8484/gemini

Model calls go out compacted when it is due; what was taken out is in the
archive, redacted, and the model is given a tool, recall, that reads it there and
is answered on the way. All else passes through untouched. Keys pass through and are
kept nowhere. Whatever goes wrong here, the request goes out as it came.

SIGTERM or Ctrl-C ends it when the calls that are under way have ended. It
listens on this machine alone; another address wants --token-file, whose token
requests carry in the header X-Compact-Token, or --insecure.`,
		Example: `  compactctl serve --observe
  compactctl serve --listen 127.0.0.1:9000 --preset graduated --archive .compact/archive
  compactctl serve --upstream openai=http://127.0.0.1:8000 --model qwen3-32b
  compactctl serve --upstream groq=https://api.groq.com/openai`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	a.addConfig(cmd)
	s.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&s.listen, "listen", "127.0.0.1:8484", "`ADDRESS` to listen on; port 0 = any that is free")
	f.StringVar(&s.tokenFile, "token-file", "", "`FILE` with the token that requests have to carry")
	f.BoolVar(&s.insecure, "insecure", false, "listen on other addresses than this machine's own without a token")
	f.DurationVar(&s.drain, "drain", 30*time.Second, "`TIME` that calls have to end in when it is to stop, and then the archive for what waits for it")
	f.DurationVar(&s.c.Notice, "notice", 0, "`TIME` to go on taking requests when it is to stop, while /readyz says so: as long as a balancer in front needs to see it")
	f.IntVar(&s.c.MaxCalls, "max-calls", 0, "requests at once; `N` = 0: 1,000")
	return cmd
}

// flags adds the flags for the handling of requests.
func (s *serving) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&s.c.Observe, "observe", false, "change no byte of any request; events say what would have been")
	f.BoolVar(&s.c.Strict, "strict", false, "refuse what can't be compacted, in place of sending it as it came")
	f.BoolVar(&s.c.NoRecall, "no-recall", false, "do not give the model the tool with which it reads again what was taken out")
	f.StringArrayVar(&s.upstreams, "upstream", nil, "`NAME=URL` of a provider: openai, anthropic, gemini, or any name, which is then the first part of a path; may be repeated")
	f.StringVar(&s.count, "count", "view", "`WHAT` questions for a number of tokens are about: view or full")
	f.BoolVar(&s.verbose, "verbose", false, "log each request")
	complete(cmd, "count", []string{"view", "full"})
}

// options checks the flags, and completes the handler's configuration.
func (s *serving) options() error {
	switch s.count {
	case "view", "full":
		s.c.CountFull = s.count == "full"
	default:
		return &usageError{fmt.Errorf("--count %q is neither view nor full", s.count)}
	}
	for flag, below := range map[string]bool{"drain": s.drain < 0, "notice": s.c.Notice < 0, "max-calls": s.c.MaxCalls < 0} {
		if below {
			return &usageError{fmt.Errorf("--%s is below 0", flag)}
		}
	}
	if s.c.Observe && s.c.Strict {
		return &usageError{errors.New("--strict refuses requests, and --observe changes none")}
	}
	s.c.Upstreams = map[string]string{}
	for _, u := range s.upstreams {
		name, url, ok := strings.Cut(u, "=")
		if !ok {
			return &usageError{fmt.Errorf("--upstream %q is not NAME=URL", u)}
		}
		s.c.Upstreams[name] = url
	}
	return s.token()
}

// token reads the token that requests must carry.
func (s *serving) token() error {
	if s.tokenFile != "" {
		token, err := os.ReadFile(s.tokenFile)
		if err != nil {
			return &usageError{fmt.Errorf("--token-file: %w", err)}
		}
		if s.c.Token = strings.TrimSpace(string(token)); s.c.Token == "" {
			return &usageError{fmt.Errorf("--token-file %s is empty", s.tokenFile)}
		}
	}
	return nil
}

// isLocal reports whether an address can only be reached from this machine.
func isLocal(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (s *serving) run(cmd *cobra.Command) (err error) {
	if err := s.options(); err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(s.listen)
	if err != nil {
		return &usageError{fmt.Errorf("--listen %q is not HOST:PORT, such as 127.0.0.1:8484", s.listen)}
	}
	if _, err := net.DefaultResolver.LookupPort(cmd.Context(), "tcp", port); err != nil {
		return &usageError{fmt.Errorf("--listen %s: %w", s.listen, err)}
	}
	if !isLocal(s.listen) && s.c.Token == "" && !s.insecure {
		return &usageError{fmt.Errorf("--listen %s can be reached from other machines: give --token-file FILE, or --insecure", s.listen)}
	}
	ctx := cmd.Context()
	defer s.ending(ctx)()
	h, m, err := s.handler(cmd, s.err)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.closeWithin(ctx, m, max(closeIn, s.drain))) }() // close errors of many sessions
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", s.listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; --listen with port 0 takes any that is free", err)
	}
	if err != nil {
		return err
	}
	s.announce(l.Addr())
	return h.Serve(ctx, l, s.drain)
}

// handler makes the proxy and the manager that it compacts with, which the
// caller closes. The log goes to w.
func (s *serving) handler(cmd *cobra.Command, w io.Writer) (*serve.Handler, *compact.CompactManager, error) {
	var opts []configs.Option
	if s.c.Observe {
		opts = append(opts, configs.Override("--observe", "observe", true))
	}
	cfg, err := s.load(cmd, opts...)
	if err != nil {
		return nil, nil, err
	}
	cfg.OnTraceError, cfg.Trace.CloseTimeout = s.losses.add, closeTraceIn
	if s.c.Metrics = metrics.Of(cfg.Exporters); s.c.Metrics == nil {
		s.c.Metrics = metrics.New(nil)
		cfg.Exporters = append(cfg.Exporters, s.c.Metrics.Exporter())
	}
	m, err := compact.New(cmd.Context(), cfg)
	if err != nil {
		return nil, nil, err
	}
	level := slog.LevelInfo
	if s.verbose {
		level = slog.LevelDebug
	}
	s.c.Logger = slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
	s.c.Observe = m.Observes()
	if cmd.Flags().Changed("archive") {
		s.where = " --archive " + s.app.flags.archive
	}
	h, err := serve.New(m, s.c)
	if err != nil {
		return nil, nil, errors.Join(&usageError{err}, s.close(context.WithoutCancel(cmd.Context()), m))
	}
	return h, m, nil
}

// announce prints the settings for agents.
func (s *serving) announce(at net.Addr) {
	if s.quiet {
		return
	}
	how := "compacting"
	if s.c.Observe {
		how = "observing"
	}
	fmt.Fprintf(s.err, "%s on http://%s; a browser on this machine sees there what runs\n", how, at)
	for _, v := range baseURLs("http://" + at.String()) {
		fmt.Fprintln(s.err, "  "+v)
	}
}
