// Package check holds the checks of choices that policies and configurations share, and the one form of their errors:
//
//	restart: Mantri.IdleGain is +Inf, want a positive finite number, or 0 for the default
//
// Each takes the place, such as "restart: Mantri", and the field.
package check

import (
	"fmt"
	"math"
	"reflect"
	"time"
)

// Off turns off the rule of a field whose zero value means the default.
const Off = -1

// Bad is the error of a field that is out of range.
func Bad(place, field string, value any, want string) error {
	return fmt.Errorf("%s.%s is %v, want %s", place, field, value, want)
}

// Nil reports whether an interface holds a nil pointer or function: it is not nil itself, and yet can't be asked.
func Nil(v any) bool {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Func:
		return r.IsNil()
	}
	return false
}

// Share accepts a share in (0, 1], 0 for the default, and Off where that has a meaning.
func Share(place, field string, v float64, off bool) error {
	switch {
	case v >= 0 && v <= 1, off && v == Off:
		return nil
	case off:
		return Bad(place, field, v, "a share in (0, 1], 0 for the default, or Off")
	}
	return Bad(place, field, v, "a share in (0, 1], or 0 for the default")
}

// Factor accepts a positive finite number, and 0 for the default.
func Factor(place, field string, v float64) error {
	if v >= 0 && !math.IsInf(v, 1) {
		return nil
	}
	return Bad(place, field, v, "a positive finite number, or 0 for the default")
}

// Age accepts a positive duration, 0 for the default, and Off.
func Age(place, field string, v time.Duration) error {
	if v >= 0 || v == Off {
		return nil
	}
	return Bad(place, field, v, "a positive duration, 0 for the default, or Off")
}

// Or returns v, or the usual value for 0.
func Or(v, usual float64) float64 {
	if v == 0 {
		return usual
	}
	return v
}
