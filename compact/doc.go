// Package compact keeps the context window of an LLM agent in order: it counts the
// request before every model call. If the request no longer fits (or costs too much),
// it sends less, with the least harm.
//
//	m, err := compact.New(ctx, compact.Config{Model: "gpt-4", MaxContextTokens: 128_000})
//	if err != nil {
//		return err
//	}
//	defer m.Close(ctx)
//
//	// before every model call
//	res, err := m.Preflight(ctx, sessionID, history)
//	if err != nil {
//		return err // res.Messages is the history, untouched
//	}
//	reply, err := model.Send(ctx, res.Messages)
//
// # Use
//
// Call [CompactManager.Preflight] with the whole history before every model
// call and send the returned messages. The agent may keep the returned view or
// its full history: the manager recognizes both. The same history gives the
// same view, byte for byte, in this process and in any other that uses the
// archive. [CompactManager.ManualCompact] compacts at a moment that the agent
// chooses; [CompactManager.Plan] returns the result without applying it.
//
// # What it does
//
// It works in this order, and only as far as needed: cut single tool results
// that are too large; replace old tool results by placeholders; replace the old
// part by one summary; keep less of the recent part; squeeze the newest
// results. Protected messages, the last user message, and the open round are
// never removed, and a tool call is never separated from its result.
//
// # Failure
//
// The result is never nil. On an error its Messages are the unchanged history, and the
// caller decides whether to send it. [ErrInsufficientBudget] means that not even the
// smallest view fits, and names the largest contributors; [ErrArchiveFailed] means that
// the text to remove could not be stored first. Tracing never fails a call, and never
// delays one.
//
// # Secrets
//
// Nothing leaves memory unredacted: not to the archive, not to exporters, not
// to a summarizer. The history in memory and the messages for the agent's own
// model stay unredacted. See docs/SECURITY.md.
//
// # Compatibility
//
// Every file of the archive carries a format version. A ledger of an unknown
// version is an error.
package compact
