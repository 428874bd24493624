package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/agentcompact/compact/storage/record"
)

// conversation is the newest transcript of a session, for archive show.
type conversation struct {
	Session string            `json:"session"`
	File    string            `json:"file"`
	Later   string            `json:"later,omitempty"` // newest originals, if a later step stored them in place of a transcript
	Said    []readableMessage `json:"messages"`
}

// conversationOf reads the newest transcript of a session, or the newest originals if it has
// no transcript. Originals are only the messages that a step changed.
func conversationOf(ctx context.Context, name string, s *record.Session) (*conversation, error) {
	transcripts, originals, err := messageFiles(ctx, s)
	c := &conversation{Session: name}
	if err != nil || len(transcripts)+len(originals) == 0 {
		return c, err
	}
	newer, err := byAnnouncement(ctx, s)
	if err != nil {
		return nil, err
	}
	switch {
	case len(transcripts) == 0:
		c.File = slices.MaxFunc(originals, newer)
	default:
		c.File = slices.MaxFunc(transcripts, newer)
		if last := slices.MaxFunc(append(originals, c.File), newer); last != c.File {
			c.Later = last
		}
	}
	cited, err := citations(ctx, s)
	if err != nil {
		return nil, err
	}
	for line, err := range s.Whole(ctx, c.File) {
		if err != nil {
			return nil, err
		}
		one, err := saidIn(line.Text, len(c.Said)+1)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.File, err)
		}
		one.Cited = cited[linePosition{line.File, line.Off}]
		c.Said = append(c.Said, one)
	}
	return c, nil
}

// messageFiles returns the names of the transcripts and of the originals of a session.
func messageFiles(ctx context.Context, s *record.Session) (transcripts, originals []string, err error) {
	for info, err := range s.Files(ctx) {
		if err != nil {
			return nil, nil, err
		}
		switch file := info.Key.Base(); {
		case info.Foreign != "":
		case record.IsOriginals(file):
			originals = append(originals, file)
		case record.HasMessages(file):
			transcripts = append(transcripts, file)
		}
	}
	return transcripts, originals, nil
}

// linePosition is the position of a line in the archive.
type linePosition struct {
	file string
	off  int64
}

// citations returns the numbers by which the summaries of a session cite messages,
// by the position of their lines in the archive.
func citations(ctx context.Context, s *record.Session) (map[linePosition]int, error) {
	out := map[linePosition]int{}
	for l, err := range s.Ledgers(ctx, 1) {
		if err != nil {
			return nil, err
		}
		if l.Changed != nil {
			continue
		}
		var step struct {
			Archive string `json:"archive"`
			Evicted []struct {
				File   string `json:"file"`
				Off    int64  `json:"off"`
				Number int    `json:"n"`
			} `json:"evicted"`
		}
		if err := json.Unmarshal(l.Data, &step); err != nil {
			return nil, fmt.Errorf("ledger of step %d: %w", l.Step, err)
		}
		for _, e := range step.Evicted {
			if e.Number > 0 {
				out[linePosition{cmp.Or(e.File, step.Archive), e.Off}] = e.Number
			}
		}
	}
	return out, nil
}

// From names the file of the conversation, and says what the file lacks.
func (c *conversation) From() string {
	switch file := oneLine(c.File); {
	case record.IsOriginals(c.File):
		return file + ": only the messages that this step changed"
	case c.Later != "":
		return file + "; messages that later steps changed are in files up to " + oneLine(c.Later)
	default:
		return file
	}
}

// byAnnouncement returns a function that sorts file names by their first line in the
// manifest: numbers of final transcripts and of steps don't compare.
func byAnnouncement(ctx context.Context, s *record.Session) (func(x, y string) int, error) {
	names, err := s.Announced(ctx)
	at := make(map[string]int, len(names))
	for i, name := range names {
		at[name] = i + 1
	}
	return func(x, y string) int { return cmp.Or(cmp.Compare(at[x], at[y]), byNumber(x, y)) }, err
}
