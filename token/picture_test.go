package token

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// The examples are from the providers' pages.
func TestPicturesCostWhatProvidersPublish(t *testing.T) {
	for _, c := range []struct {
		model         string
		width, height int
		detail        string
		want          int
	}{
		{"gpt-4o", 1024, 1024, "high", 765},
		{"gpt-4o", 2048, 4096, "high", 1105},
		{"gpt-4o", 4096, 8192, "low", 85},
		{"gpt-4o", 512, 512, "auto", 255},
		{"gpt-4o", 1, 1, "", 255},
		{"gpt-4-turbo", 1024, 1024, "", 765},
		{"gpt-4o-mini", 1024, 1024, "", 2833 + 4*5667},
		{"gpt-5", 1024, 1024, "", 70 + 4*140},
		{"o1", 1024, 1024, "", 75 + 4*150},
		{"o3-2025-04-16", 1024, 1024, "low", 75},
		{"gpt-4.1-mini", 1024, 1024, "", 1659}, // 1024 patches * 1.62
		{"gpt-4.1-nano", 1800, 2400, "", 3572}, // 1452 patches * 2.46
		{"o4-mini", 1024, 1024, "", 1762},      // 1024 patches * 1.72
		{"gpt-5-mini", 4096, 512, "low", 52},   // 32 patches of 512 by 64
		{"gpt-5-mini", 8192, 512, "", 415},     // scaled to 2048 by 128: 256 patches * 1.62
		{"claude-sonnet-4", 200, 200, "", 64},  // 8 by 8 patches
		{"claude-sonnet-4", 1000, 1000, "", 1296},
		{"claude-sonnet-4-6", 1920, 1080, "", 1560}, // scaled to 1456 by 819
		{"claude-haiku-4-5-20251001", 8000, 8000, "", 1521},
		{"claude-opus-4-8", 1920, 1080, "", 2691},
		{"claude-opus-4-7", 3840, 2160, "", 4784}, // scaled to 2576 by 1449
		{"claude-sonnet-5", 3024, 1964, "", 4760},
		{"claude-opus-4-20250514", 1920, 1080, "", 1560},
		{"gemini-3-pro-preview", 4000, 3000, "", 1120},
		{"gpt-5.5", 1024, 1024, "", 1229},
		{"gpt-5.5", 1920, 1080, "high", 2448},
		{"gpt-5.5", 3840, 2160, "auto", 9792},
		{"gpt-5.4", 3840, 2160, "original", 9792}, // 120 by 68 patches * 1.2; auto is scaled to 2500 patches
		{"gpt-5.2", 3840, 2160, "original", 1810}, // this model has no such detail
		{"gpt-5.4-mini", 1024, 1024, "", 1659},
		{"gemini-2.5-flash", 384, 384, "", 258},
		{"gemini-2.5-flash", 1536, 768, "", 516},
		{"gemini-2.5-flash", 4_000_000_000, 4_000_000_000, "", 16 * 258}, // a hostile header may have any size
		{"gpt-4.1-nano", 4_000_000_000, 4_000_000_000, "", 3742},
		{"nobody-knows", 1024, 1024, "", 765},
	} {
		m := &message.Media{Width: c.width, Height: c.height, Detail: c.detail}
		if got := mediaFor(c.model).image(m); got != c.want {
			t.Errorf("%s, %d by %d, detail %q: %d tokens, want %d", c.model, c.width, c.height, c.detail, got, c.want)
		}
	}
}

func TestPictureOfUnknownSizeCostsTheMaximum(t *testing.T) {
	for _, url := range []string{"", "https://example.com/a.png", "data:image/png;base64,AAAA", "data:image/png,raw", "data:image/png;base64,%%%"} {
		if got := mediaFor("gpt-4o").image(&message.Media{URL: url}); got != 85+8*170 {
			t.Errorf("%q: %d tokens, want the maximum", url, got)
		}
	}
}

