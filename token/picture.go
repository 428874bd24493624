package token

import "math"

// A pictureRule prices an image by its size in pixels.
type pictureRule interface {
	cost(width, height int, low bool) int // low: at low detail, as the request asks
}

// pictureRules are OpenAI's, searched from the top.
var pictureRules = []struct {
	prefix string
	rule   pictureRule
}{
	{"gpt-5-mini", patches(1.62)},
	{"gpt-5-nano", patches(2.46)},
	{"gpt-5", tiles{70, 140}},
	{"gpt-4.1-mini", patches(1.62)},
	{"gpt-4.1-nano", patches(2.46)},
	{"gpt-4o-mini", tiles{2833, 5667}},
	{"o4-mini", patches(1.72)},
	{"o1", tiles{75, 150}},
	{"o3", tiles{75, 150}},
	{"computer-use", tiles{65, 129}},
}

// tiles is the tile rule: the image is scaled to fit a square of 2048 pixels,
// then until its shorter side is at most 768, and each started tile of 512 by
// 512 costs. Low detail costs the base alone.
type tiles struct{ base, tile int }

func (t tiles) cost(width, height int, low bool) int {
	if low {
		return t.base
	}
	w, h := fit(float64(width), float64(height), 2048)
	if short := math.Min(w, h); short > 768 {
		w, h = w*768/short, h*768/short
	}
	return t.base + t.tile*started(w, 512)*started(h, 512)
}

// patches is the patch rule: each started patch of 32 by 32 pixels is one
// token times a factor of the model; an image of more than 1536 is scaled
// down until it has no more.
type patches float64

func (f patches) cost(width, height int, low bool) int {
	const side, limit = 32, 1536
	w, h := float64(width), float64(height)
	if low {
		w, h = fit(w, h, 512)
	}
	n := started(w, side) * started(h, side)
	if n > limit {
		r := math.Sqrt(side * side * limit / (w * h))
		cols, rows := w*r/side, h*r/side
		r *= math.Min(math.Floor(cols)/cols, math.Floor(rows)/rows)
		n = min(limit, started(w*r, side)*started(h*r, side))
	}
	return int(math.Ceil(float64(n) * float64(f)))
}

// claudePicture is Anthropic's: an image is scaled to fit a square of 1568
// pixels and to at most 1568 tokens; a token is 750 pixels.
type claudePicture struct{}

func (claudePicture) cost(width, height int, _ bool) int {
	const edge, limit = 1568, 1568
	w, h := fit(float64(width), float64(height), edge)
	return min(limit, int(math.Ceil(w*h/750)))
}

// geminiPicture is Google's: 258 for a small image, else an image is scaled to
// fit a square of 3072 pixels, and costs 258 for each started tile of 768 by 768.
type geminiPicture struct{}

func (geminiPicture) cost(width, height int, _ bool) int {
	const small, edge, side, tile = 384, 3072, 768, 258
	if width <= small && height <= small {
		return tile
	}
	w, h := fit(float64(width), float64(height), edge)
	return tile * started(w, side) * started(h, side)
}

// fit scales a rectangle down until it fits a square.
func fit(w, h, edge float64) (float64, float64) {
	if long := math.Max(w, h); long > edge {
		return w * edge / long, h * edge / long
	}
	return w, h
}

// started returns how many pieces of this size a length takes, with room for
// the rounding of floating point.
func started(length, size float64) int {
	return max(1, int(math.Ceil(length/size-1e-9)))
}
