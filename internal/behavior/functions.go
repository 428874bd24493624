package behavior

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// Functions adds a line for each function: for how many inputs it returns something, and
// a hash of all results. Parameters may be texts, lists of words, numbers, characters and
// conditions. The first text is the input; the other arguments are derived from it.
func (r *Record) Functions(inputs []string, functions ...any) {
	r.t.Helper()
	for _, f := range functions {
		v := reflect.ValueOf(f)
		name := runtime.FuncForPC(v.Pointer()).Name()
		name = name[strings.LastIndexByte(name, '.')+1:]
		for k := range v.Type().NumOut() {
			if out := v.Type().Out(k); hasAddresses(out) {
				r.t.Errorf("%s returns %v, which has addresses: they differ from run to run", name, out)
			}
		}
		rounds := min(v.Type().NumIn(), 2)
		some, all := 0, bytes.Buffer{}
		for i := range inputs {
			for round := range rounds {
				args := arguments(v.Type(), inputs, i, round)
				at := all.Len()
				fmt.Fprintf(&all, "%d ", i)
				if r.dir != "" {
					writeTexts(&all, args)
				}
				if writeResults(&all, v, args) {
					some++
				} else {
					all.Truncate(at)
				}
			}
		}
		r.Line("%s: %d of %d, %s", name, some, rounds*len(inputs), r.Hash(all.Bytes()))
	}
}

// hasAddresses reports whether values of the type print addresses. Errors do not.
func hasAddresses(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return true
	case reflect.Interface:
		return !t.Implements(reflect.TypeFor[error]())
	case reflect.Slice, reflect.Array:
		return hasAddresses(t.Elem())
	case reflect.Map:
		return hasAddresses(t.Key()) || hasAddresses(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasAddresses(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

func writeTexts(w *bytes.Buffer, args []reflect.Value) {
	for _, a := range args {
		fmt.Fprintf(w, "%q ", fmt.Sprint(a.Interface()))
	}
}

// writeResults writes what the function returns. It returns false if all results are zero.
// Many functions panic for a position outside of a text: that is a result too.
func writeResults(w *bytes.Buffer, f reflect.Value, args []reflect.Value) (some bool) {
	at := w.Len()
	defer func() {
		if p := recover(); p != nil {
			w.Truncate(at)
			w.WriteString("panic\n")
			some = true
		}
	}()
	for _, out := range f.Call(args) {
		switch some = some || !out.IsZero(); out.Kind() {
		case reflect.String:
			w.WriteString(out.String())
		default:
			fmt.Fprintf(w, "%+v", out.Interface())
		}
		w.WriteString("; ")
	}
	w.WriteByte('\n')
	return some
}

// arguments returns the arguments of a call for input i.
func arguments(of reflect.Type, inputs []string, i, round int) []reflect.Value {
	in := inputs[i]
	var out []reflect.Value
	for p := range of.NumIn() {
		k := i + p + 3*round
		var v any
		switch of.In(p).Kind() {
		case reflect.String:
			v = in
			if p > 0 || round > 0 {
				v = related(inputs, i, k)
			}
		case reflect.Slice:
			v = slice(of.In(p), in, k)
		case reflect.Bool:
			v = k%2 == 0
		default: // numbers and characters
			v = number(of.In(p), in, k)
		}
		out = append(out, reflect.ValueOf(v).Convert(of.In(p)))
	}
	return out
}

// related returns a text that a function may compare with input i. It is not empty: many
// functions search for it.
func related(inputs []string, i, k int) string {
	in := inputs[i]
	switch words := strings.Fields(in); {
	case len(words) == 0:
		return "word"
	case k%5 == 0 && inputs[(31*i+7)%len(inputs)] != "":
		return inputs[(31*i+7)%len(inputs)]
	case k%5 == 1:
		return in
	case k%5 == 2:
		return strings.ToLower(in[:(len(in)+1)/2])
	default:
		return words[k/5%len(words)]
	}
}

func slice(of reflect.Type, in string, k int) any {
	switch {
	case of.Elem().Kind() == reflect.Uint8:
		return []byte(in)
	case k%2 == 0:
		return strings.FieldsFunc(in, func(r rune) bool { return r == '\n' })
	}
	return strings.Fields(in)
}

func number(of reflect.Type, in string, k int) int64 {
	if bits := of.Bits(); bits < 64 { // a byte or a rune
		if in == "" {
			return 'a'
		}
		return int64(in[k%len(in)] & 0x7f)
	}
	return int64([]int{0, 1, len(in) / 2, len(in), 3, 7}[k%6])
}
