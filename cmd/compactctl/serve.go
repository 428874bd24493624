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
	inMemory  bool   // the archive ends with the command
	c         serve.Config
}

func newServe(a *app) *cobra.Command {
	s := &serving{app: a}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a proxy that compacts the requests of any agent",
		Long: `Serve is a reverse proxy in front of OpenAI, Anthropic and Gemini. Give an agent, in any
language, its URL instead of the provider's:

  OPENAI_BASE_URL=http://127.0.0.1:8484/openai/v1
  ANTHROPIC_BASE_URL=http://127.0.0.1:8484/anthropic
  GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8484/gemini

Serve compacts a model call when a compaction is due, and stores the removed text in the
archive, redacted. It gives the model a recall tool that reads this text, and answers the
calls of this tool itself. All other traffic passes through unchanged. Serve forwards API
keys and stores none. If serve fails to process a request, it sends the request unchanged.

SIGTERM, SIGHUP or Ctrl-C ends serve after the open calls have ended; no signal reloads
the configuration. Serve listens on this machine only. Another address needs --token-file,
whose token each request carries in the header X-Compact-Token, or --insecure.`,
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
	f.StringVar(&s.listen, "listen", "127.0.0.1:8484", "`ADDRESS` to listen on; with port 0 the system chooses a free port")
	f.StringVar(&s.tokenFile, "token-file", "", "`FILE` with the token that requests must carry")
	f.BoolVar(&s.insecure, "insecure", false, "allow addresses that other machines can reach, without a token")
	f.DurationVar(&s.drain, "drain", 30*time.Second, "`TIME` that open calls have to end at shutdown; the archive then has the same time for its open writes")
	f.DurationVar(&s.c.Notice, "notice", 0, "`TIME` to accept requests after the signal to stop, while /readyz reports the shutdown: as long as a load balancer needs to notice")
	f.IntVar(&s.c.MaxCalls, "max-calls", 0, "at most `N` requests at once; 0: 1,000")
	return cmd
}

// flags adds the flags for the handling of requests.
func (s *serving) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&s.c.Observe, "observe", false, "change no byte of any request; events report what compaction would have done")
	f.BoolVar(&s.c.Strict, "strict", false, "refuse requests that can't be compacted, instead of sending them unchanged")
	f.BoolVar(&s.c.NoRecall, "no-recall", false, "do not give the model the recall tool, which reads removed text")
	f.StringArrayVar(&s.upstreams, "upstream", nil, "`NAME=URL` of a provider: openai, anthropic, gemini or any other name; the name is the first part of the path; may be repeated")
	f.StringVar(&s.count, "count", "view", "`WHAT` to count if a client asks for a number of tokens: view (the request as it would be sent) or full (the whole history)")
	f.BoolVar(&s.verbose, "verbose", false, "log each request")
	complete(cmd, "count", []string{"view", "full"})
}

// options checks the flags, and completes the handler's configuration.
func (s *serving) options() error {
	switch s.count {
	case "view", "full":
		s.c.CountFull = s.count == "full"
	default:
		return &usageError{fmt.Errorf("--count must be view or full (got %q)", s.count)}
	}
	for flag, below := range map[string]bool{"drain": s.drain < 0, "notice": s.c.Notice < 0, "max-calls": s.c.MaxCalls < 0} {
		if below {
			return &usageError{fmt.Errorf("--%s must be 0 or more", flag)}
		}
	}
	if s.c.Observe && s.c.Strict {
		return &usageError{errors.New("--strict and --observe exclude each other: --strict refuses requests, --observe changes none")}
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
		return &usageError{fmt.Errorf("--listen %s can be reached from other machines: add --token-file FILE, or --insecure", s.listen)}
	}
	ctx := cmd.Context()
	defer s.ending(ctx)()
	defer outliveReader()()
	h, m, err := s.handler(cmd, s.err)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.closeWithin(ctx, m, max(closeIn, s.drain))) }() // the audit logs of many sessions may fail to be written
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", s.listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; use --listen with port 0 for any free port", err)
	}
	if err != nil {
		return err
	}
	s.announce(l.Addr())
	return h.Serve(ctx, l, s.drain)
}

// handler makes the proxy and its manager. The caller closes the manager. The log goes
// to w.
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
	level := slog.LevelInfo
	if s.verbose {
		level = slog.LevelDebug
	}
	s.c.Logger = slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
	cfg.Logger = s.c.Logger
	m, err := compact.New(cmd.Context(), cfg)
	if err != nil {
		return nil, nil, err
	}
	s.c.Observe = m.Observes()
	s.inMemory = cfg.Storage.Adapter == "memory"
	switch {
	case cmd.Flags().Changed("archive"):
		s.where = " --archive " + quoted(s.app.flags.archive)
	case s.app.config != "":
		s.where = " --config " + quoted(s.app.config)
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
	fmt.Fprintf(s.err, "%s on http://%s; open it in a browser on this machine to see the sessions\n", how, at)
	for _, v := range baseURLs("http://" + at.String()) {
		fmt.Fprintln(s.err, "  "+v)
	}
}
