// Package check contains the checks of choices, facts and arguments that several packages use. It creates their
// errors, which are all [straggler.FieldError]:
//
//	restart: Mantri.IdleGain is +Inf, want a positive finite number, or 0 for the default
//
// Each check gets the place, such as "restart: Mantri", and the name of the field. If several fields are wrong, a
// Validate method returns the error of the first wrong field in this way:
//
//	return cmp.Or(
//		check.Share("clone: Config", "Budget", c.Budget, true),
//		check.Least("clone: Config", "MaxCopies", c.MaxCopies, 0),
//	)
package check

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/straggler-go/straggler"
)

// Off turns off the rule of a field, if the field allows this value. The zero value of such a field means the
// default.
const Off = -1

// Bad returns the error of a field or an argument that is out of range. The place is the package and the type, for
// example "restart: Mantri", or only the package for an argument. want says in words which values are allowed.
func Bad(place, field string, value any, want string) error {
	pkg, of, _ := strings.Cut(place, ": ")
	if of != "" {
		field = of + "." + field
	}
	return &straggler.FieldError{Package: pkg, Field: field, Value: value, Want: want}
}

// Badf returns the same error as Bad, and formats want with args as fmt.Sprintf does.
func Badf(place, field string, value any, want string, args ...any) error {
	return Bad(place, field, value, fmt.Sprintf(want, args...))
}

// At returns the name of an item of a list, for example "Sizes[3]", or of a field of such an item, for example
// "Pools[3].Min".
func At[T int | int32](list string, i T, field string) string {
	if field != "" {
		field = "." + field
	}
	return fmt.Sprintf("%s[%d]%s", list, i, field)
}

// PlaceOf returns the place of errors about a type, for example "fairshare/gate: Config". PlaceOf uses reflection,
// which is slow, so call it only for errors.
func PlaceOf[T any]() string {
	t := reflect.TypeFor[T]()
	_, pkg, _ := strings.Cut(t.PkgPath(), module)
	return pkg + ": " + t.Name()
}

const module = "straggler-go/straggler/"

// Nil reports whether an interface contains a nil pointer or a nil function. Such an interface is not equal to nil,
// but its methods cannot be called.
func Nil(v any) bool {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Func:
		return r.IsNil()
	}
	return false
}

// Share returns nil for a share in (0, 1], for 0, which means the default, and for Off if off is true. Otherwise it
// returns an error.
func Share(place, field string, v float64, off bool) error {
	switch {
	case v >= 0 && v <= 1, off && v == Off:
		return nil
	case off:
		return Bad(place, field, v, "a share in (0, 1], 0 for the default, or Off")
	}
	return Bad(place, field, v, "a share in (0, 1], or 0 for the default")
}

// Factor returns nil for a positive finite number, and for 0, which means the default. Otherwise it returns an
// error.
func Factor(place, field string, v float64) error {
	if v >= 0 && !math.IsInf(v, 1) {
		return nil
	}
	return Bad(place, field, v, "a positive finite number, or 0 for the default")
}

// Age returns nil for a positive duration, for 0, which means the default, and for Off. Otherwise it returns an
// error.
func Age(place, field string, v time.Duration) error {
	if v >= 0 || v == Off {
		return nil
	}
	return Bad(place, field, v, "a positive duration, 0 for the default, or Off")
}

// Length returns nil for a positive duration, and for 0, which means the default. Otherwise it returns an error.
func Length(place, field string, v time.Duration) error {
	if v >= 0 {
		return nil
	}
	return Bad(place, field, v, "a positive duration, or 0 for the default")
}

// Count returns nil for a positive number, for 0, which means the default, and for Off if off is true. Otherwise it
// returns an error.
func Count[T int | int64](place, field string, v T, off bool) error {
	switch {
	case v >= 0, off && v == Off:
		return nil
	case off:
		return Bad(place, field, v, "a positive number, 0 for the default, or Off")
	}
	return Bad(place, field, v, "a positive number, or 0 for the default")
}

// Least returns nil if v is at least least. Otherwise it returns an error.
func Least[T int | int64 | time.Duration](place, field string, v, least T) error {
	if v >= least {
		return nil
	}
	return Badf(place, field, v, "at least %v", least)
}

// Within returns nil for a number from least to most, and for 0, which means the default. Otherwise it returns an
// error.
func Within[T int | float64](place, field string, v, least, most T) error {
	if v == 0 || v >= least && v <= most {
		return nil
	}
	return Badf(place, field, v, "%v to %v, or 0 for the default", least, most)
}

// Probability returns nil for a probability in (0, 1), and for 0, which means the default. Otherwise it returns an
// error.
func Probability(place, field string, v float64) error {
	if v >= 0 && v < 1 {
		return nil
	}
	return Bad(place, field, v, "a probability in (0, 1), or 0 for the default")
}

// Named returns nil if the value of the enumeration has a name. Otherwise it returns an error.
func Named[E ~uint8](place, field string, v E, names []string) error {
	if int(v) < len(names) {
		return nil
	}
	return Bad(place, field, v, "one of: "+strings.Join(names, ", "))
}

// Or returns v if v is not 0, and otherwise the default, standard.
func Or[T int | int64 | float64 | time.Duration](v, standard T) T {
	if v == 0 {
		return standard
	}
	return v
}
