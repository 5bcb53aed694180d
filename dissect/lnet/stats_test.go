package lnet_test

import (
	"reflect"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
)

// TestStatsSince checks that every counter is subtracted, and that what counts what is
// there now, which is of type int, stays.
func TestStatsSince(t *testing.T) {
	var now, before lnet.Stats
	fill(reflect.ValueOf(&now).Elem(), 10)
	fill(reflect.ValueOf(&before).Elem(), 3)
	check(t, "Stats", reflect.ValueOf(now.Since(&before)))
}

func fill(v reflect.Value, n int64) {
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Struct {
			fill(f, n)
		} else {
			f.SetInt(n)
		}
	}
}

func check(t *testing.T, name string, v reflect.Value) {
	for i := range v.NumField() {
		f, name := v.Field(i), name+"."+v.Type().Field(i).Name
		switch want := int64(7); f.Kind() {
		case reflect.Struct:
			check(t, name, f)
		case reflect.Int:
			want = 10
			fallthrough
		default:
			if f.Int() != want {
				t.Errorf("%s is %d, not %d", name, f.Int(), want)
			}
		}
	}
}
