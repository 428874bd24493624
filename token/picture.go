package token

import (
	"math"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// A pictureRule computes the cost of an image from its size in pixels.
type pictureRule interface {
	cost(width, height int, detail string) int // detail is the value in the request: low, high, original, auto or ""
	most(detail string) int                    // the highest cost of any image, used if the size is unknown
}

// pictureRules are OpenAI's rules, searched from the top
// (https://developers.openai.com/api/docs/guides/images-vision, read in November 2026).
// The factor of gpt-5.4 and later is not published; 1.2 was measured. No page states the
// factor of gpt-5.2; 1.2 is assumed, because users report such bills.
var pictureRules = []struct {
	prefix string
	rule   pictureRule
}{
	{"gpt-5.6", patches{1.2, highBounds, noBounds}},
	{"gpt-5.5", patches{1.2, highBounds, originalBounds}},
	{"gpt-5.4-mini", patches{1.62, smallBounds, smallBounds}},
	{"gpt-5.4-nano", patches{2.46, smallBounds, smallBounds}},
	{"gpt-5.4", patches{1.2, highBounds, highBounds}},
	{"gpt-5.2", patches{1.2, smallBounds, smallBounds}},
	{"gpt-5-mini", patches{1.62, smallBounds, smallBounds}},
	{"gpt-5-nano", patches{2.46, smallBounds, smallBounds}},
	{"gpt-5", tiles{70, 140}},
	{"gpt-4.1-mini", patches{1.62, smallBounds, smallBounds}},
	{"gpt-4.1-nano", patches{2.46, smallBounds, smallBounds}},
	{"gpt-4o-mini", tiles{2833, 5667}},
	{"o4-mini", patches{1.72, smallBounds, smallBounds}},
	{"o1", tiles{75, 150}},
	{"o3", tiles{75, 150}},
	{"computer-use", tiles{65, 129}},
}

// tiles is the tile rule. The image is scaled down to fit a square of 2048
// pixels, then until its shorter side is at most 768. Each started tile of 512 by
// 512 pixels costs tile tokens, plus base once. Low detail costs only base.
type tiles struct{ base, tile int }

func (t tiles) cost(width, height int, detail string) int {
	if detail == "low" {
		return t.base
	}
	w, h := fit(float64(width), float64(height), 2048)
	if short := math.Min(w, h); short > 768 {
		w, h = w*768/short, h*768/short
	}
	return t.base + t.tile*started(w, 512)*started(h, 512)
}

// most returns the cost of an image of 768 by 2048 pixels.
func (t tiles) most(detail string) int { return t.cost(768, 2048, detail) }

// bounds are the limits above which an image is scaled down.
type bounds struct {
	patches int
	edge    float64 // pixels of the longer side
}

// The bounds of OpenAI's models.
var (
	smallBounds    = bounds{1536, 2048}
	highBounds     = bounds{2500, 2048}
	originalBounds = bounds{10_000, 6000}
	noBounds       = bounds{1 << 20, 1 << 15} // no limit is published; larger than any real image
)

// patches is the patch rule. Each started patch of 32 by 32 pixels costs one
// token times the factor of the model. An image larger than the bounds is scaled
// down until it fits.
type patches struct {
	factor     float64
	high, auto bounds // by the requested detail
}

func (f patches) cost(width, height int, detail string) int {
	const side = 32
	w, h, b := float64(width), float64(height), f.bounds(detail)
	if detail == "low" {
		w, h = fit(w, h, lowEdge)
	}
	w, h = fit(w, h, b.edge)
	n := started(w, side) * started(h, side)
	if n > b.patches {
		r := math.Sqrt(side * side * float64(b.patches) / (w * h))
		cols, rows := w*r/side, h*r/side
		r *= math.Min(math.Floor(cols)/cols, math.Floor(rows)/rows)
		n = min(b.patches, started(w*r, side)*started(h*r, side))
	}
	return int(math.Ceil(float64(n) * f.factor))
}

const lowEdge = 512 // pixels of the longer side of an image in low detail

func (f patches) bounds(detail string) bounds {
	switch {
	case detail == "high":
		return f.high
	case detail == "original" && f.high != smallBounds && f.auto != noBounds:
		return originalBounds
	}
	return f.auto
}

// most returns the cost of an image at the bound. If no bound is published, it
// uses the largest published one.
func (f patches) most(detail string) int {
	if detail == "low" {
		return f.cost(lowEdge, lowEdge, detail)
	}
	return int(math.Ceil(float64(min(f.bounds(detail).patches, originalBounds.patches)) * f.factor))
}

// claudePicture is Anthropic's rule: one token for each started patch of 28 by 28
// pixels. An image is scaled down until its longer side has at most edge pixels
// and it costs at most limit tokens
// (https://platform.claude.com/docs/en/build-with-claude/vision).
type claudePicture struct {
	edge  float64
	limit int
}

// claudeRule returns the rule of a Claude model. Models from 4.7 on accept larger
// images.
func claudeRule(name string) claudePicture {
	if acceptsLargeImages(name) {
		return claudePicture{2576, 4784}
	}
	return claudePicture{1568, 1568}
}

// claudeVersion finds the version after the family: opus-4-8, sonnet-5. A number
// with more than two digits is a date.
var claudeVersion = regexp.MustCompile(`(?:opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?:[-.](\d{1,2}))?(?:\D|$)`)

func acceptsLargeImages(name string) bool {
	m := claudeVersion.FindStringSubmatch(name)
	if m == nil {
		return strings.Contains(name, "mythos") || strings.Contains(name, "fable")
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return major > 4 || major == 4 && minor >= 7
}

func (c claudePicture) cost(width, height int, _ string) int {
	const side = 28
	w, h := fit(float64(width), float64(height), c.edge)
	tokens := func(wide float64) int { return started(wide, side) * started(h*wide/w, side) }
	if n := tokens(w); n <= c.limit {
		return n
	}
	narrow := sort.Search(int(w), func(less int) bool { return tokens(w-float64(less)) <= c.limit })
	return min(c.limit, tokens(w-float64(narrow)))
}

func (c claudePicture) most(string) int { return c.limit }

// geminiPicture is Google's rule: 258 tokens for a small image. A larger image is
// scaled down to fit a square of 3072 pixels, and costs 258 for each started tile
// of 768 by 768.
type geminiPicture struct{}

func (geminiPicture) cost(width, height int, _ string) int {
	const small, edge, side, tile = 384, 3072, 768, 258
	if width <= small && height <= small {
		return tile
	}
	w, h := fit(float64(width), float64(height), edge)
	return tile * started(w, side) * started(h, side)
}

func (g geminiPicture) most(string) int { return g.cost(3072, 3072, "") }

// flatPicture is Google's rule from Gemini 3 on: an image costs the same at any size
// (https://ai.google.dev/gemini-api/docs/media-resolution; this is the cost at the
// default resolution, high).
type flatPicture int

func (f flatPicture) cost(int, int, string) int { return int(f) }
func (f flatPicture) most(string) int           { return int(f) }

// fit scales a rectangle down until it fits a square.
func fit(w, h, edge float64) (float64, float64) {
	if long := math.Max(w, h); long > edge {
		return w * edge / long, h * edge / long
	}
	return w, h
}

// started returns the number of pieces of a size that cover a length, tolerating
// the rounding of floating point.
func started(length, size float64) int {
	return max(1, int(math.Ceil(length/size-1e-9)))
}
