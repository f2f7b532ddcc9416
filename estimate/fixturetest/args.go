package fixturetest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Args are the arguments of a command, in the form key=value. Each method reads the value of a key. If the key is
// absent, the method returns the zero value. If the value cannot be read, the method fails the test. The test also
// fails if the command has a key that the host never reads.
type Args struct {
	t       *testing.T
	command string
	keys    []string
	values  map[string]string
	read    map[string]bool
}

// parse splits a line into a command and its arguments.
func parse(t *testing.T, line string) *Args {
	t.Helper()
	fields := strings.Fields(line)
	a := &Args{t: t, command: fields[0], values: map[string]string{}, read: map[string]bool{}}
	for _, field := range fields[1:] {
		key, value, ok := strings.Cut(field, "=")
		if !ok || slices.Contains(a.keys, key) {
			t.Fatalf("%s: %q is no new key=value", line, field)
		}
		a.keys = append(a.keys, key)
		a.values[key] = value
	}
	return a
}

// checkAllRead fails the test for each key that the host has not read.
func (a *Args) checkAllRead() {
	a.t.Helper()
	for _, key := range a.keys {
		if !a.read[key] {
			a.t.Errorf("%s does not know %s", a.command, key)
		}
	}
}

// String returns the value of a key as text.
func (a *Args) String(key string) string {
	a.read[key] = true
	return a.values[key]
}

// Strings returns the value of a key as a list of texts, which are separated by commas.
func (a *Args) Strings(key string) []string {
	text := a.String(key)
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// value converts a text by the function read, and fails the test if read returns an error. It returns the zero
// value for an empty text.
func value[T any](a *Args, key, text string, read func(string) (T, error)) (v T) {
	a.t.Helper()
	if text == "" {
		return v
	}
	v, err := read(text)
	if err != nil {
		a.t.Fatalf("%s %s=%s: %v", a.command, key, text, err)
	}
	return v
}

// list converts each text of a list, separated by commas, by the function read.
func list[T any](a *Args, key string, read func(string) (T, error)) (all []T) {
	a.t.Helper()
	for _, text := range a.Strings(key) {
		all = append(all, value(a, key, text, read))
	}
	return all
}

func float(text string) (float64, error) { return strconv.ParseFloat(text, 64) }

// Int returns the value of a key as a whole number.
func (a *Args) Int(key string) int { a.t.Helper(); return value(a, key, a.String(key), strconv.Atoi) }

// Float returns the value of a key as a floating-point number.
func (a *Args) Float(key string) float64 { a.t.Helper(); return value(a, key, a.String(key), float) }

// Duration returns the value of a key as a duration such as 1m30s.
func (a *Args) Duration(key string) time.Duration {
	a.t.Helper()
	return value(a, key, a.String(key), time.ParseDuration)
}

// Bool returns the value of a key, which must be true or false.
func (a *Args) Bool(key string) bool {
	a.t.Helper()
	return value(a, key, a.String(key), strconv.ParseBool)
}

// Ints returns the value of a key as a list of whole numbers, which are separated by commas.
func (a *Args) Ints(key string) []int { a.t.Helper(); return list(a, key, strconv.Atoi) }

// Durations returns the value of a key as a list of durations, which are separated by commas.
func (a *Args) Durations(key string) []time.Duration {
	a.t.Helper()
	return list(a, key, time.ParseDuration)
}

// Fail fails the test because the host does not know the command.
func (a *Args) Fail() string {
	a.t.Helper()
	a.t.Fatalf("unknown command %s", a.command)
	return ""
}