// A header may lack the height, as in some JPEG files; then only the rest of the file
// has the height. Counted with no height, the picture would cost next to nothing, and
// the request would exceed the window.
func TestPictureWithHalfItsSizeCostsTheMaximum(t *testing.T) {
	head := func(width, height byte) string { // a frame header
		return dataURL([]byte{0xff, 0xd8, 0xff, 0xc0, 0, 17, 8, height, 0, width, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	}
	for _, model := range []string{"gpt-4o", "gpt-5-mini", "claude-sonnet-4-5", "gemini-2.5-flash"} {
		r := mediaFor(model)
		most := r.image(&message.Media{})
		if got, want := r.image(&message.Media{Width: 1024, URL: head(4, 4)}), r.image(&message.Media{URL: head(4, 4)}); got != want {
			t.Errorf("%s: a width without a height hides the size in the data: %d tokens, want %d", model, got, want)
		}
		for name, m := range map[string]message.Media{"no height": {URL: head(4, 0)}, "no width": {URL: head(0, 4)}, "only a height": {Height: 1024}} {
			if got := r.image(&m); got != most {
				t.Errorf("%s, %s: %d tokens, want %d", model, name, got, most)
			}
		}
		if got := r.image(&message.Media{URL: head(4, 4)}); got >= most {
			t.Errorf("%s: a picture of 1024 by 1024 costs %d tokens, one of unknown size %d", model, got, most)
		}
	}
}

// No picture of known size costs more than one of unknown size.
func TestNoPictureCostsMoreThanOneOfUnknownSize(t *testing.T) {
	for _, model := range []string{"gpt-4o", "gpt-4o-mini", "gpt-5", "gpt-5-nano", "gpt-5.4", "gpt-5.5", "o3", "o4-mini", "claude-sonnet-4-5", "claude-opus-4-8", "gemini-2.5-pro", "gemini-3-pro"} {
		for _, detail := range []string{"", "low", "high"} {
			most := mediaFor(model).image(&message.Media{URL: "https://example.com/a.png", Detail: detail})
			for w := 100; w < 9000; w += 371 {
				for h := 100; h < 9000; h += 371 {
					if got := mediaFor(model).image(&message.Media{Width: w, Height: h, Detail: detail}); got > most {
						t.Fatalf("%s, detail %q: %d by %d costs %d, more than %d", model, detail, w, h, got, most)
					}
				}
			}
		}
	}
}

func dataURL(b []byte) string { return "data:image/x;base64," + base64.StdEncoding.EncodeToString(b) }

func TestPictureSizeIsReadFromADataURL(t *testing.T) {
	img := image.NewPaletted(image.Rect(0, 0, 300, 200), color.Palette{color.Black, color.White})
	var pngFile, gifFile, jpegFile bytes.Buffer
	if err := png.Encode(&pngFile, img); err != nil {
		t.Fatal(err)
	}
	if err := gif.Encode(&gifFile, img, nil); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&jpegFile, img, nil); err != nil {
		t.Fatal(err)
	}
	exif := append([]byte("\xff\xd8\xff\xff\xe1\x4e\x22"), bytes.Repeat([]byte{7}, 20_000)...) // a preview, before the frame
	for name, file := range map[string][]byte{
		"png": pngFile.Bytes(), "gif": gifFile.Bytes(), "jpeg": jpegFile.Bytes(),
		"jpeg behind metadata": append(exif, jpegFile.Bytes()[2:]...),
		"webp lossy":           []byte("RIFF....WEBPVP8 ....\x00\x00\x00\x9d\x01\x2a\x2c\x01\xc8\x00"),
		"webp lossless":        []byte("RIFF....WEBPVP8L....\x2f\x2b\xc1\x31\x00......"),
		"webp extended":        []byte("RIFF....WEBPVP8X....\x00\x00\x00\x00\x2b\x01\x00\xc7\x00\x00"),
	} {
		for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} { // Google's clients in Python write the second
			if w, h := dataURLSize("data:image/x;base64," + alphabet.EncodeToString(file)); w != 300 || h != 200 {
				t.Errorf("%s: %d by %d, want 300 by 200", name, w, h)
			}
		}
	}
}

func TestPictureSizeOfDamagedFilesIsUnknown(t *testing.T) {
	for _, file := range []string{
		"", "\x89PNG\r\n\x1a\n", "GIF89a", "\xff\xd8", "\xff\xd8\xff\xe0\xff\xff", "\xff\xd8\x00\x00", "RIFF....WEBPVP8X", "RIFF", strings.Repeat("\xff", 64),
	} {
		if w, h := dataURLSize(dataURL([]byte(file))); w != 0 || h != 0 {
			t.Errorf("%q: %d by %d", file, w, h)
		}
	}
}

func FuzzPictureSize(f *testing.F) {
	f.Add([]byte("\x89PNG\r\n\x1a\n................"))
	f.Add([]byte("\xff\xd8\xff\xe0\x00\x10.............."))
	f.Add([]byte("RIFF....WEBPVP8L....\x2f\x2b\xc1\x31\x00......"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if w, h := pictureSize(file); w < 0 || h < 0 {
			t.Errorf("%d by %d", w, h)
		}
	})
}

func TestSoundAndDocumentsCostByTheirSize(t *testing.T) {
	rule := mediaFor("gpt-4o")
	audio := func(mime string, bytes int) int {
		return rule.cost(&message.Part{Kind: message.KindAudio, Media: &message.Media{MIME: mime, Bytes: bytes}})
	}
	if got := audio("audio/wav", 4*rawAudioBytes*30/3); got != 300 {
		t.Errorf("30 seconds of wav: %d tokens, want 300", got)
	}
	if wav, pcm := audio("audio/wav", 100_000), audio("audio/pcm;rate=16000", 100_000); pcm != wav {
		t.Errorf("wav costs %d tokens, and pcm of the same size, which is not compressed either, costs %d", wav, pcm)
	}
	if short, long := audio("audio/mp3", 100_000), audio("audio/mp3", 1_000_000); short < 1 || long < 9*short {
		t.Errorf("mp3: %d and %d tokens", short, long)
	}
	if got := audio("", 40); got != 600 {
		t.Errorf("sound behind an id: %d tokens, want those of a minute", got)
	}
	file := func(mime string, bytes int) int {
		return rule.cost(&message.Part{Kind: message.KindFile, Media: &message.Media{MIME: mime, Bytes: bytes}})
	}
	if got := file("text/plain", 16_000); got != 3_000 {
		t.Errorf("16 kB of text in base64: %d tokens, want 3000", got)
	}
	if got := file("application/pdf", 60); got != 2_000 {
		t.Errorf("a file behind an id: %d tokens, want those of a page", got)
	}
	if got := file("application/pdf", 400_000); got != 14_000 {
		t.Errorf("300 kB of PDF: %d tokens, want those of 7 pages", got)
	}
}
