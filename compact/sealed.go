package compact

import (
	"slices"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
)

// toStore returns a step in its stored form, with sealed fingerprints. The fingerprints
// of evicted messages are sealed already.
func (s *session) toStore(step ledger.Step) ledger.Step {
	with := s.keys.Current()
	step.V, step.Key = ledger.Version, with.ID()
	mapStep(&step, with.Seal)
	return step
}

// unseal decodes the fingerprints of a stored step. If its key is missing, the
// step stays sealed and matches no history: the history is compacted again, and
// removed messages can still be recalled.
func (s *session) unseal(step *ledger.Step) {
	if step.Changed != nil {
		return
	}
	if step.V < 2 {
		s.fromVersion1(step)
		return
	}
	with, ok := s.keys.ByID(step.Key)
	if !ok {
		s.locked(step.Key)
		return
	}
	mapStep(step, with.Open)
	for i := range step.Evicted {
		e := &step.Evicted[i]
		e.Of = message.Fingerprint(with.Open(e.FP))
	}
}

// fromVersion1 converts a step of version 1, whose fingerprints were not keyed.
func (s *session) fromVersion1(step *ledger.Step) {
	s.mu.Lock()
	s.version1 = true
	s.mu.Unlock()
	step.Branch = branchName(s.keys.Ring, step.Branch)
	for i := range step.Evicted {
		step.Evicted[i].Of = step.Evicted[i].FP
	}
}

// mapStep applies f to each fingerprint of a step. It copies data that is shared with
// other steps.
func mapStep(s *ledger.Step, f func([16]byte) [16]byte) {
	s.In.Hash, s.Out.Hash = f(s.In.Hash), f(s.Out.Hash)
	s.Recipes = slices.Clone(s.Recipes)
	for k := range s.Recipes {
		mapRecipe(&s.Recipes[k], f)
	}
}

func mapRecipe(r *reduce.Recipe, f func([16]byte) [16]byte) {
	r.Texts, r.Copies = slices.Clone(r.Texts), slices.Clone(r.Copies)
	for i := range r.Texts {
		r.Texts[i].Was, r.Texts[i].Is = f(r.Texts[i].Was), f(r.Texts[i].Is)
	}
	for i := range r.Copies {
		r.Copies[i].Of = f(r.Copies[i].Of)
	}
	if r.Cut != nil && r.Cut.Anchor != nil {
		cut, anchor := *r.Cut, message.Fingerprint(f(*r.Cut.Anchor))
		cut.Anchor, r.Cut = &anchor, &cut
	}
}

// LostKeyError reports that a key of the archive is missing, so the steps sealed
// with it match no history. The session begins a new epoch: the history is
// compacted again, and text removed earlier can still be recalled.
type LostKeyError struct {
	Key string // the id of the key
}

// Error names the key and the places where it was looked up.
func (e *LostKeyError) Error() string {
	return "the key " + e.Key + " of the archive is lost (" + ArchiveKeyVariable + ", or the folder compact/keys of the configuration): the edits made with it are unknown here and are made again"
}
