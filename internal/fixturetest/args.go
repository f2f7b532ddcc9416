package fixturetest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Args are the arguments of a command, key=value. A method returns the zero value for an absent key. The method fails the
// test for a value that it cannot read. A key that the host never reads also fails the test.
type Args struct {
	t       *testing.T
	command string
	keys    []string
	values  map[string]string
	read    map[string]bool
}

// parse splits a command line into its command and its arguments.
func parse(t *testing.T, line string) *Args {
	t.Helper()
	fields := strings.Fields(line)
	a := &Args{t: t, command: fields[0], values: map[string]string{}, read: map[string]bool{}}
	for _, field := range fields[1:] {
		key, value, ok := strings.Cut(field, "=")
		require.True(t, ok && !slices.Contains(a.keys, key), "%s: %q is no new key=value", line, field)
		a.keys = append(a.keys, key)
		a.values[key] = value
	}
	return a
}

// checkAllRead fails the test for each key that the host has not read.
func (a *Args) checkAllRead() {
	a.t.Helper()
	for _, key := range a.keys {
		assert.True(a.t, a.read[key], "%s does not know %s", a.command, key)
	}
}

// String returns the text of a value.
func (a *Args) String(key string) string {
	a.read[key] = true
	return a.values[key]
}

// Strings returns the parts of a list separated by commas.
func (a *Args) Strings(key string) []string {
	text := a.String(key)
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// value reads one text, and fails the test if read returns an error.
func value[T any](a *Args, key, text string, read func(string) (T, error)) (v T) {
	a.t.Helper()
	if text == "" {
		return v
	}
	v, err := read(text)
	require.NoError(a.t, err, "%s %s=%s", a.command, key, text)
	return v
}

// list reads each part of a list separated by commas.
func list[T any](a *Args, key string, read func(string) (T, error)) (all []T) {
	a.t.Helper()
	for _, text := range a.Strings(key) {
		all = append(all, value(a, key, text, read))
	}
	return all
}

func float(text string) (float64, error) { return strconv.ParseFloat(text, 64) }

// Int reads a whole number.
func (a *Args) Int(key string) int { a.t.Helper(); return value(a, key, a.String(key), strconv.Atoi) }

// Float reads a number.
func (a *Args) Float(key string) float64 { a.t.Helper(); return value(a, key, a.String(key), float) }

// Duration reads a time such as 1m30s.
func (a *Args) Duration(key string) time.Duration {
	a.t.Helper()
	return value(a, key, a.String(key), time.ParseDuration)
}

// Bool reads true or false.
func (a *Args) Bool(key string) bool {
	a.t.Helper()
	return value(a, key, a.String(key), strconv.ParseBool)
}

// Ints reads whole numbers separated by commas.
func (a *Args) Ints(key string) []int { a.t.Helper(); return list(a, key, strconv.Atoi) }

// Durations reads times separated by commas.
func (a *Args) Durations(key string) []time.Duration {
	a.t.Helper()
	return list(a, key, time.ParseDuration)
}

// Fail fails the test for a command that the host does not know.
func (a *Args) Fail() string {
	a.t.Helper()
	require.Fail(a.t, "unknown command", a.command)
	return ""
}
