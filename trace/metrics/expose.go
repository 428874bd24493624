package metrics

import (
	"net/http"
	"strconv"
	"strings"
)

// ContentType is the content type of the text of [Metrics.AppendText].
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// ServeHTTP answers a scraper, in Prometheus' text format.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "this path takes GET", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", ContentType)
	if r.Method == http.MethodGet {
		_, _ = w.Write(m.AppendText(nil))
	}
}

// AppendText appends the counts to dst, in Prometheus' text format. It leaves
// out families without a point.
func (m *Metrics) AppendText(dst []byte) []byte {
	all := m.Snapshot()
	for i := range all {
		dst = all[i].appendText(dst)
	}
	return dst
}

func (f *Family) appendText(dst []byte) []byte {
	if len(f.Points) == 0 {
		return dst
	}
	name := f.Prometheus()
	dst = append(dst, "# HELP "+name+" "+f.Help+"\n# TYPE "+name+" "+f.Kind.String()+"\n"...)
	for i := range f.Points {
		if f.Kind == Histogram {
			dst = f.appendHistogram(dst, name, &f.Points[i])
			continue
		}
		dst = f.appendLine(dst, name, f.Points[i].Values, "", f.Points[i].Value)
	}
	return dst
}

func (f *Family) appendHistogram(dst []byte, name string, p *Point) []byte {
	n := uint64(0)
	for i, in := range p.Buckets {
		le := "+Inf"
		if n += in; i < len(f.Bounds) {
			le = strconv.FormatFloat(f.Bounds[i], 'g', -1, 64)
		}
		dst = f.appendLine(dst, name+"_bucket", p.Values, le, float64(n))
	}
	dst = f.appendLine(dst, name+"_sum", p.Values, "", p.Value)
	return f.appendLine(dst, name+"_count", p.Values, "", float64(p.Count))
}

// appendLine writes one number; le is the bound of a bucket, "" for other
// numbers.
func (f *Family) appendLine(dst []byte, name string, values []string, le string, v float64) []byte {
	dst = append(dst, name...)
	open := byte('{')
	label := func(name, value string) {
		dst = append(append(append(append(dst, open), name...), '=', '"'), escaper.Replace(value)...)
		dst = append(dst, '"')
		open = ','
	}
	for i, value := range values {
		label(flat(f.Labels[i]), value)
	}
	if le != "" {
		label("le", le)
	}
	if open == ',' {
		dst = append(dst, '}')
	}
	dst = append(dst, ' ')
	dst = strconv.AppendFloat(dst, v, 'f', -1, 64)
	return append(dst, '\n')
}

var escaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
