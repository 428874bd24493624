package policy

// An Offer describes one possible compaction that has not been made. All
// numbers are computed without making it.
type Offer struct {
	Keep   Keep    `json:"keep"`         // what a cut keeps, or whose results a mask keeps
	Cut    bool    `json:"cut"`          // true: older turns become a summary; false: their results become placeholders
	Mask   int     `json:"mask_turns"`   // with a cut: age in turns from which kept results become placeholders; 0 = none do
	Level  int     `json:"level"`        // expected tokens of the view after it
	Prefix int     `json:"prefix"`       // tokens in front of its first edit
	Gone   int     `json:"tokens_gone"`  // tokens that it removes
	Needs  float64 `json:"needed_again"` // expected number of later calls that need a removed part
}
