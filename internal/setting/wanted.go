package setting

import (
	"reflect"
	"time"
)

// Wanted describes the values that a setting of a type accepts.
func Wanted(t reflect.Type) string {
	if t == reflect.TypeFor[time.Duration]() {
		return "must be a duration such as 60s or 2m30s"
	}
	switch t.Kind() {
	case reflect.Int:
		return "must be a whole number"
	case reflect.Float64:
		return "must be a number"
	case reflect.Bool:
		return "must be true or false"
	case reflect.Slice:
		return "must be a list of texts such as [a, b]"
	}
	return "must be a text"
}
