// Package check contains the checks of choices, facts and arguments that several packages use. It creates their
// errors, which are all [straggler.FieldError]:
//
//	restart: Mantri.IdleGain is +Inf, want a positive finite number, or 0 for the default
//
// Most fields of configurations have their range and their default in their tags:
//
//	type Config struct {
//		Budget float64       `want:"share or off" default:"0.1"`
//		Window time.Duration `want:"length" default:"1m"`
//	}
//
//	func (c Config) Validate() error   { return check.Valid(c) }
//	func (c Config) Effective() Config { return check.Filled(c) }
//
// The words of want are the names of functions of this package: share, factor, probability, age, length and count. "or off"
// says that Off is allowed, and "1 to 100" is the range of [Within]. An enumeration needs no tag: its value must have a
// name. Both functions use reflection. So a policy that decides often fills in its defaults by [Or].
//
// A check that a tag cannot say gets the place, such as "restart: Mantri", and the name of the field:
//
//	return cmp.Or(check.Valid(c), check.Least("clone: Config", "MaxCopies", c.MaxCopies, 0))
package check

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
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

// Probability returns nil for a probability in (0, 1), for 0, which means the default, and for Off if off is true.
// Otherwise it returns an error.
func Probability(place, field string, v float64, off bool) error {
	switch {
	case v >= 0 && v < 1, off && v == Off:
		return nil
	case off:
		return Bad(place, field, v, "a probability in (0, 1), 0 for the default, or Off")
	}
	return Bad(place, field, v, "a probability in (0, 1), or 0 for the default")
}

// Named returns nil if e, a value of an enumeration, has a name. Otherwise it returns an error that lists the names.
func Named(place, field string, e encoding.TextMarshaler) error {
	if _, err := e.MarshalText(); err == nil {
		return nil
	}
	var names []string
	for v := reflect.New(reflect.TypeOf(e)).Elem(); ; v.SetUint(v.Uint() + 1) {
		name, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return Bad(place, field, e, "one of: "+strings.Join(names, ", "))
		}
		names = append(names, string(name))
	}
}

// Valid returns the error of the first field of a configuration that is out of the range in its tag, or nil.
func Valid[C any](c C) error {
	v, place := reflect.ValueOf(c), PlaceOf[C]()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if err := valid(place, field.Name, field.Tag.Get("want"), v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

// valid checks a field by the text of its tag.
func valid(place, field, want string, v reflect.Value) error {
	want, off := strings.CutSuffix(want, " or off")
	switch want {
	case "share":
		return Share(place, field, v.Float(), off)
	case "factor":
		if off && v.Float() == Off {
			return nil
		}
		return Factor(place, field, v.Float())
	case "probability":
		return Probability(place, field, v.Float(), off)
	case "age":
		return Age(place, field, time.Duration(v.Int()))
	case "length":
		return Length(place, field, time.Duration(v.Int()))
	case "count":
		return Count(place, field, int(v.Int()), off)
	case "":
		if e, is := v.Interface().(encoding.TextMarshaler); is && v.Kind() == reflect.Uint8 {
			return Named(place, field, e)
		}
		return nil
	}
	least, most, _ := strings.Cut(want, " to ")
	from, bad := strconv.ParseFloat(least, 64)
	to, worse := strconv.ParseFloat(most, 64)
	switch {
	case bad != nil || worse != nil:
		return fmt.Errorf("%s.%s has no such range: %q", place, field, want)
	case v.CanInt():
		return Within(place, field, int(v.Int()), int(from), int(to))
	}
	return Within(place, field, v.Float(), from, to)
}

// Filled returns a configuration in which each zero field with a default in its tag has the default.
func Filled[C any](c C) C {
	v := reflect.ValueOf(&c).Elem()
	for i := range v.NumField() {
		text := v.Type().Field(i).Tag.Get("default")
		if text == "" || !v.Field(i).IsZero() {
			continue
		}
		switch field := v.Field(i).Addr().Interface().(type) { // a test of the house reads each default
		case *time.Duration:
			*field, _ = time.ParseDuration(text)
		case *int:
			*field, _ = strconv.Atoi(text)
		case *float64:
			*field, _ = strconv.ParseFloat(text, 64)
		}
	}
	return c
}

// Or returns v if v is not 0, and otherwise the default, standard.
func Or[T int | int64 | float64 | time.Duration](v, standard T) T {
	if v == 0 {
		return standard
	}
	return v
}
