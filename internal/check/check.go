// Package check holds the checks of choices, facts and arguments that packages share, and creates their errors,
// which are all [straggler.FieldError]:
//
//	restart: Mantri.IdleGain is +Inf, want a positive finite number, or 0 for the default
//
// Each check gets the place, such as "restart: Mantri", and the name of the field. A Validate method returns the
// first of several faults by
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

// Off turns off the rule of a field whose zero value means the default.
const Off = -1

// Bad returns the error of a field or of an argument that is out of range. The place is the package and the type,
// "restart: Mantri", or the package alone for an argument.
func Bad(place, field string, value any, want string) error {
	pkg, of, _ := strings.Cut(place, ": ")
	if of != "" {
		field = of + "." + field
	}
	return &straggler.FieldError{Package: pkg, Field: field, Value: value, Want: want}
}

// Badf is Bad with a formatted text.
func Badf(place, field string, value any, want string, args ...any) error {
	return Bad(place, field, value, fmt.Sprintf(want, args...))
}

// At returns the name of the i-th item of a list, or of a field of the item: "Sizes[3]", or "Pools[3].Min".
func At[T int | int32](list string, i T, field string) string {
	if field != "" {
		field = "." + field
	}
	return fmt.Sprintf("%s[%d]%s", list, i, field)
}

// PlaceOf returns the place of errors about a type: "fairshare/gate: Config". PlaceOf uses reflection, so call it for
// errors only.
func PlaceOf[T any]() string {
	t := reflect.TypeFor[T]()
	_, pkg, _ := strings.Cut(t.PkgPath(), module)
	return pkg + ": " + t.Name()
}

const module = "straggler-go/straggler/"

// Nil reports whether an interface holds a nil pointer or a nil function. The interface is then not nil itself, but
// its methods cannot be called.
func Nil(v any) bool {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Func:
		return r.IsNil()
	}
	return false
}

// Share accepts a share in (0, 1], 0 for the default, and Off if off is true.
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

// Length accepts a positive duration, and 0 for the default.
func Length(place, field string, v time.Duration) error {
	if v >= 0 {
		return nil
	}
	return Bad(place, field, v, "a positive duration, or 0 for the default")
}

// Count accepts a positive number, 0 for the default, and Off if off is true.
func Count[T int | int64](place, field string, v T, off bool) error {
	switch {
	case v >= 0, off && v == Off:
		return nil
	case off:
		return Bad(place, field, v, "a positive number, 0 for the default, or Off")
	}
	return Bad(place, field, v, "a positive number, or 0 for the default")
}

// Least accepts a number of at least least.
func Least[T int | int64 | time.Duration](place, field string, v, least T) error {
	if v >= least {
		return nil
	}
	return Badf(place, field, v, "at least %v", least)
}

// Within accepts a number from least to most, and 0 for the default.
func Within[T int | float64](place, field string, v, least, most T) error {
	if v == 0 || v >= least && v <= most {
		return nil
	}
	return Badf(place, field, v, "%v to %v, or 0 for the default", least, most)
}

// Probability accepts a probability in (0, 1), and 0 for the default.
func Probability(place, field string, v float64) error {
	if v >= 0 && v < 1 {
		return nil
	}
	return Bad(place, field, v, "a probability in (0, 1), or 0 for the default")
}

// Named accepts a value of an enumeration that has a name.
func Named[E ~uint8](place, field string, v E, names []string) error {
	if int(v) < len(names) {
		return nil
	}
	return Bad(place, field, v, "one of: "+strings.Join(names, ", "))
}

// Or returns v, or the default if v is 0.
func Or[T int | int64 | float64 | time.Duration](v, standard T) T {
	if v == 0 {
		return standard
	}
	return v
}
