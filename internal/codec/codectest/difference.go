// Package codectest compares structs that were written and read.
package codectest

import (
	"fmt"
	"reflect"
)

// Difference returns the first field that differs in two values of the same type, with its
// path and both values, or nothing when all are equal. A slice without elements equals nil.
func Difference(got, want any) string {
	return difference(reflect.ValueOf(got), reflect.ValueOf(want), "")
}

func difference(got, want reflect.Value, path string) string {
	switch {
	case got.Kind() == reflect.Struct && !got.Comparable():
		for i := range got.NumField() {
			if text := difference(got.Field(i), want.Field(i), path+"."+got.Type().Field(i).Name); text != "" {
				return text
			}
		}
		return ""
	case got.Kind() == reflect.Pointer && !got.IsNil() && !want.IsNil():
		if got.Pointer() == want.Pointer() {
			return ""
		}
		return difference(got.Elem(), want.Elem(), path)
	case (got.Kind() == reflect.Slice || got.Kind() == reflect.Array) && got.Len() == want.Len():
		for i := range got.Len() {
			if text := difference(got.Index(i), want.Index(i), fmt.Sprintf("%s[%d]", path, i)); text != "" {
				return text
			}
		}
		return ""
	case got.Comparable() && want.Comparable() && got.Equal(want):
		return ""
	}
	return fmt.Sprintf("%s is %+v, want %+v", path, got, want)
}
