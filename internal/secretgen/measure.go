package secretgen

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Tally counts the found secrets, and all secrets.
type Tally struct{ Found, All int }

// Percent returns the percentage of found secrets, or 100 if there were none.
func (t Tally) Percent() float64 {
	if t.All == 0 {
		return 100
	}
	return 100 * float64(t.Found) / float64(t.All)
}

func (t Tally) String() string { return fmt.Sprintf("%5.1f%% of %4d", t.Percent(), t.All) }

// Class is a group of shapes that a report counts together.
type Class struct {
	Family  string // empty in a total
	Hard    bool
	Clean   bool
	HeldOut bool
}

// Report has the results of one redactor. For shapes without a secret it counts the
// texts that the redactor changed.
type Report struct {
	Tally map[Class]Tally
	Wrong []Wrong // missed secrets, and harmless texts that were flagged
}

// Wrong is a text that a redactor handled wrongly.
type Wrong struct {
	Shape     Shape
	Seed      uint64
	Text, Out string
}

// Measure redacts each shape with n values of each seed.
func Measure(redact func(string) string, n int, seeds ...uint64) Report {
	r := Report{Tally: map[Class]Tally{}}
	for _, shape := range Shapes() {
		for _, seed := range seeds {
			for i := range n {
				s := shape.Draw(seed<<16 + uint64(i))
				r.add(shape, seed, s, redact(s.Text))
			}
		}
	}
	return r
}

func (r *Report) add(shape Shape, seed uint64, s Sample, out string) {
	c := Class{Hard: shape.Hard, Clean: shape.Clean, HeldOut: shape.HeldOut}
	of := c
	of.Family = shape.Family
	count := func(found bool) {
		for _, class := range []Class{c, of} {
			t := r.Tally[class]
			t.All++
			if found {
				t.Found++
			}
			r.Tally[class] = t
		}
		if found == shape.Clean {
			r.Wrong = append(r.Wrong, Wrong{shape, seed, s.Text, out})
		}
	}
	if shape.Clean {
		count(out != s.Text)
		return
	}
	blanked := s.blank()
	for _, secret := range s.Secrets {
		count(!Survives(secret, out, blanked))
	}
}

// blank returns the text without its secrets.
func (s Sample) blank() string {
	text := s.Text
	for _, secret := range s.Secrets {
		text = strings.ReplaceAll(text, secret, "\x00")
	}
	return text
}

// Survives reports whether out contains eight consecutive bytes of a secret, or all of
// a shorter one. Bytes that also occur in blanked, the text without its secrets, don't
// count.
func Survives(secret, out, blanked string) bool {
	n := min(8, len(secret))
	for i := 0; i+n <= len(secret); i++ {
		if w := secret[i : i+n]; strings.Contains(out, w) && !strings.Contains(blanked, w) {
			return true
		}
	}
	return false
}

// Table writes the report with a row for each family. The reports in beside get columns
// of their own.
func (r Report) Table(beside ...Report) string {
	var b strings.Builder
	line := func(name string, class Class) {
		fmt.Fprintf(&b, "%-13s", name)
		for _, one := range append([]Report{r}, beside...) {
			for _, c := range [...]Class{{}, {Hard: true}, {HeldOut: true}, {Hard: true, HeldOut: true}} {
				c.Family, c.Clean = class.Family, class.Clean
				if t := one.Tally[c]; t.All > 0 {
					fmt.Fprintf(&b, " | %s", t)
					continue
				}
				fmt.Fprintf(&b, " | %14s", "")
			}
			b.WriteString(" |")
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%-13s | %-14s | %-14s | %-14s | %-14s |\n", "", "obvious", "hard", "held: obvious", "held: hard")
	for _, class := range slices.SortedFunc(maps.Keys(r.families()), func(a, b Class) int { return strings.Compare(a.Family, b.Family) }) {
		line(class.Family, class)
	}
	line("all", Class{})
	line("flagged", Class{Clean: true})
	return b.String()
}

func (r Report) families() map[Class]bool {
	all := map[Class]bool{}
	for c := range r.Tally {
		if c.Family != "" && !c.Clean {
			all[Class{Family: c.Family}] = true
		}
	}
	return all
}
