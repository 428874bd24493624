package policy

// An Offer describes one possible compaction. All numbers are computed without making
// the compaction.
type Offer struct {
	Keep   Keep    `json:"keep"`         // turns and pairs that stay; without a cut, those that keep their results
	Cut    bool    `json:"cut"`          // true: older turns become a summary; false: their results become placeholders
	Mask   int     `json:"mask_turns"`   // with a cut: age in turns from which kept results become placeholders; 0 = none do
	Level  int     `json:"level"`        // expected tokens of the view after the compaction
	Prefix int     `json:"prefix"`       // tokens in front of the first edit
	Gone   int     `json:"tokens_gone"`  // tokens that the compaction removes
	Needs  float64 `json:"needed_again"` // expected number of later calls that need a removed part
}
